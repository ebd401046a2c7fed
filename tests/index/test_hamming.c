/* The Hamming table against distances counted one code after the other: every width, every radius,
 * every kernel, all shapes of codes. */
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
#include "index/codes.h"
#include "index/hamming/hamming.h"
#include "index/segment/segment.h"

enum { WORDS = 4, QUERIES = 8 };

static const uint32_t widths[] = {32, 64, 128, 256};

/* Codes with payloads, as a stream that reads them in uneven pieces. */
struct set {
    uint32_t bits, words;
    size_t count, at;
    uint64_t *codes, *payloads;
};

static size_t set_read(void *context, uint64_t *codes, uint64_t *payloads, size_t max)
{
    struct set *set = context;
    size_t n = set->count - set->at;
    n = n > max ? max : n;
    n = n > 37 ? 37 : n;
    if (n == 0)
        return 0;
    memcpy(codes, set->codes + set->at * set->words, n * set->words * sizeof *codes);
    memcpy(payloads, set->payloads + set->at, n * sizeof *payloads);
    set->at += n;
    return n;
}

static void set_rewind(void *context)
{
    ((struct set *)context)->at = 0;
}

static struct set set_make(uint32_t bits, enum shape shape, size_t count, uint64_t seed)
{
    struct set set = {.bits = bits, .words = (bits + 63) / 64, .count = count};
    set.codes = malloc((count + 1) * set.words * sizeof *set.codes);
    set.payloads = malloc((count + 1) * sizeof *set.payloads);
    assert_true(set.codes && set.payloads);
    shaped_codes(shape, count, set.words, seed, set.codes);
    for (size_t i = 0; i < count; i++) {
        set.payloads[i] = random_word(&seed) % (seed & 1 ? 1000 : UINT64_MAX);
        if (bits == 32)
            set.codes[i] &= UINT32_MAX;
    }
    return set;
}

static void set_free(struct set *set)
{
    free(set->codes);
    free(set->payloads);
}

static struct hamming *set_build(struct set *set, uint32_t design_radius, bool compact)
{
    struct code_stream stream = {set, set->count, set_read, set_rewind};
    struct hamming_options options = {set->bits, design_radius, compact};
    struct segment_target target = {0};
    struct segment *segment;
    struct hamming *table;
    struct doppel_error error = {0};
    assert_int_equal(hamming_build(&options, &stream, &target, &segment, &error), DOPPEL_OK);
    assert_int_equal(hamming_open(segment, &table, &error), DOPPEL_OK);
    return table;
}

static uint32_t slow_distance(const uint64_t *a, const uint64_t *b, uint32_t words)
{
    uint32_t distance = 0;
    for (uint32_t bit = 0; bit < words * 64; bit++)
        distance += (a[bit / 64] >> bit % 64 & 1) != (b[bit / 64] >> bit % 64 & 1);
    return distance;
}

static int compare_hits(const void *a, const void *b)
{
    const struct doppel_index_hit *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return x->payload < y->payload ? -1 : x->payload > y->payload;
}

/* Every code as a hit, sorted. */
static struct doppel_index_hit *slow_hits(const struct set *set, const uint64_t *query)
{
    struct doppel_index_hit *hits = malloc((set->count + 1) * sizeof *hits);
    assert_non_null(hits);
    for (size_t i = 0; i < set->count; i++)
        hits[i] = (struct doppel_index_hit){
            set->payloads[i], slow_distance(set->codes + i * set->words, query, set->words), 0};
    qsort(hits, set->count, sizeof *hits, compare_hits);
    return hits;
}

static void check_equal(const hit_array *got, const struct doppel_index_hit *expected, size_t count)
{
    assert_int_equal(got->count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(got->items[i].distance, expected[i].distance);
        assert_int_equal(got->items[i].payload, expected[i].payload);
    }
}

