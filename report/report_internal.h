/* A report as its files share it: the groups that it was given, with what their previews need. */
#ifndef DOPPEL_REPORT_REPORT_INTERNAL_H
#define DOPPEL_REPORT_REPORT_INTERNAL_H

#include <doppel/group.h>
#include <doppel/match.h>
#include <doppel/report.h>
#include <doppel/run.h>

#include "core/json_writer.h"
#include "core/array.h"

/* Where the line of a record stands in its corpus. */
struct report_record {
    uint64_t line; /* 0: it is no record but a file */
    uint64_t offset, size;
};

/* A member, as it is previewed. */
struct report_member {
    char *path; /* given */
    struct doppel_digest digest;
    int64_t size, mtime_ns;
    double duration;                 /* seconds, of audio and video */
    uint8_t reading;                 /* of a text */
    bool no_file;                    /* the path is a name */
    struct report_record record;     /* its path is that of the corpus, "" of a stream */
    struct doppel_segment *segments; /* what it shares with the first one, which is `b`; given */
    size_t segment_count;
    const struct doppel_semantic_segment *passages; /* of a link: where the texts mean the same */
    size_t passage_count;
};

struct report_group {
    uint64_t number;
    char *json; /* as 'scan --json' prints it, with a digest for each member; given */
    enum doppel_kind kind;
    struct report_member *members; /* the one to keep first; given */
    size_t count;
    bool is_link; /* of two texts that mean the same: `b` of the passages, then `a` */
    struct doppel_semantic_segment *passages; /* given */
};

/* @param out given (report_group_free), also when it fails. @return false without memory */
bool report_group_copy(const struct doppel_group *group, struct report_group *out);
/* Likewise of texts that mean the same: `number` is 0. */
bool report_link_copy(const struct doppel_group_link *link, struct report_group *out);
void report_group_free(struct report_group *group);

#endif
