/* The self-join of an index against all pairs of what was inserted and not removed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <doppel/index.h>

#include "index/codes.h"

enum { CODES = 900, MAX_WORDS = 4, PAYLOADS = 700 };

/* What the index holds, as the test knows it. */
struct model {
    uint32_t bits;
    size_t words, count;
    uint64_t codes[CODES * MAX_WORDS], payloads[CODES];
    struct doppel_index *index;
};

static struct model *make_model(uint32_t bits, enum shape shape, uint32_t head_codes)
{
    struct model *model = calloc(1, sizeof *model);
    assert_non_null(model);
    model->bits = bits;
    model->words = (bits + 63) / 64;
    model->count = CODES;
    uint64_t seed = bits + shape;
    shaped_codes(shape, CODES, model->words, seed, model->codes);
    for (size_t i = 0; i < CODES; i++)
        model->payloads[i] = UINT64_MAX - random_word(&seed) % PAYLOADS * 1000003;
    struct doppel_index_options options = doppel_index_options_default();
    options.bits = bits;
    options.head_codes = head_codes;
    assert_int_equal(doppel_index_new(&options, &model->index, NULL), DOPPEL_OK);
    for (size_t i = 0; i < CODES; i += 30)
        assert_int_equal(doppel_index_insert(model->index, model->codes + i * model->words,
                                             model->payloads + i, 30, NULL),
                         DOPPEL_OK);
    return model;
}

static void drop(struct model *model)
{
    doppel_index_free(model->index);
    free(model);
}

static void forget(struct model *model, uint64_t payload)
{
    size_t kept = 0;
    assert_int_equal(doppel_index_remove(model->index, &payload, 1, NULL), DOPPEL_OK);
    for (size_t i = 0; i < model->count; i++) {
        if (model->payloads[i] == payload)
            continue;
        model->payloads[kept] = model->payloads[i];
        for (size_t word = 0; word < model->words; word++)
            model->codes[kept * model->words + word] = model->codes[i * model->words + word];
        kept++;
    }
    model->count = kept;
}

struct joined {
    struct doppel_index_joined *items;
    size_t count, stop_after;
};

static bool collect(void *context, const struct doppel_index_joined *pair)
{
    struct joined *joined = context;
    if ((joined->count & (joined->count + 1)) == 0) {
        joined->items = realloc(joined->items, (2 * joined->count + 2) * sizeof *joined->items);
        assert_non_null(joined->items);
    }
    joined->items[joined->count++] = *pair;
    return joined->count != joined->stop_after;
}

static int compare(const void *left, const void *right)
{
    const struct doppel_index_joined *x = left, *y = right;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    if (x->b != y->b)
        return x->b < y->b ? -1 : 1;
    return x->distance < y->distance ? -1 : x->distance > y->distance;
}

static bool is_even(void *context, uint64_t payload)
{
    (void)context;
    return payload % 2 == 0;
}

static uint32_t distance(const struct model *model, size_t i, size_t j)
{
    uint32_t bits = 0;
    for (size_t word = 0; word < model->words; word++)
        for (uint64_t differ = model->codes[i * model->words + word] ^
                               model->codes[j * model->words + word],
                      kept = model->bits == 32 ? differ & UINT32_MAX : differ;
             kept; kept &= kept - 1)
            bits++;
    return bits;
}

static struct joined all_pairs(const struct model *model,
                               const struct doppel_index_join_request *request)
{
    struct joined joined = {0};
    for (size_t i = 0; i < model->count; i++)
        for (size_t j = 0; j < i; j++) {
            uint64_t a = model->payloads[i], b = model->payloads[j];
            struct doppel_index_joined pair = {a < b ? a : b, a < b ? b : a, distance(model, i, j)};
            bool wanted = !request->filter || (is_even(NULL, a) && is_even(NULL, b));
            if (a != b && wanted && pair.distance <= request->radius)
                collect(&joined, &pair);
        }
    return joined;
}

static size_t check(const struct model *model, const struct doppel_index_join_request *request)
{
    struct joined got = {0}, wanted = all_pairs(model, request);
    assert_int_equal(doppel_index_join(model->index, request, collect, &got, NULL), DOPPEL_OK);
    assert_int_equal(got.count, wanted.count);
    if (got.count) {
        qsort(got.items, got.count, sizeof *got.items, compare);
        qsort(wanted.items, wanted.count, sizeof *wanted.items, compare);
    }
    for (size_t i = 0; i < got.count; i++)
        assert_int_equal(compare(&got.items[i], &wanted.items[i]), 0);
    free(got.items);
    free(wanted.items);
    return got.count;
}

static size_t check_all(const struct model *model)
{
    size_t pairs = 0;
    for (uint32_t radius = 0; radius <= model->bits / 4; radius += 3 + radius) {
        struct doppel_index_join_request request = {.radius = radius, .threads = radius % 3};
        request.filter = radius % 2 ? is_even : NULL;
        pairs += check(model, &request);
    }
    return pairs;
}

/* In the head, in many segments, after removals from both, after a merge. */
static void test_every_place(void **state)
{
    (void)state;
    for (uint32_t bits = 32; bits <= 256; bits *= 2)
        for (enum shape shape = 0; shape < EQUAL; shape++)
            for (uint32_t head_codes = 100; head_codes <= 2000; head_codes += 1900) {
                struct model *model = make_model(bits, shape, head_codes);
                size_t pairs = check_all(model);
                assert_true(shape == UNIFORM || pairs > 50);
                for (size_t i = 0; i < 200; i++)
                    forget(model, model->payloads[i * 7 % model->count]);
                check_all(model);
                assert_int_equal(doppel_index_flush(model->index, NULL), DOPPEL_OK);
                assert_int_equal(doppel_index_compact(model->index, true, NULL), DOPPEL_OK);
                check_all(model);
                drop(model);
            }
}

static void test_empty_and_wrong(void **state)
{
    (void)state;
    struct doppel_index_options options = doppel_index_options_default();
    struct doppel_index_join_request request = {.radius = 64};
    struct joined none = {0};
    struct doppel_index *index;
    assert_int_equal(doppel_index_new(&options, &index, NULL), DOPPEL_OK);
    assert_int_equal(doppel_index_join(index, &request, collect, &none, NULL), DOPPEL_OK);
    uint64_t code = 5, payload = 6;
    assert_int_equal(doppel_index_insert(index, &code, &payload, 1, NULL), DOPPEL_OK);
    assert_int_equal(doppel_index_join(index, &request, collect, &none, NULL), DOPPEL_OK);
    doppel_index_free(index);
    options.table = DOPPEL_INDEX_POSTINGS;
    assert_int_equal(doppel_index_new(&options, &index, NULL), DOPPEL_OK);
    assert_int_equal(doppel_index_join(index, &request, collect, &none, NULL), DOPPEL_E_ARGUMENT);
    doppel_index_free(index);
    assert_int_equal(none.count, 0);
}

static void test_the_visitor_ends_it(void **state)
{
    (void)state;
    struct model *model = make_model(64, SKEWED, 100);
    struct doppel_index_join_request request = {.radius = 16};
    struct joined some = {.stop_after = 3};
    assert_int_equal(doppel_index_join(model->index, &request, collect, &some, NULL),
                     DOPPEL_E_CANCELLED);
    assert_int_equal(some.count, 3);
    free(some.items);
    drop(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_place),
        cmocka_unit_test(test_empty_and_wrong),
        cmocka_unit_test(test_the_visitor_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
