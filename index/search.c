/* Searches: the head and all segments for some queries at a time, what is removed left out. */
#include <stdlib.h>
#include <string.h>

#include "core/ordered.h"
#include "index/bands/bands.h"
#include "index/index_internal.h"
#include "index/vectors.h"

enum { QUERIES_A_PIECE = 32 }; /* enough to make reading the codes from memory cheap */

/* A single query has a share of the codes of linear tables as a piece, of so many at least. */
enum { SHARE_CODES = 1 << 17, SHARES_A_THREAD = 8 };

/* Memory for one piece at a time, used again by later searches. */
struct searcher {
    struct searcher *next; /* in the pool */
    struct table_scratch scratch;
    struct query queries[QUERIES_A_PIECE];
    hit_array hits[QUERIES_A_PIECE];
    size_t before[QUERIES_A_PIECE]; /* hits, before the source that is being searched */
    hit_array extra;
    size_t share;
    struct doppel_index_counts counts;
    enum doppel_status status;
    struct doppel_error error;
};

struct index_query {
    const struct doppel_index *index;
    const struct doppel_index_request *request;
    struct snapshot snapshot;
    size_t k; /* 0: all within the radius */
    uint32_t radius;
    const struct bands_options *bands; /* that are not the table's own; else NULL */
    doppel_index_visitor *visitor;
    void *context;
    struct searcher **searchers; /* one a slot */
    size_t shares;               /* of a single query; 1: it is not shared */
    hit_array gathered;          /* of its shares */
    enum doppel_status status;
    struct doppel_error *error;
};

/* ---- the pool ---- */

static struct searcher *take_searcher(const struct doppel_index *index)
{
    struct index_shared *shared = index->shared;
    pthread_mutex_lock(&shared->pool_lock);
    struct searcher *searcher = shared->pool;
    if (searcher)
        shared->pool = searcher->next;
    pthread_mutex_unlock(&shared->pool_lock);
    return searcher ? searcher : calloc(1, sizeof *searcher);
}

static void give_back(const struct doppel_index *index, struct searcher *searcher)
{
    struct index_shared *shared = index->shared;
    if (!searcher)
        return;
    pthread_mutex_lock(&shared->pool_lock);
    searcher->next = shared->pool;
    shared->pool = searcher;
    pthread_mutex_unlock(&shared->pool_lock);
}

void searchers_free(struct searcher *pool)
{
    while (pool) {
        struct searcher *next = pool->next;
        table_scratch_free(&pool->scratch);
        for (size_t i = 0; i < QUERIES_A_PIECE; i++)
            array_free(&pool->hits[i]);
        array_free(&pool->extra);
        free(pool);
        pool = next;
    }
}

/* ---- sources: the parts, and the head after the last of them ---- */

/* All but linear tables belong to the first share. */
static enum doppel_status search_linear_share(const struct index_query *search,
                                              struct searcher *searcher,
                                              const struct scan_codes *codes, struct query *query)
{
    const struct scan_codes share = scan_codes_share(codes, searcher->share, search->shares);
    searcher->counts.candidates += share.count;
    return scan_within(&share, query, 1) ? segment_damage(share.segment, &searcher->error)
                                         : doppel_fail(&searcher->error, DOPPEL_E_MEMORY,
                                                       "no memory for the hits of a search");
}

static enum doppel_status search_source(const struct index_query *search, struct searcher *searcher,
                                        size_t source, struct query *queries, size_t count,
                                        size_t k)
{
    const struct state *state = search->snapshot.state;
    const struct scan_codes *linear = search->shares > 1 && source < state->count
                                          ? table_codes(state->parts[source]->table)
                                          : NULL;
    if (linear)
        return search_linear_share(search, searcher, linear, queries);
    if (searcher->share)
        return DOPPEL_OK;
    if (source < state->count) {
        const struct table *table = state->parts[source]->table;
        enum doppel_status status = table_search(table, &searcher->scratch, queries, count, k,
                                                 &searcher->counts, &searcher->error);
        return status ? status : segment_damage(table_segment(table), &searcher->error);
    }
    pthread_rwlock_rdlock(&search->index->shared->lock);
    enum doppel_status status =
        head_search(&search->snapshot.head, queries, count, k, &searcher->counts, &searcher->error);
    pthread_rwlock_unlock(&search->index->shared->lock);
    return status;
}

static bool needs_filter(const struct index_query *search, size_t source)
{
    const struct state *state = search->snapshot.state;
    if (search->request->filter)
        return true;
    return source < state->count &&
           (search->snapshot.head.clock || state_removes_any(state, source, state->count));
}

/* Leave out what is removed or not wanted of the hits from `start` on. */
static void filter_hits(const struct index_query *search, size_t source, hit_array *hits,
                        size_t start)
{
    const struct doppel_index_request *request = search->request;
    size_t kept = start;
    for (size_t i = start; i < hits->count; i++) {
        uint64_t payload = hits->items[i].payload;
        bool removed = source < search->snapshot.state->count &&
                       snapshot_removes(search->index, &search->snapshot, source, payload);
        if (!removed && (!request->filter || request->filter(request->filter_context, payload)))
            hits->items[kept++] = hits->items[i];
    }
    hits->count = kept;
}

