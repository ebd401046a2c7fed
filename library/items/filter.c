/* Which items a filter leaves, as one expression that the library answers. */
#include "library/catalogue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"

enum { WHERE_MS = 30000 };

struct filtering {
    struct doppel_item_set *set;
    bool no_memory;
};

/* A string of SQL. */
static void print_quoted(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++)
        fputs(*text == '\'' ? "''" : (char[]){*text, '\0'}, out);
    fputc('\'', out);
}

/* Whether one of some names is in a column that is a list in JSON. */
static void print_membership(FILE *out, const char *column, const char *const *names, size_t count)
{
    fprintf(out, " AND EXISTS(SELECT 1 FROM json_each(%s) WHERE value IN (", column);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? "," : "", out);
        print_quoted(out, names[i]);
    }
    fputs("))", out);
}

/* Given (free); NULL without memory. */
static char *expression_of(const struct doppel_item_filter *filter)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    bool alone = !filter->list_count && !filter->label_count;
    const char *where = filter->where ? filter->where : "true";
    fprintf(out, alone ? "%s" : "(%s\n)", where); /* as it was written, for what is said of it */
    if (filter->list_count)
        print_membership(out, "lists", filter->lists, filter->list_count);
    if (filter->label_count)
        print_membership(out, "labels", filter->labels, filter->label_count);
    bool bad = ferror(out) != 0;
    if (!fclose(out) && !bad)
        return text;
    free(text);
    return NULL;
}

static bool keep_id(void *context, uint64_t id)
{
    struct filtering *filtering = context;
    struct doppel_item_set *set = filtering->set;
    filtering->no_memory =
        !array_grow((void **)&set->ids, set->count, &set->capacity, sizeof *set->ids);
    if (!filtering->no_memory)
        set->ids[set->count++] = id;
    return !filtering->no_memory;
}

struct sought_list {
    const char *name;
    bool met;
};

static bool meet_list(void *context, const struct doppel_list *list)
{
    struct sought_list *sought = context;
    sought->met |= strcmp(list->name, sought->name) == 0;
    return !sought->met;
}

/* A list that is not there is a slip of the pen, and no list without items. */
static enum doppel_status check_lists(const struct doppel_item_filter *filter,
                                      struct doppel_library *library, struct doppel_error *error)
{
    for (size_t i = 0; i < filter->list_count; i++) {
        struct sought_list sought = {.name = filter->lists[i]};
        enum doppel_status status = doppel_library_each_list(library, meet_list, &sought, error);
        if (status && status != DOPPEL_E_CANCELLED && status != DOPPEL_E_CORRUPT)
            return status;
        if (!sought.met && status != DOPPEL_E_CORRUPT)
            return doppel_fail(error, DOPPEL_E_ARGUMENT,
                               "there is no list '%s' in the library; see 'doppel lists'",
                               sought.name);
    }
    return DOPPEL_OK;
}

bool doppel_item_filter_is_set(const struct doppel_item_filter *filter)
{
    return filter && (filter->where || filter->list_count || filter->label_count);
}

enum doppel_status doppel_library_filter(struct doppel_library *library,
                                         const struct doppel_item_filter *filter,
                                         struct doppel_item_set *out, struct doppel_error *error)
{
    struct doppel_item_set set = {.some = doppel_item_filter_is_set(filter)};
    struct filtering filtering = {.set = &set};
    if (!set.some) {
        *out = set;
        return DOPPEL_OK;
    }
    enum doppel_status status = check_lists(filter, library, error);
    if (status)
        return status;
    char *expression = expression_of(filter);
    if (!expression)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an expression");
    status = doppel_library_where(library, expression, WHERE_MS, keep_id, &filtering, error);
    free(expression);
    if (filtering.no_memory)
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the items that are wanted");
    if (status)
        doppel_item_set_free(&set);
    else
        *out = set;
    return status;
}

bool doppel_item_set_has(const struct doppel_item_set *set, uint64_t id)
{
    size_t low = 0, high = set->count;
    if (!set->some)
        return true;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < set->count && set->ids[low] == id;
}

void doppel_item_set_free(struct doppel_item_set *set)
{
    if (!set)
        return;
    free(set->ids);
    *set = (struct doppel_item_set){0};
}
