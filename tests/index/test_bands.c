/* The band table against a slow linear search: all shapes of signatures, searches, reading in
 * order, kernels, collisions of the hash, damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/cpu.h"
#include "index/bands/bands_internal.h"
#include "index/codes.h"
#include "index/stream_array.h"

enum { QUERIES = 40 };

/* ---- signatures ---- */

enum signatures { RANDOM, NEAR, FEW_VALUES, ONE_BAND, IDENTICAL, SOME_IDENTICAL, KINDS };

static const struct bands_options options_of[] = {
    {128, 25, 5}, {4, 1, 4}, {4, 4, 1}, {64, 16, 4}, {256, 42, 6}, {36, 7, 5}, {128, 1, 128},
};

/* Signature `i` of `kind`: later ones are often near, or equal to, earlier ones. */
static void make_signature(enum signatures kind, uint32_t lanes, const uint16_t *all, size_t i,
                           uint64_t *seed, uint16_t *out)
{
    for (uint32_t lane = 0; lane < lanes; lane++)
        out[lane] = (uint16_t)(kind == FEW_VALUES ? random_word(seed) % 3 : random_word(seed));
    const uint16_t *earlier = i ? all + random_word(seed) % i * lanes : out;
    uint64_t differ = random_word(seed) % 50;
    if (kind == NEAR && i % 2)
        for (uint32_t lane = 0; lane < lanes; lane++)
            if (random_word(seed) % 100 >= differ)
                out[lane] = earlier[lane];
    if (kind == ONE_BAND)
        memset(out, 7, lanes / 2 * sizeof *out);
    if (kind == IDENTICAL || (kind == SOME_IDENTICAL && i % 3 == 1))
        memmove(out, kind == IDENTICAL ? all : earlier, i ? lanes * sizeof *out : 0);
}

struct fixture {
    struct bands_options options;
    size_t count, words;
    uint64_t *codes, *payloads;
    struct array_stream array;
    struct bands *table;
};

static struct fixture make_codes(enum signatures kind, struct bands_options options, size_t count)
{
    struct fixture f = {.options = options, .count = count, .words = options.lanes / 4};
    uint64_t seed = 100 * kind + count;
    f.codes = calloc((count + 1) * f.words, sizeof *f.codes);
    f.payloads = calloc(count + 1, sizeof *f.payloads);
    assert_non_null(f.codes);
    assert_non_null(f.payloads);
    for (size_t i = 0; i < count; i++) {
        make_signature(kind, options.lanes, (uint16_t *)f.codes, i, &seed,
                       (uint16_t *)(f.codes + i * f.words));
        f.payloads[i] = random_word(&seed) % (i % 5 ? kind % 2 ? UINT32_MAX : UINT64_MAX : 10);
    }
    return f;
}

/* Some in files, whose buckets are larger. */
static void build(struct fixture *f)
{
    char path[64];
    struct segment_target target = {.path = f->count % 3 ? NULL : path};
    struct segment *segment = NULL;
    snprintf(path, sizeof path, "/tmp/test-bands-%d", (int)getpid());
    struct code_stream stream = array_stream(&f->array, f->codes, f->payloads, f->words, f->count);
    assert_int_equal(bands_build(&f->options, &stream, &target, &segment, NULL), DOPPEL_OK);
    assert_int_equal(bands_open(segment, &f->table, NULL), DOPPEL_OK);
    if (target.path)
        unlink(path);
    uint64_t count;
    struct bands_options options = bands_info(f->table, &count);
    assert_int_equal(count, f->count);
    assert_memory_equal(&options, &f->options, sizeof options);
}

static void free_fixture(struct fixture *f)
{
    bands_free(f->table);
    free(f->codes);
    free(f->payloads);
}

/* ---- the oracle ---- */

static uint16_t lane_of(const uint64_t *code, uint32_t lane)
{
    return (uint16_t)(code[lane / 4] >> 16 * (lane % 4));
}

