/* Records for the tests of the command. */
#include "records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

enum { WORDS = 60, WORD_BYTES = 8, TEXT_BYTES = WORDS * WORD_BYTES + 16 };

static void make_text(uint32_t seed, char *out)
{
    *out = '\0';
    for (int i = 0; i < WORDS; i++)
        out += sprintf(out, "%sw%05u", i ? " " : "", next_random(&seed) % 100000);
}

char *make_records(size_t count, uint32_t seed)
{
    char text[TEXT_BYTES];
    char *lines = malloc(count * (TEXT_BYTES + 64) + 1), *at = lines;
    assert_non_null(lines);
    *at = '\0';
    for (size_t i = 0; i < count; i++) {
        size_t of = i % 7 == 3 || i % 7 == 5 ? i - i % 7 - i / 21 * 7 : i;
        make_text(seed + (uint32_t)of * 977, text);
        if (i % 7 == 5)
            memcpy(text + WORD_BYTES * 20, "changed", 6);
        if (i % 7 == 6)
            sprintf(text, "short %zu", i);
        at += sprintf(at, "{\"id\":\"r%zu\",\"text\":\"%s\"}\n", i, text);
    }
    return lines;
}

void drop_numbers(char *text, const char *key)
{
    char start[64];
    snprintf(start, sizeof start, ",\"%s\":", key);
    char *to = text;
    for (const char *from = text; *from;) {
        if (strncmp(from, start, strlen(start)) == 0) {
            from += strlen(start);
            from += strspn(from, "0123456789");
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
}
