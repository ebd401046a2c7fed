/* Judging two texts, against an oracle that compares every shingle with every other or marks them
 * in a table, and by its promises. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "match/texts/intersect.h"
#include "match/images.h"

enum { MAX_SHINGLES = 100000, LANES = 128, TRIALS = 400 };

struct set {
    uint32_t values[MAX_SHINGLES];
    size_t count;
};

/* Two sets out of 0 .. universe-1; `both_of` of 256 values of the first are in the second too. */
static void make_sets(uint32_t universe, unsigned first_of, unsigned both_of, unsigned second_of,
                      struct set sets[2], uint64_t *seed)
{
    sets[0].count = sets[1].count = 0;
    for (uint32_t value = 0; value < universe; value++) {
        uint64_t word = random_word(seed);
        bool first = (word & 255) < first_of;
        bool second = (word >> 8 & 255) < (first ? both_of : second_of);
        /* spread over all 32 bits, in order */
        uint32_t spread = (uint32_t)(((uint64_t)value * UINT32_MAX) / universe);
        if (first && sets[0].count < MAX_SHINGLES)
            sets[0].values[sets[0].count++] = spread;
        if (second && sets[1].count < MAX_SHINGLES)
            sets[1].values[sets[1].count++] = spread;
    }
}

static size_t common_oracle(const struct set *a, const struct set *b)
{
    size_t common = 0;
    for (size_t i = 0; i < a->count; i++)
        for (size_t j = 0; j < b->count; j++)
            common += a->values[i] == b->values[j];
    return common;
}

static struct doppel_text_evidence evidence(const struct set *set, uint8_t content)
{
    return (struct doppel_text_evidence){
        .content = {.bytes = {content}}, .shingles = set->values, .shingle_count = set->count};
}

static struct set sets[2];

static void test_common_values(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        uint32_t universe = (uint32_t)(random_word(&seed) % 700);
        unsigned rare = trial % 3 == 0 ? 3 : 256;
        make_sets(universe, (unsigned)(random_word(&seed) % rare), random_word(&seed) & 255,
                  random_word(&seed) & 255, sets, &seed);
        size_t expected = common_oracle(&sets[0], &sets[1]);
        assert_int_equal(
            expected, count_common(sets[0].values, sets[0].count, sets[1].values, sets[1].count));
        assert_int_equal(
            expected, count_common(sets[1].values, sets[1].count, sets[0].values, sets[0].count));
    }
}

/* Marked in a table: the other oracle would take an hour. */
static void test_common_values_of_large_sets(void **state)
{
    (void)state;
    static const unsigned shares[][3] = {
        {128, 200, 3}, {255, 255, 255}, {1, 128, 255}, {255, 1, 0}, {0, 0, 255}};
    uint64_t seed = 12;
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        make_sets(MAX_SHINGLES, shares[i][0], shares[i][1], shares[i][2], sets, &seed);
        size_t common = 0;
        uint8_t *marked = calloc(UINT32_MAX / 8 + (size_t)1, 1);
        assert_non_null(marked);
        for (size_t k = 0; k < sets[0].count; k++)
            marked[sets[0].values[k] / 8] |= (uint8_t)(1u << sets[0].values[k] % 8);
        for (size_t k = 0; k < sets[1].count; k++)
            common += marked[sets[1].values[k] / 8] >> sets[1].values[k] % 8 & 1;
        free(marked);
        assert_int_equal(
            common, count_common(sets[0].values, sets[0].count, sets[1].values, sets[1].count));
        assert_int_equal(
            common, count_common(sets[1].values, sets[1].count, sets[0].values, sets[0].count));
    }
}

static enum doppel_relation turned(enum doppel_relation relation)
{
    if (relation == DOPPEL_RELATION_CONTAINS)
        return DOPPEL_RELATION_CONTAINED;
    return relation == DOPPEL_RELATION_CONTAINED ? DOPPEL_RELATION_CONTAINS : relation;
}

static void assert_turned(const struct doppel_text_evidence *a,
                          const struct doppel_text_evidence *b,
                          const struct doppel_text_limits *limits)
{
    struct doppel_match there, back;
    assert_int_equal(doppel_match_texts(a, b, limits, &there),
                     doppel_match_texts(b, a, limits, &back));
    assert_int_equal(turned(there.relation), back.relation);
    assert_int_equal(there.verified, back.verified);
    assert_int_equal(there.distance, back.distance);
    assert_true(there.similarity == back.similarity);
    assert_int_equal(there.has_coverage, back.has_coverage);
    assert_true(there.query_coverage == back.item_coverage);
    assert_true(there.item_coverage == back.query_coverage);
}

