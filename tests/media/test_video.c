/* Videos against a plain decoding loop, and against the numbers that their pictures show. */
#include "watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct video_how hows[] = {
    {.muxer = "mp4", .codec = "mpeg4", .frames = 60, .b_frames = 2, .audio = true},
    {.muxer = "matroska", .codec = "mpeg4", .frames = 60, .b_frames = 1, .audio = true},
    {.muxer = "avi", .codec = "mpeg4", .frames = 60, .audio = true},
    {.muxer = "avi", .codec = "mpeg4", .frames = 60, .b_frames = 2},
    {.muxer = "mpegts", .codec = "mpeg2video", .frames = 60, .b_frames = 2, .audio = true},
    {.muxer = "vob", .codec = "mpeg2video", .frames = 60, .audio = true},
    {.muxer = "avi", .codec = "mjpeg", .frames = 60},
    {.muxer = "matroska", .codec = "ffv1", .frames = 60, .keyframe_every = 5},
    {.muxer = "flv", .codec = "flv", .frames = 60},
    {.muxer = "asf", .codec = "wmv2", .frames = 60},
    {.muxer = "mov", .codec = "libx264", .frames = 60, .b_frames = 3},
    {.muxer = "mpegts", .codec = "libx264", .frames = 60, .b_frames = 3, .audio = true},
    {.muxer = "webm", .codec = "libvpx-vp9", .frames = 30},
    {.muxer = "ogg", .codec = "libtheora", .frames = 60},
    {.muxer = "yuv4mpegpipe", .codec = "wrapped_avframe", .frames = 3}, /* none: no such pixels */
};

enum { HOWS = sizeof hows / sizeof *hows };

static const char *name_of(const struct video_how *how)
{
    static char name[80];
    snprintf(name, sizeof name, "%s in %s", how->codec, how->muxer);
    return name;
}

/* ---- every frame ---- */

static void assert_same(const struct image_seen *a, const struct image_seen *b, const char *name)
{
    if (a->time_ms + 1 < b->time_ms || a->time_ms > b->time_ms + 1)
        fail_msg("%s: at %u instead of %u ms", name, a->time_ms, b->time_ms);
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->height, b->height);
    if (memcmp(a->pixels, b->pixels, (size_t)a->width * a->height) != 0)
        fail_msg("%s: other pixels at %u ms", name, a->time_ms);
}

static void every_frame_is_that_of_a_plain_loop(void **state)
{
    (void)state;
    struct doppel_frames_options options = every_frame();
    unsigned made = 0;
    for (size_t i = 0; i < HOWS; i++) {
        const char *name = name_of(&hows[i]);
        struct file file = make_video(&hows[i]);
        if (!file.data)
            continue;
        struct watched plain = watch_plainly(&file), watched = watch_good(&file, &options);
        if (watched.count != plain.count || watched.info.damaged_ms)
            fail_msg("%s: %zu frames instead of %zu, damaged at %llu", name, watched.count,
                     plain.count, (unsigned long long)watched.info.damaged_ms);
        for (size_t k = 0; k < plain.count; k++) {
            assert_same(&watched.seen[k], &plain.seen[k], name);
            assert_int_equal(watched.seen[k].number, k);
        }
        assert_int_equal(watched.info.has_audio, hows[i].audio);
        assert_false(watched.info.keyframes);
        watched_free(&watched);
        watched_free(&plain);
        file_free(&file);
        made++;
    }
    assert_true(made >= 10);
}

static void images_come_at_their_times(void **state)
{
    (void)state;
    struct doppel_frames_options options = every_frame();
    for (size_t i = 0; i < HOWS; i++) {
        struct file file = make_video(&hows[i]);
        if (!file.data)
            continue;
        struct watched watched = watch_good(&file, &options);
        assert_in_range(watched.count, hows[i].frames - 1, hows[i].frames);
        for (size_t k = 0; k < watched.count; k++) {
            uint32_t wanted = (watched.seen[k].shown - watched.seen[0].shown) * 40;
            if (watched.seen[k].time_ms + 1 < wanted || watched.seen[k].time_ms > wanted + 1)
                fail_msg("%s: picture %u at %u ms", name_of(&hows[i]), watched.seen[k].shown,
                         watched.seen[k].time_ms);
        }
        assert_in_range(watched.info.duration_ms, hows[i].frames * 40 - 40,
                        hows[i].frames * 40 + 300);
        watched_free(&watched);
        file_free(&file);
    }
}

/* ---- samples ---- */

