/* Lists of keys, looked up once for all hypotheses that ask them. */
#ifndef DOPPEL_MATCH_AUDIO_LISTS_H
#define DOPPEL_MATCH_AUDIO_LISTS_H

#include <doppel/index.h>

#include "core/array.h"

struct vote_lists {
    double pitch;             /* of those that ask */
    uint32_t *slots;          /* by hash of the key: its number + 1; 0: none */
    uint32_t *keys, *lengths; /* by number */
    uint32_t *askers;         /* by number: the last voter that asks it + 1; 0: none */
    uint32_t *next_askers;    /* by voter: another one that asks the same, likewise */
    uint32_t *asked;          /* by voter: the number of its key */
    size_t count, capacity;
    unsigned slot_bits;
    ARRAY(uint64_t) places; /* position << VOTER_BITS | number */
};

/** @param most_voters of a question. False without memory; to be freed in any case */
bool lists_init(struct vote_lists *lists, size_t most_voters);
void lists_free(struct vote_lists *lists);

/* The keys of a hypothesis, each a voter. */
struct lists_question {
    double pitch;         /* of another one all that is kept is forgotten */
    const uint32_t *keys; /* by voter */
    const uint32_t *hops; /* likewise, of the window */
    size_t count;
    uint64_t bias;      /* of diagonals */
    uint64_t *lengths;  /* filled, by voter */
    uint64_t *hits;     /* filled: vote_hit(), in no order */
    size_t most;        /* of these: beyond it the longest lists count as empty */
    size_t most_places; /* that are looked at */
};

/** @return DOPPEL_OK; DOPPEL_E_LIMIT, with no sentence: there are more places, or there is no
 * memory to keep them; DOPPEL_E_CORRUPT */
enum doppel_status lists_ask(struct vote_lists *lists, const struct doppel_index_axis *axis,
                             const struct lists_question *question, size_t *out_count,
                             struct doppel_error *error);

/** The longest list that counts, where no more than `most` hits are wanted: the longest are left
 * out first. */
uint64_t lists_longest(const uint64_t *lengths, size_t count, size_t most);

#endif
