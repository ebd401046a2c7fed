/* Bars that are a blurred, larger copy of the picture between them, and what only looks like it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/video.h>

#include "drawn.h"

enum { SIDE = 192, FRAMES = 12, SCENE_FRAMES = 3, COARSE = 16 };

/* A picture, `share` of the frame high and all of it wide, or likewise the other way; around it the
 * same one, or another, blurred. */
struct blurred_case {
    double share;
    bool upright, sharp; /* the picture stands between bars left and right; they are not blurred */
    uint32_t around;     /* scene of what is behind; 0: the same */
    bool is_cut;
    bool calm; /* the picture is smooth at its own edges */
};

/* Waves and blocks: a video has fine detail, too. */
static double detailed_sample(uint32_t scene, double seconds, double x, double y)
{
    uint32_t block = (uint32_t)(x * 48) * 64 + (uint32_t)(y * 48);
    return drawn_sample(scene, seconds, x, y) * .7 + drawn_random(scene + 99, block) % 70;
}

/* The copy behind: as much larger as it takes to fill the frame. */
static double behind_sample(const struct blurred_case *layout, uint32_t scene, double seconds,
                            const double place[2])
{
    double x = layout->upright ? place[0] : .5 + (place[0] - .5) * layout->share;
    double y = layout->upright ? .5 + (place[1] - .5) * layout->share : place[1];
    return detailed_sample(scene + layout->around, seconds, x, y);
}

/* Means of COARSE×COARSE parts of it. */
static void draw_coarse(const struct blurred_case *layout, uint32_t scene, double seconds,
                        double out[COARSE][COARSE])
{
    for (int j = 0; j < COARSE; j++)
        for (int i = 0; i < COARSE; i++) {
            out[j][i] = 0;
            for (int k = 0; k < 36; k++) {
                const double place[2] = {(i + (k % 6 + .5) / 6) / COARSE,
                                         (j + (k / 6 + .5) / 6) / COARSE};
                out[j][i] += behind_sample(layout, scene, seconds, place) / 36;
            }
        }
}

/* Between the four nearest means. */
static double smooth_sample(const double coarse[COARSE][COARSE], double x, double y)
{
    double u = fmin(fmax(x * COARSE - .5, 0), COARSE - 1.001);
    double v = fmin(fmax(y * COARSE - .5, 0), COARSE - 1.001);
    int i = (int)u, j = (int)v;
    double above = coarse[j][i] * (i + 1 - u) + coarse[j][i + 1] * (u - i);
    double below = coarse[j + 1][i] * (i + 1 - u) + coarse[j + 1][i + 1] * (u - i);
    return above * (j + 1 - v) + below * (v - j);
}

static void draw_blurred(const struct blurred_case *layout, uint32_t frame, uint8_t *samples)
{
    double coarse[COARSE][COARSE], seconds = frame % SCENE_FRAMES * .25;
    uint32_t scene = 40 + frame / SCENE_FRAMES;
    draw_coarse(layout, scene, seconds, coarse);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            const double place[2] = {(x + .5) / SIDE, (y + .5) / SIDE};
            double across = layout->upright ? .5 + (place[0] - .5) / layout->share : place[0];
            double down = layout->upright ? place[1] : .5 + (place[1] - .5) / layout->share;
            double level = layout->sharp ? behind_sample(layout, scene, seconds, place)
                                         : smooth_sample(coarse, place[0], place[1]);
            if (across >= 0 && across < 1 && down >= 0 && down < 1)
                level = layout->calm && fabs((layout->upright ? across : down) - .5) > .32
                            ? drawn_sample(scene, seconds, across, down) * .7
                            : detailed_sample(scene, seconds, across, down);
            samples[y * SIDE + x] = (uint8_t)fmin(level, 255);
        }
}

static struct doppel_video_track take_blurred(const struct blurred_case *layout)
{
    static uint8_t samples[SIDE * SIDE];
    const struct doppel_plane plane = {samples, SIDE, SIDE, SIDE};
    struct doppel_video *video;
    struct doppel_video_track track;
    assert_int_equal(doppel_video_new(NULL, &video, NULL), DOPPEL_OK);
    for (uint32_t i = 0; i < FRAMES; i++) {
        draw_blurred(layout, i, samples);
        assert_int_equal(doppel_video_push(video, &plane, i * 250, NULL), DOPPEL_OK);
    }
    assert_int_equal(doppel_video_finish(video, &track, NULL), DOPPEL_OK);
    doppel_video_free(video);
    return track;
}

static const struct blurred_case CASES[] = {
    {.share = .5625, .is_cut = true},
    {.share = .75, .is_cut = true},
    {.share = .32, .is_cut = true},
    {.share = .24, .is_cut = true},
    {.share = .5625, .upright = true, .is_cut = true},
    {.share = .32, .upright = true, .is_cut = true},
    {.share = .75, .is_cut = true, .calm = true},
    {.share = .5625, .upright = true, .is_cut = true, .calm = true},
    {.share = .5625, .around = 500},                 /* something else, blurred */
    {.share = .5625, .upright = true, .around = 77}, /* likewise */
    {.share = .5625, .sharp = true},
    {.share = .999},
};

static void test_blurred_bars_are_cut_off(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const struct blurred_case *layout = &CASES[i];
        struct doppel_video_track track = take_blurred(layout);
        const float low = (float)(layout->is_cut ? .5 - layout->share / 2 : 0);
        const float wanted[4] = {layout->upright ? low : 0, layout->upright ? 0 : low,
                                 1 - (layout->upright ? low : 0), 1 - (layout->upright ? 0 : low)};
        const float box[4] = {track.box.left, track.box.top, track.box.right, track.box.bottom};
        for (int edge = 0; edge < 4; edge++)
            if (!(fabsf(box[edge] - wanted[edge]) <= .008f))
                fail_msg("case %zu: edge %d is %.4f, not %.4f", i, edge, (double)box[edge],
                         (double)wanted[edge]);
        /* the full frame is kept beside what is a guess */
        if (layout->is_cut) {
            const struct doppel_video_box *last = &track.rectangles[track.rectangle_count - 1];
            assert_true(track.rectangle_count > 0 && last->right - last->left == 1);
        }
        doppel_video_track_free(&track);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blurred_bars_are_cut_off)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
