/* A sweep of pictures against all pairs looked at one by one; its kernels against the portable one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/cpu.h"
#include "match/images.h"
#include "match/images/join_internal.h"
#include "match/images/pair.h"
#include "match/images/sweep.h"

enum { IMAGES = 300, LOW_BITS = 64, HIGH_BITS = 192 };

/* ---- pictures ---- */

/* Flip `count` bits that are not flipped yet, from `first` on. */
static void flip(struct doppel_code *code, unsigned first, unsigned bits, unsigned count,
                 uint64_t *seed)
{
    uint64_t flipped[4] = {0};
    while (count > 0) {
        const unsigned bit = first + (unsigned)(random_word(seed) % bits);
        if (flipped[bit / 64] >> bit % 64 & 1)
            continue;
        flipped[bit / 64] |= UINT64_C(1) << bit % 64;
        code->word[bit / 64] ^= UINT64_C(1) << bit % 64;
        count--;
    }
}

/* The same, as evenly as can be over runs of 16 bits, of word 0 sorted: no box is nearer than it
 * has to be. */
static void flip_evenly(struct doppel_code *code, unsigned first, unsigned bits, unsigned count,
                        uint64_t *seed)
{
    const unsigned boxes = bits / 16, offset = (unsigned)(random_word(seed) % boxes);
    code->word[0] = doppel_image_sort_bits(code->word[0]);
    for (unsigned i = 0; i < boxes; i++)
        flip(code, first + 16 * ((i + offset) % boxes), 16, count / boxes + (i < count % boxes),
             seed);
    code->word[0] = doppel_image_unsort_bits(code->word[0]);
}

/* Low and high bits flipped so that the weighted sum is about `sum`. */
static void move_code(struct doppel_code *code, unsigned low, unsigned weight, unsigned sum,
                      uint64_t *seed)
{
    const unsigned all = sum > weight * low ? sum - weight * low : 0;
    const unsigned high = all < HIGH_BITS ? all : HIGH_BITS;
    const bool evenly = random_word(seed) % 2;
    (evenly ? flip_evenly : flip)(code, 0, LOW_BITS, low, seed);
    (evenly ? flip_evenly : flip)(code, LOW_BITS, HIGH_BITS, high, seed);
}

static void blur(struct doppel_fingerprint *fingerprint, uint32_t kept, uint64_t *seed)
{
    for (uint32_t i = 0; i < fingerprint->count; i++)
        for (unsigned word = 0; word < 4 && i != kept; word++)
            fingerprint->codes[i].word[word] = random_word(seed);
}

/* One view of each is near the other's, in some orientation, at the edge of the radius. */
static void make_moved(const struct doppel_fingerprint *model, struct doppel_fingerprint *copy,
                       uint64_t *seed)
{
    const uint32_t from = (uint32_t)(random_word(seed) % model->count);
    const uint32_t to = (uint32_t)(random_word(seed) % copy->count);
    blur(copy, UINT32_MAX, seed);
    copy->codes[to] = doppel_image_orient(&model->codes[from], (unsigned)(random_word(seed) % 8));
    move_code(&copy->codes[to], (unsigned)(random_word(seed) % 18), 4,
              98 + (unsigned)(random_word(seed) % 14), seed);
}

/* Full frames are near as they are, by high bits alone. */
static void make_whole(struct doppel_fingerprint *copy, uint64_t *seed)
{
    blur(copy, 0, seed);
    move_code(&copy->codes[0], (unsigned)(random_word(seed) % 42), 2,
              76 + (unsigned)(random_word(seed) % 12), seed);
}

/* Full frames and a crop are near in the mean. */
static void make_alike_in_parts(struct doppel_fingerprint *copy, uint64_t *seed)
{
    struct doppel_code *full = &copy->codes[0], *crop = &copy->codes[copy->count - 1];
    const struct doppel_code kept = *crop;
    const unsigned sum = 174 + (unsigned)(random_word(seed) % 14);
    const unsigned of_full = 40 + (unsigned)(random_word(seed) % 110);
    blur(copy, 0, seed);
    *crop = kept;
    move_code(full, (unsigned)(random_word(seed) % 18), 2, of_full, seed);
    move_code(crop, (unsigned)(random_word(seed) % 18), 2, sum - of_full, seed);
}

