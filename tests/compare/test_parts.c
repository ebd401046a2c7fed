/* What two pictures share, from where they do: against counting places one by one. */
#include "compare/parts.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static uint64_t state = 1;

static double chance(double from, double to)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return from + (to - from) * (double)(state >> 40) / (1 << 24);
}

/* A place of the query's frame, in the item. */
static void into_item(const struct doppel_local_where *where, double x, double y, double out[2])
{
    const double turn = -where->query.angle * M_PI / 180;
    x -= where->query.x;
    y -= where->query.y;
    double u = x * cos(turn) - y * sin(turn), v = x * sin(turn) + y * cos(turn);
    out[0] = where->item.x + (where->mirrored ? -u : u) / where->scale;
    out[1] = where->item.y + v / where->scale;
}

/* The share of the query's places that lie in the item. */
static double counted(const struct doppel_local_where *where, struct picture_size query,
                      struct picture_size item)
{
    enum { STEPS = 200 };
    const double q = fmax(query.width, query.height), i = fmax(item.width, item.height);
    unsigned inside = 0;
    for (int y = 0; y < STEPS; y++)
        for (int x = 0; x < STEPS; x++) {
            double at[2];
            into_item(where, (x + .5) / STEPS * query.width / q,
                      (y + .5) / STEPS * query.height / q, at);
            inside +=
                at[0] >= 0 && at[1] >= 0 && at[0] <= item.width / i && at[1] <= item.height / i;
        }
    return (double)inside / STEPS / STEPS;
}

static void coverage_is_what_counting_says(void **unused)
{
    (void)unused;
    const struct picture_size query = {640, 480}, item = {300, 900};
    for (int i = 0; i < 300; i++) {
        struct doppel_local_verdict verdict = {.inliers = 20, .false_positive_rate = 1e-9};
        struct doppel_local_where *where = &verdict.where;
        where->scale = chance(.3, 2.5);
        where->mirrored = i % 3 == 0;
        where->item = (struct doppel_local_rectangle){
            .x = chance(.1, .23), .y = chance(.2, .8), .width = .2, .height = .4};
        where->query = (struct doppel_local_rectangle){.x = chance(.2, .8),
                                                       .y = chance(.2, .5),
                                                       .angle = chance(0, 360),
                                                       .width = .2 * where->scale,
                                                       .height = .4 * where->scale};
        struct doppel_match match;
        describe_parts(&verdict, query, item, &match);
        assert_true(match.has_coverage && match.has_places);
        const double share = counted(where, query, item);
        if (where->query.width * where->query.height < .35 * share * .75)
            continue; /* they share no more than was met */
        assert_float_equal(match.query_coverage, share, .02);
        const double areas = .75 * share / (where->scale * where->scale / 3);
        assert_float_equal(match.item_coverage, fmin(1, areas), .03);
    }
}

static void places_are_shares_of_each_picture(void **unused)
{
    (void)unused;
    struct doppel_local_verdict verdict = {.inliers = 30, .distance = 16};
    /* The right half of an item of 1000 × 500 is a query of 500 × 500; what was met goes beyond. */
    verdict.where = (struct doppel_local_where){
        .query = {.5, .5, 1, 1.2, 359.99}, .item = {.75, .25, .5, .6, 0}, .scale = 2};
    struct doppel_match match;
    describe_parts(&verdict, (struct picture_size){500, 500}, (struct picture_size){1000, 500},
                   &match);
    assert_int_equal(match.relation, DOPPEL_RELATION_CONTAINED);
    assert_float_equal(match.query_coverage, 1, .01);
    assert_float_equal(match.item_coverage, .5, .01);
    assert_float_equal(match.similarity, .75, 1e-9);
    assert_float_equal(match.item_place.left, .5, 1e-9);
    assert_float_equal(match.item_place.right, 1, 1e-9);
    assert_float_equal(match.item_place.top, 0, 1e-9);
    assert_float_equal(match.item_place.bottom, 1, 1e-9);
    assert_float_equal(match.query_place.left, 0, .01);
    assert_float_equal(match.query_place.bottom, 1, .01);
    assert_true(match.query_place.angle == 0);
}

/* Points at an edge reach beyond it; what is shown of them lies within both frames. */
static void places_lie_within_frames(void **unused)
{
    (void)unused;
    struct doppel_local_verdict verdict = {.inliers = 30, .distance = 16};
    /* A query of 800 × 600 is the middle of an item of 1000 × 800. */
    verdict.where = (struct doppel_local_where){
        .query = {.5, .375, 1.25, 1, 0}, .item = {.5, .4, 1, .8, 0}, .scale = 1.25};
    for (int mirrored = 0; mirrored < 2; mirrored++) {
        struct doppel_match match;
        verdict.where.mirrored = mirrored;
        describe_parts(&verdict, (struct picture_size){800, 600}, (struct picture_size){1000, 800},
                       &match);
        assert_float_equal(match.query_place.left, 0, 1e-9);
        assert_float_equal(match.query_place.right, 1, 1e-9);
        assert_float_equal(match.query_place.bottom, 1, 1e-9);
        assert_float_equal(match.item_place.left, .1, 1e-9);
        assert_float_equal(match.item_place.top, .125, 1e-9);
        assert_float_equal(match.item_place.bottom, .875, 1e-9);
    }
}

static void shared_logo_is_an_overlap(void **unused)
{
    (void)unused;
    struct doppel_local_verdict verdict = {.inliers = 12, .distance = 10};
    verdict.where = (struct doppel_local_where){
        .query = {.5, .5, .1, .1, 0}, .item = {.5, .5, .1, .1, 0}, .scale = 1};
    struct doppel_match match;
    describe_parts(&verdict, (struct picture_size){800, 800}, (struct picture_size){800, 800},
                   &match);
    assert_int_equal(match.relation, DOPPEL_RELATION_OVERLAPS);
    assert_float_equal(match.query_coverage, .01, 1e-6);
}

static void nothing_in_common_has_no_place(void **unused)
{
    (void)unused;
    const struct doppel_local_verdict verdict = {.false_positive_rate = 1};
    struct doppel_match match;
    describe_parts(&verdict, (struct picture_size){0, 0}, (struct picture_size){1, 0}, &match);
    assert_false(match.has_places || match.has_coverage);
    assert_true(match.similarity == 0 && match.score == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coverage_is_what_counting_says),
        cmocka_unit_test(places_are_shares_of_each_picture),
        cmocka_unit_test(places_lie_within_frames),
        cmocka_unit_test(shared_logo_is_an_overlap),
        cmocka_unit_test(nothing_in_common_has_no_place),
    };
    return cmocka_run_group_tests_name("parts", tests, NULL, NULL);
}
