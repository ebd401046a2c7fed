/* What lies beside an image and goes with it: sidecars, and the video of a live photo. */
#ifndef DOPPEL_ACT_SIDECARS_H
#define DOPPEL_ACT_SIDECARS_H

#include "act/plan_internal.h"

/* Add what goes with the images of a group that go.
 * @param first number of the first file of the group in the plan, whose files are those of its
 * members, in their order. @return false without memory */
bool add_sidecars(struct doppel_plan *plan, const struct doppel_group *group, size_t first);

/* Files of one shot go together or stay: with the one to keep, or where one of them stays. */
void keep_shots_whole(struct doppel_plan *plan, const struct doppel_group *group, size_t first);

#endif
