/* The state of a search in kept tables: its query, and the candidates so far. */
#ifndef DOPPEL_MATCH_IMAGES_KEPT_SEARCH_H
#define DOPPEL_MATCH_IMAGES_KEPT_SEARCH_H

#include <pthread.h>

#include "match/images/images_internal.h"

/* The payload of a code of phash64, from bit 0 on: its view, whether it has 64 bits alone, the
 * views of the picture, and its id. */
enum { BARE_BIT = 4, VIEWS_BIT = 5, ID_BIT = VIEWS_BIT + DOPPEL_VIEW_COUNT };

/* Views that are compared only with the full frame of the other, if both have them. */
#define CROPS (UINT32_MAX << DOPPEL_VIEW_CENTRE)

typedef ARRAY(uint64_t) id_array;

struct kept_search {
    const struct doppel_image_request *request;
    struct doppel_image_codes query;
    struct doppel_image_probe probes[2 * DOPPEL_VIEW_COUNT]; /* as it is, and transposed */
    uint32_t probe_views[2 * DOPPEL_VIEW_COUNT];
    size_t probe_count;
    size_t frame_count;               /* the first ones: not of crops */
    uint32_t query_views, item_views; /* that are looked up, and that are found */
    uint32_t radius;
    bool gated; /* of pictures whose codes have 256 bits */
    struct doppel_image_gate gate;
    bool by_default; /* no distance or similarity is wanted */
    pthread_mutex_t lock;
    id_array candidates;
    ARRAY(struct doppel_index_hit) hits; /* of schemes without views: instead of candidates */
    bool no_memory;
};

/** Note an id; repeats are allowed. Thread-safe. */
void push_candidate(struct kept_search *search, uint64_t id);

/** Whether crops of both that look alike make up for full frames that do not quite.
 * @param payload of the code that was found */
bool has_crops_alike(const struct kept_search *search, uint64_t payload);

/** Note the candidates of phash64 by all views of the query. */
enum doppel_status scan_views(struct kept_search *search, struct doppel_error *error);

#endif
