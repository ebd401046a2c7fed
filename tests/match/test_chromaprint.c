/* Sequences of AcoustID's codes: the best stretch against a slow oracle, and a set against its
 * pairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <doppel/match.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 8 };

static uint64_t seed = 88172645463325252u;

static uint32_t random32(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 16);
}

static void fill(uint32_t *codes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        codes[i] = random32();
}

static void disturb(uint32_t *codes, size_t count, unsigned bits)
{
    for (size_t i = 0; i < count; i++)
        for (unsigned bit = 0; bit < bits; bit++)
            codes[i] ^= UINT32_C(1) << random32() % 32;
}

static struct doppel_fingerprint of(const uint32_t *codes, size_t count)
{
    struct doppel_fingerprint made;
    assert_int_equal(doppel_chromaprint_fingerprint(codes, count, &made, NULL), DOPPEL_OK);
    return made;
}

static struct doppel_match match_of(const uint32_t *query, size_t query_count, const uint32_t *item,
                                    size_t item_count)
{
    struct doppel_fingerprint a = of(query, query_count), b = of(item, item_count);
    struct doppel_match match;
    assert_int_equal(doppel_match_chromaprints(&a, &b, LIMIT, &match, NULL), DOPPEL_OK);
    doppel_fingerprint_free(&a);
    doppel_fingerprint_free(&b);
    return match;
}

/* The most that any stretch gains, tried one by one. */
static long slow_gain(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count,
                      size_t *out_codes, long *out_distance)
{
    long best = 0;
    for (size_t i = 0; i < a_count; i++)
        for (size_t j = 0; j < b_count; j++) {
            long gain = 0, distance = 0;
            for (size_t k = 0; i + k < a_count && j + k < b_count; k++) {
                int bits = __builtin_popcount(a[i + k] ^ b[j + k]);
                distance += bits;
                gain += 10 - bits;
                if (gain > best) {
                    best = gain;
                    *out_codes = k + 1;
                    *out_distance = distance;
                }
            }
        }
    return best;
}

static void the_best_stretch_is_found(void **state)
{
    (void)state;
    for (int turn = 0; turn < 300; turn++) {
        uint32_t a[60], b[60];
        size_t a_count = 1 + random32() % 60, b_count = 1 + random32() % 60, codes = 0;
        fill(a, a_count);
        fill(b, b_count);
        size_t shared = random32() % (a_count < b_count ? a_count : b_count);
        size_t from = random32() % (a_count - shared), to = random32() % (b_count - shared);
        memcpy(b + to, a + from, shared * sizeof *a);
        disturb(b + to, shared, random32() % 9);
        long distance = 0, gain = slow_gain(a, a_count, b, b_count, &codes, &distance);
        struct doppel_match match = match_of(a, a_count, b, b_count);
        if (gain < 130) {
            assert_int_equal(match.segment_count, 0);
            continue;
        }
        if (match.segment_count == 0) { /* too short, or too far: perhaps another with this gain */
            assert_true(codes < 20 || distance + 40 > LIMIT * (long)codes);
            continue;
        }
        double seconds = match.segments->a_end - match.segments->a_start;
        double found = round(seconds * 1000 / DOPPEL_CHROMAPRINT_STEP_MS);
        assert_true(fabs(found * 10 - (1 - match.similarity) * 16 * found - (double)gain) <= 1e-6);
        free((void *)match.segments);
    }
}

static void a_clip_is_placed(void **state)
{
    (void)state;
    uint32_t item[900], clip[100];
    fill(item, 900);
    memcpy(clip, item + 412, sizeof clip);
    disturb(clip, 100, 5);
    struct doppel_match match = match_of(clip, 100, item, 900);
    assert_int_equal(match.segment_count, 1);
    assert_true(fabs(match.segments->b_start - 412 * 1365 / 11025.) <= .3);
    assert_int_equal(match.relation, DOPPEL_RELATION_CONTAINED);
    free((void *)match.segments);
    match = match_of(item, 900, clip, 100);
    assert_int_equal(match.relation, DOPPEL_RELATION_CONTAINS);
    free((void *)match.segments);
    match = match_of(item, 900, item, 900);
    assert_int_equal(match.relation, DOPPEL_RELATION_SAME);
    assert_true(match.similarity == 1);
    free((void *)match.segments);
    match = match_of(clip, 3, clip, 3); /* short, but equal */
    assert_int_equal(match.segment_count, 1);
    free((void *)match.segments);
}

struct seen {
    uint64_t ids[64];
    size_t count, limit;
};

static bool see(void *context, const struct doppel_found *found)
{
    struct seen *seen = context;
    assert_true(found->match.segment_count == 1);
    seen->ids[seen->count++] = found->id;
    return seen->count < seen->limit;
}

static void a_set_finds_what_pairs_do(void **state)
{
    (void)state;
    enum { ITEMS = 40, LENGTH = 300, QUERY = 120 };
    static uint32_t items[ITEMS][LENGTH];
    struct doppel_chromaprints *set;
    assert_int_equal(doppel_chromaprints_new(&set, NULL), DOPPEL_OK);
    for (int i = 0; i < ITEMS; i++) {
        fill(items[i], LENGTH);
        if (i % 4 == 3) {
            memcpy(items[i] + 100, items[i - 1] + 20, QUERY * sizeof **items);
            disturb(items[i] + 100, QUERY, 2);
        }
        struct doppel_fingerprint made = of(items[i], LENGTH);
        assert_int_equal(doppel_chromaprints_add(set, 1000u + (unsigned)i, &made, NULL), DOPPEL_OK);
        doppel_fingerprint_free(&made);
    }
    for (int i = 0; i < ITEMS; i++) {
        struct doppel_fingerprint query = of(items[i] + 20, QUERY);
        struct seen seen = {.limit = 64};
        assert_int_equal(doppel_chromaprints_find(set, &query, LIMIT, see, &seen, NULL), DOPPEL_OK);
        size_t wanted = 0;
        for (int k = 0; k < ITEMS; k++) {
            struct doppel_match match = match_of(items[i] + 20, QUERY, items[k], LENGTH);
            if (match.segment_count)
                assert_int_equal(seen.ids[wanted++], 1000 + k);
            free((void *)match.segments);
        }
        assert_int_equal(seen.count, wanted);
        assert_int_equal(wanted, 1 + (i % 4 == 2) + (i % 4 == 3));
        seen = (struct seen){.limit = 1};
        assert_int_equal(doppel_chromaprints_find(set, &query, LIMIT, see, &seen, NULL),
                         DOPPEL_E_CANCELLED);
        doppel_fingerprint_free(&query);
    }
    doppel_chromaprints_free(set);
    doppel_chromaprints_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_stretch_is_found),
        cmocka_unit_test(a_clip_is_placed),
        cmocka_unit_test(a_set_finds_what_pairs_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
