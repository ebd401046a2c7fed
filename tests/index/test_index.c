/* The index against a linear scan written here: search, k nearest, removal, threads, kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/index.h>

#include "core/cpu.h"
#include "index/codes.h"
#include "index/slots.h"

enum { BIG = 10000, QUERIES = 37 };

/* Codes as the test knows them, beside the index that is to agree. */
struct fixture {
    size_t words, count;
    uint32_t threads;
    uint64_t *codes, *payloads, *queries;
    struct doppel_index *index;
};

struct hits {
    struct doppel_index_hit *items;
    size_t count, capacity, stop_after;
};

static bool collect(void *context, const struct doppel_index_hit *hit)
{
    struct hits *hits = context;
    if (hits->count == hits->capacity) {
        hits->capacity = hits->capacity ? 2 * hits->capacity : 1024;
        hits->items = realloc(hits->items, hits->capacity * sizeof *hits->items);
        assert_non_null(hits->items);
    }
    hits->items[hits->count++] = *hit;
    return hits->count != hits->stop_after;
}

/* Several codes share a payload; the later ones use their high bits. */
static struct fixture make(enum shape shape, size_t count, size_t words, uint32_t threads)
{
    struct fixture f = {.words = words, .count = count, .threads = threads};
    f.codes = malloc((count + 1) * words * sizeof(uint64_t));
    f.payloads = malloc((count + 1) * sizeof(uint64_t));
    f.queries = malloc(QUERIES * words * sizeof(uint64_t));
    assert_true(f.codes && f.payloads && f.queries);
    shaped_codes(shape, count, words, 1 + shape, f.codes);
    shaped_codes(shape, QUERIES, words, shape % 2 ? 1 + shape : 99, f.queries);
    for (size_t i = 0; i < count; i++)
        f.payloads[i] = (i < count / 3 ? UINT32_MAX : UINT64_MAX) - i * 7919 % (count / 3 + 1);
    struct doppel_index_options options = doppel_index_options_default();
    options.bits = (uint32_t)(64 * words);
    assert_int_equal(doppel_index_new(&options, &f.index, NULL), DOPPEL_OK);
    size_t half = count / 2;
    assert_int_equal(doppel_index_insert(f.index, f.codes, f.payloads, half, NULL), DOPPEL_OK);
    for (size_t i = half; i < count; i++)
        assert_int_equal(doppel_index_insert(f.index, f.codes + i * words, f.payloads + i, 1, NULL),
                         DOPPEL_OK);
    return f;
}

static void drop(struct fixture *f)
{
    free(f->codes);
    free(f->payloads);
    free(f->queries);
    doppel_index_free(f->index);
}

static int by_distance(const void *a, const void *b)
{
    const struct doppel_index_hit *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return x->payload < y->payload ? -1 : x->payload > y->payload;
}

static uint32_t distance(const uint64_t *a, const uint64_t *b, size_t words)
{
    uint32_t bits = 0;
    for (size_t w = 0; w < words; w++)
        for (uint64_t differ = a[w] ^ b[w]; differ; differ &= differ - 1)
            bits++;
    return bits;
}

/* All codes by distance to one query; `*out_within` of them within the radius. */
static struct doppel_index_hit *oracle(const struct fixture *f, size_t query, uint32_t radius,
                                       size_t *out_within)
{
    struct doppel_index_hit *all = malloc((f->count + 1) * sizeof *all);
    assert_non_null(all);
    *out_within = 0;
    for (size_t i = 0; i < f->count; i++) {
        uint32_t d = distance(f->codes + i * f->words, f->queries + query * f->words, f->words);
        all[i] = (struct doppel_index_hit){f->payloads[i], d, (uint32_t)query};
        *out_within += d <= radius;
    }
    qsort(all, f->count, sizeof *all, by_distance);
    return all;
}

static void assert_hits(const struct doppel_index_hit *got, const struct doppel_index_hit *wanted,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(got[i].payload, wanted[i].payload);
        assert_int_equal(got[i].distance, wanted[i].distance);
        assert_int_equal(got[i].query, wanted[i].query);
    }
}

