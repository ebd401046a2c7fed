/* What comparing two texts for passages shares with searching many. */
#ifndef DOPPEL_MATCH_TEXTS_TEXTS_INTERNAL_H
#define DOPPEL_MATCH_TEXTS_TEXTS_INTERNAL_H

#include <doppel/match.h>

#include "match/texts/align.h"

struct passage_counts {
    uint32_t query, item; /* words */
};

/** Describe what was found: all but the segments. False without memory. */
bool describe_passages(const struct passage_counts *counts, const aligned_array *found,
                       const struct doppel_passage_options *options, struct doppel_match *out);

/** Alignments of this score, or a higher one, to be expected by chance between a text of
 * `query_words` and unrelated texts of `library_words` in all. */
double passage_rate(int64_t score, uint64_t query_words, uint64_t library_words);

#endif
