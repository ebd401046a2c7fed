/* Points of drawn pictures: where, how large, how turned; and of what is hardly a picture. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "local/local_internal.h"
#include "scenes.h"

static void assert_is_fingerprint(const struct doppel_fingerprint *points)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_name("local");
    assert_int_equal(points->scheme, scheme->id);
    assert_int_equal(points->version, scheme->version);
    assert_int_equal(points->code_bits, DOPPEL_LOCAL_BITS);
    assert_true(points->count <= DOPPEL_LOCAL_POINTS);
    for (uint32_t i = 1; i < points->count; i++)
        assert_true(points->positions[i - 1] <= points->positions[i]);
    for (uint32_t i = 0; i < points->count; i++)
        assert_true(!points->codes[i].word[2] && !points->codes[i].word[3]);
}

static void test_the_same_picture_has_the_same_points(void **state)
{
    (void)state;
    struct scene scene = scene_make(1);
    struct doppel_fingerprint a = scene_points(&scene, &scene_whole);
    struct doppel_fingerprint b = scene_points(&scene, &scene_whole);
    assert_is_fingerprint(&a);
    assert_true(a.count >= DOPPEL_LOCAL_KEPT);
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.codes, b.codes, a.count * sizeof *a.codes);
    assert_memory_equal(a.positions, b.positions, a.count * sizeof *a.positions);
    doppel_local_keep(&a);
    assert_int_equal(a.count, DOPPEL_LOCAL_KEPT);
    doppel_fingerprint_free(&a);
    doppel_fingerprint_free(&b);
}

/* A match counts one of two points that look the same: bricks, drawn over and over. */
static void test_points_that_are_kept_look_different(void **state)
{
    (void)state;
    enum { SIDE = 480, ALIKE = 24 };
    struct scene scene = scene_make(3);
    uint8_t *samples = scene_draw(&scene, &scene_whole);
    for (size_t i = 0; i < (size_t)SIDE * SIDE / 2; i++)
        samples[i] = i / SIDE % 16 < 3 || (i % SIDE + i / SIDE / 16 % 2 * 20) % 40 < 3 ? 40 : 200;
    struct doppel_fingerprint points;
    assert_int_equal(
        doppel_local_features(&(struct doppel_plane){samples, SIDE, SIDE, SIDE}, &points, NULL), 0);
    uint32_t alike_of_all = 0;
    assert_true(points.count > 2 * DOPPEL_LOCAL_KEPT);
    for (uint32_t i = 0; i < points.count; i++)
        for (uint32_t k = 0; k < i; k++) {
            const bool alike = point_distance(&points.codes[i], &points.codes[k]) <= ALIKE;
            alike_of_all += alike;
            assert_false(alike && i < DOPPEL_LOCAL_KEPT);
        }
    assert_true(alike_of_all > DOPPEL_LOCAL_KEPT);
    doppel_fingerprint_free(&points);
    free(samples);
}

/* A stride with rubbish in it changes nothing. */
static void test_only_samples_count(void **state)
{
    (void)state;
    struct scene scene = scene_make(2);
    uint8_t *samples = scene_draw(&scene, &scene_whole);
    enum { SIDE = 480, STRIDE = 500 };
    uint8_t *wide = malloc((size_t)STRIDE * SIDE);
    memset(wide, 77, (size_t)STRIDE * SIDE);
    for (size_t row = 0; row < SIDE; row++)
        memcpy(wide + row * STRIDE, samples + row * SIDE, SIDE);
    struct doppel_fingerprint a, b;
    assert_int_equal(
        doppel_local_features(&(struct doppel_plane){samples, SIDE, SIDE, SIDE}, &a, NULL), 0);
    assert_int_equal(
        doppel_local_features(&(struct doppel_plane){wide, SIDE, SIDE, STRIDE}, &b, NULL), 0);
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.codes, b.codes, a.count * sizeof *a.codes);
    doppel_fingerprint_free(&a);
    doppel_fingerprint_free(&b);
    free(samples);
    free(wide);
}

/* One blob beside a smaller one: found where it is, turned to where its neighbour draws it. */
static void test_a_blob_is_where_it_is(void **state)
{
    (void)state;
    static const double angles[] = {0, 40, 90, 135, 180, 250, 300};
    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
        struct scene scene;
        memset(&scene, 0, sizeof scene);
        for (int blob = 0; blob < SCENE_BLOBS; blob++)
            scene.size[blob] = .001;
        double turn = angles[i] * 3.14159265358979 / 180;
        scene.x[0] = .4, scene.y[0] = .6, scene.size[0] = .03, scene.grey[0] = 80;
        scene.x[1] = .4 + .09 * cos(turn), scene.y[1] = .6 + .09 * sin(turn);
        scene.size[1] = .02, scene.grey[1] = 40;
        struct doppel_fingerprint points = scene_points(&scene, &scene_whole);
        bool found = false;
        for (uint32_t k = 0; k < points.count; k++) {
            struct doppel_local_point point = doppel_local_point(points.positions[k]);
            double off = fabs(point.angle - angles[i]);
            off = off > 180 ? 360 - off : off;
            found |= hypot(point.x - .4, point.y - .6) < .012 && off < 12 && point.radius > .1 &&
                     point.radius < .5;
        }
        assert_true(found);
        doppel_fingerprint_free(&points);
    }
}

static void test_hardly_pictures(void **state)
{
    (void)state;
    static const struct {
        uint32_t width, height;
    } sizes[] = {{1, 1}, {1, 3000}, {3000, 1}, {15, 700}, {16, 16}, {17, 5000}, {70000, 20}};
    struct doppel_fingerprint points;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int kind = 0; kind < 3; kind++) {
            size_t count = (size_t)sizes[i].width * sizes[i].height;
            uint8_t *samples = malloc(count);
            for (size_t k = 0; k < count; k++)
                samples[k] = kind == 0   ? 200
                             : kind == 1 ? (uint8_t)(255 * (k % 2))
                                         : (uint8_t)(k * k * 2654435761u >> 24);
            const struct doppel_plane plane = {samples, sizes[i].width, sizes[i].height,
                                               sizes[i].width};
            assert_int_equal(doppel_local_features(&plane, &points, NULL), DOPPEL_OK);
            assert_is_fingerprint(&points);
            if (kind == 0)
                assert_int_equal(points.count, 0);
            doppel_fingerprint_free(&points);
            free(samples);
        }
    struct doppel_error error;
    const struct doppel_plane none = {(const uint8_t *)"", 0, 5, 5};
    assert_int_equal(doppel_local_features(&none, &points, &error), DOPPEL_E_ARGUMENT);
}

static void test_any_number_is_a_position(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int i = 0; i < 10000; i++) {
        uint32_t position = i < 2 ? (uint32_t)-i : (uint32_t)(scene_number(&seed) * 4294967295.0);
        struct doppel_local_point point = doppel_local_point(position);
        assert_true(point.x > 0 && point.x < 1 && point.y > 0 && point.y < 1);
        assert_true(point.radius > 0 && point.radius < 5);
        assert_true(point.angle >= 0 && point.angle < 360);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_picture_has_the_same_points),
        cmocka_unit_test(test_points_that_are_kept_look_different),
        cmocka_unit_test(test_only_samples_count),
        cmocka_unit_test(test_a_blob_is_where_it_is),
        cmocka_unit_test(test_hardly_pictures),
        cmocka_unit_test(test_any_number_is_a_position),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