/* The docstring, read aloud, of sets that are known. */
static void check_with_oracle(const struct doppel_text_limits *limits)
{
    struct doppel_text_evidence query = evidence(&sets[0], 1), item = evidence(&sets[1], 2);
    struct doppel_match match;
    bool matches = doppel_match_texts(&query, &item, limits, &match);
    double common = (double)common_oracle(&sets[0], &sets[1]);
    double a = (double)sets[0].count, b = (double)sets[1].count;
    double similarity = a + b - common > 0 ? common / (a + b - common) : 0;
    double of_query = a > 0 ? common / a : 0, of_item = b > 0 ? common / b : 0;
    assert_true(fabs(match.similarity - similarity) < 1e-12);
    assert_true(match.has_coverage);
    assert_true(fabs(match.query_coverage - of_query) < 1e-12);
    assert_true(fabs(match.item_coverage - of_item) < 1e-12);
    assert_int_equal(match.verified, DOPPEL_VERIFIED_EXACT);
    assert_int_equal(match.kind, DOPPEL_KIND_TEXT);
    assert_true(match.false_positive_rate < 0);
    enum doppel_relation relation = DOPPEL_RELATION_OVERLAPS;
    if (similarity >= limits->min_similarity)
        relation = DOPPEL_RELATION_SAME;
    else if (of_query > of_item && of_query >= limits->min_containment)
        relation = DOPPEL_RELATION_CONTAINED;
    else if (of_item > of_query && of_item >= limits->min_containment)
        relation = DOPPEL_RELATION_CONTAINS;
    assert_int_equal(match.relation, relation);
    assert_int_equal(matches, relation != DOPPEL_RELATION_OVERLAPS);
    assert_turned(&query, &item, limits);
}

static void test_known_sets(void **state)
{
    (void)state;
    uint64_t seed = 13;
    unsigned relations[4] = {0};
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        make_sets((uint32_t)(random_word(&seed) % 500), random_word(&seed) & 255,
                  trial % 2 ? 250 : random_word(&seed) & 255,
                  trial % 3 ? 0 : random_word(&seed) & 255, sets, &seed);
        struct doppel_text_limits limits = {(double)(random_word(&seed) % 20 + 1) / 20,
                                            (double)(random_word(&seed) % 20 + 1) / 20};
        check_with_oracle(&limits);
        struct doppel_text_evidence query = evidence(&sets[0], 1), item = evidence(&sets[1], 2);
        struct doppel_match match;
        doppel_match_texts(&query, &item, &limits, &match);
        relations[match.relation]++;
    }
    for (unsigned i = 0; i < 4; i++)
        assert_in_range(relations[i], 1, TRIALS); /* none went untested */
}

/* 7 of 10 are exactly .7, whatever duplicates make of it. */
static void test_limits_are_met_exactly(void **state)
{
    (void)state;
    for (uint32_t whole = 1; whole <= 300; whole++)
        for (uint32_t common = 1; common < whole; common++) {
            struct doppel_text_limits limits = {(double)common / whole, 1.1};
            for (uint32_t i = 0; i < whole; i++)
                sets[0].values[i] = i * 7;
            sets[0].count = common;
            struct doppel_text_evidence item = evidence(&sets[0], 2);
            sets[1] = sets[0];
            sets[1].count = whole;
            struct doppel_text_evidence query = evidence(&sets[1], 1);
            struct doppel_match match;
            assert_true(doppel_match_texts(&query, &item, &limits, &match));
            limits.min_similarity = nextafter(limits.min_similarity, 2);
            assert_false(doppel_match_texts(&query, &item, &limits, &match));
            limits.min_containment = 1;
            assert_true(doppel_match_texts(&query, &item, &limits, &match));
            assert_int_equal(match.relation, DOPPEL_RELATION_CONTAINS);
            if (whole > 20)
                common += 7;
        }
}

