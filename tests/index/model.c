/* The answers of a linear scan, and the comparison of an index with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "index/model.h"

enum { LANE_BITS = 16, LANES_A_WORD = 4 };

struct model model_new(const struct doppel_index_options *options)
{
    struct model model = {.options = *options, .words = (options->bits + 63) / 64};
    if (options->table == DOPPEL_INDEX_BANDS)
        model.words = options->lanes / LANES_A_WORD;
    return model;
}

void model_free(struct model *model)
{
    array_free(&model->codes);
    array_free(&model->payloads);
}

void model_insert(struct model *model, const uint64_t *codes, const uint64_t *payloads,
                  size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_true(array_push(&model->payloads, payloads[i]));
    for (size_t i = 0; i < count * model->words; i++)
        assert_true(array_push(&model->codes, codes[i]));
}

void model_remove(struct model *model, uint64_t payload)
{
    size_t kept = 0, words = model->words;
    for (size_t i = 0; i < model->payloads.count; i++) {
        if (model->payloads.items[i] == payload)
            continue;
        memmove(model->codes.items + kept * words, model->codes.items + i * words,
                words * sizeof(uint64_t));
        model->payloads.items[kept++] = model->payloads.items[i];
    }
    model->payloads.count = kept;
    model->codes.count = kept * words;
}

/* ---- answers ---- */

static bool lane_differs(const uint64_t *a, const uint64_t *b, uint32_t lane)
{
    uint64_t differ = (a[lane / LANES_A_WORD] ^ b[lane / LANES_A_WORD]);
    return differ >> lane % LANES_A_WORD * LANE_BITS & 0xffff;
}

static bool shares_band(const struct doppel_index_options *options,
                        const struct doppel_index_request *request, const uint64_t *a,
                        const uint64_t *b)
{
    uint32_t bands = request->bands ? request->bands : options->bands;
    uint32_t rows = request->bands ? request->rows : options->rows;
    for (uint32_t band = 0; band < bands; band++) {
        uint32_t row = 0;
        while (row < rows && !lane_differs(a, b, band * rows + row))
            row++;
        if (row == rows)
            return true;
    }
    return request->every;
}

static uint32_t distance(const struct model *model, const uint64_t *a, const uint64_t *b)
{
    uint32_t sum = 0;
    if (model->options.table == DOPPEL_INDEX_BANDS) {
        for (uint32_t lane = 0; lane < model->options.lanes; lane++)
            sum += lane_differs(a, b, lane);
        return sum;
    }
    for (uint32_t bit = 0; bit < model->options.bits; bit += 32)
        for (uint64_t differ = (uint32_t)((a[bit / 64] ^ b[bit / 64]) >> bit % 64); differ;
             differ &= differ - 1)
            sum++;
    return sum;
}

static int in_order(const void *a, const void *b)
{
    const struct doppel_index_hit *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return x->payload < y->payload ? -1 : x->payload > y->payload;
}

/* Appends one query's answer at out[count]. */
static size_t search_one(const struct model *model, const struct doppel_index_request *request,
                         uint32_t query, struct doppel_index_hit *out)
{
    const uint64_t *code = request->queries + query * model->words;
    size_t count = 0, most = request->nearest ? request->nearest : SIZE_MAX;
    for (size_t i = 0; i < model->payloads.count; i++) {
        const uint64_t *item = model->codes.items + i * model->words;
        uint64_t payload = model->payloads.items[i];
        uint32_t apart = distance(model, code, item);
        if (apart > request->radius ||
            (request->filter && !request->filter(request->filter_context, payload)) ||
            (model->options.table == DOPPEL_INDEX_BANDS &&
             !shares_band(&model->options, request, code, item)))
            continue;
        out[count++] = (struct doppel_index_hit){payload, apart, query};
    }
    qsort(out, count, sizeof *out, in_order);
    if (request->cap && request->cap < most)
        most = request->cap;
    return count < most ? count : most;
}

