/* What somebody wants of the members of all groups: which may not be removed, which are rather
 * kept, and that none share a folder. And which of them met no file. */
#ifndef DOPPEL_GROUP_MEMBER_RULES_H
#define DOPPEL_GROUP_MEMBER_RULES_H

#include "group/grouping_internal.h"

/* Whether a path, or what it is from the root on, matches one of the globs: the whole of it, its
 * end, or a folder above. */
bool is_protected(const struct doppel_strings *globs, const char *path);

/* Which rules met a file: a mark or glob that meets none is likely to be a mistake. */
struct met_rules {
    const struct doppel_group_options *options;
    bool *protecting; /* one a glob of options->protect */
};

/* @param out given (met_rules_free) */
enum doppel_status met_rules_init(const struct doppel_group_options *options, struct met_rules *out,
                                  struct doppel_error *error);
void met_rules_free(struct met_rules *met);

/* A file is there; all are noted before the first mark is looked up.
 * @param digest NULL: no mark can be of it, or it was noted by another name */
void met_rules_note(struct met_rules *met, const struct doppel_digest *digest, const char *path);

/* Tell the run which met none. @param pairs see marks_report_missing */
void met_rules_report(const struct met_rules *met, bool pairs, struct doppel_run *run);

/* A folder to keep from that is not there would let others be kept: DOPPEL_E_ARGUMENT. */
enum doppel_status check_keep_from(const struct doppel_strings *folders,
                                   struct doppel_error *error);

/* Leave those of the members that lie in the folders, if any do. @return how many; 0: no memory */
size_t prefer_folders(const struct grouping *grouping, struct led_item *members, size_t count);

/* Whether one of the members lies in the folder of the last one. */
bool last_shares_folder(const struct doppel_group_member *members, size_t count);

/* One member that is to be left alone leaves all of its group alone. */
void group_leave_alone(struct doppel_group_member *members, size_t count);

/* The one to keep or, where that is gone, one that stays anyway, or else the first of the others;
 * `count`: there is none. */
size_t group_copy_left(const struct doppel_group_member *members, size_t count);

/* What all but that one, references, other shots and what is marked to stay take. */
uint64_t group_savable_bytes(const struct doppel_group_member *members, size_t count);

#endif