static void test_equal_content_and_short_texts(void **state)
{
    (void)state;
    const struct doppel_text_limits limits = doppel_text_limits_default();
    uint64_t seed = 14;
    make_sets(300, 200, 250, 0, sets, &seed);
    struct doppel_text_evidence a = evidence(&sets[0], 1), b = evidence(&sets[1], 1);
    struct doppel_match match;
    b.shingle_count = 0;
    a.too_short = true;
    assert_true(doppel_match_texts(&a, &b, &limits, &match));
    assert_int_equal(match.verified, DOPPEL_VERIFIED_EXACT);
    assert_int_equal(match.relation, DOPPEL_RELATION_SAME);
    assert_true(match.similarity == 1 && match.query_coverage == 1 && match.item_coverage == 1);
    b = evidence(&sets[0], 2); /* the same shingles, another content */
    assert_false(doppel_match_texts(&a, &b, &limits, &match));
    assert_true(match.similarity == 1);
    assert_false(doppel_match_texts(&b, &a, &limits, &match));
    a.too_short = false;
    assert_true(doppel_match_texts(&a, &b, &limits, &match));
    a = b = (struct doppel_text_evidence){0};
    b.content.bytes[15] = 1;
    assert_false(doppel_match_texts(&a, &b, &limits, &match));
    assert_turned(&a, &b, &limits);
}

static void test_kept_shingles_are_said(void **state)
{
    (void)state;
    const struct doppel_text_limits limits = doppel_text_limits_default();
    uint64_t seed = 15;
    make_sets(300, 200, 250, 0, sets, &seed);
    struct doppel_text_evidence a = evidence(&sets[0], 1), b = evidence(&sets[1], 2);
    struct doppel_match match;
    b.shingles_kept = true;
    assert_true(doppel_match_texts(&a, &b, &limits, &match));
    assert_int_equal(match.verified, DOPPEL_VERIFIED_CODES);
    assert_turned(&a, &b, &limits);
}

/* ---- signatures alone ---- */

static void make_lanes(unsigned equal_of_128, uint16_t a[LANES], uint16_t b[LANES], uint64_t *seed)
{
    for (unsigned i = 0; i < LANES; i++) {
        a[i] = (uint16_t)random_word(seed);
        b[i] = i < equal_of_128 ? a[i] : (uint16_t)~a[i];
    }
}

static void test_signatures_alone(void **state)
{
    (void)state;
    const struct doppel_text_limits limits = doppel_text_limits_default();
    uint16_t lanes[2][LANES];
    uint64_t seed = 16;
    for (unsigned equal = 0; equal <= LANES; equal++) {
        make_lanes(equal, lanes[0], lanes[1], &seed);
        struct doppel_text_evidence a = {.lanes = lanes[0], .lane_count = LANES}, b = a;
        a.content.bytes[0] = 1;
        b.lanes = lanes[1];
        struct doppel_match match;
        bool matches = doppel_match_texts(&a, &b, &limits, &match);
        assert_int_equal(match.verified, DOPPEL_VERIFIED_SIGNATURE);
        assert_int_equal(match.distance, LANES - equal);
        assert_int_equal(match.bits, LANES);
        assert_true(fabs(match.similarity - equal / 128.0) < 2e-5);
        assert_false(match.has_coverage);
        assert_int_equal(matches, match.similarity >= limits.min_similarity);
        assert_turned(&a, &b, &limits);
    }
}

/* A tenth that lies in the whole: the sizes tell that it is a part of it. */
static void test_signatures_with_sizes(void **state)
{
    (void)state;
    const struct doppel_text_limits limits = doppel_text_limits_default();
    uint16_t lanes[2][LANES];
    uint64_t seed = 17;
    make_lanes(64, lanes[0], lanes[1], &seed);
    struct doppel_text_evidence a = {.lanes = lanes[0], .lane_count = LANES, .shingle_count = 500};
    struct doppel_text_evidence b = {.lanes = lanes[1], .lane_count = LANES, .shingle_count = 1000};
    b.content.bytes[0] = 1;
    struct doppel_match match;
    assert_true(doppel_match_texts(&a, &b, &limits, &match));
    assert_int_equal(match.relation, DOPPEL_RELATION_CONTAINED);
    assert_true(match.query_coverage > 0.99 && match.query_coverage <= 1);
    assert_true(fabs(match.item_coverage - 0.5) < 0.01);
    assert_turned(&a, &b, &limits);
    b.shingle_count = 0;
    assert_false(doppel_match_texts(&a, &b, &limits, &match));
    assert_false(match.has_coverage);
    b.lane_count = 256; /* of other lanes nothing can be said */
    assert_false(doppel_match_texts(&a, &b, &limits, &match));
    assert_int_equal(match.bits, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_common_values),
        cmocka_unit_test(test_common_values_of_large_sets),
        cmocka_unit_test(test_known_sets),
        cmocka_unit_test(test_limits_are_met_exactly),
        cmocka_unit_test(test_equal_content_and_short_texts),
        cmocka_unit_test(test_kept_shingles_are_said),
        cmocka_unit_test(test_signatures_alone),
        cmocka_unit_test(test_signatures_with_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
