/* What lists say of an item, carried from one library to another. */
#include "exchange/list_says.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"

/* Of one item: they are compared with each other. */
enum { MAX_TAGS = 1000 };

static bool push_tag(struct list_says *says, const char *list, const char *tag)
{
    struct tag_of_list one = {strdup(list), strdup(tag)};
    if (one.list && one.tag && array_push(says, one))
        return true;
    free(one.list);
    free(one.tag);
    return false;
}

void list_says_free(struct list_says *says)
{
    for (size_t i = 0; i < says->count; i++) {
        free(says->items[i].list);
        free(says->items[i].tag);
    }
    array_free(says);
}

static bool take_list_tag(void *context, const char *list, const char *tag)
{
    return push_tag(context, list, tag);
}

enum doppel_status list_says_load(struct doppel_library *library, uint64_t id,
                                  struct list_says *out, struct doppel_error *error)
{
    enum doppel_status status =
        doppel_library_each_list_tag(library, id, take_list_tag, out, error);
    return status == DOPPEL_E_CANCELLED
               ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for what lists say")
               : status;
}

/* ---- JSON ---- */

/* How many, from this one on, are of its list. */
static size_t count_of_list(const struct list_says *says, size_t first)
{
    size_t end = first;
    while (end < says->count && strcmp(says->items[end].list, says->items[first].list) == 0)
        end++;
    return end - first;
}

static void write_brought(struct doppel_json *json, const struct list_says *says)
{
    bool any = false;
    for (size_t i = 0; i < says->count; i++) {
        if (*says->items[i].tag)
            continue;
        if (!any)
            doppel_json_array_begin(json, "brought_by");
        any = true;
        doppel_json_text(json, NULL, says->items[i].list);
    }
    if (any)
        doppel_json_array_end(json);
}

static bool has_tags(const struct list_says *says, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++)
        if (*says->items[i].tag)
            return true;
    return false;
}

void list_says_write(struct doppel_json *json, const struct list_says *says)
{
    write_brought(json, says);
    if (!has_tags(says, 0, says->count))
        return;
    doppel_json_object_begin(json, "tags");
    for (size_t first = 0, count; first < says->count; first += count) {
        count = count_of_list(says, first);
        if (!has_tags(says, first, count))
            continue;
        doppel_json_array_begin(json, says->items[first].list);
        for (size_t i = first; i < first + count; i++)
            if (*says->items[i].tag)
                doppel_json_text(json, NULL, says->items[i].tag);
        doppel_json_array_end(json);
    }
    doppel_json_object_end(json);
}

static void read_names_of_list(struct fields *fields, const char *key, const char *list,
                               struct list_says *out)
{
    char **names = NULL;
    size_t count = 0;
    bool held = true;
    field_names(fields, key, &names, &count);
    for (size_t i = 0; i < count; i++) {
        held = held && push_tag(out, list ? list : names[i], list ? names[i] : "");
        free(names[i]);
    }
    free(names);
    if (!held && !fields->status)
        fields->status =
            doppel_fail(fields->error, DOPPEL_E_MEMORY, "no memory for what lists say");
}

void list_says_read(struct fields *fields, struct list_says *out)
{
    json_t *tags = json_object_get(fields->object, "tags"), *of_list;
    const char *list;
    read_names_of_list(fields, "brought_by", NULL, out);
    if (tags && !json_is_object(tags))
        field_is_wrong(fields, "tags", "an object");
    struct fields inner = {tags, fields->error, 0};
    json_object_foreach(tags, list, of_list) read_names_of_list(&inner, list, list, out);
    if (!fields->status)
        fields->status = inner.status;
    if (!fields->status && out->count > MAX_TAGS)
        field_is_wrong(fields, "tags", "of at most 1000 words");
}

/* ---- taking ---- */

size_t list_says_other_labels(const struct list_says *says, const struct doppel_metadata *about,
                              char **out)
{
    size_t count = 0;
    for (size_t i = 0; i < about->label_count; i++) {
        bool said = false;
        for (size_t j = 0; j < says->count && !said; j++)
            said = strcmp(says->items[j].tag, about->labels[i]) == 0;
        if (!said)
            out[count++] = about->labels[i];
    }
    return count;
}

/* All that one list says; what is not together in a file is put together. */
static enum doppel_status put_of_list(struct doppel_library *library, uint64_t id,
                                      const struct list_says *says, const char *list, bool fresh,
                                      struct doppel_error *error)
{
    struct doppel_list_tags tags = {.given = true};
    bool brought = false, changed;
    if (!(tags.items = calloc(says->count, sizeof *tags.items)))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for what lists say");
    for (size_t i = 0; i < says->count; i++) {
        const struct tag_of_list *one = &says->items[i];
        if (strcmp(one->list, list) != 0)
            continue;
        brought |= !*one->tag;
        if (*one->tag)
            tags.items[tags.count++] = one->tag;
    }
    enum doppel_status status =
        doppel_library_list_says(library, id, list, &tags, brought && fresh, &changed, error);
    free(tags.items);
    return status;
}

enum doppel_status list_says_put(struct doppel_library *library, uint64_t id,
                                 const struct list_says *says, bool fresh,
                                 struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < says->count && !status; i++) {
        bool before = false;
        for (size_t j = 0; j < i && !before; j++)
            before = strcmp(says->items[j].list, says->items[i].list) == 0;
        if (!before)
            status = put_of_list(library, id, says, says->items[i].list, fresh, error);
    }
    return status;
}