/* The k nearest of a source when some of it does not count: more are asked for until k are left. */
static enum doppel_status nearest_filtered(const struct index_query *search,
                                           struct searcher *searcher, size_t source,
                                           struct query *query)
{
    hit_array *extra = &searcher->extra;
    size_t asked = search->k, got;
    do {
        struct query again = *query;
        again.hits = extra;
        extra->count = 0;
        enum doppel_status status = search_source(search, searcher, source, &again, 1, asked);
        if (status)
            return status;
        got = extra->count;
        filter_hits(search, source, extra, 0);
        if (got < asked || extra->count >= search->k)
            break;
        asked *= 4;
    } while (asked < SIZE_MAX / 8);
    for (size_t i = 0; i < extra->count; i++)
        if (!array_push(query->hits, extra->items[i]))
            return doppel_fail(&searcher->error, DOPPEL_E_MEMORY,
                               "no memory for the hits of a search");
    hits_keep_nearest(query->hits, search->k);
    if (query->hits->count == search->k)
        query->radius = query->hits->items[search->k - 1].distance;
    return DOPPEL_OK;
}

static enum doppel_status search_filtered(const struct index_query *search,
                                          struct searcher *searcher, size_t source, size_t count)
{
    enum doppel_status status = DOPPEL_OK;
    if (search->k) {
        for (size_t i = 0; i < count && !status; i++)
            status = nearest_filtered(search, searcher, source, &searcher->queries[i]);
        return status;
    }
    for (size_t i = 0; i < count; i++)
        searcher->before[i] = searcher->hits[i].count;
    status = search_source(search, searcher, source, searcher->queries, count, 0);
    for (size_t i = 0; i < count && !status; i++)
        filter_hits(search, source, &searcher->hits[i], searcher->before[i]);
    return status;
}

/* ---- pieces ---- */

static size_t queries_of(const struct index_query *search, size_t piece)
{
    if (search->shares > 1)
        return 1;
    size_t left = search->request->count - piece * QUERIES_A_PIECE;
    return left < QUERIES_A_PIECE ? left : QUERIES_A_PIECE;
}

static void begin_piece(const struct index_query *search, struct searcher *searcher, size_t piece)
{
    searcher->status = DOPPEL_OK;
    searcher->counts = (struct doppel_index_counts){0};
    searcher->share = search->shares > 1 ? piece : 0;
    for (size_t i = 0; i < queries_of(search, piece); i++) {
        size_t number = searcher->share ? 0 : piece * QUERIES_A_PIECE + i;
        searcher->hits[i].count = 0;
        searcher->queries[i] =
            (struct query){.code = search->request->queries + number * search->index->words,
                           .number = (uint32_t)number,
                           .radius = search->radius,
                           .recall = search->request->recall,
                           .bands = search->bands,
                           .hits = &searcher->hits[i]};
    }
}

static void search_share(void *context, size_t piece, size_t slot)
{
    struct index_query *search = context;
    struct searcher *searcher = search->searchers[slot];
    size_t count = queries_of(search, piece);
    begin_piece(search, searcher, piece);
    for (size_t source = 0; source <= search->snapshot.state->count && !searcher->status; source++)
        searcher->status =
            needs_filter(search, source)
                ? search_filtered(search, searcher, source, count)
                : search_source(search, searcher, source, searcher->queries, count, search->k);
    for (size_t i = 0; i < count && !searcher->status && search->shares == 1; i++)
        if (search->k)
            hits_keep_nearest(&searcher->hits[i], search->k);
        else
            hits_sort(searcher->hits[i].items, searcher->hits[i].count);
}

static bool visit_hits(struct index_query *search, const hit_array *hits)
{
    for (size_t i = 0; i < hits->count; i++)
        if (!search->visitor(search->context, &hits->items[i])) {
            search->status = doppel_fail(search->error, DOPPEL_E_CANCELLED,
                                         "the search was ended by its caller");
            return false;
        }
    return true;
}

static bool gather_share(struct index_query *search, const hit_array *hits)
{
    for (size_t i = 0; i < hits->count; i++)
        if (!array_push(&search->gathered, hits->items[i])) {
            search->status =
                doppel_fail(search->error, DOPPEL_E_MEMORY, "no memory for the hits of a search");
            return false;
        }
    return true;
}

static bool deliver_share(void *context, size_t piece, size_t slot)
{
    struct index_query *search = context;
    struct searcher *searcher = search->searchers[slot];
    if (searcher->status) {
        search->status =
            doppel_fail(search->error, searcher->status, "%s", searcher->error.message);
        return false;
    }
    if (search->request->counts) {
        search->request->counts->lookups += searcher->counts.lookups;
        search->request->counts->candidates += searcher->counts.candidates;
    }
    if (search->shares > 1)
        return gather_share(search, &searcher->hits[0]);
    for (size_t i = 0; i < queries_of(search, piece); i++)
        if (!visit_hits(search, &searcher->hits[i]))
            return false;
    return true;
}

/* ---- a search ---- */

