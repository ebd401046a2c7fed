/* Bars, pictures in the picture, gaps, and videos that are long. */
#include <malloc.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/image.h>
#include <doppel/video.h>

#include "drawn.h"

enum { WIDTH = 480, HEIGHT = 270, FRAMES = 24, SCENE_FRAMES = 4 };

/* Where a drawn video lies in a frame of WIDTH×HEIGHT, and what is around it: a colour, or another
 * video. */
struct layout {
    uint32_t seed, left, top, right, bottom, around_seed;
    uint8_t colour;
    bool still_around;
};

static const struct layout whole = {.seed = 3, .right = WIDTH, .bottom = HEIGHT};

static void draw_layout(const struct layout *layout, uint32_t frame, uint8_t *samples)
{
    double seconds = frame % SCENE_FRAMES * .25;
    memset(samples, layout->colour, WIDTH * HEIGHT);
    if (layout->around_seed)
        draw_scene(layout->around_seed + (layout->still_around ? 0 : frame / SCENE_FRAMES),
                   layout->still_around ? 0 : seconds, WIDTH, HEIGHT, samples, WIDTH);
    draw_scene(layout->seed + frame / SCENE_FRAMES, seconds, layout->right - layout->left,
               layout->bottom - layout->top, samples + layout->top * WIDTH + layout->left, WIDTH);
}

static struct doppel_video_track take(const struct layout *layout)
{
    static uint8_t samples[WIDTH * HEIGHT];
    const struct doppel_plane plane = {samples, WIDTH, HEIGHT, WIDTH};
    struct doppel_video *video;
    struct doppel_video_track track;
    assert_int_equal(doppel_video_new(NULL, &video, NULL), DOPPEL_OK);
    for (uint32_t i = 0; i < FRAMES; i++) {
        draw_layout(layout, i, samples);
        assert_int_equal(doppel_video_push(video, &plane, i * 250, NULL), DOPPEL_OK);
    }
    assert_int_equal(doppel_video_finish(video, &track, NULL), DOPPEL_OK);
    doppel_video_free(video);
    return track;
}

static void assert_lies(const struct doppel_video_box *box, const struct layout *layout,
                        double within)
{
    assert_true(fabs((double)box->left - layout->left / (double)WIDTH) <= within);
    assert_true(fabs((double)box->top - layout->top / (double)HEIGHT) <= within);
    assert_true(fabs((double)box->right - layout->right / (double)WIDTH) <= within);
    assert_true(fabs((double)box->bottom - layout->bottom / (double)HEIGHT) <= within);
}

/* Mean distance, of 256 bits, of runs that begin together in both. */
static uint32_t mean_distance(const struct doppel_video_track *a, const uint8_t *cells,
                              const struct doppel_video_track *b)
{
    uint32_t sum = 0, count = 0;
    for (size_t i = 0; i < a->count; i++)
        for (size_t j = 0; j < b->count; j++) {
            const struct doppel_plane plane = {cells + i * DOPPEL_VIDEO_CELL_BYTES, 32, 32, 32};
            struct doppel_code code = doppel_image_phash(&plane);
            if (a->frames[i].start_ms != b->frames[j].start_ms)
                continue;
            sum += doppel_code_distance(&code, &b->frames[j].code, 256);
            count++;
        }
    assert_true(count >= FRAMES / SCENE_FRAMES);
    return sum / count;
}

static void check_bars(const struct layout *layout)
{
    struct doppel_video_track plain = take(&whole), barred = take(layout);
    assert_lies(&barred.box, layout, .006);
    assert_in_range(mean_distance(&barred, barred.cells, &plain), 0, 24);
    doppel_video_track_free(&plain);
    doppel_video_track_free(&barred);
}

static void test_bars_are_cut_off(void **state)
{
    (void)state;
    check_bars(&(struct layout){.seed = 3, .top = 35, .right = WIDTH, .bottom = 235});
    check_bars(&(struct layout){.seed = 3, .top = 21, .right = WIDTH, .bottom = 206});
    check_bars(&(struct layout){.seed = 3, .left = 71, .right = 409, .bottom = HEIGHT});
    check_bars(&(struct layout){.seed = 3, .left = 40, .top = 30, .right = 440, .bottom = 240});
    check_bars(&(struct layout){
        .seed = 3, .left = 71, .right = WIDTH - 71, .bottom = HEIGHT, .colour = 235});
}

