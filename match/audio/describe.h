/* From the runs of one item to a match. */
#ifndef DOPPEL_MATCH_AUDIO_DESCRIBE_H
#define DOPPEL_MATCH_AUDIO_DESCRIBE_H

#include "match/audio/segments.h"

typedef ARRAY(struct doppel_segment) segment_array;

/**
 * Describe the runs of one item that are within the limit of rate, or, when none is, the best one
 * of them.
 * @param runs some. @param segments emptied before; borrowed by `*out`. @param out_within whether
 * it is a match. False without memory.
 */
bool runs_describe(const struct run *runs, size_t count, double query_duration, double max_rate,
                   segment_array *segments, struct doppel_match *out, bool *out_within);

/* ---- what is the same recording (shared.c) ---- */

/** Whether a described match, of recordings of so many seconds, is of two that share a loop or a
 * sample. */
bool match_is_shared(const struct doppel_match *match, double query, double item);

/* Where in the query an item was found, and how much of its peaks. */
struct matched_stretch {
    double start, end, similarity;
};

typedef ARRAY(struct matched_stretch) matched_array;

/** Note where the query was found. False without memory. */
bool matched_note(matched_array *better, const struct doppel_match *match);

/** Whether items that were noted have the same stretches of the query, and far more of their peaks:
 * then they are what was heard, and this one shares something with them. */
bool matched_explain(const matched_array *better, const struct doppel_match *match);

#endif
