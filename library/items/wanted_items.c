/* Which items a command line is about, as one expression that the library answers. */
#include "library/items/wanted_items.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"

enum { WHERE_MS = 30000 };

/* A string of SQL. */
static void print_quoted(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++)
        fputs(*text == '\'' ? "''" : (char[]){*text, '\0'}, out);
    fputc('\'', out);
}

/* Whether one of some names is in a column that is a list in JSON. */
static void print_membership(FILE *out, const char *column, const struct strings *names)
{
    fprintf(out, " AND EXISTS(SELECT 1 FROM json_each(%s) WHERE value IN (", column);
    for (size_t i = 0; i < names->count; i++) {
        fputs(i ? "," : "", out);
        print_quoted(out, names->items[i]);
    }
    fputs("))", out);
}

static char *expression_of(const struct settings *settings)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        must_allocate(SIZE_MAX); /* says that there is no memory */
    bool alone = !settings->lists.count && !settings->labels.count;
    const char *where = settings->where ? settings->where : "true";
    fprintf(out, alone ? "%s" : "(%s\n)", where); /* as it was written, for what is said of it */
    if (settings->lists.count)
        print_membership(out, "lists", &settings->lists);
    if (settings->labels.count)
        print_membership(out, "labels", &settings->labels);
    fclose(out);
    return text;
}

static bool take_id(void *context, uint64_t id)
{
    struct wanted_items *wanted = context;
    return array_push(&wanted->ids, id);
}

struct sought {
    const char *name;
    bool met;
};

static bool meet(void *context, const struct doppel_list *list)
{
    struct sought *sought = context;
    sought->met |= strcmp(list->name, sought->name) == 0;
    return !sought->met;
}

/* A list that is not there is a slip of the pen, and no list without items. */
static enum doppel_status check_lists(const struct settings *settings,
                                      struct doppel_library *library, struct doppel_error *error)
{
    for (size_t i = 0; i < settings->lists.count; i++) {
        struct sought sought = {.name = settings->lists.items[i]};
        enum doppel_status status = doppel_library_each_list(library, meet, &sought, error);
        if (status && status != DOPPEL_E_CANCELLED && status != DOPPEL_E_CORRUPT)
            return status;
        if (!sought.met && status != DOPPEL_E_CORRUPT)
            return doppel_fail(error, DOPPEL_E_ARGUMENT,
                               "there is no list '%s' in the library; see 'doppel lists'",
                               sought.name);
    }
    return DOPPEL_OK;
}

bool wanted_are_named(const struct settings *settings)
{
    return settings->where || settings->lists.count || settings->labels.count;
}

enum doppel_status wanted_items_find(const struct settings *settings,
                                     struct doppel_library *library, struct wanted_items *out,
                                     struct doppel_error *error)
{
    *out = (struct wanted_items){.some = wanted_are_named(settings)};
    if (!out->some)
        return DOPPEL_OK;
    enum doppel_status status = check_lists(settings, library, error);
    if (status)
        return status;
    char *expression = expression_of(settings);
    status = doppel_library_where(library, expression, WHERE_MS, take_id, out, error);
    free(expression);
    if (status)
        wanted_items_free(out);
    return status;
}

bool wanted_items_has(const struct wanted_items *wanted, uint64_t id)
{
    size_t low = 0, high = wanted->ids.count;
    if (!wanted->some)
        return true;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (wanted->ids.items[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < wanted->ids.count && wanted->ids.items[low] == id;
}

void wanted_items_free(struct wanted_items *wanted)
{
    array_free(&wanted->ids);
    *wanted = (struct wanted_items){0};
}
