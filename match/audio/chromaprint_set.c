/* Which of many sequences of AcoustID's codes are worth comparing: hits vote for an item and an
 * offset. */
#include <doppel/match.h>

#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/order.h"

/* A code that stands at more places than HITS_MAX (silence) tells little. Offsets are counted in
 * steps of 2 codes; MIN_VOTES at one offset make a candidate. */
enum {
    RADIUS = 2,
    HITS_MAX = 1000,
    MIN_VOTES = 4,
    PLACE_BITS = DOPPEL_CHROMAPRINT_PLACE_BITS,
    ITEMS_MAX = 1 << 24
};

struct held {
    uint64_t id;
    struct doppel_fingerprint fingerprint;
};

struct doppel_chromaprints {
    struct doppel_index *own; /* payload: number of the item, then place of the code in it */
    ARRAY(struct held) items;
    const struct doppel_index *index;  /* that is searched: its own, or one by ids of items */
    doppel_chromaprint_source *source; /* NULL: they are in `items` */
    void *context;                     /* of the source */
};

struct doppel_index_options doppel_chromaprints_index_options(void)
{
    struct doppel_index_options options = doppel_index_options_default();
    options.bits = 32;
    options.design_radius = RADIUS;
    return options;
}

enum doppel_status doppel_chromaprints_new(struct doppel_chromaprints **out,
                                           struct doppel_error *error)
{
    const struct doppel_index_options options = doppel_chromaprints_index_options();
    struct doppel_chromaprints *set = calloc(1, sizeof *set);
    if (!set)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a set of Chromaprints");
    enum doppel_status status = doppel_index_new(&options, &set->own, error);
    set->index = set->own;
    if (status)
        free(set);
    else
        *out = set;
    return status;
}

enum doppel_status doppel_chromaprints_over(const struct doppel_index *index,
                                            doppel_chromaprint_source *source, void *context,
                                            struct doppel_chromaprints **out,
                                            struct doppel_error *error)
{
    struct doppel_chromaprints *set = calloc(1, sizeof *set);
    if (!set)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a set of Chromaprints");
    *set = (struct doppel_chromaprints){.index = index, .source = source, .context = context};
    *out = set;
    return DOPPEL_OK;
}

void doppel_chromaprints_free(struct doppel_chromaprints *set)
{
    if (!set)
        return;
    for (size_t i = 0; i < set->items.count; i++)
        doppel_fingerprint_free(&set->items.items[i].fingerprint);
    array_free(&set->items);
    doppel_index_free(set->own);
    free(set);
}

static enum doppel_status insert_chromaprints(struct doppel_chromaprints *set, uint64_t number,
                                              const struct doppel_fingerprint *fingerprint,
                                              struct doppel_error *error)
{
    uint64_t *codes = malloc((fingerprint->count + 1u) * sizeof *codes);
    uint64_t *payloads = malloc((fingerprint->count + 1u) * sizeof *payloads);
    enum doppel_status status = DOPPEL_OK;
    if (codes && payloads) {
        for (uint32_t i = 0; i < fingerprint->count; i++) {
            codes[i] = fingerprint->codes[i].word[0];
            payloads[i] = number << PLACE_BITS | i;
        }
        status = doppel_index_insert(set->own, codes, payloads, fingerprint->count, error);
    } else
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %u codes", fingerprint->count);
    free(codes);
    free(payloads);
    return status;
}

static enum doppel_status copy_chromaprint_codes(const struct doppel_fingerprint *from,
                                                 struct doppel_fingerprint *out,
                                                 struct doppel_error *error)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_CHROMAPRINT);
    enum doppel_status status =
        doppel_fingerprint_make(scheme, scheme->code_bits, from->count, out, error);
    if (!status && from->count) {
        memcpy(out->codes, from->codes, from->count * sizeof *from->codes);
        memcpy(out->positions, from->positions, from->count * sizeof *from->positions);
    }
    return status;
}

