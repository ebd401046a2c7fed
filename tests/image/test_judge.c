/* The judge against a slow loop over all views, bits and orientations; what verdicts must obey. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/image.h>

#include "image/judge.h"

#include "planes.h"

static struct doppel_image_features features_of(const struct doppel_plane *plane)
{
    struct doppel_image_features features;
    assert_int_equal(doppel_image_features(plane, &features, NULL), DOPPEL_OK);
    return features;
}

/* ---- the oracle ---- */

static unsigned slow_distance(const struct doppel_code *a, const struct doppel_code *b,
                              unsigned bits)
{
    unsigned distance = 0;
    for (unsigned i = 0; i < bits; i++)
        distance += (a->word[i / 64] >> i % 64 & 1) != (b->word[i / 64] >> i % 64 & 1);
    return distance;
}

static unsigned slow_class(unsigned query_view, unsigned item_view, unsigned orientation)
{
    unsigned class = item_view >= 3 ? 2 : query_view == 0 && item_view == 0 ? 0 : 1;
    return class + (orientation ? 3 : 0);
}

/** The views that show the least around the picture: the last of 0, 1 and 2. */
static unsigned slow_core(const struct doppel_fingerprint *fingerprint)
{
    unsigned core = 0;
    for (unsigned i = 0; i < fingerprint->count; i++)
        if (fingerprint->positions[i] <= 2)
            core = i;
    return core;
}

/** Views of both that show frames prove something only when what is inside is not too far apart. */
static bool slow_proves(const struct doppel_fingerprint *query, unsigned query_view,
                        const struct doppel_fingerprint *item, unsigned item_view,
                        unsigned orientation)
{
    unsigned query_core = slow_core(query), item_core = slow_core(item);
    bool query_framed = query_view < query->positions[query_core];
    bool item_framed = item_view < item->positions[item_core] ||
                       (item_view >= 3 && item->positions[item_core] == 2);
    if (!query_framed || !item_framed)
        return true;
    struct doppel_code turned = doppel_image_orient(&query->codes[query_core], orientation);
    return 3 * slow_distance(&turned, &item->codes[item_core], 64) +
               slow_distance(&turned, &item->codes[item_core], 256) <=
           150;
}

/** The distance of the nearest, or the farthest, crop of both; 0 or UINT32_MAX if there is none. */
static unsigned slow_part(const struct doppel_fingerprint *query,
                          const struct doppel_fingerprint *item, unsigned weight, bool farthest)
{
    unsigned part = farthest ? 0 : UINT32_MAX;
    for (unsigned i = 0; i < query->count * item->count; i++) {
        unsigned q = i / item->count, t = i % item->count;
        unsigned score = slow_distance(&query->codes[q], &item->codes[t], 256) +
                         weight * slow_distance(&query->codes[q], &item->codes[t], 64);
        if (query->positions[q] == item->positions[t] && query->positions[q] >= 3 &&
            (score > part) == farthest)
            part = score;
    }
    return part;
}

static bool slow_trimmed(const struct doppel_fingerprint *fingerprint)
{
    bool trimmed = false;
    for (unsigned i = 0; i < fingerprint->count; i++)
        trimmed |= fingerprint->positions[i] == 1;
    return trimmed;
}

/** A score is no less than that of the farthest crop less 40, if both were trimmed, or none. */
static unsigned slow_bound(const struct doppel_fingerprint *query,
                           const struct doppel_fingerprint *item, unsigned weight, unsigned score)
{
    unsigned farthest = slow_part(query, item, weight, true);
    bool comparable = slow_trimmed(query) == slow_trimmed(item);
    return comparable && farthest > score + 40 ? farthest - 40 : score;
}

