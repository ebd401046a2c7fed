/* Pairs that are found once and judged another time give what a join finds that knows nothing,
 * however they were found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "match/images.h"
#include "match/images/join_internal.h"
#include "match/images/pair.h"

enum { IMAGES = 160, ROUNDS = 12, STEP = 3, MOST_VISITS = IMAGES * IMAGES };

struct visits {
    struct visit {
        uint64_t query, id;
        double similarity;
        bool borderline;
    } items[MOST_VISITS];
    size_t count;
};

/* In families of near copies; some are flat. */
static void make_images(struct doppel_fingerprint *out, uint8_t *quality, uint64_t *seed)
{
    const unsigned families = 4 + (unsigned)(random_word(seed) % 60);
    for (uint32_t i = 0; i < IMAGES; i++) {
        const unsigned views = random_word(seed) % 2 ? 0x7 : 0xfff;
        out[i] = i < families ? make_fingerprint(DOPPEL_SCHEME_PHASH64, views, seed)
                              : copy_fingerprint(&out[random_word(seed) % families]);
        if (i >= families) {
            disturb(&out[i], 6 + (unsigned)(random_word(seed) % 40), seed);
            if (random_word(seed) % 3 == 0)
                turn(&out[i], (unsigned)(random_word(seed) % 8));
        }
        quality[i] = random_word(seed) % 12 ? 100 : DOPPEL_IMAGE_MIN_QUALITY - 1;
    }
}

/* @param left_out by image; NULL: none */
static struct doppel_matcher *matcher_of(const struct doppel_match_options *options,
                                         const struct doppel_fingerprint *images,
                                         const uint8_t *quality, const bool *left_out)
{
    struct doppel_matcher *matcher;
    assert_int_equal(doppel_matcher_new(DOPPEL_SCHEME_PHASH64, options, 2, &matcher, NULL),
                     DOPPEL_OK);
    for (uint32_t i = 0; i < IMAGES; i++) {
        const struct doppel_match_item item = {&images[i], quality[i]};
        if (!left_out || !left_out[i])
            assert_int_equal(doppel_matcher_add(matcher, STEP * i, &item, NULL), DOPPEL_OK);
    }
    return matcher;
}

static bool note_visit(void *context, const struct doppel_found *found, bool *out_follows)
{
    struct visits *visits = context;
    assert_true(visits->count < MOST_VISITS);
    visits->items[visits->count++] = (struct visit){.query = found->query,
                                                    .id = found->id,
                                                    .similarity = found->match.similarity,
                                                    .borderline = found->borderline};
    *out_follows = !found->borderline;
    return true;
}

/* What a join with the pairs visits, and what one visits that knows nothing. */
static void assert_leads_alike(const struct doppel_matcher *matcher,
                               const struct doppel_image_pair *pairs, size_t count)
{
    static struct visits got, wanted;
    got.count = wanted.count = 0;
    assert_int_equal(doppel_matcher_lead(matcher, note_visit, &wanted, NULL), DOPPEL_OK);
    assert_int_equal(doppel_matcher_lead_pairs(matcher, pairs, count, note_visit, &got, NULL),
                     DOPPEL_OK);
    assert_int_equal(got.count, wanted.count);
    for (size_t i = 0; i < got.count; i++) {
        assert_int_equal(got.items[i].query, wanted.items[i].query);
        assert_int_equal(got.items[i].id, wanted.items[i].id);
        assert_int_equal(got.items[i].borderline, wanted.items[i].borderline);
        assert_memory_equal(&got.items[i].similarity, &wanted.items[i].similarity, sizeof(double));
    }
}

static struct doppel_match_options random_options(uint64_t *seed)
{
    struct doppel_match_options options = doppel_match_options_default();
    options.check_pixels = random_word(seed) % 2;
    if (random_word(seed) % 4 == 0)
        options.image.views = DOPPEL_VIEWS_TRIM;
    if (random_word(seed) % 4 == 0)
        options.image.orientations = false;
    if (random_word(seed) % 4 == 0)
        options.max_distance = (int32_t)(random_word(seed) % 12);
    else if (random_word(seed) % 4 == 0)
        options.min_similarity = .5;
    return options;
}

