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

#endif