/** The lowest score of each class, UINT_MAX where there is none. */
static void slow_scores(const struct doppel_fingerprint *query,
                        const struct doppel_fingerprint *item, unsigned out[JUDGE_CLASSES])
{
    for (unsigned i = 0; i < JUDGE_CLASSES; i++)
        out[i] = UINT32_MAX;
    for (unsigned i = 0; i < query->count * item->count * 8; i++) {
        unsigned q = i / 8 / item->count, t = i / 8 % item->count, orientation = i % 8;
        if (query->positions[q] > 2 || item->positions[t] == 2)
            continue;
        struct doppel_code turned = doppel_image_orient(&query->codes[q], orientation);
        unsigned near = slow_distance(&turned, &item->codes[t], 64);
        unsigned wide = slow_distance(&turned, &item->codes[t], 256);
        unsigned class = slow_class(query->positions[q], item->positions[t], orientation);
        unsigned score = wide + (class == 0 ? near : 3 * near);
        bool candidate = near <= 19 || (class == 0 && wide <= 112);
        if (class != 0 && near > 16 && score < 120)
            score = 120;
        unsigned bound = score;
        if (query->positions[q] == item->positions[t] && orientation == 0)
            bound = slow_bound(query, item, class == 0 ? 1 : 3, score);
        bool proves = bound <= 12 || slow_proves(query, query->positions[q], item,
                                                 item->positions[t], orientation);
        unsigned least = proves ? 0 : class == 0 ? 120 : 160;
        bound = bound < least ? least : bound;
        if (candidate && proves && class == 0 && slow_part(query, item, 1, false) != UINT32_MAX)
            out[6] = slow_bound(query, item, 1, (score + slow_part(query, item, 1, false)) / 2);
        score = bound;
        if (candidate && score < out[class])
            out[class] = score;
    }
}

static struct doppel_fingerprint random_fingerprint(uint64_t *state)
{
    struct doppel_fingerprint fingerprint;
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64);
    assert_int_equal(doppel_fingerprint_make(scheme, 256, 8, &fingerprint, NULL), DOPPEL_OK);
    for (unsigned i = 0; i < 8; i++) {
        fingerprint.positions[i] = i;
        for (unsigned word = 0; word < 4; word++)
            fingerprint.codes[i].word[word] =
                (uint64_t)next_random(state) << 32 | next_random(state);
    }
    return fingerprint;
}

static void damage(struct doppel_code *code, unsigned most, uint64_t *state)
{
    for (unsigned flips = next_random(state) % most; flips > 0; flips--) {
        unsigned bit = next_random(state) % 256;
        code->word[bit / 64] ^= UINT64_C(1) << bit % 64;
    }
}

/** All views of `item` become damaged copies, or some turned and damaged copies, of the query's. */
static void plant(const struct doppel_fingerprint *query, struct doppel_fingerprint *item,
                  uint64_t *state)
{
    bool all = next_random(state) % 2;
    for (unsigned i = 0; all && i < 8; i++) {
        item->codes[i] = query->codes[i];
        damage(&item->codes[i], 150, state);
    }
    for (unsigned copies = next_random(state) % 6; copies > 0; copies--) {
        unsigned from = next_random(state) % 3, to = next_random(state) % 8;
        item->codes[to] = doppel_image_orient(&query->codes[from], next_random(state) % 8);
        damage(&item->codes[to], 100, state);
    }
}

static void test_best_pairs_equal_the_slow_loop(void **state)
{
    (void)state;
    uint64_t random = 7;
    struct doppel_image_verify_options options = doppel_image_verify_options_default();
    for (unsigned round = 0; round < 400; round++) {
        struct doppel_fingerprint query = random_fingerprint(&random);
        struct doppel_fingerprint item = random_fingerprint(&random);
        plant(&query, &item, &random);
        unsigned expected[JUDGE_CLASSES];
        struct view_pair best[JUDGE_CLASSES];
        slow_scores(&query, &item, expected);
        verify_best_pairs(&query, &item, &options, best);
        for (unsigned i = 0; i < JUDGE_CLASSES; i++)
            assert_int_equal(best[i].score, expected[i] > UINT16_MAX ? UINT16_MAX : expected[i]);
        doppel_fingerprint_free(&query);
        doppel_fingerprint_free(&item);
    }
}

/* ---- verdicts ---- */