/* k = 0: all within the radius. */
static void check(const struct fixture *f, size_t queries, uint32_t radius, size_t k)
{
    struct hits hits = {0};
    size_t at = 0;
    struct doppel_index_request request = {.queries = f->queries,
                                           .count = queries,
                                           .radius = k ? UINT32_MAX : radius,
                                           .nearest = k,
                                           .threads = f->threads};
    assert_int_equal(doppel_index_search(f->index, &request, collect, &hits, NULL), DOPPEL_OK);
    for (size_t query = 0; query < queries; query++) {
        size_t within;
        struct doppel_index_hit *all = oracle(f, query, radius, &within);
        size_t wanted = !k ? within : k < f->count ? k : f->count;
        assert_true(at + wanted <= hits.count);
        if (wanted) /* else there may be no items at all */
            assert_hits(hits.items + at, all, wanted);
        at += wanted;
        free(all);
    }
    assert_int_equal(at, hits.count);
    free(hits.items);
}

static void check_shape(enum shape shape, size_t words)
{
    static const size_t sizes[] = {0, 1, 2, 63, 64, 65, 1000};
    static const uint32_t radii[] = {0, 1, 3, 8, 16, 31, 32, 64, 90, 128, 256};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct fixture f = make(shape, sizes[s], words, 1);
        assert_int_equal(doppel_index_count(f.index), sizes[s]);
        for (size_t r = 0; r < sizeof radii / sizeof *radii; r++)
            check(&f, QUERIES, radii[r], 0);
        for (size_t k = 1; k < 2000; k = 3 * k + 1)
            check(&f, QUERIES, 0, k);
        drop(&f);
    }
}

static void test_64_bits(void **state)
{
    (void)state;
    for (enum shape shape = 0; shape < SHAPES; shape++)
        check_shape(shape, 1);
}

static void test_256_bits(void **state)
{
    (void)state;
    for (enum shape shape = 0; shape < SHAPES; shape++)
        check_shape(shape, 4);
}

/* More codes than a block, whatever the kernel. */
static void test_many_codes(void **state)
{
    (void)state;
    for (enum shape shape = 0; shape < SHAPES; shape++)
        for (size_t words = 1; words <= 4; words += 3) {
            struct fixture f = make(shape, BIG, words, 1);
            check(&f, 3, 0, 0);
            check(&f, 3, 16, 0);
            check(&f, 3, (uint32_t)(64 * words), 0);
            check(&f, 3, 0, 10);
            drop(&f);
        }
}

static void test_every_kernel(void **state)
{
    (void)state;
    static const uint32_t masks[] = {0, CPU_AVX2, CPU_AVX512_POPCNT};
    for (size_t m = 0; m < sizeof masks / sizeof *masks; m++)
        for (size_t words = 1; words <= 4; words += 3) {
            cpu_mask(masks[m]);
            struct fixture f = make(SKEWED, 3001, words, 1);
            check(&f, QUERIES, 5, 0);
            check(&f, QUERIES, (uint32_t)(30 * words), 0);
            check(&f, QUERIES, 0, 9);
            drop(&f);
        }
    cpu_mask(UINT32_MAX);
}

/* The queries of one piece end with the 32nd: many pieces, in order, for any number of threads. */
static void test_threads_change_nothing(void **state)
{
    (void)state;
    enum { MANY = 1000 };
    for (uint32_t threads = 0; threads <= 5; threads++) {
        struct fixture f = make(UNIFORM, 500, 1, threads);
        free(f.queries);
        f.queries = malloc(MANY * sizeof(uint64_t));
        assert_non_null(f.queries);
        shaped_codes(UNIFORM, MANY, 1, 5, f.queries);
        check(&f, MANY, 24, 0);
        check(&f, MANY, 0, 3);
        drop(&f);
    }
}

static void forget(struct fixture *f, uint64_t payload)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->count; i++) {
        if (f->payloads[i] == payload)
            continue;
        memmove(f->codes + kept * f->words, f->codes + i * f->words, f->words * sizeof(uint64_t));
        f->payloads[kept++] = f->payloads[i];
    }
    f->count = kept;
}

static void test_removal(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (size_t words = 1; words <= 4; words += 3) {
        struct fixture f = make(SKEWED, 400, words, 1);
        uint64_t unknown = 12345;
        assert_int_equal(doppel_index_remove(f.index, &unknown, 1, NULL), DOPPEL_OK);
        while (f.count) {
            uint64_t payload = f.payloads[random_word(&seed) % f.count];
            forget(&f, payload);
            assert_int_equal(doppel_index_remove(f.index, &payload, 1, NULL), DOPPEL_OK);
            assert_int_equal(doppel_index_count(f.index), f.count);
            check(&f, 3, (uint32_t)(20 * words), 0);
            check(&f, 2, 0, 5);
        }
        assert_int_equal(doppel_index_insert(f.index, f.queries, f.queries, 2, NULL), DOPPEL_OK);
        assert_int_equal(doppel_index_count(f.index), 2);
        drop(&f);
    }
}

