/* How an item is told to people. */
#include "tools/output/item_name.h"

#include <stdio.h>

#include "tools/memory.h"
#include "tools/output/output.h"

bool item_has_file(const struct doppel_item *item)
{
    return item->path[0] == '/';
}

char *name_of_item(struct doppel_library *library, const struct doppel_item *item)
{
    struct doppel_metadata about = {0};
    char number[32];
    if (item_has_file(item))
        return must_copy(item->path);
    if (doppel_library_get_metadata(library, item->id, &about, NULL))
        about = (struct doppel_metadata){0};
    snprintf(number, sizeof number, "item %llu", (unsigned long long)item->id);
    char *name = must_copy(about.external_id ? about.external_id
                           : *item->path     ? item->path
                                             : number);
    doppel_metadata_free(&about);
    return name;
}

void write_item_name(struct doppel_json *row, bool has_file, const char *name)
{
    if (has_file)
        doppel_json_path(row, "path", name);
    else
        doppel_json_text(row, "name", name);
}

void put_item_name(json_t *row, bool has_file, const char *name)
{
    if (has_file)
        put_path(row, "path", name);
    else
        put_text(row, "name", name);
}

const char *kind_noun(enum doppel_kind kind)
{
    static const char *const nouns[] = {"other file", "text", "picture", "recording", "video"};
    size_t index = (size_t)kind;
    return nouns[index < sizeof nouns / sizeof *nouns ? index : 0];
}
