/* Two lists of vPDQ against a slow plain count. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/match.h>

enum { MOST = 60 };

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static struct doppel_code random_code(uint32_t *seed)
{
    struct doppel_code code;
    for (unsigned i = 0; i < 256; i++) {
        code.word[i / 64] &= ~(UINT64_C(1) << i % 64);
        code.word[i / 64] |= (uint64_t)(next(seed) >> 9 & 1) << i % 64;
    }
    return code;
}

/* Frames of their own, and frames of a pool, up to `moved` bits off: some of them twice. */
static size_t make_list(uint32_t *seed, const struct doppel_code *pool, unsigned moved,
                        struct doppel_vpdq_frame *out)
{
    size_t count = next(seed) % MOST;
    for (size_t i = 0; i < count; i++) {
        out[i] = (struct doppel_vpdq_frame){.quality = (uint8_t)(next(seed) % 101)};
        out[i].code = next(seed) % 3 ? pool[next(seed) % 10] : random_code(seed);
        for (unsigned bits = next(seed) % (moved + 1); bits; bits--)
            out[i].code.word[next(seed) % 4] ^= UINT64_C(1) << next(seed) % 64;
        if (i && next(seed) % 4 == 0)
            out[i].code = out[next(seed) % i].code;
    }
    return count;
}

static unsigned bits_apart(const struct doppel_code *a, const struct doppel_code *b)
{
    unsigned apart = 0;
    for (unsigned i = 0; i < 256; i++)
        apart += (a->word[i / 64] >> i % 64 & 1) != (b->word[i / 64] >> i % 64 & 1);
    return apart;
}

static bool counts(const struct doppel_vpdq *list, size_t at,
                   const struct doppel_vpdq_limits *limits)
{
    if (list->frames[at].quality < limits->min_quality)
        return false;
    for (size_t i = 0; i < at; i++)
        if (list->frames[i].quality >= limits->min_quality &&
            bits_apart(&list->frames[i].code, &list->frames[at].code) == 0)
            return false;
    return true;
}

static double slow_share(const struct doppel_vpdq *of, const struct doppel_vpdq *in,
                         const struct doppel_vpdq_limits *limits)
{
    unsigned all = 0, met = 0;
    for (size_t i = 0; i < of->count; i++) {
        bool found = false;
        if (!counts(of, i, limits))
            continue;
        for (size_t j = 0; j < in->count; j++)
            found |= in->frames[j].quality >= limits->min_quality &&
                     bits_apart(&of->frames[i].code, &in->frames[j].code) <= limits->max_distance;
        all++;
        met += found;
    }
    return all ? (double)met / all : 0;
}

static void test_shares(void **state)
{
    (void)state;
    uint32_t seed = 11, matched = 0;
    for (unsigned round = 0; round < 400; round++) {
        struct doppel_code pool[10];
        struct doppel_vpdq_frame frames[2][MOST];
        for (unsigned i = 0; i < 10; i++)
            pool[i] = random_code(&seed);
        unsigned moved = round % 40;
        struct doppel_vpdq query = {frames[0], make_list(&seed, pool, moved, frames[0])};
        struct doppel_vpdq item = {frames[1], make_list(&seed, pool, moved, frames[1])};
        struct doppel_vpdq_limits limits = doppel_vpdq_limits_default();
        limits.min_share = next(&seed) % 11 / 10.0;
        limits.min_quality = round % 3 ? 50 : 0;
        bool matches;
        struct doppel_match match;
        assert_int_equal(doppel_match_vpdqs(&query, &item, &limits, &matches, &match, NULL), 0);
        double a = slow_share(&query, &item, &limits), b = slow_share(&item, &query, &limits);
        assert_true(fabs(match.query_coverage - a) < 1e-12);
        assert_true(fabs(match.item_coverage - b) < 1e-12);
        assert_true(match.has_coverage);
        assert_int_equal(matches, fmax(a, b) > 0 && fmax(a, b) >= limits.min_share);
        matched += matches;
        if (matches)
            assert_int_equal(match.relation, a < limits.min_share   ? DOPPEL_RELATION_CONTAINS
                                             : b < limits.min_share ? DOPPEL_RELATION_CONTAINED
                                                                    : DOPPEL_RELATION_SAME);
    }
    assert_in_range(matched, 50, 350);
}

/* A distance of the limit is near enough, one more is not. */
static void test_the_limit(void **state)
{
    (void)state;
    struct doppel_vpdq_frame a = {.quality = 50}, b = {.quality = 50};
    const struct doppel_vpdq query = {&a, 1}, item = {&b, 1};
    const struct doppel_vpdq_limits limits = doppel_vpdq_limits_default();
    struct doppel_match match;
    bool matches;
    b.code.word[3] = (UINT64_C(1) << 31) - 1;
    assert_int_equal(doppel_match_vpdqs(&query, &item, &limits, &matches, &match, NULL), 0);
    assert_true(matches);
    b.code.word[0] = 1;
    assert_int_equal(doppel_match_vpdqs(&query, &item, &limits, &matches, &match, NULL), 0);
    assert_false(matches);
    b.code.word[0] = 0;
    b.quality = 49;
    assert_int_equal(doppel_match_vpdqs(&query, &item, &limits, &matches, &match, NULL), 0);
    assert_false(matches);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
