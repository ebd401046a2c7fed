/* The ways to look at a query, what its frames tell, and fitting a view to an item. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "match/video/video_internal.h"

enum { SIDE = 128, FRAMES = 12 };

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* ---- made frames ---- */

/* A picture of soft discs. */
static void draw(uint32_t seed, uint8_t out[SIDE * SIDE])
{
    float disc[40][4];
    for (int i = 0; i < 40; i++) {
        disc[i][0] = (float)(next(&seed) % SIDE);
        disc[i][1] = (float)(next(&seed) % SIDE);
        disc[i][2] = 4 + (float)(next(&seed) % 20);
        disc[i][3] = (float)(next(&seed) % 161) - 80;
    }
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            float sum = 128;
            for (int i = 0; i < 40; i++) {
                float dx = (float)x - disc[i][0], dy = (float)y - disc[i][1];
                sum += disc[i][3] * expf(-(dx * dx + dy * dy) / (disc[i][2] * disc[i][2]));
            }
            out[y * SIDE + x] = (uint8_t)fminf(fmaxf(sum, 0), 255);
        }
}

struct pair_of_videos {
    struct doppel_video_track query, item;
    struct video_pair pairs[FRAMES];
};

static void frame_of(const uint8_t *pixels, const uint32_t crop[4], size_t at,
                     struct doppel_video_track *track)
{
    const struct doppel_plane plane = {pixels + crop[1] * SIDE + crop[0], crop[2] - crop[0],
                                       crop[3] - crop[1], SIDE};
    uint8_t *cells = track->cells + at * DOPPEL_VIDEO_CELL_BYTES;
    doppel_image_reduce(&plane, DOPPEL_VIDEO_CELLS, cells);
    const struct doppel_plane small = {cells, DOPPEL_VIDEO_CELLS, DOPPEL_VIDEO_CELLS,
                                       DOPPEL_VIDEO_CELLS};
    track->frames[at] = (struct doppel_video_frame){
        doppel_image_phash(&small), (uint32_t)at * 250, (uint32_t)at * 250, {{0}}, {{0}}};
}

static void track_init(struct doppel_video_track *track)
{
    *track = (struct doppel_video_track){.count = FRAMES, .box = {0, 0, 1, 1}};
    track->frames = calloc(FRAMES, sizeof *track->frames);
    track->cells = malloc(FRAMES * DOPPEL_VIDEO_CELL_BYTES);
    assert_non_null(track->frames);
    assert_non_null(track->cells);
}

/* A video, and a crop of it: left, top, right, bottom of SIDE. */
static void videos_init(struct pair_of_videos *clips, uint32_t seed, const uint32_t crop[4])
{
    static const uint32_t FULL[4] = {0, 0, SIDE, SIDE};
    uint8_t *pixels = malloc(SIDE * SIDE);
    assert_non_null(pixels);
    track_init(&clips->query);
    track_init(&clips->item);
    for (uint32_t i = 0; i < FRAMES; i++) {
        draw(seed + i, pixels);
        frame_of(pixels, FULL, i, &clips->item);
        frame_of(pixels, crop, i, &clips->query);
        clips->pairs[i] = (struct video_pair){i, i, 1};
    }
    free(pixels);
}

static void videos_free(struct pair_of_videos *clips)
{
    doppel_video_track_free(&clips->query);
    doppel_video_track_free(&clips->item);
}

static double mean_distance(const struct pair_of_videos *clips,
                            const struct doppel_video_view *view)
{
    double sum = 0;
    for (size_t i = 0; i < FRAMES; i++) {
        struct doppel_code code;
        assert_true(video_view_code(&clips->query, i, view, &code));
        sum += doppel_code_distance(&code, &clips->item.frames[i].code, 256);
    }
    return sum / FRAMES;
}

static const struct video_view PLAIN = {.view = {.warp = {.scale_x = 1, .scale_y = 1}}};

/* ---- fitting ---- */