static uint32_t slow_distance(const uint64_t *a, const uint64_t *b, uint32_t lanes)
{
    uint32_t distance = 0;
    for (uint32_t lane = 0; lane < lanes; lane++)
        distance += lane_of(a, lane) != lane_of(b, lane);
    return distance;
}

/* The first band that is the same in both; `bands` when there is none. */
static uint32_t slow_band(const uint64_t *a, const uint64_t *b, const struct bands_options *options)
{
    for (uint32_t band = 0; band < options->bands; band++) {
        uint32_t equal = 0;
        for (uint32_t row = 0; row < options->rows; row++)
            equal +=
                lane_of(a, band * options->rows + row) == lane_of(b, band * options->rows + row);
        if (equal == options->rows)
            return band;
    }
    return options->bands;
}

static int compare_hits(const void *a, const void *b)
{
    const struct doppel_index_hit *left = a, *right = b;
    if (left->payload != right->payload)
        return left->payload < right->payload ? -1 : 1;
    return (left->distance > right->distance) - (left->distance < right->distance);
}

static void slow_search(const struct fixture *f, const uint64_t *code, uint32_t radius,
                        uint32_t number, hit_array *out)
{
    for (size_t i = 0; i < f->count; i++) {
        const uint64_t *other = f->codes + i * f->words;
        uint32_t distance = slow_distance(code, other, f->options.lanes);
        if (distance > radius || slow_band(code, other, &f->options) == f->options.bands)
            continue;
        struct doppel_index_hit hit = {f->payloads[i], distance, number};
        assert_true(array_push(out, hit));
    }
}

static void assert_hits(hit_array *got, hit_array *wanted)
{
    assert_int_equal(got->count, wanted->count);
    if (got->count) {
        qsort(got->items, got->count, sizeof *got->items, compare_hits);
        qsort(wanted->items, wanted->count, sizeof *wanted->items, compare_hits);
    }
    for (size_t i = 0; i < got->count; i++) {
        assert_int_equal(got->items[i].payload, wanted->items[i].payload);
        assert_int_equal(got->items[i].distance, wanted->items[i].distance);
        assert_int_equal(got->items[i].query, wanted->items[i].query);
    }
}

/* ---- searching ---- */

/* Queries near signatures of the table, equal to them, and strangers. */
static uint64_t *make_queries(const struct fixture *f)
{
    uint64_t seed = 77 + f->count;
    uint64_t *codes = calloc(QUERIES * f->words, sizeof *codes);
    assert_non_null(codes);
    for (size_t i = 0; i < QUERIES; i++) {
        uint16_t *code = (uint16_t *)(codes + i * f->words);
        for (uint32_t lane = 0; lane < f->options.lanes; lane++)
            code[lane] = (uint16_t)random_word(&seed);
        if (i % 4 == 3 || !f->count)
            continue;
        const uint16_t *near =
            (const uint16_t *)(f->codes + random_word(&seed) % f->count * f->words);
        for (uint32_t lane = 0; lane < f->options.lanes; lane++)
            if (random_word(&seed) % 10 >= i % 4 * 2)
                code[lane] = near[lane];
    }
    return codes;
}

static void check_radius(const struct fixture *f, struct bands_scratch *scratch,
                         const uint64_t *codes, uint32_t radius)
{
    struct query queries[QUERIES];
    hit_array hits[QUERIES] = {0};
    for (uint32_t i = 0; i < QUERIES; i++)
        queries[i] = (struct query){codes + i * f->words, i, radius, &hits[i], NULL, 0};
    assert_int_equal(bands_search(f->table, scratch, queries, QUERIES, 0, NULL), DOPPEL_OK);
    for (uint32_t i = 0; i < QUERIES; i++) {
        hit_array wanted = {0};
        slow_search(f, codes + i * f->words, radius, i, &wanted);
        assert_hits(&hits[i], &wanted);
        array_free(&wanted);
        array_free(&hits[i]);
    }
}