static void the_first_frame_of_each_step_is_visited(void **state)
{
    (void)state;
    static const uint32_t steps[] = {1, 40, 100, 250, 777, 100000};
    for (size_t i = 0; i < HOWS; i++) {
        struct file file = make_video(&hows[i]);
        if (!file.data)
            continue;
        struct doppel_frames_options options = every_frame();
        struct watched all = watch_good(&file, &options);
        for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
            options.step_ms = steps[s];
            struct watched watched = watch_good(&file, &options);
            size_t at = 0;
            for (size_t k = 0; k < all.count; k++) {
                bool first =
                    !k || all.seen[k].time_ms / steps[s] != all.seen[k - 1].time_ms / steps[s];
                if (!first)
                    continue;
                assert_true(at < watched.count);
                assert_same(&watched.seen[at++], &all.seen[k], name_of(&hows[i]));
            }
            assert_int_equal(at, watched.count);
            watched_free(&watched);
        }
        watched_free(&all);
        file_free(&file);
    }
}

/* Without `exact` some pictures are passed over, but none is told at a time that is not its own,
 * and none is a step late. */
static void skipping_keeps_times_and_steps(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOWS; i++) {
        struct file file = make_video(&hows[i]);
        if (!file.data)
            continue;
        struct watched watched = watch_good(&file, NULL);
        for (size_t k = 0; k < watched.count; k++) {
            const struct image_seen *seen = &watched.seen[k];
            uint32_t wanted = (seen->shown - watched.seen[0].shown) * 40;
            if (seen->time_ms + 1 < wanted || seen->time_ms > wanted + 1)
                fail_msg("%s: picture %u at %u ms", name_of(&hows[i]), seen->shown, seen->time_ms);
            if (k && seen->time_ms > watched.seen[k - 1].time_ms + 400)
                fail_msg("%s: nothing before %u ms", name_of(&hows[i]), seen->time_ms);
        }
        assert_in_range(watched.count, hows[i].frames * 40 / 250, hows[i].frames * 40 / 250 + 1);
        assert_int_equal(watched.info.damaged_ms, 0);
        watched_free(&watched);
        file_free(&file);
    }
}

/* The samples are those of all frames, but only they are decoded. */
static void images_that_need_no_other_are_decoded_alone(void **state)
{
    (void)state;
    static const struct video_how hows_alone[] = {
        {.muxer = "avi", .codec = "mjpeg", .frames = 100},
        {.muxer = "mov", .codec = "prores_ks", .frames = 100, .rate = 30},
        {.muxer = "matroska", .codec = "huffyuv", .frames = 100, .rate = 7}};
    for (size_t i = 0; i < 3; i++) {
        struct doppel_frames_options options = doppel_frames_options_default();
        struct file file = make_video(&hows_alone[i]);
        struct watched some = watch_good(&file, &options);
        options.exact = true;
        struct watched all = watch_good(&file, &options);
        assert_int_equal(some.count, all.count);
        for (size_t k = 0; k < all.count; k++) {
            assert_same(&some.seen[k], &all.seen[k], name_of(&hows_alone[i]));
            assert_int_equal(some.seen[k].number, k);
        }
        assert_int_equal(some.info.duration_ms, all.info.duration_ms);
        watched_free(&all);
        watched_free(&some);
        file_free(&file);
    }
}

static void low_rates_do_not_starve_the_samples(void **state)
{
    (void)state;
    const struct video_how how = {
        .muxer = "mp4", .codec = "mpeg4", .frames = 50, .rate = 5, .b_frames = 3};
    struct file file = make_video(&how);
    struct watched watched = watch_good(&file, NULL);
    unsigned late = 0;
    for (size_t k = 1; k < watched.count; k++)
        late += watched.seen[k].time_ms > watched.seen[k - 1].time_ms + 400;
    assert_int_equal(late, 1); /* the first gap tells; of two frames in a step one is visited */
    assert_in_range(watched.count, 38, 40);
    watched_free(&watched);
    file_free(&file);
}

/* ---- keyframes ---- */

static void fast_mode_visits_keyframes_alone(void **state)
{
    (void)state;
    struct doppel_frames_options options = doppel_frames_options_default();
    options.keyframes = true;
    for (size_t i = 0; i < HOWS; i++) {
        struct video_how how = hows[i];
        how.frames = 150;
        how.keyframe_every = 25;
        struct file file = make_video(&how);
        if (!file.data)
            continue;
        struct watched watched = watch_good(&file, &options);
        if (!watched.info.keyframes || watched.info.damaged_ms)
            fail_msg("%s: not by keyframes alone, or damaged", name_of(&how));
        if (watched.count < 6 || watched.count > 24)
            fail_msg("%s: %zu keyframes", name_of(&how), watched.count);
        for (size_t k = 0; k < watched.count; k++)
            assert_in_range(watched.seen[k].time_ms + 80, watched.seen[k].shown * 40,
                            watched.seen[k].shown * 40 + 160); /* AVI has decoding order alone */
        assert_in_range(watched.info.duration_ms, 5900, 6300);
        watched_free(&watched);
        file_free(&file);
    }
}