/* Codes of frames with their bars are those of a video in which the bars are not cut off. */
static void test_wholes_have_their_bars(void **state)
{
    (void)state;
    static const struct layout barred = {.seed = 3, .top = 35, .right = WIDTH, .bottom = 235};
    static uint8_t samples[WIDTH * HEIGHT];
    const struct doppel_plane plane = {samples, WIDTH, HEIGHT, WIDTH};
    struct doppel_video_options every = doppel_video_options_default();
    struct doppel_video_track track = take(&barred), plain = take(&whole), uncut;
    struct doppel_video *video;
    every.every_frame = true;
    assert_int_equal(doppel_video_new(&every, &video, NULL), DOPPEL_OK);
    for (uint32_t i = 0; i < FRAMES; i++) {
        draw_layout(&barred, i, samples);
        assert_int_equal(doppel_video_push(video, &plane, i * 250, NULL), DOPPEL_OK);
    }
    assert_int_equal(doppel_video_finish(video, &uncut, NULL), DOPPEL_OK);
    doppel_video_free(video);
    assert_true(track.has_whole && !plain.has_whole && !uncut.has_whole);
    for (size_t i = 0; i < track.count; i++) {
        const struct doppel_video_frame *frame = &uncut.frames[track.frames[i].start_ms / 250];
        assert_int_equal(doppel_code_distance(&track.frames[i].whole, &frame->code, 256), 0);
        assert_true(doppel_code_distance(&track.frames[i].code, &frame->code, 256) > 0);
    }
    doppel_video_track_free(&track);
    doppel_video_track_free(&plain);
    doppel_video_track_free(&uncut);
}

static void test_without_bars_nothing_is_cut(void **state)
{
    (void)state;
    struct doppel_video_track plain = take(&whole);
    assert_lies(&plain.box, &whole, 0);
    doppel_video_track_free(&plain);
    /* A small thing on black keeps a third of each side, at least. */
    struct doppel_video_track title =
        take(&(struct layout){.seed = 3, .left = 200, .top = 120, .right = 280, .bottom = 150});
    assert_true(title.box.right - title.box.left >= .35f);
    assert_true(title.box.bottom - title.box.top >= .35f);
    doppel_video_track_free(&title);
}

static void test_a_image_in_the_image_is_found(void **state)
{
    (void)state;
    struct doppel_video_track plain = take(&whole);
    for (uint32_t seed = 0; seed < 6; seed++) {
        uint32_t width = 170 + drawn_random(seed, 1) % 90;
        struct layout layout = {.seed = 3, .around_seed = 500 + 20 * seed};
        layout.left = drawn_random(seed, 2) % (WIDTH - width);
        layout.top = drawn_random(seed, 3) % (HEIGHT - width * 9 / 16);
        layout.right = layout.left + width;
        layout.bottom = layout.top + width * 9 / 16;
        struct doppel_video_track track = take(&layout);
        assert_true(track.rectangle_count > 0);
        assert_lies(&track.rectangles[0], &layout, .012);
        assert_in_range(mean_distance(&track, track.rectangle_cells[0], &plain), 0, 70);
        assert_true(mean_distance(&track, track.cells, &plain) > 90);
        doppel_video_track_free(&track);
    }
    doppel_video_track_free(&plain);
}

/* Before what does not move there are runs for most of its scenes, at least. */
static void test_a_picture_before_a_still_one_has_runs(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 4; seed++) {
        const uint32_t width = WIDTH * 2 / 5;
        struct layout layout = {.seed = 3, .around_seed = 500 + 20 * seed, .still_around = true};
        layout.left = drawn_random(seed, 2) % (WIDTH - width);
        layout.top = drawn_random(seed, 3) % (HEIGHT - width * 9 / 16);
        layout.right = layout.left + width;
        layout.bottom = layout.top + width * 9 / 16;
        struct doppel_video_track track = take(&layout);
        assert_true(track.rectangle_count > 0);
        assert_in_range(track.count, FRAMES / SCENE_FRAMES / 2 + 1, FRAMES);
        doppel_video_track_free(&track);
    }
}

/* ---- times ---- */

/* A still picture, pushed at the times given; flat where the time is odd. */
static struct doppel_video_track take_still(const struct doppel_video_options *options,
                                            const uint32_t *times, size_t count)
{
    uint8_t samples[64 * 64];
    const struct doppel_plane plane = {samples, 64, 64, 64};
    struct doppel_video *video;
    struct doppel_video_track track;
    assert_int_equal(doppel_video_new(options, &video, NULL), DOPPEL_OK);
    for (size_t i = 0; i < count; i++) {
        memset(samples, 90, sizeof samples);
        if (times[i] % 2 == 0)
            draw_scene(8, 0, 64, 64, samples, 64);
        assert_int_equal(doppel_video_push(video, &plane, times[i], NULL), DOPPEL_OK);
    }
    if (count)
        assert_int_equal(doppel_video_push(video, &plane, times[count - 1] - 1, NULL),
                         DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_video_finish(video, &track, NULL), DOPPEL_OK);
    doppel_video_free(video);
    return track;
}