/* The k nearest are the first of all, beside some that are there before. */
static void check_nearest(const struct fixture *f, struct bands_scratch *scratch,
                          const uint64_t *codes, size_t k)
{
    for (uint32_t i = 0; i < QUERIES; i++) {
        hit_array got = {0}, wanted = {0};
        struct query query = {codes + i * f->words, i, f->options.lanes, &got, NULL, 0};
        const struct doppel_index_hit before[] = {{3, 0, i}, {UINT64_MAX, 1, i}, {5, 2, i}};
        for (size_t b = 0; b < sizeof before / sizeof *before; b++)
            assert_true(array_push(&got, before[b]) && array_push(&wanted, before[b]));
        assert_int_equal(bands_search(f->table, scratch, &query, 1, k, NULL), DOPPEL_OK);
        slow_search(f, query.code, query.radius, i, &wanted);
        hits_keep_nearest(&got, k);
        hits_keep_nearest(&wanted, k);
        assert_hits(&got, &wanted);
        array_free(&got);
        array_free(&wanted);
    }
}

static void check_searches(enum signatures kind, struct bands_options options, size_t count)
{
    struct fixture f = make_codes(kind, options, count);
    const uint32_t radii[] = {0, 1, options.lanes / 4, options.lanes / 2, options.lanes};
    build(&f);
    struct bands_scratch *scratch = bands_scratch_new();
    uint64_t *codes = make_queries(&f);
    for (size_t r = 0; r < sizeof radii / sizeof *radii; r++)
        check_radius(&f, scratch, codes, radii[r]);
    for (size_t k = 1; k < 40; k += 6)
        check_nearest(&f, scratch, codes, k);
    assert_int_equal(bands_search(f.table, scratch, NULL, 0, 0, NULL), DOPPEL_OK);
    bands_scratch_free(scratch);
    free(codes);
    free_fixture(&f);
}

static void test_search(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 30, 399, 400};
    for (size_t o = 0; o < sizeof options_of / sizeof *options_of; o++)
        for (enum signatures kind = 0; kind < KINDS; kind++)
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
                check_searches(kind, options_of[o], counts[c]);
    check_searches(NEAR, options_of[0], 6000);
    check_searches(ONE_BAND, options_of[0], 6000);
}

/* ---- reading in order ---- */

static int compare_words(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* A word that tells a record, whatever its place. */
static void digest_records(const uint64_t *codes, const uint64_t *payloads, size_t words,
                           size_t count, uint64_t *out)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = payloads[i];
        for (size_t word = 0; word < words; word++)
            out[i] = out[i] * 0x9e3779b97f4a7c15u + codes[i * words + word];
    }
    qsort(out, count, sizeof *out, compare_words);
}

static void check_read(enum signatures kind, size_t count)
{
    struct fixture f = make_codes(kind, options_of[3], count);
    build(&f);
    uint64_t *codes = calloc((count + 1) * f.words, sizeof *codes);
    uint64_t *payloads = calloc(count + 1, sizeof *payloads);
    uint64_t *got = calloc(count + 1, sizeof *got), *wanted = calloc(count + 1, sizeof *wanted);
    size_t at = 0, n;
    while ((n = bands_read(f.table, at, 1 + at % 7, codes + at * f.words, payloads + at))) {
        assert_true(n == 1 + at % 7 || at + n == count);
        at += n;
    }
    assert_int_equal(at, count);
    digest_records(codes, payloads, f.words, count, got);
    digest_records(f.codes, f.payloads, f.words, count, wanted);
    assert_memory_equal(got, wanted, count * sizeof *got);
    free(codes);
    free(payloads);
    free(got);
    free(wanted);
    free_fixture(&f);
}

static void test_read(void **state)
{
    (void)state;
    for (enum signatures kind = 0; kind < KINDS; kind++) {
        check_read(kind, 0);
        check_read(kind, 1);
        check_read(kind, 333);
    }
}

static void test_equal_signatures_are_kept_once(void **state)
{
    (void)state;
    struct fixture f = make_codes(IDENTICAL, options_of[0], 1000);
    build(&f);
    assert_int_equal(bands_distinct(f.table), 1);
    assert_true(segment_bytes(bands_segment(f.table)) < 64000);
    free_fixture(&f);
}

/* ---- kernels ---- */