size_t model_search(const struct model *model, const struct doppel_index_request *request,
                    struct doppel_index_hit **out)
{
    size_t count = 0;
    struct doppel_index_hit *hits =
        malloc((model->payloads.count * request->count + 1) * sizeof *hits);
    assert_non_null(hits);
    for (uint32_t query = 0; query < request->count; query++)
        count += search_one(model, request, query, hits + count);
    *out = hits;
    return count;
}

/* ---- codes ---- */

void model_codes(const struct model *model, enum shape shape, size_t count, uint64_t *state,
                 uint64_t *out)
{
    for (size_t i = 0; i < count; i++)
        for (size_t word = 0; word < model->words; word++) {
            uint64_t value = shaped_word(shape, i, word, state);
            /* Lanes of few values, so that bands are shared. */
            if (model->options.table == DOPPEL_INDEX_BANDS && shape != EQUAL)
                value &= 0x0001000100010001u;
            out[i * model->words + word] =
                model->options.table == DOPPEL_INDEX_HAMMING && model->options.bits == 32
                    ? (uint32_t)(value ^ value >> 32)
                    : value;
        }
}

void model_queries(const struct model *model, enum shape shape, size_t count, uint64_t *state,
                   uint64_t *out)
{
    model_codes(model, shape, count, state, out);
    for (size_t i = 0; i < count && model->payloads.count; i += 2) {
        size_t from = random_word(state) % model->payloads.count;
        uint64_t *query = out + i * model->words;
        memcpy(query, model->codes.items + from * model->words, model->words * sizeof *query);
        for (uint64_t flips = random_word(state) % 9; flips; flips--) {
            uint64_t bit =
                random_word(state) % (model->options.bits == 32 ? 32 : 64 * model->words);
            query[bit / 64] ^= (uint64_t)1 << bit % 64;
        }
    }
}

/* ---- comparison ---- */

struct visited {
    ARRAY(struct doppel_index_hit) hits;
    size_t stop_after;
};

static bool visit(void *context, const struct doppel_index_hit *hit)
{
    struct visited *visited = context;
    assert_true(array_push(&visited->hits, *hit));
    return visited->hits.count != visited->stop_after;
}

static void assert_same(const struct doppel_index_hit *got, size_t got_count,
                        const struct doppel_index_hit *wanted, size_t wanted_count)
{
    for (size_t i = 0; i < got_count && i < wanted_count; i++)
        if (got[i].payload != wanted[i].payload || got[i].distance != wanted[i].distance ||
            got[i].query != wanted[i].query)
            fail_msg("hit %zu is query %u payload %#llx at %u, not query %u payload %#llx at %u", i,
                     got[i].query, (unsigned long long)got[i].payload, got[i].distance,
                     wanted[i].query, (unsigned long long)wanted[i].payload, wanted[i].distance);
    assert_int_equal(got_count, wanted_count);
}

static void check_stopped(const struct doppel_index *index,
                          const struct doppel_index_request *request,
                          const struct doppel_index_hit *wanted, size_t wanted_count)
{
    struct visited visited = {.stop_after = wanted_count / 2 + 1};
    struct doppel_error error = {0};
    assert_int_equal(doppel_index_search(index, request, visit, &visited, &error),
                     DOPPEL_E_CANCELLED);
    assert_int_equal(error.status, DOPPEL_E_CANCELLED);
    assert_same(visited.hits.items, visited.hits.count, wanted, visited.stop_after);
    array_free(&visited.hits);
}

void check_request(const struct doppel_index *index, const struct model *model,
                   const struct doppel_index_request *request)
{
    struct doppel_index_hit *wanted, *got = NULL;
    struct visited visited = {0};
    struct doppel_error error = {0};
    size_t count = model_search(model, request, &wanted), got_count = 0;
    if (doppel_index_search_array(index, request, &got, &got_count, &error))
        fail_msg("%s", error.message);
    assert_same(got, got_count, wanted, count);
    if (doppel_index_search(index, request, visit, &visited, &error))
        fail_msg("%s", error.message);
    assert_same(visited.hits.items, visited.hits.count, wanted, count);
    if (count)
        check_stopped(index, request, wanted, count);
    array_free(&visited.hits);
    free(got);
    free(wanted);
}
