/* Where the keys of a query occur in a set of texts. */
#ifndef DOPPEL_MATCH_TEXTS_PASSAGES_HITS_H
#define DOPPEL_MATCH_TEXTS_PASSAGES_HITS_H

#include "core/array.h"
#include "match/texts/passage_axis.h"

/* A key of the query: words[first] on are where it stands in it, `count` of them. */
struct asked_key {
    uint32_t key, first, count;
    uint64_t length; /* places in the set; at last without those of removed items */
    float weight;    /* what a hit tells: the bits by which the key narrows the items down */
};

/* A place of a key in the set. */
struct key_place {
    uint64_t position; /* on the axis */
    uint32_t key;      /* number of the asked key */
};

struct hits {
    ARRAY(struct asked_key) keys; /* rarest first */
    uint32_t *words;
    ARRAY(struct key_place) places; /* by position, then key */
};

/** DOPPEL_OK; DOPPEL_E_MEMORY; DOPPEL_E_CORRUPT. @param out given (hits_free), also on failure; its
 * keys have no weights yet */
enum doppel_status hits_gather(const struct passage_axis *axis,
                               const struct doppel_passage_request *request, struct hits *out,
                               struct doppel_error *error);

/** A place is of a removed item: its key is rarer than it seemed. */
void hits_discount(struct hits *hits, const struct key_place *place);

/** Weigh the keys. @param items in the set */
void hits_weigh(struct hits *hits, uint64_t items);
void hits_free(struct hits *hits);

#endif