/* A code in which all coefficients of a parity are below the median. */
static void lack_parity(struct doppel_fingerprint *fingerprint, uint64_t *seed)
{
    const struct doppel_image_verify_options options = doppel_image_verify_options_default();
    const struct doppel_image_gate gate = doppel_image_gate_make(&options, 1e-7, 2);
    struct doppel_code *code = &fingerprint->codes[random_word(seed) % fingerprint->count];
    const bool across = random_word(seed) % 2;
    for (unsigned word = 0; word < 4; word++)
        code->word[word] &= across ? ~gate.mirrored[word] | gate.flipped[word]
                                   : ~gate.flipped[word] | gate.mirrored[word];
}

static struct doppel_fingerprint make_copy(const struct doppel_fingerprint *model, uint64_t *seed)
{
    struct doppel_fingerprint copy = copy_fingerprint(model);
    switch (random_word(seed) % 5) {
    case 0:
    case 1:
        make_moved(model, &copy, seed);
        break;
    case 2:
        make_whole(&copy, seed);
        break;
    case 3:
        make_alike_in_parts(&copy, seed);
        break;
    default:
        disturb(&copy, 6 + (unsigned)(random_word(seed) % 20), seed);
        turn(&copy, (unsigned)(random_word(seed) % 8));
    }
    return copy;
}

static unsigned random_views(uint64_t *seed)
{
    static const unsigned views[] = {0x1, 0x3, 0x7, 0xff9, 0xffb, 0x39, 0xfff};
    return views[random_word(seed) % (sizeof views / sizeof *views)];
}

struct images {
    struct doppel_fingerprint items[IMAGES];
    struct doppel_matcher *matcher;
};

static void make_images(const struct doppel_match_options *options, struct images *out,
                        uint64_t *seed)
{
    assert_int_equal(doppel_matcher_new(DOPPEL_SCHEME_PHASH64, options, 2, &out->matcher, NULL),
                     DOPPEL_OK);
    for (uint32_t i = 0; i < IMAGES; i++) {
        const struct doppel_fingerprint *model = &out->items[i ? random_word(seed) % i : 0];
        out->items[i] = i < 20 || random_word(seed) % 4 == 0
                            ? make_fingerprint(DOPPEL_SCHEME_PHASH64, random_views(seed), seed)
                            : make_copy(model, seed);
        if (random_word(seed) % 40 == 0)
            lack_parity(&out->items[i], seed);
        const struct doppel_match_item item = {&out->items[i], 100};
        assert_int_equal(doppel_matcher_add(out->matcher, i, &item, NULL), DOPPEL_OK);
    }
}

static void free_images(struct images *images)
{
    for (uint32_t i = 0; i < IMAGES; i++)
        doppel_fingerprint_free(&images->items[i]);
    doppel_matcher_free(images->matcher);
}

/* ---- the pairs ---- */

static uint32_t views_of(const struct doppel_fingerprint *fingerprint)
{
    uint32_t views = 0;
    for (uint32_t i = 0; i < fingerprint->count; i++)
        views |= UINT32_C(1) << fingerprint->positions[i];
    return views;
}

/* All pairs that meet and pass the gate, one by one. */
static void find_slowly(const struct images *images, const struct join *join,
                        bool out[IMAGES][IMAGES])
{
    memset(out, 0, sizeof(bool[IMAGES][IMAGES]));
    for (uint32_t i = 0; i < IMAGES; i++)
        for (uint32_t j = i + 1; j < IMAGES; j++) {
            const struct doppel_fingerprint *a = &images->items[i], *b = &images->items[j];
            const struct doppel_image_codes of_a = {a->codes, views_of(a)};
            const struct doppel_image_codes of_b = {b->codes, views_of(b)};
            const struct doppel_match_item query = {a, 100}, item = {b, 100};
            out[i][j] = doppel_image_gate_passes(&join->gate, &of_a, &of_b) &&
                        lookups_meet(&query, &item, &images->matcher->options);
        }
}