static void test_a_turned_image_is_the_same(void **state)
{
    (void)state;
    struct doppel_image_verify_options options = doppel_image_verify_options_default();
    for (unsigned orientation = 0; orientation < 8; orientation++) {
        struct doppel_plane plane = draw_scene(256, 192, 11 + orientation);
        struct doppel_plane turned = turn_plane(&plane, orientation);
        struct doppel_image_features query = features_of(&plane), item = features_of(&turned);
        struct doppel_image_verdict verdict =
            doppel_image_verify(&query.fingerprint, &item.fingerprint, &options);
        assert_int_equal(verdict.orientation, orientation);
        assert_true(verdict.distance256 <= 2);
        assert_true(verdict.false_positive_rate < DOPPEL_IMAGE_MAX_FPR);
        assert_true(verdict.similarity > (orientation ? .98 : .999));
        options.orientations = false;
        verdict = doppel_image_verify(&query.fingerprint, &item.fingerprint, &options);
        assert_true(orientation == 0 || verdict.false_positive_rate > DOPPEL_IMAGE_MAX_FPR);
        options.orientations = true;
        doppel_fingerprint_free(&query.fingerprint);
        doppel_fingerprint_free(&item.fingerprint);
        free_plane(&plane);
        free_plane(&turned);
    }
}

static void test_options_choose_the_views(void **state)
{
    (void)state;
    struct doppel_plane plane = draw_scene(400, 300, 5);
    struct doppel_plane corner = {plane.data, 328, 246, plane.stride};
    struct doppel_image_features query = features_of(&corner), item = features_of(&plane);
    struct doppel_image_verify_options options = doppel_image_verify_options_default();
    struct doppel_image_verdict verdict =
        doppel_image_verify(&query.fingerprint, &item.fingerprint, &options);
    assert_int_equal(verdict.item_view, DOPPEL_VIEW_CORNER);
    assert_true(verdict.false_positive_rate < DOPPEL_IMAGE_MAX_FPR);
    options.views = DOPPEL_VIEWS_TRIM;
    verdict = doppel_image_verify(&query.fingerprint, &item.fingerprint, &options);
    assert_true(verdict.item_view < DOPPEL_VIEW_CENTRE);
    assert_true(verdict.false_positive_rate > DOPPEL_IMAGE_MAX_FPR);
    doppel_fingerprint_free(&query.fingerprint);
    doppel_fingerprint_free(&item.fingerprint);
    free_plane(&plane);
}

static void test_strangers_stay_strangers(void **state)
{
    (void)state;
    enum { COUNT = 60 };
    struct doppel_image_verify_options options = doppel_image_verify_options_default();
    struct doppel_image_features features[COUNT];
    for (unsigned i = 0; i < COUNT; i++) {
        struct doppel_plane plane = draw_scene(200 + i, 260 - i, 1000 + i);
        features[i] = features_of(&plane);
        free_plane(&plane);
    }
    for (unsigned i = 0; i < COUNT; i++)
        for (unsigned j = 0; j < COUNT; j++) {
            struct doppel_image_verdict verdict =
                doppel_image_verify(&features[i].fingerprint, &features[j].fingerprint, &options);
            assert_true((verdict.false_positive_rate <= DOPPEL_IMAGE_MAX_FPR) == (i == j));
        }
    for (unsigned i = 0; i < COUNT; i++)
        doppel_fingerprint_free(&features[i].fingerprint);
}

/** A picture of its own in the middle of a white sheet. */
static struct doppel_plane framed_plane(uint64_t seed)
{
    enum { SIDE = 256, INSIDE = 150 };
    struct doppel_plane inside = draw_scene(INSIDE, INSIDE, seed);
    struct doppel_plane sheet = make_plane(SIDE, SIDE);
    memset(samples_of(&sheet), 255, SIDE * SIDE);
    for (size_t y = 0; y < INSIDE; y++)
        memcpy(samples_of(&sheet) + (y + 50) * SIDE + 50, inside.data + y * inside.stride, INSIDE);
    free_plane(&inside);
    return sheet;
}

static void test_a_shared_frame_is_no_likeness(void **state)
{
    (void)state;
    struct doppel_image_verify_options options = doppel_image_verify_options_default();
    struct doppel_plane sheets[6];
    struct doppel_image_features features[6];
    for (unsigned i = 0; i < 6; i++) {
        sheets[i] = framed_plane(i + 1);
        features[i] = features_of(&sheets[i]);
    }
    for (unsigned a = 0; a < 6; a++)
        for (unsigned b = 0; b < 6; b++) {
            struct doppel_image_verdict verdict =
                doppel_image_verify(&features[a].fingerprint, &features[b].fingerprint, &options);
            assert_int_equal(verdict.false_positive_rate <= DOPPEL_IMAGE_MAX_FPR, a == b);
        }
    for (unsigned i = 0; i < 6; i++) {
        doppel_fingerprint_free(&features[i].fingerprint);
        free_plane(&sheets[i]);
    }
}