static void check_kernel(bands_kernel *kernel)
{
    static uint64_t a[BANDS_MAX_LANES / 4 + 8], b[BANDS_MAX_LANES / 4 + 8];
    uint64_t seed = 5;
    for (int round = 0; round < 20000; round++) {
        uint32_t lanes = 4 * (1 + (uint32_t)(random_word(&seed) % (round % 10 ? 40 : 256)));
        uint64_t same = random_word(&seed) % 100;
        for (uint32_t i = 0; i < sizeof a / sizeof *a; i++)
            a[i] = b[i] = random_word(&seed);
        for (uint32_t lane = 0; lane < 4 * sizeof a / sizeof *a; lane++)
            if (random_word(&seed) % 100 >= same)
                b[lane / 4] ^= 1ull << (16 * (lane % 4) + random_word(&seed) % 16);
        uint32_t limit = (uint32_t)(random_word(&seed) % (lanes + 9));
        uint32_t exact = slow_distance(a, b, lanes);
        assert_int_equal(kernel(a, b, lanes, UINT32_MAX), exact);
        assert_int_equal(kernel(a, b, lanes, limit), bands_distance_portable(a, b, lanes, limit));
        assert_int_equal(kernel(a, b, lanes, limit) <= limit, exact <= limit);
    }
}

static void test_kernels(void **state)
{
    (void)state;
    check_kernel(bands_distance_portable);
#if defined(__x86_64__)
    if (cpu_flags() & CPU_AVX2)
        check_kernel(bands_distance_avx2);
    if (cpu_flags() & CPU_AVX512_POPCNT)
        check_kernel(bands_distance_avx512);
#endif
}

static void test_choice_follows_the_processor(void **state)
{
    (void)state;
    cpu_mask(0);
    assert_ptr_equal(bands_kernel_choose(), bands_distance_portable);
    cpu_mask(UINT32_MAX);
    bool plain = !(cpu_flags() & (CPU_AVX2 | CPU_AVX512_POPCNT));
    assert_int_equal(bands_kernel_choose() == bands_distance_portable, plain);
}

/* ---- collisions ---- */

/* Two one-word codes that the table of distinct signatures would take for the same. */
static void find_collision(uint64_t seed, uint64_t out[2])
{
    enum { TRIES = 1 << 20 };
    uint64_t *hashes = malloc(TRIES * sizeof *hashes);
    assert_non_null(hashes);
    for (uint64_t i = 0; i < TRIES; i++)
        hashes[i] = (signature_hash(&i, 1, seed) & ~0xffffffffull) | i;
    qsort(hashes, TRIES, sizeof *hashes, compare_words);
    for (size_t i = 1; i < TRIES; i++) {
        uint64_t a = (uint32_t)hashes[i - 1], b = (uint32_t)hashes[i];
        uint64_t differ = signature_hash(&a, 1, seed) ^ signature_hash(&b, 1, seed);
        if (differ >> 32 || differ & 0xf)
            continue;
        out[0] = a;
        out[1] = b;
        free(hashes);
        return;
    }
    fail_msg("no collision was found");
}

static void test_collisions_keep_signatures_apart(void **state)
{
    (void)state;
    uint64_t codes[6], payloads[6] = {10, 11, 12, 13, 14, 15};
    find_collision(1, codes);
    find_collision(2, codes + 2);
    codes[4] = codes[0];
    codes[5] = codes[1];
    for (size_t count = 2; count <= 6; count += 2) {
        struct fixture f = {.options = {4, 4, 1}, .count = count, .words = 1};
        f.codes = memcpy(malloc(sizeof codes), codes, sizeof codes);
        f.payloads = memcpy(malloc(sizeof payloads), payloads, sizeof payloads);
        build(&f);
        struct bands_scratch *scratch = bands_scratch_new();
        uint64_t *queries = make_queries(&f);
        check_radius(&f, scratch, queries, 2);
        /* With both pairs the table gives up finding equal ones. */
        assert_int_equal(bands_distinct(f.table), count);
        free(queries);
        bands_scratch_free(scratch);
        free_fixture(&f);
    }
}

