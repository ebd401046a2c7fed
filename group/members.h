/* The members of a group on its way out. */
#ifndef DOPPEL_GROUP_MEMBERS_H
#define DOPPEL_GROUP_MEMBERS_H

#include "group/grouping_internal.h"

/* By number, with the match of each; zero-initialised there are none. */
struct group_members {
    struct doppel_group_member *items;
    struct doppel_match *matches;
    struct doppel_image_origin *origins; /* of images */
    uint32_t *numbers;                   /* in the grouping */
    size_t count;
};

/* Fill in what is known of each member of a group, the one to keep first.
 * @param out given (group_members_free), also on failure. @return false without memory */
bool group_members_fill(const struct grouping *grouping, const struct led_item *members,
                        size_t count, uint32_t kept, struct group_members *out);
void group_members_free(struct group_members *members);

/* What is decided about an item: of its names the one that loses less. @return false without
 * memory */
bool group_file_mark(const struct grouping *grouping, uint32_t number, enum doppel_file_mark *out);

#endif
