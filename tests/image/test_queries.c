/* What look-ups find: every turned copy, and nearly all that eight orientations of all views find.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/image.h>

#include "planes.h"

static const struct doppel_image_verify_options all_views = {DOPPEL_VIEWS_ALL, true};

static struct doppel_image_features features_of(const struct doppel_plane *plane)
{
    struct doppel_image_features features;
    assert_int_equal(doppel_image_features(plane, &features, NULL), DOPPEL_OK);
    return features;
}

static uint32_t distance(uint64_t a, uint64_t b)
{
    return (uint32_t)__builtin_popcountll(a ^ b);
}

/* The least distance of a look-up of one from an index code of the other. */
static uint32_t nearest_look_up(const struct doppel_fingerprint *query,
                                const struct doppel_fingerprint *item)
{
    struct doppel_image_query queries[DOPPEL_IMAGE_MAX_QUERIES];
    uint64_t codes[DOPPEL_VIEW_COUNT];
    size_t query_count = doppel_image_queries(query, &all_views, queries);
    size_t code_count = doppel_image_index_codes(item, &all_views, codes);
    uint32_t least = 64;
    for (size_t i = 0; i < query_count; i++)
        for (size_t j = 0; j < code_count; j++) {
            uint32_t d = distance(queries[i].code, codes[j]);
            least = d < least ? d : least;
        }
    return least;
}

/* The same by trying everything. */
static uint32_t nearest_of_all(const struct doppel_fingerprint *query,
                               const struct doppel_fingerprint *item)
{
    uint32_t least = 64;
    for (uint32_t i = 0; i < query->count && query->positions[i] <= DOPPEL_VIEW_INTERFACE; i++)
        for (unsigned o = 0; o < DOPPEL_IMAGE_ORIENTATIONS; o++)
            for (uint32_t j = 0; j < item->count; j++) {
                uint64_t code = doppel_image_orient(&query->codes[i], o).word[0];
                uint32_t d = distance(code, item->codes[j].word[0]);
                if (item->positions[j] != DOPPEL_VIEW_INTERFACE && d < least)
                    least = d;
            }
    return least;
}

static void test_turned_copies_are_met_at_once(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 12; seed++) {
        struct doppel_plane plane = draw_scene(260, 195, seed);
        struct doppel_image_features item = features_of(&plane);
        for (unsigned o = 0; o < DOPPEL_IMAGE_ORIENTATIONS; o++) {
            struct doppel_plane turned = turn_plane(&plane, o);
            struct doppel_image_features query = features_of(&turned);
            assert_int_equal(nearest_look_up(&query.fingerprint, &item.fingerprint), 0);
            doppel_fingerprint_free(&query.fingerprint);
            free_plane(&turned);
        }
        doppel_fingerprint_free(&item.fingerprint);
        free_plane(&plane);
    }
}

/* A part of a plane, cut at random, brightened and with more grain. */
static struct doppel_plane edit(const struct doppel_plane *plane, uint64_t *random)
{
    uint32_t left = next_random(random) % (plane->width / 8);
    uint32_t top = next_random(random) % (plane->height / 8);
    uint32_t width = plane->width - left - next_random(random) % (plane->width / 16 + 1);
    uint32_t height = plane->height - top - next_random(random) % (plane->height / 16 + 1);
    struct doppel_plane out = make_plane(width, height);
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            set(&out, x, y,
                get(plane, left + x, top + y) * 7 / 8 + 20 + (int)(next_random(random) % 31));
    struct doppel_plane turned = turn_plane(&out, next_random(random) % 8);
    free_plane(&out);
    return turned;
}