/* All pairs, or those of some old ones and then those of the rest with all. */
static void test_pairs_that_are_kept(void **state)
{
    static struct doppel_fingerprint images[IMAGES];
    static uint8_t quality[IMAGES];
    (void)state;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        uint64_t seed = round, fresh[IMAGES];
        bool is_new[IMAGES], is_gone[IMAGES];
        size_t fresh_count = 0, counts[3];
        struct doppel_image_pair *pairs[3];
        const struct doppel_match_options options = random_options(&seed);
        make_images(images, quality, &seed);
        for (uint32_t i = 0; i < IMAGES; i++) {
            is_new[i] = random_word(&seed) % (round % 3 ? 20 : 3) == 0;
            is_gone[i] = random_word(&seed) % 5 == 0;
            if (is_new[i])
                fresh[fresh_count++] = STEP * i;
        }
        struct doppel_matcher *all = matcher_of(&options, images, quality, NULL);
        struct doppel_matcher *old = matcher_of(&options, images, quality, is_new);
        struct doppel_matcher *rest = matcher_of(&options, images, quality, is_gone);
        assert_int_equal(doppel_matcher_meet(all, NULL, 0, &pairs[0], &counts[0], NULL), DOPPEL_OK);
        assert_int_equal(doppel_matcher_meet(old, NULL, 0, &pairs[1], &counts[1], NULL), DOPPEL_OK);
        assert_int_equal(doppel_matcher_meet(all, fresh, fresh_count, &pairs[2], &counts[2], NULL),
                         DOPPEL_OK);
        struct doppel_image_pair *both = calloc(counts[1] + counts[2] + 1, sizeof *both);
        memcpy(both, pairs[2], counts[2] * sizeof *both);
        memcpy(both + counts[2], pairs[1], counts[1] * sizeof *both);
        assert_leads_alike(all, pairs[0], counts[0]);
        assert_leads_alike(all, both, counts[1] + counts[2]);
        assert_leads_alike(rest, both, counts[1] + counts[2]);
        free(both);
        for (int i = 0; i < 3; i++)
            free(pairs[i]);
        doppel_matcher_free(all);
        doppel_matcher_free(old);
        doppel_matcher_free(rest);
        for (uint32_t i = 0; i < IMAGES; i++)
            doppel_fingerprint_free(&images[i]);
    }
}

/* Of some with all a sweep finds just those that meet and pass the gate. */
static void test_a_sweep_of_some(void **state)
{
    static struct doppel_fingerprint images[IMAGES];
    static uint8_t quality[IMAGES];
    static bool found[IMAGES][IMAGES];
    struct doppel_match_options options = doppel_match_options_default();
    options.compared = 1 << 16;
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        uint64_t random = seed;
        bool some[IMAGES];
        size_t met = 0;
        make_images(images, quality, &random);
        memset(quality, 100, sizeof quality);
        memset(found, 0, sizeof found);
        struct doppel_matcher *matcher = matcher_of(&options, images, quality, NULL);
        struct join join = {.matcher = matcher};
        assert_int_equal(join_begin(&join), DOPPEL_OK);
        join.end = join.count;
        for (uint32_t i = 0; i < IMAGES; i++)
            some[i] = random_word(&random) % 6 == 0;
        assert_true(join_can_sweep(&join));
        assert_int_equal(join_sweep(&join, some, 9 + (uint32_t)seed), DOPPEL_OK);
        for (size_t i = 0; i < join.meetings.count; i++)
            found[join.meetings.items[i].earlier][join.meetings.items[i].later] = true;
        for (uint32_t i = 0; i < IMAGES; i++)
            for (uint32_t j = i + 1; j < IMAGES; j++) {
                struct unpacked a, b;
                matcher_unpack(matcher, join.order[i], &a);
                matcher_unpack(matcher, join.order[j], &b);
                const struct doppel_image_codes of_a = {a.fingerprint.codes, join.places[i].views};
                const struct doppel_image_codes of_b = {b.fingerprint.codes, join.places[j].views};
                const bool wanted = (some[i] || some[j]) &&
                                    doppel_image_gate_passes(&join.gate, &of_a, &of_b) &&
                                    lookups_meet(&a.item, &b.item, &options);
                assert_int_equal(found[i][j], wanted);
                met += wanted;
            }
        assert_true(met > IMAGES / 6);
        join_end(&join);
        doppel_matcher_free(matcher);
        for (uint32_t i = 0; i < IMAGES; i++)
            doppel_fingerprint_free(&images[i]);
    }
}

static void test_too_many_pairs(void **state)
{
    enum { ALIKE = 400 };
    const struct doppel_match_options options = doppel_match_options_default();
    struct doppel_matcher *matcher;
    struct doppel_image_pair *pairs = NULL;
    struct doppel_fingerprint fingerprint;
    uint64_t seed = 3;
    size_t count = 0;
    (void)state;
    fingerprint = make_fingerprint(DOPPEL_SCHEME_PHASH64, 0x7, &seed);
    assert_int_equal(doppel_matcher_new(DOPPEL_SCHEME_PHASH64, &options, 1, &matcher, NULL),
                     DOPPEL_OK);
    const struct doppel_match_item item = {&fingerprint, 100};
    for (uint64_t id = 0; id < ALIKE; id++)
        assert_int_equal(doppel_matcher_add(matcher, id, &item, NULL), DOPPEL_OK);
    assert_int_equal(doppel_matcher_meet(matcher, NULL, 0, &pairs, &count, NULL), DOPPEL_E_LIMIT);
    assert_null(pairs);
    doppel_matcher_free(matcher);
    doppel_fingerprint_free(&fingerprint);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs_that_are_kept),
        cmocka_unit_test(test_a_sweep_of_some),
        cmocka_unit_test(test_too_many_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