/* Queries near and far: codes of the set with some bits flipped, and strangers. */
static void make_queries(const struct set *set, enum shape shape, uint64_t seed, uint64_t *out)
{
    shaped_codes(shape, QUERIES, set->words, seed, out);
    for (size_t i = 0; i < QUERIES; i++) {
        uint64_t *query = out + i * set->words;
        if (i % 4 && set->count)
            memcpy(query, set->codes + random_word(&seed) % set->count * set->words,
                   set->words * sizeof *query);
        for (size_t flips = i % 4 ? random_word(&seed) % (i % 4 == 3 ? 20 : 4) : 0; flips > 0;
             flips--) {
            uint64_t bit = random_word(&seed) % set->bits;
            query[bit / 64] ^= (uint64_t)1 << bit % 64;
        }
        if (set->bits == 32)
            query[0] &= UINT32_MAX;
    }
}

struct check {
    const struct set *set;
    struct hamming *table;
    struct hamming_scratch *scratch;
    const uint64_t *queries;
    struct doppel_index_hit *expected[QUERIES];
};

static void check_search(const struct check *check, uint32_t radius)
{
    hit_array hits[QUERIES] = {0};
    struct query queries[QUERIES];
    struct hamming_counts counts = {0};
    for (uint32_t i = 0; i < QUERIES; i++)
        queries[i] =
            (struct query){check->queries + i * check->set->words, i, radius, &hits[i], NULL, 0};
    assert_int_equal(hamming_search(check->table, check->scratch, queries, QUERIES, &counts, NULL),
                     DOPPEL_OK);
    for (uint32_t i = 0; i < QUERIES; i++) {
        size_t count = 0;
        while (count < check->set->count && check->expected[i][count].distance <= radius)
            count++;
        if (hits[i].count)
            qsort(hits[i].items, hits[i].count, sizeof *hits[i].items, compare_hits);
        check_equal(&hits[i], check->expected[i], count);
        for (size_t j = 0; j < count; j++)
            assert_int_equal(hits[i].items[j].query, i);
        array_free(&hits[i]);
    }
}

static void check_nearest(const struct check *check, size_t k, uint32_t radius)
{
    hit_array hits[QUERIES] = {0};
    struct query queries[QUERIES];
    for (uint32_t i = 0; i < QUERIES; i++)
        queries[i] =
            (struct query){check->queries + i * check->set->words, i, radius, &hits[i], NULL, 0};
    assert_int_equal(hamming_knn(check->table, check->scratch, queries, QUERIES, k, NULL, NULL),
                     DOPPEL_OK);
    for (uint32_t i = 0; i < QUERIES; i++) {
        size_t count = 0;
        while (count < check->set->count && count < k &&
               check->expected[i][count].distance <= radius)
            count++;
        check_equal(&hits[i], check->expected[i], count);
        array_free(&hits[i]);
    }
}

/* What was put in comes out again, from any position on. */
static void check_read(const struct check *check)
{
    const struct set *set = check->set;
    uint64_t *codes = malloc((set->count + 1) * set->words * sizeof *codes);
    uint64_t *payloads = malloc((set->count + 1) * sizeof *payloads);
    uint64_t one[WORDS], payload;
    bool *used = calloc(set->count + 1, sizeof *used);
    assert_true(codes && payloads && used);
    assert_int_equal(hamming_read(check->table, 0, set->count + 1, codes, payloads), set->count);
    assert_int_equal(hamming_read(check->table, set->count, 1, one, &payload), 0);
    for (size_t i = 0; i < set->count; i++) {
        size_t j = 0;
        while (j < set->count && (used[j] || set->payloads[j] != payloads[i] ||
                                  memcmp(set->codes + j * set->words, codes + i * set->words,
                                         set->words * sizeof *codes) != 0))
            j++;
        assert_true(j < set->count);
        used[j] = true;
        assert_int_equal(hamming_read(check->table, i, 1, one, &payload), 1);
        assert_int_equal(payload, payloads[i]);
        assert_memory_equal(one, codes + i * set->words, set->words * sizeof *one);
    }
    free(codes);
    free(payloads);
    free(used);
}