enum doppel_status doppel_chromaprints_add(struct doppel_chromaprints *set, uint64_t id,
                                           const struct doppel_fingerprint *fingerprint,
                                           struct doppel_error *error)
{
    struct held held = {.id = id};
    if (set->source)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "the index of the set is somebody else's");
    if (fingerprint->count >> PLACE_BITS || set->items.count == ITEMS_MAX)
        return doppel_fail(error, DOPPEL_E_LIMIT, "too many Chromaprints, or too long a one");
    enum doppel_status status = copy_chromaprint_codes(fingerprint, &held.fingerprint, error);
    if (status)
        return status;
    if (array_reserve(&set->items))
        status = insert_chromaprints(set, set->items.count, fingerprint, error);
    else
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a Chromaprint");
    if (status)
        doppel_fingerprint_free(&held.fingerprint);
    else
        set->items.items[set->items.count++] = held;
    return status;
}

/* A hit as what it votes for: the item, and how far the query lies behind, in steps of 2 codes. */
static uint64_t vote_of(const struct doppel_index_hit *hit)
{
    uint64_t place = hit->payload & ((UINT64_C(1) << PLACE_BITS) - 1);
    uint64_t offset = place + (UINT64_C(1) << PLACE_BITS) - hit->query;
    return (hit->payload >> PLACE_BITS) << (PLACE_BITS + 1) | offset / 2;
}

/* Numbers of items that are worth comparing, ascending, at the beginning of `votes`. */
static size_t elect_candidates(uint64_t *votes, size_t count)
{
    size_t elected = 0;
    qsort(votes, count, sizeof *votes, compare_u64);
    for (size_t i = 0, end; i < count; i = end) {
        uint64_t item = votes[i] >> (PLACE_BITS + 1);
        for (end = i + 1; end < count && votes[end] <= votes[i] + 1; end++)
            ;
        bool enough = end - i >= MIN_VOTES;
        if (enough && (!elected || votes[elected - 1] != item))
            votes[elected++] = item;
    }
    return elected;
}

static enum doppel_status search_chromaprints(const struct doppel_chromaprints *set,
                                              const struct doppel_fingerprint *query,
                                              uint64_t **out, size_t *out_count,
                                              struct doppel_error *error)
{
    uint64_t *codes = malloc((query->count + 1u) * sizeof *codes);
    if (!codes)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %u codes", query->count);
    for (uint32_t i = 0; i < query->count; i++)
        codes[i] = query->codes[i].word[0];
    struct doppel_index_request request = {
        .queries = codes, .count = query->count, .radius = RADIUS, .cap = HITS_MAX};
    struct doppel_index_hit *hits = NULL;
    size_t count;
    enum doppel_status status =
        doppel_index_search_array(set->index, &request, &hits, &count, error);
    free(codes);
    if (status)
        return status;
    uint64_t *votes = malloc((count + 1) * sizeof *votes);
    for (size_t i = 0; votes && i < count; i++)
        votes[i] = vote_of(&hits[i]);
    free(hits);
    if (!votes)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %zu votes", count);
    *out_count = elect_candidates(votes, count);
    *out = votes;
    return DOPPEL_OK;
}

static enum doppel_status score_held(const struct held *held,
                                     const struct doppel_fingerprint *query, uint32_t max_distance,
                                     doppel_found_visitor *visitor, void *context,
                                     struct doppel_error *error)
{
    struct doppel_found found = {.id = held->id};
    enum doppel_status status =
        doppel_match_chromaprints(query, &held->fingerprint, max_distance, &found.match, error);
    if (!status && found.match.segment_count && !visitor(context, &found))
        status = doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
    if (!status || status == DOPPEL_E_CANCELLED)
        free((void *)found.match.segments);
    return status;
}

enum doppel_status doppel_chromaprints_find(const struct doppel_chromaprints *set,
                                            const struct doppel_fingerprint *query,
                                            uint32_t max_distance, doppel_found_visitor *visitor,
                                            void *context, struct doppel_error *error)
{
    uint64_t *items = NULL;
    size_t count = 0;
    enum doppel_status status = search_chromaprints(set, query, &items, &count, error);
    for (size_t i = 0; i < count && !status; i++) {
        struct held asked = {.id = items[i]};
        if (!set->source)
            asked = set->items.items[items[i]];
        else if (!set->source(set->context, items[i], &asked.fingerprint))
            continue;
        status = score_held(&asked, query, max_distance, visitor, context, error);
        if (set->source)
            doppel_fingerprint_free(&asked.fingerprint);
    }
    free(items);
    return status;
}
