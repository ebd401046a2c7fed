/* What the files of the room share of a matcher: how fingerprints are packed, and candidates. */
#ifndef DOPPEL_MATCH_IMAGES_IMAGES_INTERNAL_H
#define DOPPEL_MATCH_IMAGES_IMAGES_INTERNAL_H

#include <pthread.h>

#include <doppel/match.h>

#include "core/array.h"
#include "match/id_map.h"
#include "match/images/lookups.h"
#include "match/images/tables.h"

/* A fingerprint without its overhead. Free slots have no views. */
struct packed {
    uint32_t first; /* of its codes in the arena */
    uint16_t views; /* bit v: there is a code with position v, in ascending order */
    uint8_t quality;
    bool searchable : 1; /* its codes are in the tables */
    bool bare       : 1; /* its codes have the scheme's bits alone, as lists of others have them */
};

_Static_assert(DOPPEL_VIEW_COUNT <= 16, "views of a packed fingerprint are bits of 16");

/* What doppel_matcher_find searches: filled by the first search, so that a matcher that is only
 * joined does without. Payload = slot. */
struct search_tables {
    pthread_mutex_t lock;
    struct tables tables;
    uint32_t filled; /* slots under it are in the tables, or have nothing to be found by */
};

struct doppel_matcher {
    const struct doppel_scheme *scheme;
    struct doppel_match_options options;
    uint32_t threads, radius, full_radius;
    bool (*cancelled)(void *context); /* NULL: never */
    void *cancel_context;
    bool has_bare; /* some were added */
    struct search_tables *search;
    ARRAY(struct packed) packed; /* by slot, as are ids */
    ARRAY(uint64_t) ids;
    ARRAY(struct doppel_code) codes; /* the arena */
    ARRAY(uint32_t) free_slots;
    size_t dead_codes; /* in the arena */
    struct id_map map;
};

/** A packed fingerprint as doppel_match_pair takes it: borrows the arena and itself. */
struct unpacked {
    struct doppel_fingerprint fingerprint;
    struct doppel_match_item item;
    uint32_t positions[DOPPEL_VIEW_COUNT];
};

/** Whether the picture in a slot is compared with others at all. */
bool matcher_is_distinctive(const struct doppel_matcher *matcher, uint32_t slot);

void matcher_unpack(const struct doppel_matcher *matcher, uint32_t slot, struct unpacked *out);

/** Judge a pair. @return whether it is to be visited: it matches, or is borderline and
 * borderline ones are wanted. */
bool matcher_verify(const struct doppel_matcher *matcher, const struct doppel_match_item *query,
                    const struct doppel_match_item *item, struct doppel_found *out);

typedef ARRAY(struct doppel_found) found_array;

/** Visit what was found, best first. DOPPEL_OK; DOPPEL_E_CANCELLED */
enum doppel_status found_visit_ranked(found_array *found, doppel_found_visitor *visitor,
                                      void *context, struct doppel_error *error);

/** Numbers, each once: those that a picture's look-ups hit. */
struct candidates {
    uint64_t *seen; /* bit n: n is in the list */
    ARRAY(uint32_t) list;
};

/** Room for numbers under `limit`; false when there is no memory. */
bool candidates_make(struct candidates *candidates, size_t limit);
void candidates_free(struct candidates *candidates);

/** Add a number; false when there is no memory. */
bool candidates_add(struct candidates *candidates, uint32_t number);

#endif
