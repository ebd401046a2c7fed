/* Searches of many queries: blocks of codes that stay in the cache, scanned for each query. */
#include "index/index_room.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/ordered.h"

enum {
    BLOCK_BYTES = 16 << 10, /* half of the smallest level-1 cache */
    BLOCK_CODES_MAX = BLOCK_BYTES / sizeof(uint64_t),
    QUERIES_A_PIECE = 32 /* enough to make reading the codes from memory cheap */
};

typedef ARRAY(struct doppel_index_hit) hit_array;

/* What one piece of the queries found. */
struct result {
    hit_array hits[QUERIES_A_PIECE];
    bool no_memory;
};

struct search {
    const struct doppel_index *index;
    scan_kernel *kernel;
    const uint64_t *queries;
    size_t count;
    uint32_t radius;
    size_t k; /* 0: all within the radius */
    doppel_index_visitor *visitor;
    void *context;
    struct result *results; /* one a slot */
    enum doppel_status status;
};

static bool comes_before(const struct doppel_index_hit *a, const struct doppel_index_hit *b)
{
    return a->distance != b->distance ? a->distance < b->distance : a->payload < b->payload;
}

static int compare_hits(const void *a, const void *b)
{
    return comes_before(a, b) ? -1 : comes_before(b, a);
}

/* ---- the k nearest: a heap whose top is the farthest ---- */

static void sift_down(struct doppel_index_hit *heap, size_t count)
{
    struct doppel_index_hit moved = heap[0];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && comes_before(&heap[child], &heap[child + 1]))
            child++;
        if (!comes_before(&moved, &heap[child]))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

static void sift_up(struct doppel_index_hit *heap, size_t at)
{
    struct doppel_index_hit moved = heap[at];
    while (at > 0 && comes_before(&heap[(at - 1) / 2], &moved)) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = moved;
}

/* Keep a hit: all of them, or the k nearest. */
static bool keep(hit_array *hits, const struct doppel_index_hit *hit, size_t k)
{
    if (!k)
        return array_push(hits, *hit);
    if (hits->count < k) {
        if (!array_push(hits, *hit))
            return false;
        sift_up(hits->items, hits->count - 1);
    } else if (comes_before(hit, &hits->items[0])) {
        hits->items[0] = *hit;
        sift_down(hits->items, k);
    }
    return true;
}

/* Codes at the distance of the k-th nearest still count: ties go by payload. */
static uint32_t radius_now(const struct search *search, const hit_array *hits)
{
    return search->k && hits->count == search->k ? hits->items[0].distance : search->radius;
}

/* ---- pieces ---- */

/* Scan the codes from `start`, `count` of them, for one query. */
static bool scan_block(const struct search *search, size_t start, size_t count, size_t query,
                       hit_array *hits)
{
    const struct doppel_index *index = search->index;
    struct scan_hit found[BLOCK_CODES_MAX];
    size_t n =
        search->kernel(index->groups + start * index->words, (count + SCAN_GROUP - 1) / SCAN_GROUP,
                       search->queries + query * index->words, radius_now(search, hits), found);
    for (size_t i = 0; i < n && found[i].position < count; i++) {
        struct doppel_index_hit hit = {index_payload(index, start + found[i].position),
                                       found[i].distance, (uint32_t)query};
        if (!keep(hits, &hit, search->k))
            return false;
    }
    return true;
}

static bool scan_piece(const struct search *search, size_t first, size_t queries, hit_array *hits)
{
    size_t codes = search->index->count;
    size_t block = BLOCK_CODES_MAX / search->index->words;
    for (size_t start = 0; start < codes; start += block) {
        size_t count = codes - start < block ? codes - start : block;
        for (size_t i = 0; i < queries; i++)
            if (!scan_block(search, start, count, first + i, &hits[i]))
                return false;
    }
    return true;
}

static size_t queries_of(const struct search *search, size_t piece)
{
    size_t left = search->count - piece * QUERIES_A_PIECE;
    return left < QUERIES_A_PIECE ? left : QUERIES_A_PIECE;
}

static void work(void *context, size_t piece, size_t slot)
{
    struct search *search = context;
    struct result *result = &search->results[slot];
    size_t queries = queries_of(search, piece);
    for (size_t i = 0; i < queries; i++)
        result->hits[i].count = 0;
    result->no_memory = !scan_piece(search, piece * QUERIES_A_PIECE, queries, result->hits);
    for (size_t i = 0; i < queries && !result->no_memory; i++)
        if (result->hits[i].count > 1)
            qsort(result->hits[i].items, result->hits[i].count, sizeof *result->hits[i].items,
                  compare_hits);
}

static bool deliver(void *context, size_t piece, size_t slot)
{
    struct search *search = context;
    struct result *result = &search->results[slot];
    if (result->no_memory) {
        search->status = DOPPEL_E_MEMORY;
        return false;
    }
    for (size_t i = 0; i < queries_of(search, piece); i++)
        for (size_t j = 0; j < result->hits[i].count; j++)
            if (!search->visitor(search->context, &result->hits[i].items[j])) {
                search->status = DOPPEL_E_CANCELLED;
                return false;
            }
    return true;
}

static enum doppel_status run(struct search *search, struct doppel_error *error)
{
    struct ordered pieces = {.context = search,
                             .threads = search->index->options.threads,
                             .pieces = search->count / QUERIES_A_PIECE +
                                       (search->count % QUERIES_A_PIECE != 0),
                             .work = work,
                             .deliver = deliver};
    size_t slots = ordered_slots(&pieces);
    if (search->count > UINT32_MAX)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "%zu queries at once are too many",
                           search->count);
    search->kernel = scan_choose(search->index->options.bits);
    search->results = calloc(slots, sizeof *search->results);
    if (!search->results)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a search");
    ordered_run(&pieces);
    for (size_t slot = 0; slot < slots; slot++)
        for (size_t i = 0; i < QUERIES_A_PIECE; i++)
            array_free(&search->results[slot].hits[i]);
    free(search->results);
    if (search->status == DOPPEL_E_MEMORY)
        doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the hits of a search");
    else if (search->status)
        doppel_fail(error, search->status, "the search was ended by its caller");
    return search->status;
}

enum doppel_status doppel_index_search(const struct doppel_index *index, const uint64_t *queries,
                                       size_t count, uint32_t radius, doppel_index_visitor *visitor,
                                       void *context, struct doppel_error *error)
{
    struct search search = {.index = index,
                            .queries = queries,
                            .count = count,
                            .radius = radius,
                            .visitor = visitor,
                            .context = context};
    return run(&search, error);
}

enum doppel_status doppel_index_knn(const struct doppel_index *index, const uint64_t *queries,
                                    size_t count, size_t k, doppel_index_visitor *visitor,
                                    void *context, struct doppel_error *error)
{
    struct search search = {.index = index,
                            .queries = queries,
                            .count = k && index->count ? count : 0,
                            .radius = index->options.bits,
                            .k = k,
                            .visitor = visitor,
                            .context = context};
    return run(&search, error);
}