static void finds_crops(void **state)
{
    (void)state;
    static const uint32_t CROPS[][4] = {{0, 0, 108, 128},
                                        {14, 6, 120, 118},
                                        {20, 0, 128, 108},
                                        {4, 18, 126, 126},
                                        {9, 9, 119, 119}};
    struct doppel_video_search options = doppel_video_search_default();
    for (uint32_t i = 0; i < sizeof CROPS / sizeof *CROPS; i++) {
        struct pair_of_videos clips;
        videos_init(&clips, 100 * i, CROPS[i]);
        struct video_view view = PLAIN;
        double before = mean_distance(&clips, &view.view);
        assert_true(
            video_view_improve(&clips.query, &clips.item, clips.pairs, FRAMES, &options, &view));
        const struct doppel_video_warp *warp = &view.view.warp;
        assert_true(mean_distance(&clips, &view.view) < fmin(before, 60));
        assert_true(fabs(warp->scale_x - SIDE / (double)(CROPS[i][2] - CROPS[i][0])) < .06);
        assert_true(fabs(warp->scale_y - SIDE / (double)(CROPS[i][3] - CROPS[i][1])) < .06);
        assert_int_equal(view.stage, VIDEO_STAGE_IMPROVED);
        videos_free(&clips);
    }
}

static void never_goes_away(void **state)
{
    (void)state;
    static const uint32_t FULL[4] = {0, 0, SIDE, SIDE};
    struct doppel_video_search options = doppel_video_search_default();
    struct pair_of_videos clips, others;
    videos_init(&clips, 7, FULL);
    videos_init(&others, 5000, FULL);
    struct video_view view = PLAIN;
    assert_false(
        video_view_improve(&clips.query, &clips.item, clips.pairs, FRAMES, &options, &view));
    assert_memory_equal(&view, &PLAIN, sizeof view);
    /* Strangers come nearer, but not near. */
    video_view_improve(&clips.query, &others.item, clips.pairs, FRAMES, &options, &view);
    for (size_t i = 0; i < FRAMES; i++)
        clips.item.frames[i] = others.item.frames[i];
    assert_true(mean_distance(&clips, &view.view) > 95);
    assert_false(video_view_improve(&clips.query, &clips.item, clips.pairs, 0, &options, &view));
    free(clips.query.cells);
    clips.query.cells = NULL;
    assert_false(
        video_view_improve(&clips.query, &clips.item, clips.pairs, FRAMES, &options, &view));
    videos_free(&clips);
    videos_free(&others);
}

/* ---- views ---- */

static void lists_views_by_stage(void **state)
{
    (void)state;
    static const uint32_t FULL[4] = {0, 0, SIDE, SIDE};
    static struct video_view views[VIDEO_VIEWS_MAX];
    struct doppel_video_search options = doppel_video_search_default();
    struct pair_of_videos clips;
    videos_init(&clips, 1, FULL);
    size_t counts[4], at = 0;
    for (int thorough = 0; thorough < 2; thorough++) {
        options.thorough = thorough;
        size_t count = counts[at++] = video_views(&clips.query, &options, views);
        assert_memory_equal(&views[0].view, &PLAIN.view, 2);
        for (size_t i = 0; i + 1 < count; i++) {
            assert_true(views[i].stage <= views[i + 1].stage);
            assert_int_equal(views[i].view.mirrored, i % 2);
        }
    }
    options.plain = true;
    counts[at++] = video_views(&clips.query, &options, views);
    options.plain = false;
    free(clips.query.cells);
    clips.query.cells = NULL;
    counts[at++] = video_views(&clips.query, &options, views);
    assert_true(counts[0] > 20 && counts[1] > counts[0] && counts[1] < VIDEO_VIEWS_MAX);
    assert_int_equal(counts[2], 2);
    assert_int_equal(counts[3], 2);
    videos_free(&clips);
}

