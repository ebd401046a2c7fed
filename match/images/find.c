/* All that matches one picture. */
#include "match/images/images_internal.h"

#include <stdlib.h>

#include "core/try.h"
#include "match/images/pair.h"

struct match_gathering {
    struct candidates candidates;
    bool no_memory;
};

static bool gather_image_hits(void *context, const struct doppel_index_hit *hit)
{
    struct match_gathering *gathering = context;
    gathering->no_memory = !candidates_add(&gathering->candidates, (uint32_t)hit->payload);
    return !gathering->no_memory;
}

/* Put the pictures that were added since the last search into the tables. */
static enum doppel_status fill_tables(const struct doppel_matcher *matcher,
                                      struct doppel_error *error)
{
    struct search_tables *search = matcher->search;
    enum doppel_status status = DOPPEL_OK;
    pthread_mutex_lock(&search->lock);
    for (; search->filled < matcher->packed.count && !status; search->filled += !status) {
        struct packed *packed = &matcher->packed.items[search->filled];
        if (packed->searchable || !matcher_is_distinctive(matcher, search->filled))
            continue;
        status = tables_insert(&search->tables, matcher, search->filled, search->filled, error);
        packed->searchable = !status;
        if (status)
            (void)tables_remove(&search->tables, search->filled);
    }
    pthread_mutex_unlock(&search->lock);
    return status;
}

static enum doppel_status look_up_matcher(const struct doppel_matcher *matcher,
                                          const struct doppel_match_item *query,
                                          struct match_gathering *gathering,
                                          struct doppel_error *error)
{
    const struct tables *tables = &matcher->search->tables;
    const struct doppel_fingerprint *fingerprint = query->fingerprint;
    uint64_t codes[MAX_LOOKUP_WORDS];
    size_t count = lookups_of_query(fingerprint, &matcher->options, codes);
    enum doppel_status status;
    TRY(tables_search(tables->codes, codes, count, matcher->radius, gather_image_hits, gathering,
                      error));
    if (tables->asks) {
        count = lookups_of_item(fingerprint, &matcher->options, codes);
        TRY(tables_search(tables->asks, codes, count, matcher->radius, gather_image_hits, gathering,
                          error));
    }
    if (tables->full && lookups_of_full(fingerprint, codes))
        TRY(tables_search(tables->full, codes, 1, matcher->full_radius, gather_image_hits,
                          gathering, error));
done:
    if (gathering->no_memory)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the candidates of a search");
    return status;
}

/* Best first: what matches, then what is borderline; by rate, by similarity, then by id. */
static int compare_found_images(const void *left, const void *right)
{
    const struct doppel_found *a = left, *b = right;
    if (a->borderline != b->borderline)
        return a->borderline ? 1 : -1;
    if (a->match.false_positive_rate < b->match.false_positive_rate)
        return -1;
    if (a->match.false_positive_rate > b->match.false_positive_rate)
        return 1;
    if (a->match.similarity < b->match.similarity)
        return 1;
    if (a->match.similarity > b->match.similarity)
        return -1;
    return a->id < b->id ? -1 : a->id > b->id;
}

bool matcher_verify(const struct doppel_matcher *matcher, const struct doppel_match_item *query,
                    const struct doppel_match_item *item, struct doppel_found *out)
{
    bool matches = doppel_match_pair(query, item, &matcher->options, &out->match);
    out->borderline = !matches && doppel_match_borderline(&out->match, &matcher->options);
    return matches || out->borderline;
}

static bool verify_all_candidates(const struct doppel_matcher *matcher,
                                  const struct doppel_match_item *query,
                                  const struct candidates *candidates, found_array *found)
{
    for (size_t i = 0; i < candidates->list.count; i++) {
        struct unpacked item;
        uint32_t slot = candidates->list.items[i];
        struct doppel_found one = {.id = matcher->ids.items[slot]};
        if (!matcher_is_distinctive(matcher, slot)) /* without memory it could not be removed */
            continue;
        matcher_unpack(matcher, slot, &item);
        if (matcher_verify(matcher, query, &item.item, &one) && !array_push(found, one))
            return false;
    }
    return true;
}

enum doppel_status found_visit_ranked(found_array *found, doppel_found_visitor *visitor,
                                      void *context, struct doppel_error *error)
{
    if (found->count > 1)
        qsort(found->items, found->count, sizeof *found->items, compare_found_images);
    for (size_t i = 0; i < found->count; i++)
        if (!visitor(context, &found->items[i]))
            return doppel_fail(error, DOPPEL_E_CANCELLED, "the search was ended by its caller");
    return DOPPEL_OK;
}

enum doppel_status doppel_matcher_find(const struct doppel_matcher *matcher,
                                       const struct doppel_match_item *query,
                                       doppel_found_visitor *visitor, void *context,
                                       struct doppel_error *error)
{
    struct match_gathering gathering = {0};
    found_array found = {0};
    if (query->fingerprint->scheme != matcher->scheme->id ||
        query->fingerprint->version != matcher->scheme->version || !query->fingerprint->count)
        return doppel_fail(error, DOPPEL_E_VERSION,
                           "the fingerprint asked for is not of %s, version %u",
                           matcher->scheme->name, matcher->scheme->version);
    if (!is_distinctive(query))
        return DOPPEL_OK;
    enum doppel_status status = fill_tables(matcher, error);
    if (status)
        return status;
    status = DOPPEL_E_MEMORY;
    if (!candidates_make(&gathering.candidates, matcher->ids.count))
        goto end;
    status = look_up_matcher(matcher, query, &gathering, error);
    if (status)
        goto end;
    if (verify_all_candidates(matcher, query, &gathering.candidates, &found))
        status = found_visit_ranked(&found, visitor, context, error);
    else
        status = DOPPEL_E_MEMORY;
end:
    if (status == DOPPEL_E_MEMORY)
        doppel_fail(error, status, "no memory for a search");
    array_free(&found);
    candidates_free(&gathering.candidates);
    return status;
}

bool doppel_matcher_compare(const struct doppel_matcher *matcher, uint64_t query_id,
                            uint64_t item_id, struct doppel_match *out_match)
{
    uint32_t query_slot = id_map_find(&matcher->map, query_id);
    uint32_t item_slot = id_map_find(&matcher->map, item_id);
    if (query_slot == ID_MAP_NONE || item_slot == ID_MAP_NONE)
        return false;
    struct unpacked query, item;
    matcher_unpack(matcher, query_slot, &query);
    matcher_unpack(matcher, item_slot, &item);
    (void)doppel_match_pair(&query.item, &item.item, &matcher->options, out_match);
    return true;
}
