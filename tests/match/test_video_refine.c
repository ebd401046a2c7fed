/* The ends of segments, to the frame. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "videos.h"

enum { TRIALS = 200 };

/* Every frame of a video around a time, a frame each `interval_ms`. Before `from` and after `to`
 * seconds it shows something else. */
static struct doppel_video_track frames_of(const struct clip *clip, const struct showing *showing,
                                           uint32_t interval_ms, double around, uint64_t *state)
{
    struct doppel_video_track track = {.box = {0, 0, 1, 1}};
    struct doppel_code other = video_code(state);
    track.frames = calloc(1000, sizeof *track.frames);
    for (uint32_t ms = 0; track.count < 1000; ms += interval_ms) {
        double time = ms / 1000.0;
        if (time > around + 1)
            break;
        if (time < around - 1)
            continue;
        double there = (time - showing->phase) * showing->speed + showing->from;
        struct doppel_code code = other;
        if (there >= showing->from && there < showing->to)
            code = clip->codes[(size_t)(there * 1000 / VIDEO_FRAME_MS)];
        video_flip(&code, showing->noise, state);
        code = doppel_image_orient(&code, showing->mirrored);
        track.frames[track.count++] = (struct doppel_video_frame){code, ms, ms, {{0}}, {{0}}};
    }
    return track;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Ends that were told within .2 s come out within a frame. */
static void finds_ends(void **unused)
{
    (void)unused;
    uint64_t state = 4711;
    double errors[2 * TRIALS];
    for (int i = 0; i < TRIALS; i++) {
        struct clip clip = video_make(60, 40, &state);
        struct showing item = {0, 60, 1, 0, 0, false};
        double from = video_uniform(&state, 5, 40), to = from + video_uniform(&state, 5, 15);
        double speed = i % 2 ? video_uniform(&state, .75, 1.35) : 1;
        struct showing query = {from, to, speed, 3, 10, i % 3 == 0};
        /* frames of a part are of it: they have no other codes */
        struct doppel_video_view view = {.mirrored = query.mirrored,
                                         .middle = i % 5 == 0,
                                         .item_middle = i % 7 == 0,
                                         .warp = {.scale_x = 1, .scale_y = 1}};
        bool last = i % 2;
        double a = 3 + (last ? (to - from) / speed : 0), b = last ? to : from;
        struct doppel_video_track q = frames_of(&clip, &query, 40, a, &state);
        struct doppel_video_track x = frames_of(&clip, &item, 40, b, &state);
        struct doppel_segment segment = {.a_start = 3,
                                         .a_end = 3 + (to - from) / speed,
                                         .b_start = from,
                                         .b_end = to,
                                         .speed = speed};
        double off_a = video_uniform(&state, -.2, .2), off_b = video_uniform(&state, -.1, .1);
        *(last ? &segment.a_end : &segment.a_start) += off_a;
        *(last ? &segment.b_end : &segment.b_start) += off_a * speed + off_b;
        struct doppel_video_end end = {&q, &x, &view, last};
        doppel_match_video_refine(&end, &segment);
        errors[2 * i] = fabs((last ? segment.a_end : segment.a_start) - a);
        errors[2 * i + 1] = fabs((last ? segment.b_end : segment.b_start) - b);
        free(clip.codes);
        doppel_video_track_free(&q);
        doppel_video_track_free(&x);
    }
    qsort(errors, 2 * TRIALS, sizeof *errors, by_value);
    print_message("median %.3f, p95 %.3f s\n", errors[TRIALS], errors[TRIALS * 19 / 10]);
    assert_true(errors[TRIALS] <= .04);
    assert_true(errors[TRIALS * 19 / 10] <= .12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