static void test_edited_copies_are_met_as_by_eight_orientations(void **state)
{
    (void)state;
    uint64_t random = 12;
    unsigned by_all = 0, by_look_ups = 0, queries_made = 0, images = 300;
    for (unsigned seed = 0; seed < images; seed++) {
        struct doppel_plane plane = draw_scene(200, 150, 1000 + seed), copy = edit(&plane, &random);
        struct doppel_image_features item = features_of(&plane), query = features_of(&copy);
        struct doppel_image_query queries[DOPPEL_IMAGE_MAX_QUERIES];
        queries_made += (unsigned)doppel_image_queries(&query.fingerprint, &all_views, queries);
        uint32_t all = nearest_of_all(&query.fingerprint, &item.fingerprint);
        uint32_t looked_up = nearest_look_up(&query.fingerprint, &item.fingerprint);
        assert_true(looked_up >= all);
        by_all += all <= DOPPEL_IMAGE_CANDIDATE_RADIUS;
        by_look_ups += looked_up <= DOPPEL_IMAGE_CANDIDATE_RADIUS;
        doppel_fingerprint_free(&item.fingerprint);
        doppel_fingerprint_free(&query.fingerprint);
        free_plane(&plane);
        free_plane(&copy);
    }
    assert_true(by_all > images * 9 / 10);
    assert_true(by_look_ups * 100 >= by_all * 98);
    assert_true(queries_made < images * 6);
}

static void test_options_choose_views(void **state)
{
    (void)state;
    struct doppel_plane image = draw_scene(200, 150, 1), plane = make_plane(200, 230);
    for (size_t y = 0; y < 150; y++)
        for (size_t x = 0; x < 200; x++)
            set(&plane, x, y + 40, get(&image, x, y));
    struct doppel_image_features features = features_of(&plane);
    const struct doppel_fingerprint *fingerprint = &features.fingerprint;
    struct doppel_image_query queries[DOPPEL_IMAGE_MAX_QUERIES];
    uint64_t codes[DOPPEL_VIEW_COUNT];
    struct doppel_image_verify_options options = {DOPPEL_VIEWS_FULL, false};
    assert_int_equal(doppel_image_queries(fingerprint, &options, queries), 1);
    assert_int_equal(queries[0].code, fingerprint->codes[0].word[0]);
    assert_int_equal(doppel_image_index_codes(fingerprint, &options, codes), 1);
    assert_int_equal(codes[0], fingerprint->codes[0].word[0]);
    options.views = DOPPEL_VIEWS_TRIM;
    assert_int_equal(doppel_image_queries(fingerprint, &options, queries), 2);
    assert_int_equal(queries[1].view, DOPPEL_VIEW_TRIMMED);
    assert_int_equal(doppel_image_index_codes(fingerprint, &options, codes), 2);
    options.views = DOPPEL_VIEWS_ALL;
    assert_int_equal(doppel_image_queries(fingerprint, &options, queries), 2);
    assert_int_equal(doppel_image_index_codes(fingerprint, &options, codes), 11);
    doppel_fingerprint_free(&features.fingerprint);
    free_plane(&image);
    free_plane(&plane);
}

/* A fingerprint of the full frame alone has no crops to tell a sure sign by. */
static void test_single_code_is_looked_up_in_all_orientations(void **state)
{
    (void)state;
    struct doppel_plane plane = draw_scene(200, 150, 1);
    struct doppel_code code = doppel_image_phash(&plane);
    uint32_t position = DOPPEL_VIEW_FULL;
    const struct doppel_fingerprint fingerprint = {.scheme = DOPPEL_SCHEME_PHASH64,
                                                   .code_bits = 256,
                                                   .count = 1,
                                                   .codes = &code,
                                                   .positions = &position};
    struct doppel_image_query queries[DOPPEL_IMAGE_MAX_QUERIES];
    assert_int_equal(doppel_image_queries(&fingerprint, &all_views, queries), 8);
    for (unsigned o = 0; o < 8; o++)
        assert_int_equal(queries[o].code, doppel_image_orient(&code, o).word[0]);
    free_plane(&plane);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turned_copies_are_met_at_once),
        cmocka_unit_test(test_edited_copies_are_met_as_by_eight_orientations),
        cmocka_unit_test(test_options_choose_views),
        cmocka_unit_test(test_single_code_is_looked_up_in_all_orientations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
