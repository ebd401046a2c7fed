/* What somebody wants of the members of all groups: which may not be removed, which are rather
 * kept, and that none share a folder. */
#ifndef DOPPEL_GROUP_MEMBER_RULES_H
#define DOPPEL_GROUP_MEMBER_RULES_H

#include "group/grouping_internal.h"

/* Whether a path matches one of the globs. */
bool is_protected(const struct doppel_strings *globs, const char *path);

/* Leave those of the members that lie in the folders, if any do. @return how many; 0: no memory */
size_t prefer_folders(const struct grouping *grouping, struct led_item *members, size_t count);

/* Whether one of the members lies in the folder of the last one. */
bool last_shares_folder(const struct doppel_group_member *members, size_t count);

#endif
