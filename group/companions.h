/* Which members of a group of images are files of one shot: a raw file of a camera, and what was
 * developed of it beside it. They are no duplicates of each other. */
#ifndef DOPPEL_GROUP_COMPANIONS_H
#define DOPPEL_GROUP_COMPANIONS_H

#include <doppel/group.h>

/* Number the shots that have several files; others stay 0. @return false without memory */
bool mark_companions(struct doppel_group_member *members, size_t count);

/* Whether two members are files of one shot. */
static inline bool are_companions(const struct doppel_group_member *a,
                                  const struct doppel_group_member *b)
{
    return a->shot && a->shot == b->shot;
}

/* Whether all are files of one shot. */
bool is_one_shot(const struct doppel_group_member *members, size_t count);

#endif