static void test_the_visitor_ends_it(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 3; threads += 2) {
        struct fixture f = make(EQUAL, 100, 1, threads);
        struct hits hits = {.stop_after = 150};
        struct doppel_error error = {0};
        struct doppel_index_request request = {
            .queries = f.queries, .count = QUERIES, .threads = threads};
        assert_int_equal(doppel_index_search(f.index, &request, collect, &hits, &error),
                         DOPPEL_E_CANCELLED);
        assert_int_equal(error.status, DOPPEL_E_CANCELLED);
        assert_int_equal(hits.count, 150);
        free(hits.items);
        drop(&f);
    }
}

static void test_wrong_use(void **state)
{
    (void)state;
    struct doppel_index *index = NULL;
    struct doppel_index_options options = doppel_index_options_default();
    options.bits = 100;
    assert_int_equal(doppel_index_new(&options, &index, NULL), DOPPEL_E_ARGUMENT);
    assert_null(index);
    struct fixture f = make(UNIFORM, 10, 1, 1);
    assert_int_equal(doppel_index_insert(f.index, NULL, NULL, SIZE_MAX, NULL), DOPPEL_E_MEMORY);
    assert_int_equal(doppel_index_insert(f.index, NULL, NULL, SIZE_MAX / 16, NULL),
                     DOPPEL_E_MEMORY);
    check(&f, 5, 30, 0);
    drop(&f);
    doppel_index_free(NULL);
}

/* The codes that a head's slots do not take are scanned. */
static void test_a_head_beyond_its_slots(void **state)
{
    enum { COUNT = SLOTS_MAX_CODES + 1001, ASKED = 8 };
    (void)state;
    struct fixture f = {.words = 1, .count = COUNT};
    f.codes = malloc(COUNT * sizeof *f.codes);
    f.payloads = malloc(COUNT * sizeof *f.payloads);
    f.queries = malloc(ASKED * sizeof *f.queries);
    assert_true(f.codes && f.payloads && f.queries);
    shaped_codes(UNIFORM, COUNT, 1, 5, f.codes);
    for (size_t i = 0; i < COUNT; i++)
        f.payloads[i] = i;
    for (size_t i = 0; i < ASKED; i++)
        f.queries[i] = f.codes[i % 2 ? COUNT - i * 100 : i * 1000] ^ 0x11;
    struct doppel_index_options options = doppel_index_options_default();
    options.head_codes = UINT32_MAX;
    assert_int_equal(doppel_index_new(&options, &f.index, NULL), DOPPEL_OK);
    assert_int_equal(doppel_index_insert(f.index, f.codes, f.payloads, COUNT, NULL), DOPPEL_OK);
    assert_int_equal(doppel_index_info(f.index).head_codes, COUNT);
    for (uint32_t radius = 0; radius <= 12; radius += 4)
        for (size_t query = 0; query < ASKED; query++) {
            struct hits hits = {0};
            size_t within;
            struct doppel_index_hit *wanted = oracle(&f, query, radius, &within);
            struct doppel_index_request request = {
                .queries = f.queries + query, .count = 1, .radius = radius};
            assert_int_equal(doppel_index_search(f.index, &request, collect, &hits, NULL),
                             DOPPEL_OK);
            assert_int_equal(hits.count, within);
            for (size_t i = 0; i < within; i++) {
                assert_int_equal(hits.items[i].payload, wanted[i].payload);
                assert_int_equal(hits.items[i].distance, wanted[i].distance);
            }
            assert_true(radius < 4 || within > 0);
            free(hits.items);
            free(wanted);
        }
    drop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_64_bits),
        cmocka_unit_test(test_256_bits),
        cmocka_unit_test(test_many_codes),
        cmocka_unit_test(test_every_kernel),
        cmocka_unit_test(test_threads_change_nothing),
        cmocka_unit_test(test_removal),
        cmocka_unit_test(test_the_visitor_ends_it),
        cmocka_unit_test(test_wrong_use),
        cmocka_unit_test(test_a_head_beyond_its_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
