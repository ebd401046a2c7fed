/* The texts of groups that were visited, for those that link them. */
#ifndef DOPPEL_TOOLS_OUTPUT_GROUPS_GROUPED_TEXTS_H
#define DOPPEL_TOOLS_OUTPUT_GROUPS_GROUPED_TEXTS_H

#include <doppel/group.h>
#include <doppel/search_semantic.h>

#include "core/array.h"

struct grouped_texts {
    ARRAY(struct doppel_semantic_grouped) items; /* of a library: by item */
    ARRAY(struct doppel_semantic_file) files;    /* of a scan: all that repeat no other; owned */
    ARRAY(uint64_t) numbers;                     /* of the groups */
    uint64_t duplicates;                         /* of a scan: those that repeat one of these */
};

/* Note the members of a group, if they are texts. @return false without memory */
bool grouped_texts_add(struct grouped_texts *grouped, const struct doppel_group *group);

enum doppel_status grouped_texts_add_file(struct grouped_texts *grouped,
                                          const struct doppel_group_text *text,
                                          struct doppel_error *error);

/* `items` by item, each once. */
void grouped_texts_sort(struct grouped_texts *grouped);

void grouped_texts_free(struct grouped_texts *grouped);

#endif