static void check_set(struct set *set, enum shape shape, uint32_t design_radius, bool compact,
                      uint32_t radius_step)
{
    uint64_t queries[QUERIES * WORDS];
    make_queries(set, shape, set->count + 5, queries);
    struct check check = {
        set, set_build(set, design_radius, compact), hamming_scratch_new(), queries, {NULL}};
    assert_non_null(check.scratch);
    assert_int_equal(hamming_info(check.table).codes, set->count);
    for (size_t i = 0; i < QUERIES; i++)
        check.expected[i] = slow_hits(set, queries + i * set->words);
    for (uint32_t radius = 0; radius <= set->bits + 1; radius += radius_step)
        check_search(&check, radius);
    check_nearest(&check, 1, set->bits);
    check_nearest(&check, 10, set->bits);
    check_nearest(&check, 10, set->bits / 8);
    check_nearest(&check, set->count + 1, UINT32_MAX);
    if (set->count <= 2000)
        check_read(&check);
    for (size_t i = 0; i < QUERIES; i++)
        free(check.expected[i]);
    hamming_scratch_free(check.scratch);
    hamming_free(check.table);
}

static void every_radius(void **state)
{
    static const size_t sizes[] = {0, 1, 2, 3, 60, 300};
    (void)state;
    for (size_t w = 0; w < 4; w++)
        for (enum shape shape = 0; shape < SHAPES; shape++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                struct set set = set_make(widths[w], shape, sizes[s], s + shape);
                check_set(&set, shape, widths[w] / 8, s & 1, 1);
                set_free(&set);
            }
}

static void large_sets(void **state)
{
    (void)state;
    for (size_t w = 0; w < 4; w++)
        for (enum shape shape = 0; shape < SHAPES; shape++) {
            struct set set = set_make(widths[w], shape, 8000, 3 + shape);
            check_set(&set, shape, w & 1 ? 8 : 16, (shape + w) & 1, set.bits / 8 + 1);
            set_free(&set);
        }
}

static void every_kernel(void **state)
{
    static const uint32_t masks[] = {0, CPU_AVX2, CPU_AVX512_POPCNT};
    (void)state;
    for (size_t m = 0; m < sizeof masks / sizeof *masks; m++) {
        cpu_mask(masks[m]);
        for (size_t w = 0; w < 4; w++) {
            struct set set = set_make(widths[w], SKEWED, 3000, m);
            check_set(&set, SKEWED, 12, false, 5);
            check_set(&set, SKEWED, set.bits / 8, true, 5);
            set_free(&set);
        }
    }
    cpu_mask(UINT32_MAX);
}

/* A k-NN search goes on from hits that are there. */
static void nearest_of_two_tables(void **state)
{
    (void)state;
    struct set all = set_make(64, UNIFORM, 2000, 9), parts[2] = {all, all};
    parts[0].count = 700;
    parts[1].count -= 700;
    parts[1].codes += 700;
    parts[1].payloads += 700;
    struct hamming_scratch *scratch = hamming_scratch_new();
    struct doppel_index_hit *expected = slow_hits(&all, all.codes);
    hit_array hits = {0};
    struct query query = {all.codes, 0, 64, &hits, NULL, 0};
    for (size_t i = 0; i < 2; i++) {
        struct hamming *table = set_build(&parts[i], 8, false);
        query.radius = 64;
        assert_int_equal(hamming_knn(table, scratch, &query, 1, 50, NULL, NULL), DOPPEL_OK);
        hamming_free(table);
    }
    check_equal(&hits, expected, 50);
    array_free(&hits);
    free(expected);
    hamming_scratch_free(scratch);
    set_free(&all);
}

/* What one table has far away gives way to what another one has less far away, though farther than
 * codes would be if they were uniform. */
