/* What is said of two fingerprints: limits, relation, transform, the gate. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "match/images.h"

enum { FULL = 1, ALL_CROPS = 0xff9, TELLING = 100 };

static bool compare(const struct doppel_fingerprint *a, const struct doppel_fingerprint *b,
                    const struct doppel_match_options *options, struct doppel_match *out)
{
    struct doppel_match_item query = {a, TELLING}, item = {b, TELLING};
    return doppel_match_pair(&query, &item, options, out);
}

static void test_the_same_codes(void **state)
{
    (void)state;
    uint64_t seed = 1;
    struct doppel_match_options options = doppel_match_options_default();
    for (enum doppel_scheme_id scheme = DOPPEL_SCHEME_PHASH64; scheme <= DOPPEL_SCHEME_PDQ;
         scheme++) {
        struct doppel_fingerprint a = make_fingerprint(scheme, ALL_CROPS, &seed);
        struct doppel_fingerprint b = make_fingerprint(scheme, ALL_CROPS, &seed);
        struct doppel_match match;
        assert_true(compare(&a, &a, &options, &match));
        assert_int_equal(match.kind, DOPPEL_KIND_IMAGE);
        assert_int_equal(match.scheme, scheme);
        assert_int_equal(match.relation, DOPPEL_RELATION_SAME);
        assert_int_equal(match.verified, DOPPEL_VERIFIED_CODES);
        assert_int_equal(match.distance, 0);
        assert_int_equal(match.bits, doppel_scheme_by_id(scheme)->code_bits);
        assert_true(match.similarity > 0.99);
        assert_false(match.transform.mirrored || match.transform.cropped ||
                     match.transform.trimmed || match.transform.rotated);
        bool rated = scheme == DOPPEL_SCHEME_PHASH64;
        assert_int_equal(match.false_positive_rate >= 0, rated);
        assert_int_equal(match.score > 0, rated);
        assert_false(compare(&a, &b, &options, &match));
        assert_true(match.similarity < 0.6);
        doppel_fingerprint_free(&a);
        doppel_fingerprint_free(&b);
    }
}

/* ---- transforms, told by what they do to a matrix ---- */

enum { SIDE = 3 };

struct matrix {
    int at[SIDE][SIDE]; /* row, column */
};

static struct matrix transposed(struct matrix m)
{
    struct matrix out;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            out.at[x][y] = m.at[y][x];
    return out;
}

static struct matrix mirrored_left_right(struct matrix m)
{
    struct matrix out;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            out.at[y][SIDE - 1 - x] = m.at[y][x];
    return out;
}

static struct matrix mirrored_top_bottom(struct matrix m)
{
    struct matrix out;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            out.at[SIDE - 1 - y][x] = m.at[y][x];
    return out;
}

/* A quarter turn clockwise: the top row becomes the right column. */
static struct matrix turned_clockwise(struct matrix m)
{
    struct matrix out;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            out.at[x][SIDE - 1 - y] = m.at[y][x];
    return out;
}

static struct matrix oriented(struct matrix m, unsigned orientation)
{
    if (orientation & 4)
        m = transposed(m);
    if (orientation & 1)
        m = mirrored_left_right(m);
    if (orientation & 2)
        m = mirrored_top_bottom(m);
    return m;
}

static void check_transform(enum doppel_scheme_id scheme, unsigned orientation)
{
    uint64_t seed = 5 + orientation;
    struct doppel_match_options options = doppel_match_options_default();
    struct doppel_fingerprint item = make_fingerprint(scheme, ALL_CROPS, &seed);
    struct doppel_fingerprint query = copy_fingerprint(&item);
    struct doppel_match match;
    turn(&query, orientation);
    assert_true(compare(&query, &item, &options, &match));
    struct matrix image = {{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}};
    struct matrix wanted = oriented(image, orientation), got = image;
    if (match.transform.mirrored)
        got = mirrored_left_right(got);
    assert_int_equal(match.transform.rotated % 90, 0);
    for (int degrees = 0; degrees < match.transform.rotated; degrees += 90)
        got = turned_clockwise(got);
    assert_memory_equal(&got, &wanted, sizeof got);
    options.image.orientations = false;
    assert_int_equal(compare(&query, &item, &options, &match), orientation == 0);
    doppel_fingerprint_free(&item);
    doppel_fingerprint_free(&query);
}

static void test_transforms(void **state)
{
    (void)state;
    for (unsigned orientation = 0; orientation < DOPPEL_IMAGE_ORIENTATIONS; orientation++) {
        check_transform(DOPPEL_SCHEME_PHASH64, orientation);
        check_transform(DOPPEL_SCHEME_PHASH256, orientation);
    }
}

