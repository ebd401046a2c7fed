/* Sampled frames to runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/image.h>
#include <doppel/video.h>

#include "drawn.h"

enum { WIDTH = 320, HEIGHT = 180, SCENE_FRAMES = 16 };

/* A drawn video in a frame with bars around it. */
struct clip {
    uint32_t seed, frames, left, top, right, bottom; /* bars in pixels */
    bool mirrored;
};

static struct doppel_video_track take(const struct clip *clip)
{
    struct doppel_video *video;
    struct doppel_video_track track;
    assert_int_equal(doppel_video_new(NULL, &video, NULL), DOPPEL_OK);
    uint32_t width = clip->left + WIDTH + clip->right, height = clip->top + HEIGHT + clip->bottom;
    uint8_t *samples = calloc(width, height);
    for (uint32_t i = 0; i < clip->frames; i++) {
        uint8_t *inside = samples + clip->top * width + clip->left;
        draw_scene(clip->seed + i / SCENE_FRAMES, i % SCENE_FRAMES * .25, WIDTH, HEIGHT, inside,
                   width);
        for (uint32_t y = 0; clip->mirrored && y < height; y++)
            for (uint32_t x = 0; x < width / 2; x++) {
                uint8_t *row = samples + y * width, swapped = row[x];
                row[x] = row[width - 1 - x];
                row[width - 1 - x] = swapped;
            }
        const struct doppel_plane plane = {samples, width, height, width};
        assert_int_equal(doppel_video_push(video, &plane, i * 250, NULL), DOPPEL_OK);
    }
    assert_int_equal(doppel_video_finish(video, &track, NULL), DOPPEL_OK);
    free(samples);
    doppel_video_free(video);
    return track;
}

static void test_runs_follow_the_video(void **state)
{
    (void)state;
    struct doppel_video_track track = take(&(struct clip){.seed = 5, .frames = 160});
    assert_true(track.count >= 10);
    assert_int_equal(track.sampled, 160);
    uint32_t scenes = 0;
    for (size_t i = 0; i < track.count; i++) {
        const struct doppel_video_frame *frame = &track.frames[i];
        assert_true(frame->start_ms <= frame->end_ms);
        assert_true(i == 0 || track.frames[i - 1].end_ms + 250 == frame->start_ms);
        scenes += frame->start_ms % (SCENE_FRAMES * 250) == 0;
        const struct doppel_plane plane = {track.cells + i * DOPPEL_VIDEO_CELL_BYTES, 32, 32, 32};
        struct doppel_code code = doppel_image_phash(&plane);
        assert_memory_equal(&code, &frame->code, sizeof code);
    }
    assert_int_equal(scenes, 10);
    doppel_video_track_free(&track);
}

static void test_a_mirrored_video_has_mirrored_codes(void **state)
{
    (void)state;
    struct doppel_video_track plain = take(&(struct clip){.seed = 9, .frames = 64});
    struct doppel_video_track other =
        take(&(struct clip){.seed = 9, .frames = 64, .mirrored = true});
    assert_int_equal(plain.count, other.count);
    for (size_t i = 0; i < plain.count; i++) {
        struct doppel_code code = doppel_image_orient(&plain.frames[i].code, 1);
        assert_memory_equal(&code, &other.frames[i].code, sizeof code);
    }
    doppel_video_track_free(&plain);
    doppel_video_track_free(&other);
}

static void test_the_identity_gives_the_plain_code(void **state)
{
    (void)state;
    struct doppel_video_track track = take(&(struct clip){.seed = 2, .frames = 64});
    for (size_t i = 0; i < track.count; i++) {
        struct doppel_code code =
            doppel_video_warped_code(track.cells + i * DOPPEL_VIDEO_CELL_BYTES,
                                     &(struct doppel_video_warp){.scale_x = 1, .scale_y = 1});
        assert_memory_equal(&code, &track.frames[i].code, sizeof code);
    }
    doppel_video_track_free(&track);
}

