/* Results of pairs that the stage "compare" compared ahead of the decisions. */
#ifndef DOPPEL_CORPUS_DEDUP_COMPARED_H
#define DOPPEL_CORPUS_DEDUP_COMPARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/match.h>

struct compared_pair {
    uint32_t number, earlier; /* a record, and an earlier one */
    double similarity, query_coverage, item_coverage;
    uint16_t distance;
    uint8_t relation, verified, matches, has_coverage, zero[2];
};

/* By number, then by earlier, each once. */
struct compared_pairs {
    const struct compared_pair *items; /* borrowed */
    size_t count;
};

/** Look up a pair. @param out_match complete if they match. @return false: it was not compared */
bool compared_find(const struct compared_pairs *pairs, uint32_t number, uint32_t earlier,
                   struct doppel_match *out_match, bool *out_matches);

#endif