/* ---- relations ---- */

/* A picture whose full view is another's crop: found only when the two are judged both ways. */
static void test_a_crop(void **state)
{
    (void)state;
    uint64_t seed = 9;
    struct doppel_match_options options = doppel_match_options_default();
    struct doppel_fingerprint whole = make_fingerprint(DOPPEL_SCHEME_PHASH64, ALL_CROPS, &seed);
    for (uint32_t view = DOPPEL_VIEW_CENTRE; view < DOPPEL_VIEW_COUNT; view++)
        for (unsigned orientation = 0; orientation < DOPPEL_IMAGE_ORIENTATIONS; orientation++) {
            struct doppel_fingerprint part =
                make_fingerprint(DOPPEL_SCHEME_PHASH64, ALL_CROPS, &seed);
            part.codes[0] =
                doppel_image_orient(&whole.codes[view - DOPPEL_VIEW_CENTRE + 1], orientation);
            struct doppel_match forth, back;
            assert_true(compare(&part, &whole, &options, &forth));
            assert_true(compare(&whole, &part, &options, &back));
            assert_int_equal(forth.relation, DOPPEL_RELATION_CONTAINED);
            assert_int_equal(back.relation, DOPPEL_RELATION_CONTAINS);
            assert_true(forth.transform.cropped && back.transform.cropped);
            assert_int_equal(forth.transform.mirrored, back.transform.mirrored);
            assert_true(forth.similarity >= back.similarity && forth.similarity <= back.similarity);
            unsigned turns = forth.transform.rotated + back.transform.rotated;
            /* A mirrored picture is its own way back; a turned one turns back. */
            assert_int_equal(forth.transform.mirrored
                                 ? forth.transform.rotated != back.transform.rotated
                                 : turns % 360,
                             0);
            options.image.views = DOPPEL_VIEWS_TRIM;
            assert_false(compare(&part, &whole, &options, &forth));
            options.image.views = DOPPEL_VIEWS_ALL;
            doppel_fingerprint_free(&part);
        }
    doppel_fingerprint_free(&whole);
}

static void test_a_trimmed_border(void **state)
{
    (void)state;
    uint64_t seed = 11;
    struct doppel_match_options options = doppel_match_options_default();
    struct doppel_fingerprint plain = make_fingerprint(DOPPEL_SCHEME_PHASH64, FULL, &seed);
    struct doppel_fingerprint framed = make_fingerprint(DOPPEL_SCHEME_PHASH64, 3, &seed);
    framed.codes[1] = plain.codes[0];
    struct doppel_match match;
    assert_true(compare(&framed, &plain, &options, &match));
    assert_true(match.transform.trimmed);
    assert_false(match.transform.cropped);
    assert_int_equal(match.relation, DOPPEL_RELATION_SAME);
    options.image.views = DOPPEL_VIEWS_FULL;
    assert_false(compare(&framed, &plain, &options, &match));
    doppel_fingerprint_free(&plain);
    doppel_fingerprint_free(&framed);
}

/* ---- limits ---- */

static void flip_bits(struct doppel_fingerprint *fingerprint, unsigned count)
{
    for (unsigned bit = 0; bit < count; bit++)
        fingerprint->codes[0].word[bit / 64] ^= (uint64_t)1 << bit % 64;
}

static void test_limits_of_distance(void **state)
{
    (void)state;
    uint64_t seed = 13;
    for (enum doppel_scheme_id scheme = DOPPEL_SCHEME_PHASH64; scheme <= DOPPEL_SCHEME_PDQ;
         scheme++)
        for (unsigned flips = 0; flips <= 12; flips++) {
            struct doppel_match_options options = doppel_match_options_default();
            options.image.orientations = false;
            struct doppel_fingerprint a = make_fingerprint(scheme, FULL, &seed);
            struct doppel_fingerprint b = copy_fingerprint(&a);
            struct doppel_match match;
            flip_bits(&b, flips);
            for (options.max_distance = 0; options.max_distance < 14; options.max_distance++)
                assert_int_equal(compare(&a, &b, &options, &match),
                                 flips <= (unsigned)options.max_distance);
            assert_int_equal(match.distance, flips);
            options.max_distance = -1;
            options.min_similarity = match.similarity;
            assert_true(compare(&a, &b, &options, &match));
            options.min_similarity = match.similarity + 1e-9;
            assert_false(compare(&a, &b, &options, &match));
            doppel_fingerprint_free(&a);
            doppel_fingerprint_free(&b);
        }
}