static void keyframes_too_far_apart_are_no_samples(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOWS; i++) {
        struct video_how how = hows[i];
        how.frames = 150;
        how.keyframe_every = 70; /* 2.8 s, 2.8 s, and .4 s at the end */
        struct file file = make_video(&how);
        if (!file.data || !strcmp(how.codec, "mjpeg") || !strcmp(how.codec, "wrapped_avframe")) {
            file_free(&file);
            continue;
        }
        struct doppel_frames_options options = doppel_frames_options_default();
        options.step_ms = 1000;
        options.exact = true;
        struct watched full = watch_good(&file, &options);
        options.keyframes = true;
        struct watched fast = watch_good(&file, &options);
        if (fast.count != full.count || fast.info.keyframes)
            fail_msg("%s: %zu instead of %zu", name_of(&how), fast.count, full.count);
        for (size_t k = 0; k < full.count; k++)
            assert_same(&fast.seen[k], &full.seen[k], name_of(&how));
        watched_free(&fast);
        watched_free(&full);
        file_free(&file);
    }
}

/* ---- pixels ---- */

static double mean_difference(const struct image_seen *a, const struct image_seen *b)
{
    double sum = 0;
    size_t count = (size_t)a->width * a->height;
    assert_int_equal(count, (size_t)b->width * b->height);
    for (size_t i = 0; i < count; i++)
        sum += abs(a->pixels[i] - b->pixels[i]);
    return sum / (double)count;
}

/* Whatever the pixels are, the pictures look alike: all is made of one grey drawing. */
static void pixels_of_every_kind_become_luma(void **state)
{
    (void)state;
    static const struct {
        const char *codec, *pixels;
        bool is_full; /* grey of 0 to 255, where others have 16 to 235 */
    } kinds[] = {{"ffv1", "yuv420p", false},
                 {"ffv1", "yuv422p", false},
                 {"ffv1", "yuv444p10le", false},
                 {"ffv1", "yuv420p16le", false},
                 {"ffv1", "gray", true},
                 {"ffv1", "gray16le", true},
                 {"ffv1", "bgr0", true},
                 {"ffv1", "gbrp10le", true},
                 {"ffv1", "yuva420p", false},
                 {"rawvideo", "yuyv422", false},
                 {"rawvideo", "rgb24", true},
                 {"rawvideo", "bgr24", true},
                 {"qtrle", "rgb24", true},
                 {"rawvideo", "rgb555le", true},
                 {"prores_ks", "yuv422p10le", false}};
    struct watched first[2] = {0};
    unsigned made = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct video_how how = {
            .muxer = "mov", .codec = kinds[i].codec, .pixel_format = kinds[i].pixels, .frames = 8};
        struct file file = make_video(&how);
        if (!file.data) {
            how.muxer = "matroska";
            file = make_video(&how);
        }
        if (!file.data)
            continue;
        struct doppel_frames_options options = every_frame();
        struct watched watched = watch_good(&file, &options);
        assert_int_equal(watched.count, 8);
        for (size_t k = 0; k < 8; k++)
            assert_int_equal(watched.seen[k].shown, k);
        struct watched *other = &first[kinds[i].is_full];
        if (!other->count)
            *other = watched;
        double off = mean_difference(&watched.seen[5], &other->seen[5]);
        if (off > 4.5)
            fail_msg("%s of %s: %.2f off", kinds[i].pixels, kinds[i].codec, off);
        if (other->seen != watched.seen)
            watched_free(&watched);
        file_free(&file);
        made++;
    }
    assert_true(made >= 12);
    watched_free(&first[0]);
    watched_free(&first[1]);
}

static void luma_from_rgb_is_that_of_its_definition(void **state)
{
    (void)state;
    struct doppel_frames_options options = every_frame();
    options.from_rgb = true;
    struct video_how how = {
        .muxer = "matroska", .codec = "ffv1", .pixel_format = "bgr0", .frames = 4};
    struct file file = make_video(&how);
    struct watched from_rgb = watch_good(&file, &options);
    how.pixel_format = "gray";
    struct file grey = make_video(&how);
    struct watched plain = watch_plainly(&grey);
    for (size_t k = 0; k < 4; k++) /* of grey pixels luma is the grey */
        assert_memory_equal(from_rgb.seen[k].pixels, plain.seen[k].pixels, 160 * 96);
    watched_free(&plain);
    watched_free(&from_rgb);
    file_free(&grey);
    file_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_frame_is_that_of_a_plain_loop),
        cmocka_unit_test(images_come_at_their_times),
        cmocka_unit_test(the_first_frame_of_each_step_is_visited),
        cmocka_unit_test(skipping_keeps_times_and_steps),
        cmocka_unit_test(images_that_need_no_other_are_decoded_alone),
        cmocka_unit_test(low_rates_do_not_starve_the_samples),
        cmocka_unit_test(fast_mode_visits_keyframes_alone),
        cmocka_unit_test(keyframes_too_far_apart_are_no_samples),
        cmocka_unit_test(pixels_of_every_kind_become_luma),
        cmocka_unit_test(luma_from_rgb_is_that_of_its_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