/* Rows so nearly alike that bars from above and from below would meet, and pass each other. */
static void test_bars_do_not_overlap(void **state)
{
    (void)state;
    for (int slope = 1; slope < 60; slope++) {
        struct doppel_video *video;
        struct doppel_video_track track;
        uint8_t samples[96 * 96];
        for (int i = 0; i < 96 * 96; i++)
            samples[i] = (uint8_t)(100 + i / 96 * slope / 96);
        const struct doppel_plane plane = {samples, 96, 96, 96};
        assert_int_equal(doppel_video_new(NULL, &video, NULL), DOPPEL_OK);
        for (uint32_t i = 0; i < 8; i++)
            assert_int_equal(doppel_video_push(video, &plane, i * 250, NULL), DOPPEL_OK);
        assert_int_equal(doppel_video_finish(video, &track, NULL), DOPPEL_OK);
        assert_true(track.box.left < track.box.right && track.box.top < track.box.bottom);
        doppel_video_track_free(&track);
        doppel_video_free(video);
    }
}

/* ---- videos that nobody would make ---- */

enum { ODD_KINDS = 8 };

static uint8_t odd_sample(uint32_t kind, uint32_t seed, double x, double y)
{
    switch (kind) {
    case 0:
        return (uint8_t)seed;
    case 1:
        return x < seed % 97 / 96. ? 16 : 235;
    case 2:
        return y < seed % 97 / 96. ? 100 : 108;
    case 3:
        return (uint8_t)(100 + 30 * x);
    case 4:
        return (uint32_t)(x * 96) == seed % 96 ? 255 : 0;
    case 5:
        return (uint32_t)(y * 96) == seed % 96 ? 255 : 0;
    case 6:
        return (uint8_t)drawn_random(seed, (uint32_t)(x * 1000) * 1000 + (uint32_t)(y * 1000));
    default:
        return x > .9 && y > .9 ? 255 : 0;
    }
}

static struct doppel_video_track take_odd(uint32_t seed)
{
    static uint8_t samples[256 * 256];
    struct doppel_video *video;
    struct doppel_video_track track;
    assert_int_equal(doppel_video_new(NULL, &video, NULL), DOPPEL_OK);
    for (uint32_t i = 0; i < 3 + seed % 20; i++) {
        uint32_t kind = drawn_random(seed, seed % 3 ? i : 0) % ODD_KINDS;
        uint32_t width = seed % 4 ? 96 : 1 + drawn_random(seed, i + 50) % 256;
        uint32_t height = seed % 4 ? 96 : 1 + drawn_random(seed, i + 90) % 256;
        for (uint32_t y = 0; y < height; y++)
            for (uint32_t x = 0; x < width; x++)
                samples[y * width + x] =
                    odd_sample(kind, seed / 7, (x + .5) / width, (y + .5) / height);
        const struct doppel_plane plane = {samples, width, height, width};
        assert_int_equal(doppel_video_push(video, &plane, i * 250, NULL), DOPPEL_OK);
    }
    assert_int_equal(doppel_video_finish(video, &track, NULL), DOPPEL_OK);
    doppel_video_free(video);
    return track;
}

static void assert_is_part(const struct doppel_video_box *box, float least)
{
    assert_true(box->left >= 0 && box->top >= 0 && box->right <= 1 && box->bottom <= 1);
    assert_true(box->right - box->left >= least && box->bottom - box->top >= least);
}

static void test_odd_videos_are_videos(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 1500; seed++) {
        struct doppel_video_track track = take_odd(seed);
        assert_is_part(&track.box, .349f);
        for (size_t i = 0; i < track.rectangle_count; i++)
            assert_is_part(&track.rectangles[i], .08f);
        doppel_video_track_free(&track);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_follow_the_video),
        cmocka_unit_test(test_a_mirrored_video_has_mirrored_codes),
        cmocka_unit_test(test_the_identity_gives_the_plain_code),
        cmocka_unit_test(test_bars_do_not_overlap),
        cmocka_unit_test(test_odd_videos_are_videos),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