static void test_default_limits(void **state)
{
    (void)state;
    uint64_t seed = 17;
    struct doppel_match_options options = doppel_match_options_default();
    options.image.orientations = false;
    for (enum doppel_scheme_id scheme = DOPPEL_SCHEME_PHASH256; scheme <= DOPPEL_SCHEME_PDQ;
         scheme++) {
        uint32_t limit = doppel_scheme_by_id(scheme)->max_distance;
        struct doppel_fingerprint a = make_fingerprint(scheme, FULL, &seed);
        struct doppel_fingerprint b = copy_fingerprint(&a);
        struct doppel_match match;
        flip_bits(&b, limit);
        assert_true(compare(&a, &b, &options, &match));
        flip_bits(&b, limit);
        flip_bits(&b, limit + 1);
        assert_false(compare(&a, &b, &options, &match));
        assert_int_equal(match.distance, limit + 1);
        doppel_fingerprint_free(&a);
        doppel_fingerprint_free(&b);
    }
}

/* The 64 bits of some view alone, as typed by hand. */
static void test_a_bare_code(void **state)
{
    (void)state;
    uint64_t seed = 18;
    struct doppel_fingerprint whole = make_fingerprint(DOPPEL_SCHEME_PHASH64, ALL_CROPS, &seed);
    for (uint32_t i = 0; i < whole.count; i++)
        for (unsigned flips = 0; flips <= 10; flips++) {
            struct doppel_match_options options = doppel_match_options_default();
            struct doppel_fingerprint bare = {0};
            struct doppel_match match;
            assert_int_equal(doppel_fingerprint_make(doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64), 64,
                                                     1, &bare, NULL),
                             DOPPEL_OK);
            bare.codes[0].word[0] = doppel_image_orient(&whole.codes[i], flips % 8).word[0];
            flip_bits(&bare, flips);
            assert_int_equal(compare(&bare, &whole, &options, &match), flips <= 8);
            assert_int_equal(match.distance, flips);
            assert_int_equal(match.relation, i ? DOPPEL_RELATION_CONTAINED : DOPPEL_RELATION_SAME);
            assert_true(match.false_positive_rate < 0);
            assert_false(doppel_match_borderline(&match, &options));
            assert_int_equal(compare(&whole, &bare, &options, &match), flips <= 8);
            options.max_distance = 9;
            assert_int_equal(compare(&bare, &whole, &options, &match), flips <= 9);
            options.max_distance = 7;
            assert_int_equal(compare(&bare, &whole, &options, &match), flips <= 7);
            options.image.views = DOPPEL_VIEWS_TRIM;
            assert_int_equal(compare(&bare, &whole, &options, &match), flips <= 7 && i == 0);
            options.image.views = DOPPEL_VIEWS_ALL;
            options.image.orientations = false;
            assert_int_equal(compare(&bare, &whole, &options, &match), flips == 0);
            doppel_fingerprint_free(&bare);
        }
    doppel_fingerprint_free(&whole);
}

/* Flat pictures have like codes without being alike. */
static void test_the_gate(void **state)
{
    (void)state;
    uint64_t seed = 19;
    struct doppel_match_options options = doppel_match_options_default();
    options.check_pixels = true;
    for (enum doppel_scheme_id scheme = DOPPEL_SCHEME_PHASH64; scheme <= DOPPEL_SCHEME_PDQ;
         scheme++) {
        struct doppel_fingerprint a = make_fingerprint(scheme, FULL, &seed);
        struct doppel_match match;
        for (unsigned quality = 0; quality <= 100; quality += quality == 39 ? 51 : 1) {
            struct doppel_match_item flat = {&a, (uint8_t)quality}, telling = {&a, TELLING};
            bool wanted = quality >= (scheme == DOPPEL_SCHEME_PHASH64 ? DOPPEL_IMAGE_STRICT_QUALITY
                                                                      : DOPPEL_IMAGE_MIN_QUALITY);
            assert_int_equal(doppel_match_pair(&flat, &telling, &options, &match), wanted);
            assert_int_equal(doppel_match_pair(&telling, &flat, &options, &match), wanted);
            assert_int_equal(match.distance, 0);
            assert_true(wanted || !doppel_match_borderline(&match, &options));
        }
        doppel_fingerprint_free(&a);
    }
}