/* The upright middle of a wide video has the codes of an upright cut of it, bars or not. */
static void test_middles_are_those_of_upright_cuts(void **state)
{
    (void)state;
    static const struct layout layouts[] = {{.seed = 3, .right = WIDTH, .bottom = HEIGHT},
                                            {.seed = 3, .left = 60, .right = 420, .bottom = HEIGHT},
                                            {.seed = 3, .top = 30, .right = WIDTH, .bottom = 240}};
    static uint8_t samples[WIDTH * HEIGHT];
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        const struct layout *layout = &layouts[i];
        const uint32_t height = layout->bottom - layout->top, width = height * 9 / 16;
        const uint32_t left = (layout->left + layout->right - width) / 2;
        const struct doppel_plane cut = {samples + layout->top * WIDTH + left, width, height,
                                         WIDTH};
        struct doppel_video_track track = take(layout), upright;
        struct doppel_video *video;
        assert_int_equal(doppel_video_new(NULL, &video, NULL), DOPPEL_OK);
        for (uint32_t frame = 0; frame < FRAMES; frame++) {
            draw_layout(layout, frame, samples);
            assert_int_equal(doppel_video_push(video, &cut, frame * 250, NULL), DOPPEL_OK);
        }
        assert_int_equal(doppel_video_finish(video, &upright, NULL), DOPPEL_OK);
        doppel_video_free(video);
        assert_true(track.has_middle);
        assert_false(upright.has_middle);
        for (size_t a = 0; a < track.count; a++)
            for (size_t b = 0; b < upright.count; b++)
                if (track.frames[a].start_ms == upright.frames[b].start_ms)
                    assert_in_range(
                        doppel_code_distance(&track.frames[a].middle, &upright.frames[b].code, 256),
                        0, 60);
        doppel_video_track_free(&track);
        doppel_video_track_free(&upright);
    }
}

static void test_runs_end_at_gaps(void **state)
{
    (void)state;
    static const uint32_t times[] = {0, 250, 1250, 2252, 2400, 2501, 2700, 2800};
    static const uint32_t runs[][2] = {{0, 1250}, {2252, 2400}, {2700, 2800}};
    struct doppel_video_track track = take_still(NULL, times, 8);
    assert_int_equal(track.count, 3);
    assert_int_equal(track.sampled, 8);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(track.frames[i].start_ms, runs[i][0]);
        assert_int_equal(track.frames[i].end_ms, runs[i][1]);
    }
    doppel_video_track_free(&track);

    struct doppel_video_options options = doppel_video_options_default();
    options.every_frame = true;
    track = take_still(&options, times, 8);
    assert_int_equal(track.count, 8);
    for (size_t i = 0; i < 8; i++)
        assert_true(track.frames[i].start_ms == times[i] && track.frames[i].end_ms == times[i]);
    doppel_video_track_free(&track);

    track = take_still(NULL, times, 0);
    assert_int_equal(track.count, 0);
    doppel_video_track_free(&track);
}

/* Every frame of a part, whatever the part. */
static void test_a_part_may_be_anything(void **state)
{
    (void)state;
    static const uint32_t times[] = {2, 4, 6};
    static const float odd[] = {0, .3f, .305f, .4f, 1, -1, 2, 1e30f, NAN, INFINITY};
    for (uint32_t i = 0; i < 4000; i++) {
        float edges[4];
        for (uint32_t j = 0; j < 4; j++)
            edges[j] = odd[drawn_random(i, j) % 10];
        struct doppel_video_options options = {true, {edges[0], edges[1], edges[2], edges[3]}};
        struct doppel_video_track track = take_still(&options, times, 1 + i % 3);
        assert_int_equal(track.count, 1 + i % 3);
        assert_true(track.box.right > track.box.left && track.box.bottom > track.box.top);
        doppel_video_track_free(&track);
    }
}

/* From where bars are settled on, nothing grows but the runs. */
static void test_a_long_video_takes_no_more_memory(void **state)
{
    (void)state;
    enum { LONG = 24000, SETTLED = 8000 };
    uint8_t samples[32 * 32];
    const struct doppel_plane plane = {samples, 32, 32, 32};
    struct doppel_video *video;
    struct doppel_video_track track;
    size_t settled = 0, before = mallinfo2().uordblks + mallinfo2().hblkhd, most = 0;
    assert_int_equal(doppel_video_new(NULL, &video, NULL), DOPPEL_OK);
    for (uint32_t i = 0; i < LONG; i++) {
        if (i % 1000 == 0)
            draw_scene(i / 4000, 0, 32, 32, samples, 32);
        assert_int_equal(doppel_video_push(video, &plane, i * 250, NULL), DOPPEL_OK);
        size_t now = mallinfo2().uordblks + mallinfo2().hblkhd;
        most = now > most ? now : most;
        settled = i == SETTLED ? now : settled;
    }
    assert_true(mallinfo2().uordblks + mallinfo2().hblkhd <= settled);
    assert_true(most <= before + (UINT64_C(130) << 20));
    assert_int_equal(doppel_video_finish(video, &track, NULL), DOPPEL_OK);
    assert_int_equal(track.count, LONG / 4000);
    assert_int_equal(track.frames[5].end_ms, (LONG - 1) * 250);
    doppel_video_track_free(&track);
    doppel_video_free(video);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bars_are_cut_off),
        cmocka_unit_test(test_wholes_have_their_bars),
        cmocka_unit_test(test_without_bars_nothing_is_cut),
        cmocka_unit_test(test_a_image_in_the_image_is_found),
        cmocka_unit_test(test_a_picture_before_a_still_one_has_runs),
        cmocka_unit_test(test_middles_are_those_of_upright_cuts),
        cmocka_unit_test(test_runs_end_at_gaps),
        cmocka_unit_test(test_a_part_may_be_anything),
        cmocka_unit_test(test_a_long_video_takes_no_more_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
