/* A saved scan that is visited again: its groups as they are by now. */
#ifndef DOPPEL_GROUP_SAVED_SCAN_H
#define DOPPEL_GROUP_SAVED_SCAN_H

#include <stdio.h>

#include <doppel/group.h>

#include "core/array.h"
#include "group/file_names.h"
#include "group/member_rules.h"

enum {
    SAVED_VERSION = 2,       /* 1 had no links */
    LONGEST_LINE = 128 << 20 /* bytes: a group of some 300 000 files */
};

struct saved_scan {
    struct doppel_run *run;
    const char *path;
    const struct doppel_group_options *options;
    FILE *stream;
    ARRAY(char) line;
    size_t number;           /* of the line */
    char *folder;            /* to which its paths are relative; NULL: the working folder */
    struct file_names names; /* of the group in hand */
    struct met_rules met;
    uint64_t gone;     /* files that are not there any more, or are links to others by now */
    uint64_t left_out; /* links of files that are gone or have changed */
    doppel_group_visitor *visit;
    doppel_group_link_visitor *visit_link;
    void *context;
};

/* Begins the line of a link, and of none other. */
#define SAVED_LINK_BEGINNING "{\"kind\":"

/* A link as its line has it. @param out to be freed; untouched on failure.
 * DOPPEL_E_ARGUMENT with a sentence; DOPPEL_E_MEMORY */
enum doppel_status saved_link_from_json(const char *text, size_t size,
                                        struct doppel_group_link *out, struct doppel_error *error);
void saved_link_free(struct doppel_group_link *link);

/* Whether the file of a member is the one that was read, with the same bytes, by its stamp. */
bool member_is_as_saved(const struct doppel_group_member *member);

bool members_have_same_bytes(const struct doppel_group_member *a,
                             const struct doppel_group_member *b);

/* The first with the bytes of each, and what the group would save. */
void group_count_bytes(struct doppel_group *group, struct doppel_group_member *members);

/* Bring a group to what its files are by now: those that changed are left out and told, names that
 * are gone too, and marks count. @param out_count how many members it has left, the first ones;
 * the others stay behind them, to be freed */
enum doppel_status saved_group_update(struct saved_scan *scan, struct doppel_group *group,
                                      size_t *out_count, struct doppel_error *error);

#endif