static void test_strangers_do_not_meet(void **state)
{
    (void)state;
    uint64_t seed = 23;
    struct doppel_match_options options = doppel_match_options_default();
    struct doppel_fingerprint a = make_fingerprint(DOPPEL_SCHEME_PHASH256, FULL, &seed);
    struct doppel_fingerprint b = copy_fingerprint(&a), none = {.scheme = a.scheme};
    struct doppel_match match;
    none.version = a.version;
    b.version++;
    assert_false(compare(&a, &b, &options, &match));
    b.version--;
    b.scheme = DOPPEL_SCHEME_PDQ;
    assert_false(compare(&a, &b, &options, &match));
    assert_false(compare(&a, &none, &options, &match));
    assert_true(match.false_positive_rate < 0);
    b.scheme = a.scheme = none.scheme = (enum doppel_scheme_id)999;
    assert_false(compare(&a, &b, &options, &match));
    doppel_fingerprint_free(&a);
    doppel_fingerprint_free(&b);
}

/* ---- pixels ---- */

static void test_borderline(void **state)
{
    (void)state;
    struct doppel_match_options options = doppel_match_options_default();
    struct doppel_match match = {.scheme = DOPPEL_SCHEME_PHASH64,
                                 .verified = DOPPEL_VERIFIED_CODES,
                                 .distance = 9,
                                 .similarity = 0.5,
                                 .pair_rate = 1e-3};
    assert_false(doppel_match_borderline(&match, &options));
    options.check_pixels = true;
    assert_true(doppel_match_borderline(&match, &options));
    match.pair_rate = DOPPEL_IMAGE_BORDERLINE_FPR * 1.01;
    assert_false(doppel_match_borderline(&match, &options));
    assert_false(doppel_match_by_codes(&match, &options));
    match.pair_rate = DOPPEL_IMAGE_QUERY_RATE / 256;
    assert_true(doppel_match_borderline(&match, &options));
    assert_true(doppel_match_by_codes(&match, &options));
    /* so rare that they match whatever the pixels are like */
    const double sure = pow(DOPPEL_IMAGE_QUERY_RATE / 128, 1 / DOPPEL_IMAGE_UNSEEN_POWER);
    match.pair_rate = sure * .99;
    assert_false(doppel_match_borderline(&match, &options));
    match.pair_rate = sure * 1.01;
    assert_true(doppel_match_borderline(&match, &options));
    match.pair_rate = 1e-3;
    options.max_distance = 8;
    assert_false(doppel_match_borderline(&match, &options));
    options.max_distance = 9;
    assert_true(doppel_match_borderline(&match, &options));
    options.min_similarity = 0.6;
    assert_false(doppel_match_borderline(&match, &options));
    options.min_similarity = -1;
    match.scheme = DOPPEL_SCHEME_PDQ;
    assert_false(doppel_match_borderline(&match, &options));
}

static void test_pixels_decide(void **state)
{
    (void)state;
    const struct {
        double pair_rate;
        uint64_t compared;
        double score;
    } table[] = {{1e-9, 0, 6.893}, {1e-5, 100, 0}, {1e-9, 1 << 20, 0}, {9e-10, 1 << 20, 3.025}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct doppel_match_options options = doppel_match_options_default();
        struct doppel_image_verdict verdict = {.similarity = 0.9,
                                               .false_positive_rate = table[i].pair_rate};
        struct doppel_match match = {.verified = DOPPEL_VERIFIED_CODES, .distance = 12};
        const bool same = table[i].score > 0;
        options.compared = table[i].compared;
        assert_int_equal(doppel_match_from_pixels(&verdict, &options, &match), same);
        assert_int_equal(match.verified, same ? DOPPEL_VERIFIED_ALIGNMENT : DOPPEL_VERIFIED_CODES);
        assert_int_equal(match.distance, 12);
        assert_true(match.similarity > 0.89);
        if (same)
            assert_true(fabs(match.score - table[i].score) < .001);
    }
}

/* ---- rates ---- */