static size_t shares_of_query(const struct index_query *search)
{
    const struct state *state = search->snapshot.state;
    const size_t most = (size_t)SHARES_A_THREAD * search->request->threads;
    uint64_t codes = 0;
    if (search->request->threads < 2 || search->request->count != 1 || search->k)
        return 1;
    for (size_t source = 0; source < state->count; source++) {
        const struct scan_codes *linear = table_codes(state->parts[source]->table);
        if (linear && linear->blocks)
            return 1;
        codes += linear ? linear->count : 0;
    }
    return codes < 2 * SHARE_CODES      ? 1
           : codes / SHARE_CODES < most ? (size_t)(codes / SHARE_CODES)
                                        : most;
}

/* @return false without memory */
static bool take_searchers(struct index_query *search, size_t slots, struct searcher **only)
{
    size_t taken = 0;
    search->searchers = slots > 1 ? calloc(slots, sizeof(struct searcher *)) : only;
    while (search->searchers && taken < slots &&
           (search->searchers[taken] = take_searcher(search->index)) != NULL)
        taken++;
    return search->searchers && taken == slots;
}

static void give_searchers_back(struct index_query *search, size_t slots)
{
    for (size_t i = slots; search->searchers && i > 0; i--)
        give_back(search->index, search->searchers[i - 1]);
    if (slots > 1)
        free(search->searchers);
}

static enum doppel_status run_index_search(struct index_query *search)
{
    const size_t count = search->request->count;
    search->snapshot = snapshot_take(search->index);
    search->shares = shares_of_query(search);
    struct ordered pieces = {.context = search,
                             .threads = search->request->threads,
                             .pieces = search->shares > 1
                                           ? search->shares
                                           : (count + QUERIES_A_PIECE - 1) / QUERIES_A_PIECE,
                             .work = search_share,
                             .deliver = deliver_share};
    const size_t slots = ordered_slots(&pieces);
    struct searcher *only = NULL; /* the common case needs no memory */
    if (take_searchers(search, slots, &only))
        ordered_run(&pieces);
    else
        search->status = doppel_fail(search->error, DOPPEL_E_MEMORY, "no memory for a search");
    if (search->shares > 1 && !search->status) {
        hits_sort(search->gathered.items, search->gathered.count);
        (void)visit_hits(search, &search->gathered);
    }
    give_searchers_back(search, slots);
    array_free(&search->gathered);
    snapshot_release(&search->snapshot);
    return search->status;
}

static size_t smaller_given(size_t a, size_t b)
{
    return !a ? b : !b ? a : a < b ? a : b;
}

static uint32_t most_distance(const struct doppel_index_options *options)
{
    switch (options->table) {
    case DOPPEL_INDEX_BANDS:
        return options->lanes;
    case DOPPEL_INDEX_VECTORS:
        return DOPPEL_INDEX_DISTANCE_MOST;
    default:
        return options->bits;
    }
}

enum doppel_status doppel_index_search(const struct doppel_index *index,
                                       const struct doppel_index_request *request,
                                       doppel_index_visitor *visitor, void *context,
                                       struct doppel_error *error)
{
    const struct doppel_index_options *options = &index->options;
    const uint32_t most = most_distance(options);
    struct index_query search = {.index = index,
                                 .request = request,
                                 .k = smaller_given(request->nearest, request->cap),
                                 .radius = request->radius < most ? request->radius : most,
                                 .visitor = visitor,
                                 .context = context,
                                 .error = error};
    const struct bands_options bands = {options->lanes, request->bands, request->rows};
    const struct bands_options none = {.lanes = options->lanes};
    bool other_bands =
        request->bands && (bands.bands != options->bands || bands.rows != options->rows);
    if (options->table == DOPPEL_INDEX_BANDS && other_bands && bands_options_check(&bands, error))
        return DOPPEL_E_ARGUMENT;
    if (options->table == DOPPEL_INDEX_BANDS)
        search.bands = request->every ? &none : other_bands ? &bands : NULL;
    if (!index->words)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "an index of postings is looked up, not searched");
    if (request->count > UINT32_MAX)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "%zu queries at once are too many",
                           request->count);
    if (options->table == DOPPEL_INDEX_VECTORS &&
        vectors_check(options->bits / 32, request->queries, request->count, error))
        return DOPPEL_E_FORMAT;
    return request->count ? run_index_search(&search) : DOPPEL_OK;
}

static bool collect_index_hit(void *context, const struct doppel_index_hit *hit)
{
    return array_push((hit_array *)context, *hit);
}

enum doppel_status doppel_index_search_array(const struct doppel_index *index,
                                             const struct doppel_index_request *request,
                                             struct doppel_index_hit **out_hits, size_t *out_count,
                                             struct doppel_error *error)
{
    hit_array hits = {0};
    enum doppel_status status =
        doppel_index_search(index, request, collect_index_hit, &hits, error);
    if (status == DOPPEL_E_CANCELLED)
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the hits of a search");
    if (status) {
        array_free(&hits);
        return status;
    }
    *out_hits = hits.items;
    *out_count = hits.count;
    return DOPPEL_OK;
}
