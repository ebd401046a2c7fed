/* What somebody wants of the members of all groups: which may not be removed, which are rather
 * kept, and that none share a folder. */
#ifndef DOPPEL_GROUP_MEMBER_RULES_H
#define DOPPEL_GROUP_MEMBER_RULES_H

#include "group/grouping_internal.h"

/* Whether a path, or what it is from the root on, matches one of the globs: the whole of it, its
 * end, or a folder above. */
bool is_protected(const struct doppel_strings *globs, const char *path);

/* Note which of the globs protect a file. @param used one a glob */
void note_protecting(const struct doppel_strings *globs, const char *path, bool *used);

/* A folder to keep from that is not there would let others be kept: DOPPEL_E_ARGUMENT. */
enum doppel_status check_keep_from(const struct doppel_strings *folders,
                                   struct doppel_error *error);

/* Leave those of the members that lie in the folders, if any do. @return how many; 0: no memory */
size_t prefer_folders(const struct grouping *grouping, struct led_item *members, size_t count);

/* Whether one of the members lies in the folder of the last one. */
bool last_shares_folder(const struct doppel_group_member *members, size_t count);

/* One member that is to be left alone leaves all of its group alone. */
void group_leave_alone(struct doppel_group_member *members, size_t count);

/* What all but the one to keep, references, other shots and what is marked to stay take. */
uint64_t group_savable_bytes(const struct doppel_group_member *members, size_t count);

#endif
