/* Failures of records, counted by reason. */
#include "tools/output/groups/repeats.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of FILE in FILE:LINE; 0 of anything else. */
static size_t file_length(const char *place)
{
    const char *colon = strrchr(place, ':');
    bool is_line =
        colon && colon > place && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1);
    return is_line ? (size_t)(colon - place) : 0;
}

/* Whether two reasons are the same but for their numbers. */
static bool is_same_reason(const char *a, const char *b)
{
    for (;;) {
        while (isdigit((unsigned char)*a))
            a++;
        while (isdigit((unsigned char)*b))
            b++;
        if (*a != *b || !*a)
            return *a == *b;
        a++;
        b++;
    }
}

static struct repeated_failure *find_repeated(struct repeats *repeats, const char *reason)
{
    for (size_t i = 0; i < repeats->count; i++)
        if (is_same_reason(repeats->items[i].reason, reason))
            return &repeats->items[i];
    return NULL;
}

/* NULL where there is no room, or no memory. */
static struct repeated_failure *add_repeated(struct repeats *repeats, const char *reason)
{
    char *copy = repeats->count < REPEAT_REASONS ? strdup(reason) : NULL;
    if (!copy)
        return NULL;
    repeats->items[repeats->count] = (struct repeated_failure){.reason = copy};
    return &repeats->items[repeats->count++];
}

/* Records come file by file: another one than the last is a new one. Without memory the last name
 * stays. */
static void count_file(struct repeated_failure *repeat, const char *place, size_t length)
{
    if (repeat->file && strlen(repeat->file) == length && memcmp(repeat->file, place, length) == 0)
        return;
    char *file = strndup(place, length);
    if (!file)
        return;
    free(repeat->file);
    repeat->file = file;
    repeat->files++;
}

bool repeats_take(struct repeats *repeats, const char *place, const char *reason)
{
    size_t length = place ? file_length(place) : 0;
    if (!length)
        return true;
    struct repeated_failure *repeat = find_repeated(repeats, reason);
    if (!repeat)
        repeat = add_repeated(repeats, reason);
    if (!repeat)
        return true;
    if (++repeat->count > REPEATS_SHOWN)
        count_file(repeat, place, length);
    return repeat->count <= REPEATS_SHOWN;
}

void repeats_free(struct repeats *repeats)
{
    for (size_t i = 0; i < repeats->count; i++) {
        free(repeats->items[i].file);
        free(repeats->items[i].reason);
    }
    *repeats = (struct repeats){0};
}