static void test_counts_of_pictures(void **state)
{
    (void)state;
    const uint64_t table[][2] = {
        {0, 128},     {1, 128},       {128, 128},         {129, 256},
        {1000, 1024}, {16384, 16384}, {1000000, 1048576}, {UINT64_MAX, UINT64_C(1) << 60}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_int_equal(doppel_image_compared(table[i][0]), table[i][1]);
}

static void test_rates_of_pairs(void **state)
{
    (void)state;
    const struct {
        double max_rate;
        uint64_t compared;
        double pair, check;
    } table[] = {
        {0, 0, 1e-3 / 128, .125},
        {0, 300, 1e-3 / 512, .125 * sqrt(128. / 512)},
        {0, 1000000, 1e-3 / 1048576, 1e-7},
        {0, 10000, 1e-3 / 16384, .125 * sqrt(128. / 16384)},
        {.01, 300, 1e-2 / 512, .125 * sqrt(128. / 512)},
        {1, 0, 1. / 128, .125},
        {2, 0, 1e-2, .125},
        {1e-6, 1000, 1e-6 / 1024, .125 * sqrt(128. / 1024)},
        {1, 4096, 1. / 4096, .125 * sqrt(128. / 4096)},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct doppel_match_options options = doppel_match_options_default();
        options.max_rate = table[i].max_rate;
        options.compared = table[i].compared;
        assert_true(fabs(doppel_match_pair_rate(&options) / table[i].pair - 1) < 1e-9);
        assert_true(fabs(doppel_match_check_rate(&options) / table[i].check - 1) < 1e-9);
    }
}

/* The same two pictures are nearer in a small set than in a large one, and in no set does a
 * distance let in what the rate leaves out. */
static void test_rates_of_queries(void **state)
{
    (void)state;
    uint64_t seed = 31;
    struct doppel_fingerprint a = make_fingerprint(DOPPEL_SCHEME_PHASH64, FULL, &seed);
    double last = 0;
    for (unsigned bits = 0; bits < 200; bits += 4) {
        struct doppel_fingerprint b = copy_fingerprint(&a);
        for (unsigned i = 0; i < bits; i++)
            b.codes[0].word[i % 4] ^= UINT64_C(1) << (i / 4);
        struct doppel_match small, large;
        for (int narrow = 0; narrow < 2; narrow++) {
            struct doppel_match_options options = doppel_match_options_default();
            options.max_distance = narrow ? 64 : -1;
            bool in_small = compare(&a, &b, &options, &small);
            options.compared = 1 << 20;
            bool in_large = compare(&a, &b, &options, &large);
            assert_int_equal(in_small, small.false_positive_rate <= DOPPEL_IMAGE_QUERY_RATE);
            assert_int_equal(in_large, large.false_positive_rate <= DOPPEL_IMAGE_QUERY_RATE);
            assert_true(small.false_positive_rate <= large.false_positive_rate);
            assert_true(in_small || !in_large);
        }
        assert_true(small.false_positive_rate >= last && large.false_positive_rate <= 1);
        last = small.false_positive_rate;
        doppel_fingerprint_free(&b);
    }
    assert_true(last > DOPPEL_IMAGE_QUERY_RATE);
    doppel_fingerprint_free(&a);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(doppel_relation_name(DOPPEL_RELATION_SAME), "same");
    assert_string_equal(doppel_relation_name(DOPPEL_RELATION_CONTAINS), "contains");
    assert_string_equal(doppel_relation_name(DOPPEL_RELATION_CONTAINED), "contained");
    assert_string_equal(doppel_relation_name(DOPPEL_RELATION_OVERLAPS), "overlaps");
    assert_string_equal(doppel_relation_name(DOPPEL_RELATION_SHARED), "shared");
    assert_string_equal(doppel_relation_name(DOPPEL_RELATION_BURST), "burst");
    assert_string_equal(doppel_relation_name((enum doppel_relation)77), "unknown");
    assert_string_equal(doppel_verified_name(DOPPEL_VERIFIED_EXACT), "exact");
    assert_string_equal(doppel_verified_name(DOPPEL_VERIFIED_SIGNATURE), "signature");
    assert_string_equal(doppel_verified_name(DOPPEL_VERIFIED_CODES), "codes");
    assert_string_equal(doppel_verified_name(DOPPEL_VERIFIED_ALIGNMENT), "alignment");
    assert_string_equal(doppel_verified_name((enum doppel_verified)77), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_codes),
        cmocka_unit_test(test_transforms),
        cmocka_unit_test(test_a_crop),
        cmocka_unit_test(test_a_trimmed_border),
        cmocka_unit_test(test_limits_of_distance),
        cmocka_unit_test(test_default_limits),
        cmocka_unit_test(test_a_bare_code),
        cmocka_unit_test(test_the_gate),
        cmocka_unit_test(test_strangers_do_not_meet),
        cmocka_unit_test(test_counts_of_pictures),
        cmocka_unit_test(test_rates_of_pairs),
        cmocka_unit_test(test_rates_of_queries),
        cmocka_unit_test(test_borderline),
        cmocka_unit_test(test_pixels_decide),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
