/* A search for passages on its way: hits, the items they lie in, what was found. */
#ifndef DOPPEL_MATCH_TEXTS_PASSAGES_SEARCH_H
#define DOPPEL_MATCH_TEXTS_PASSAGES_SEARCH_H

#include "match/texts/passages_hits.h"
#include "match/texts/passages_keys.h"
#include "match/texts/texts_internal.h"

/* An item that shares keys with the query: places[first] on, `count` of them. */
struct passage_candidate {
    uint64_t id, start; /* on the axis */
    uint32_t words;
    size_t first, count;
    float weight; /* of its best chain */
};

struct passage_search {
    const struct doppel_passage_request *request;
    struct doppel_passage_options options;
    bool must_ask; /* what the source does not have is not there */
    struct hits hits;
    ARRAY(struct passage_candidate) candidates;
    key_hit_array item_hits; /* of one candidate */
    chain_array chains;      /* of the same */
    ARRAY(struct doppel_found) found;
};

/** The hits of a candidate, and the chains they make. False without memory. */
bool candidate_chain(struct passage_search *search, const struct passage_candidate *candidate);

/** Compare a candidate with the query; it is appended to what was found when it matches. */
enum doppel_status candidate_verify(struct passage_search *search,
                                    const struct passage_candidate *candidate,
                                    struct doppel_error *error);

#endif