/* ---- what cannot be ---- */

static void test_options_are_checked(void **state)
{
    (void)state;
    static const struct bands_options wrong[] = {
        {0, 1, 1}, {6, 1, 1},    {8, 0, 1},      {8, 1, 0},
        {8, 3, 3}, {2048, 1, 1}, {1024, 300, 1}, {8, 4, UINT32_MAX / 2}};
    struct array_stream array;
    struct code_stream stream = array_stream(&array, NULL, NULL, 2, 0);
    struct segment_target target = {0};
    struct segment *segment = NULL;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(bands_build(&wrong[i], &stream, &target, &segment, NULL),
                         DOPPEL_E_ARGUMENT);
    stream.count = UINT32_MAX;
    assert_int_equal(bands_build(&options_of[0], &stream, &target, &segment, NULL), DOPPEL_E_LIMIT);
    stream.count = 3;
    assert_int_equal(bands_build(&options_of[0], &stream, &target, &segment, NULL),
                     DOPPEL_E_ARGUMENT);
    assert_null(segment);
}

static void test_parameters_are_checked_at_open(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 9; i++)
        for (uint64_t change = 1; change; change <<= 9) {
            struct fixture f = make_codes(SOME_IDENTICAL, options_of[0], 100);
            build(&f);
            struct segment *segment = segment_retain(bands_segment(f.table));
            struct bands *table = NULL;
            segment->plan.parameters[i] += change;
            assert_int_not_equal(bands_open(segment, &table, NULL), DOPPEL_OK);
            assert_null(table);
            free_fixture(&f);
        }
}

/* Of before there were payloads of 4 bytes. */
static void test_version_1_is_read(void **state)
{
    (void)state;
    struct fixture f = make_codes(RANDOM, options_of[0], 100);
    build(&f);
    struct segment *segment = segment_retain(bands_segment(f.table));
    struct bands_scratch *scratch = bands_scratch_new();
    uint64_t *codes = make_queries(&f);
    assert_int_equal(segment->plan.parameters[8], 8);
    segment->plan.parameters[0] = 1;
    segment->plan.parameters[8] = 0;
    bands_free(f.table);
    assert_int_equal(bands_open(segment, &f.table, NULL), DOPPEL_OK);
    check_radius(&f, scratch, codes, 100);
    bands_scratch_free(scratch);
    free(codes);
    free_fixture(&f);
}

/* Whatever the parts hold, a search ends and reads nothing that is not there. */
static void test_damaged_parts_are_survived(void **state)
{
    (void)state;
    struct fixture f = make_codes(SOME_IDENTICAL, options_of[0], 301);
    build(&f);
    struct bands_scratch *scratch = bands_scratch_new();
    uint64_t *codes = make_queries(&f), seed = 9;
    int refused = 0;
    for (int round = 0; round < 300; round++) {
        struct segment *segment = bands_segment(f.table);
        unsigned part = BANDS_STARTS + (unsigned)round % 3;
        uint8_t *bytes = segment_fill(segment, part);
        for (int i = 0; i < 10; i++)
            bytes[random_word(&seed) % segment->plan.part_bytes[part]] =
                (uint8_t)random_word(&seed);
        for (uint32_t i = 0; i < QUERIES; i++) {
            hit_array hits = {0};
            struct query query = {codes + i * f.words, i, 64, &hits, NULL, 0};
            refused += bands_search(f.table, scratch, &query, 1, 0, NULL) == DOPPEL_E_CORRUPT;
            array_free(&hits);
        }
    }
    assert_true(refused > 0);
    bands_scratch_free(scratch);
    free(codes);
    free_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_search),
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_equal_signatures_are_kept_once),
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_choice_follows_the_processor),
        cmocka_unit_test(test_collisions_keep_signatures_apart),
        cmocka_unit_test(test_options_are_checked),
        cmocka_unit_test(test_parameters_are_checked_at_open),
        cmocka_unit_test(test_version_1_is_read),
        cmocka_unit_test(test_damaged_parts_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
