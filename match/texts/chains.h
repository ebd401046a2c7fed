/* Alignment by keys alone: hits of two texts that follow each other in both. */
#ifndef DOPPEL_MATCH_TEXTS_CHAINS_H
#define DOPPEL_MATCH_TEXTS_CHAINS_H

#include "match/texts/align.h"

/* A key that stands at a word of the query (a) and at one of the item (b). */
struct key_hit {
    uint32_t a, b;
    float weight;
};

/** A passage as the keys tell it, each of SEED_WORDS words; `matched` are the words they cover. */
struct chain {
    struct aligned aligned;
    float weight; /* of its hits in all */
};

typedef ARRAY(struct chain) chain_array;

/** Chain hits. @param hits by b, then a. @param out emptied before. False without memory. */
bool chain_hits(const struct key_hit *hits, size_t count, chain_array *out);

#endif