static void nearest_of_clusters(void **state)
{
    (void)state;
    for (size_t w = 0; w < 4; w++) {
        const uint32_t bits = widths[w], words = (bits + 63) / 64;
        uint64_t origin[WORDS] = {0}, seed = 3;
        struct hamming_scratch *scratch = hamming_scratch_new();
        hit_array hits = {0};
        for (uint32_t part = 0; part < 3; part++) {
            struct set set = set_make(bits, UNIFORM, part ? 3000 : 5, 1);
            for (size_t i = 0; i < set.count; i++) { /* 3/4, 1/2 + some, 3/4 of the bits */
                uint64_t *code = set.codes + i * words;
                for (uint32_t word = 0; word < words; word++) {
                    uint64_t all = bits == 32 ? UINT32_MAX : UINT64_MAX;
                    code[word] = part == 1 ? all >> bits / words / 2 : all >> bits / words / 4;
                    code[word] ^= UINT64_C(1) << random_word(&seed) % (bits < 64 ? 32 : 64);
                }
                set.payloads[i] = 10000 * part + i;
            }
            struct hamming *table = set_build(&set, 8, false);
            struct query query = {origin, 0, bits, &hits, NULL, 0};
            assert_int_equal(hamming_knn(table, scratch, &query, 1, 5, NULL, NULL), DOPPEL_OK);
            hamming_free(table);
            set_free(&set);
        }
        assert_int_equal(hits.count, 5);
        for (size_t i = 0; i < 5; i++) {
            assert_int_equal(hits.items[i].payload / 10000, 1);
            assert_in_range(hits.items[i].distance, bits / 2 - words, bits / 2 + words);
        }
        array_free(&hits);
        hamming_scratch_free(scratch);
    }
}

/* A table read back from a file, whose blocks are checked as the search touches them. */
static void read_from_a_file(void **state)
{
    (void)state;
    char folder[] = "/tmp/doppel-hamming-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/table", folder);
    for (size_t w = 0; w < 4; w++) {
        struct set set = set_make(widths[w], SKEWED, 3000, w);
        struct code_stream stream = {&set, set.count, set_read, set_rewind};
        struct hamming_options options = {set.bits, 8, w & 1};
        struct segment_target target = {.path = path};
        struct segment *segment;
        uint64_t queries[QUERIES * WORDS];
        make_queries(&set, SKEWED, 4, queries);
        for (uint32_t radius = 0; radius < set.bits; radius += 3 + radius) {
            struct check check = {&set, NULL, hamming_scratch_new(), queries, {NULL}};
            assert_int_equal(hamming_build(&options, &stream, &target, &segment, NULL), DOPPEL_OK);
            segment_release(segment);
            assert_int_equal(segment_open(path, &segment, NULL), DOPPEL_OK);
            assert_int_equal(hamming_open(segment, &check.table, NULL), DOPPEL_OK);
            for (size_t i = 0; i < QUERIES; i++)
                check.expected[i] = slow_hits(&set, queries + i * set.words);
            check_search(&check, radius);
            check_nearest(&check, 5, set.bits);
            for (size_t i = 0; i < QUERIES; i++)
                free(check.expected[i]);
            hamming_scratch_free(check.scratch);
            hamming_free(check.table);
            assert_int_equal(unlink(path), 0);
        }
        set_free(&set);
    }
    assert_int_equal(rmdir(folder), 0);
}

/* Any byte of a table may be wrong: a search still ends, in bounds, whatever it finds. */
static void damaged_tables(void **state)
{
    (void)state;
    uint64_t seed = 77, codes[64 * WORDS], payloads[64];
    for (size_t w = 0; w < 4; w++)
        for (size_t round = 0; round < 60; round++) {
            struct set set = set_make(widths[w], round % SHAPES, 1500, round);
            struct hamming *table = set_build(&set, 8, round & 1);
            struct segment *segment = hamming_segment(table);
            for (size_t flips = 0; flips < 40; flips++) {
                unsigned part = (unsigned)(random_word(&seed) % SEGMENT_PARTS_MAX);
                uint64_t bytes = segment->plan.part_bytes[part];
                if (bytes)
                    segment_fill(segment, part)[random_word(&seed) % bytes] ^=
                        (uint8_t)(1 << random_word(&seed) % 8);
            }
            uint64_t queries[QUERIES * WORDS];
            make_queries(&set, UNIFORM, round, queries);
            struct hamming_scratch *scratch = hamming_scratch_new();
            for (uint32_t i = 0; i < QUERIES; i++) {
                hit_array hits = {0};
                struct query query = {queries + i * set.words, i, i * 4, &hits, NULL, 0};
                assert_int_equal(hamming_search(table, scratch, &query, 1, NULL, NULL), DOPPEL_OK);
                hits.count = 0;
                assert_int_equal(hamming_knn(table, scratch, &query, 1, 5, NULL, NULL), DOPPEL_OK);
                array_free(&hits);
            }
            for (uint64_t at = 0; at < 1500; at += 100)
                assert_true(hamming_read(table, at, 64, codes, payloads) <= 64);
            hamming_scratch_free(scratch);
            hamming_free(table);
            set_free(&set);
        }
}

