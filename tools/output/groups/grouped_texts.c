/* The texts of groups that were visited, for those that link them. */
#include "tools/output/groups/grouped_texts.h"

#include <stdlib.h>
#include <string.h>

bool grouped_texts_add(struct grouped_texts *grouped, const struct doppel_group *group)
{
    if (group->kind != DOPPEL_KIND_TEXT)
        return true;
    bool room = array_push(&grouped->numbers, group->number);
    for (size_t i = 0; i < group->count && room; i++)
        room = array_push(&grouped->items,
                          ((struct doppel_semantic_grouped){group->members[i].id, group->number}));
    return room;
}

enum doppel_status grouped_texts_add_file(struct grouped_texts *grouped,
                                          const struct doppel_group_text *text,
                                          struct doppel_error *error)
{
    const struct doppel_semantic_file file = {strdup(text->path), text->group, text->reference};
    grouped->duplicates += text->duplicates;
    if (file.path && array_push(&grouped->files, file))
        return DOPPEL_OK;
    free((void *)file.path);
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the texts of the scan");
}

static int compare_grouped_items(const void *a, const void *b)
{
    const struct doppel_semantic_grouped *x = a, *y = b;
    return (x->item > y->item) - (x->item < y->item);
}

/* A file that follows a record is in a group of files, too: the first one counts. */
void grouped_texts_sort(struct grouped_texts *grouped)
{
    struct doppel_semantic_grouped *items = grouped->items.items;
    size_t kept = 0;
    if (!grouped->items.count)
        return;
    qsort(items, grouped->items.count, sizeof *items, compare_grouped_items);
    for (size_t i = 0; i < grouped->items.count; i++)
        if (!kept || items[i].item != items[kept - 1].item)
            items[kept++] = items[i];
    grouped->items.count = kept;
}

void grouped_texts_free(struct grouped_texts *grouped)
{
    for (size_t i = 0; i < grouped->files.count; i++)
        free((void *)grouped->files.items[i].path);
    array_free(&grouped->files);
    array_free(&grouped->items);
    array_free(&grouped->numbers);
}