/* @return how many */
static size_t assert_swept(struct join *join, uint32_t box_bits, bool wanted[IMAGES][IMAGES])
{
    static bool found[IMAGES][IMAGES];
    size_t count = 0;
    memset(found, 0, sizeof found);
    join->meetings.count = 0;
    assert_int_equal(join_sweep(join, NULL, box_bits), DOPPEL_OK);
    for (size_t i = 0; i < join->meetings.count; i++)
        found[join->meetings.items[i].earlier][join->meetings.items[i].later] = true;
    for (uint32_t i = 0; i < IMAGES; i++)
        for (uint32_t j = 0; j < IMAGES; j++) {
            if (found[i][j] != wanted[i][j])
                print_error("pictures %u and %u\n", i, j);
            assert_int_equal(found[i][j], wanted[i][j]);
            count += found[i][j];
        }
    return count;
}

static void sweep_and_compare(const struct doppel_match_options *options, uint64_t seed)
{
    static bool wanted[IMAGES][IMAGES];
    static struct images images;
    make_images(options, &images, &seed);
    struct join join = {.matcher = images.matcher};
    assert_int_equal(join_begin(&join), DOPPEL_OK);
    join.end = join.count;
    assert_int_equal(join.count, IMAGES);
    assert_true(join_can_sweep(&join));
    find_slowly(&images, &join, wanted);
    assert_true(assert_swept(&join, 16, wanted) > IMAGES / 10);
    assert_swept(&join, 9 + (uint32_t)(seed % 7), wanted);
    cpu_mask(0);
    assert_swept(&join, 0, wanted);
    cpu_mask(UINT32_MAX);
    join_end(&join);
    free_images(&images);
}

static void test_a_sweep_finds_what_all_pairs_have(void **state)
{
    (void)state;
    struct doppel_match_options options = doppel_match_options_default();
    options.compared = 1 << 16;
    for (uint64_t seed = 1; seed <= 3; seed++)
        sweep_and_compare(&options, seed);
    options.image.views = DOPPEL_VIEWS_TRIM;
    sweep_and_compare(&options, 4);
    options.image.views = DOPPEL_VIEWS_FULL;
    sweep_and_compare(&options, 5);
}

static void test_other_limits(void **state)
{
    (void)state;
    struct doppel_match_options options = doppel_match_options_default();
    options.min_similarity = 0.5;
    sweep_and_compare(&options, 6);
    options.min_similarity = 0.45;
    sweep_and_compare(&options, 7);
}

/* ---- kernels ---- */

static void test_kernels_agree(void **state)
{
    enum { ROWS = 9, BLOCKS = 7, ROUNDS = 200 };
    static struct sweep_block blocks[BLOCKS];
    static struct sweep_near wanted[ROWS * BLOCKS], got[ROWS * BLOCKS];
    static _Alignas(16) int8_t tables[16][16];
    struct sweep_row rows[ROWS];
    uint64_t seed = 9;
    (void)state;
    if (!(cpu_flags() & CPU_AVX2))
        return;
    for (unsigned i = 0; i < 256; i++)
        tables[i / 16][i % 16] = (int8_t)(2 * __builtin_popcount((i / 16) ^ (i % 16)));
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < sizeof blocks; i++)
            ((uint8_t *)blocks)[i] = random_word(&seed) % 16;
        for (unsigned i = 0; i < ROWS * SWEEP_PLANES; i++)
            rows[i / SWEEP_PLANES].tables[i % SWEEP_PLANES] = 16 * (random_word(&seed) % 16);
        struct sweep_task task = {.tables = tables[0],
                                  .rows = rows,
                                  .blocks = blocks,
                                  .row_count = ROWS,
                                  .block_count = BLOCKS,
                                  .centre = -(int32_t)(random_word(&seed) % 33)};
        for (enum sweep_form form = SWEEP_SUM; form <= SWEEP_FOLD_THREE; form++) {
            task.limit = (int32_t)(random_word(&seed) % 60) - (form == SWEEP_SUM ? 0 : 30);
            const size_t count = sweep_portable.forms[form](&task, wanted);
            assert_int_equal(sweep_avx2.forms[form](&task, got), count);
            assert_memory_equal(got, wanted, count * sizeof *got);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels_agree),
        cmocka_unit_test(test_a_sweep_finds_what_all_pairs_have),
        cmocka_unit_test(test_other_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
