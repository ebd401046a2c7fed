/* Two records of any kind: whether they match, and how near they are. */
#ifndef DOPPEL_COMPARE_PAIR_H
#define DOPPEL_COMPARE_PAIR_H

#include <stdbool.h>

#include <jansson.h>

#include <doppel/library.h>
#include <doppel/match.h>

#include "compare/video.h"
#include "tools/args/options.h"

/* What came of a comparison. */
struct pair_match {
    bool matches;
    struct doppel_match match; /* segments are given (pair_match_free) */
    bool of_video;             /* then `match` is a copy of what describes the pair in `video` */
    struct video_match video;
};

void pair_match_free(struct pair_match *pair);

/* Whether two records can be compared at all: they are of one kind, or one is of a video and the
 * other of a recording or a picture. */
bool pair_is_comparable(const struct doppel_record *a, const struct doppel_record *b);

/* Compare two records that can be. @param out filled also when they do not match */
void pair_judge(const struct settings *settings, const struct doppel_record *a,
                const struct doppel_record *b, struct pair_match *out);

/* What is said of two of the same bytes, or pixels. */
void pair_of_same_content(const struct doppel_record *record, struct pair_match *out);

/* The limit that decided, in the unit in which it was, or could have been, given. */
json_t *pair_limit(const struct settings *settings, enum doppel_scheme_id scheme);

/* Why near codes may be no match: a picture without structure is like every other such, and so is
 * a text of few words. NULL: nothing stands against it. */
const char *pair_obstacle(const struct settings *settings, const struct doppel_record *record);

#endif