/* The code of a mirrored view is that of mirrored cells. */
static void mirrors_codes(void **state)
{
    (void)state;
    static const uint32_t FULL[4] = {0, 0, SIDE, SIDE};
    struct pair_of_videos clips;
    videos_init(&clips, 3, FULL);
    struct doppel_video_view view = PLAIN.view;
    view.mirrored = true;
    for (size_t i = 0; i < FRAMES; i++) {
        uint8_t turned[DOPPEL_VIDEO_CELL_BYTES];
        const uint8_t *cells = clips.query.cells + i * DOPPEL_VIDEO_CELL_BYTES;
        for (size_t j = 0; j < DOPPEL_VIDEO_CELL_BYTES; j++)
            turned[j] = cells[j / DOPPEL_VIDEO_CELLS * DOPPEL_VIDEO_CELLS + DOPPEL_VIDEO_CELLS - 1 -
                              j % DOPPEL_VIDEO_CELLS];
        const struct doppel_plane plane = {turned, DOPPEL_VIDEO_CELLS, DOPPEL_VIDEO_CELLS,
                                           DOPPEL_VIDEO_CELLS};
        struct doppel_code wanted = doppel_image_phash(&plane), code;
        assert_true(video_view_code(&clips.query, i, &view, &code));
        assert_memory_equal(&code, &wanted, sizeof code);
    }
    videos_free(&clips);
}

/* ---- scores ---- */

static void scores_fall_with_distance(void **state)
{
    (void)state;
    for (uint32_t d = 0; d < 256; d++) {
        assert_true(video_score_frame(d) >= video_score_frame(d + 1));
        assert_true(video_score_still(d) >= video_score_still(d + 1));
        assert_true(video_score_novelty(d) <= video_score_novelty(d + 1));
        assert_true(video_score_rarity(d) >= video_score_rarity(d + 1));
    }
    assert_true(video_score_frame(110) < 0);
    assert_true(video_score_frame(100) > 0);
    assert_true(video_score_still(256) >= 0);
    assert_true(video_score_novelty(0) == 0 && video_score_novelty(256) == 1);
}

static void more_choices_cost_more(void **state)
{
    (void)state;
    struct doppel_video_search options = doppel_video_search_default(), same = options;
    struct video_view improved = PLAIN, turned = PLAIN;
    same.same_speed = true;
    improved.stage = VIDEO_STAGE_IMPROVED;
    turned.stage = 1;
    double plain = video_score_choices(1000, &options, &PLAIN);
    assert_true(fabs(video_score_choices(10009, &options, &PLAIN) - plain - 1) < .01);
    assert_true(video_score_choices(1000, &same, &PLAIN) < plain);
    assert_true(video_score_choices(1000, &options, &turned) > plain);
    assert_true(video_score_choices(1000, &options, &improved) >
                video_score_choices(1000, &options, &turned));
}

static void smooth_frames_count_less(void **state)
{
    (void)state;
    uint8_t disc[DOPPEL_VIDEO_CELL_BYTES], *pixels = malloc(SIDE * SIDE);
    assert_non_null(pixels);
    struct doppel_video_track track;
    track_init(&track);
    draw(9, pixels);
    frame_of(pixels, (const uint32_t[4]){0, 0, SIDE, SIDE}, 0, &track);
    for (int i = 0; i < DOPPEL_VIDEO_CELL_BYTES; i++) {
        int x = i % 32 - 16, y = i / 32 - 16;
        disc[i] = (uint8_t)(200 * exp(-(x * x + y * y) / 90.));
    }
    assert_true(video_score_structure(disc) < .3f);
    assert_true(video_score_structure(track.cells) > .8f);
    struct video_view warped = {.class = VIDEO_CLASS_WARPED};
    assert_true(video_score_weight(&warped, 0) < video_score_weight(&PLAIN, 0));
    assert_true(video_score_weight(&warped, 1) == 1);
    doppel_video_track_free(&track);
    free(pixels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_crops),
        cmocka_unit_test(never_goes_away),
        cmocka_unit_test(lists_views_by_stage),
        cmocka_unit_test(mirrors_codes),
        cmocka_unit_test(scores_fall_with_distance),
        cmocka_unit_test(more_choices_cost_more),
        cmocka_unit_test(smooth_frames_count_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