/* Parameters that cannot be are refused. */
static void damaged_parameters(void **state)
{
    (void)state;
    uint64_t seed = 5;
    struct set set = set_make(64, UNIFORM, 300, 1);
    struct code_stream stream = {&set, set.count, set_read, set_rewind};
    struct hamming_options options = {64, 8, false};
    struct segment_target target = {0};
    for (size_t round = 0; round < 500; round++) {
        struct segment *segment;
        struct hamming *table;
        struct doppel_error error = {0};
        assert_int_equal(hamming_build(&options, &stream, &target, &segment, &error), DOPPEL_OK);
        uint64_t *parameter = &segment->plan.parameters[round % 10];
        uint64_t before = *parameter;
        *parameter = round & 16 ? random_word(&seed) >> random_word(&seed) % 64 : before + 1;
        bool changed = *parameter != before;
        if (hamming_open(segment, &table, &error) == DOPPEL_OK) {
            /* the design radius is no more than information */
            assert_true(round % 10 == 2 || !changed);
            hamming_free(table);
        }
    }
    set_free(&set);
}

/* Tables of wide codes that an earlier version made lie otherwise: they are not taken for damaged.
 */
static void tables_of_an_earlier_version(void **state)
{
    (void)state;
    for (size_t w = 0; w < 4; w++) {
        struct set set = set_make(widths[w], UNIFORM, 300, 1);
        struct code_stream stream = {&set, set.count, set_read, set_rewind};
        struct hamming_options options = {set.bits, 8, false};
        struct segment_target target = {0};
        struct segment *segment;
        struct hamming *table = NULL;
        struct doppel_error error = {0};
        assert_int_equal(hamming_build(&options, &stream, &target, &segment, &error), DOPPEL_OK);
        segment->plan.parameters[0] = 1;
        assert_int_equal(hamming_open(segment, &table, &error),
                         set.bits > 64 ? DOPPEL_E_VERSION : DOPPEL_OK);
        hamming_free(table);
        set_free(&set);
    }
}

/* 200 bytes a code of 256 bits, 150 if compact, payloads of 8 included. */
static void sizes_of_wide_tables(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        const size_t count = 100001 << i / 2;
        struct set set = set_make(256, UNIFORM, count, count);
        struct hamming *table = set_build(&set, 31, i % 2);
        uint64_t bytes = 0;
        for (unsigned part = 0; part < SEGMENT_PARTS_MAX; part++)
            bytes += hamming_segment(table)->plan.part_bytes[part];
        assert_in_range(bytes, 40 * count, (i % 2 ? 151 : 201) * count);
        hamming_free(table);
        set_free(&set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_radius),         cmocka_unit_test(large_sets),
        cmocka_unit_test(every_kernel),         cmocka_unit_test(nearest_of_two_tables),
        cmocka_unit_test(nearest_of_clusters),  cmocka_unit_test(read_from_a_file),
        cmocka_unit_test(damaged_tables),       cmocka_unit_test(damaged_parameters),
        cmocka_unit_test(sizes_of_wide_tables), cmocka_unit_test(tables_of_an_earlier_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
