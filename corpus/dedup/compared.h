/* Pairs of texts that were compared before all is decided, by others. */
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

/** What came of a pair. @param out_match whole where they match. @return false: it was not compared
 */
bool compared_find(const struct compared_pairs *pairs, uint32_t number, uint32_t earlier,
                   struct doppel_match *out_match, bool *out_matches);

#endif
