/*
 * Hits vote for alignments. A hit of a voter, a place of the query, at a position of the set speaks
 * for one diagonal: position in the set less position in the query. The hits of a true alignment
 * lie on one diagonal, or on neighbours of it; those of chance are spread over all.
 */
#ifndef DOPPEL_MATCH_VOTES_H
#define DOPPEL_MATCH_VOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/radix_sort.h"

enum {
    VOTER_BITS = 20, /* a hit is diagonal << VOTER_BITS | voter */
    VOTES_WIDTH = 3, /* neighbouring diagonals that count together */
    VOTES_APART = 6, /* diagonals nearer than this to a better one tell nothing new */
    VOTES_BEST = 128
};

static inline uint64_t vote_hit(uint64_t diagonal, uint32_t voter)
{
    return diagonal << VOTER_BITS | voter;
}

static inline uint64_t vote_diagonal(uint64_t hit)
{
    return hit >> VOTER_BITS;
}

static inline uint32_t vote_voter(uint64_t hit)
{
    return (uint32_t)hit & ((1u << VOTER_BITS) - 1);
}

struct votes {
    const uint64_t *hits; /* by diagonal */
    size_t count;
    const uint32_t *weights; /* of the voters */
    uint32_t *seen;          /* by voter, all 0; so it is again afterwards */
    size_t best;             /* peaks wanted, 1 to VOTES_BEST */
};

/* Diagonals that many voters speak for: hits[first] on, before hits[end], on VOTES_WIDTH of them.
 */
struct votes_peak {
    uint64_t middle; /* diagonal; the least in the hits is VOTES_WIDTH / 2 or more */
    uint64_t weight; /* of all its voters, each counted once */
    size_t first, end;
};

/* Whether a peak is wanted. */
typedef bool votes_filter(void *context, const struct votes_peak *peak);

/* The heaviest peaks, heaviest first, none near another. @return how many */
size_t votes_count(const struct votes *votes, votes_filter *filter, void *context,
                   struct votes_peak out[VOTES_BEST]);

#endif