static void test_empty_fingerprints_are_strangers(void **state)
{
    (void)state;
    struct doppel_fingerprint none = {0};
    struct doppel_image_verify_options options = doppel_image_verify_options_default();
    struct doppel_image_verdict verdict = doppel_image_verify(&none, &none, &options);
    assert_true(verdict.false_positive_rate == 1 && verdict.similarity == 0);
}

/* ---- curves ---- */

static void test_curves_are_monotone(void **state)
{
    (void)state;
    for (enum judge_class class = 0; class < JUDGE_CLASSES; class ++)
        for (uint32_t score = 1; score <= JUDGE_SCORE_MAX; score++) {
            double rate = calibration_log_rate(&calibration_builtin, class, score);
            assert_true(rate <= 0);
            assert_true(rate >= calibration_log_rate(&calibration_builtin, class, score - 1));
        }
    for (uint32_t score = 1; score <= JUDGE_SCORE_MAX; score++)
        assert_true(calibration_pixels_log_rate(&calibration_builtin, score) >=
                    calibration_pixels_log_rate(&calibration_builtin, score - 1));
}

static void test_similarity_falls_with_distance(void **state)
{
    (void)state;
    for (int class = 0; class < JUDGE_CLASSES; class ++) {
        struct view_pair best[JUDGE_CLASSES];
        double last = 2;
        for (int i = 0; i < JUDGE_CLASSES; i++)
            best[i] = (struct view_pair){.score = UINT16_MAX};
        for (best[class].score = 0; best[class].score <= 120; best[class].score++) {
            double similarity = verify_by(&calibration_builtin, best).similarity;
            assert_true(similarity < last && similarity > 0);
            assert_true((similarity >= 1) == (best[class].score == 0));
            last = similarity;
        }
    }
}

static void test_poor_images_have_to_come_nearer(void **state)
{
    (void)state;
    double last = 1;
    for (unsigned quality = 0; quality <= 120; quality++) {
        struct doppel_image_verdict verdict = {
            .whole_distance = 25, .false_positive_rate = 1e-8, .similarity = .9};
        doppel_image_weigh((uint8_t)quality, &verdict);
        assert_true(verdict.similarity >= .9 && verdict.similarity <= .9);
        assert_true(verdict.false_positive_rate <= last);
        assert_true((verdict.false_positive_rate >= 1) == (quality < DOPPEL_IMAGE_MIN_QUALITY));
        last = verdict.false_positive_rate;
        if (quality == 50)
            assert_true(fabs(last / 1e-4 - 1) < 1e-9);
    }
    assert_true(fabs(last / 1e-8 - 1) < 1e-9);
}

/* Between flat and telling only next to equal frames count, whatever the codes say otherwise. */
static void test_little_structure_wants_equal_frames(void **state)
{
    (void)state;
    for (unsigned quality = 0; quality < DOPPEL_IMAGE_MIN_QUALITY; quality++) {
        double last = 0;
        for (uint32_t distance = 0; distance <= 256; distance++) {
            struct doppel_image_verdict verdict = {.whole_distance = distance,
                                                   .false_positive_rate = 1e-12};
            doppel_image_weigh((uint8_t)quality, &verdict);
            const bool told = quality >= DOPPEL_IMAGE_STRICT_QUALITY && distance <= 24;
            assert_true((verdict.false_positive_rate < 1) == told);
            assert_true(!told || verdict.false_positive_rate > last);
            assert_true(verdict.false_positive_rate > 1e-7);
            last = verdict.false_positive_rate;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best_pairs_equal_the_slow_loop),
        cmocka_unit_test(test_a_turned_image_is_the_same),
        cmocka_unit_test(test_options_choose_the_views),
        cmocka_unit_test(test_strangers_stay_strangers),
        cmocka_unit_test(test_a_shared_frame_is_no_likeness),
        cmocka_unit_test(test_empty_fingerprints_are_strangers),
        cmocka_unit_test(test_curves_are_monotone),
        cmocka_unit_test(test_little_structure_wants_equal_frames),
        cmocka_unit_test(test_similarity_falls_with_distance),
        cmocka_unit_test(test_poor_images_have_to_come_nearer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
