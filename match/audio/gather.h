/* The hits of a hypothesis, from the index. */
#ifndef DOPPEL_MATCH_AUDIO_GATHER_H
#define DOPPEL_MATCH_AUDIO_GATHER_H

#include "match/audio/search.h"

enum { BOUND_STEPS = 8 };

/* How the keys that are asked add up by chance. */
struct queried {
    size_t count;
    uint64_t bias;             /* what makes all diagonals positive */
    double bound[BOUND_STEPS]; /* ln of the moments of the sum of surprises, by exponent */
};

/* Whether a list of that length tells something. */
bool gather_is_distinctive(const struct ballot *ballot, uint64_t length);

/** The hits of the hypothesis' keys, ballot->hits[0], in no order, but for those of the longest
 * lists where they are too many; ballot->lengths, of those that count. DOPPEL_OK; DOPPEL_E_MEMORY;
 * DOPPEL_E_CORRUPT */
enum doppel_status ballot_gather(struct ballot *ballot, const struct window *window,
                                 const struct hypothesis *hypothesis, struct queried *out_queried,
                                 size_t *out_count, struct doppel_error *error);

#endif
