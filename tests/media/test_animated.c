/* Images that move are read as short videos: GIF, PNG, WebP. */
#include <math.h>
#include <string.h>

#include "watch.h"

/* Formats by FFmpeg's names. */
static struct file make_moving(const char *name)
{
    return make_video(&(struct video_how){.muxer = name, .codec = name, .frames = 30, .rate = 10});
}

static void every_frame_comes_at_its_time(void **state)
{
    (void)state;
    static const char *const names[] = {"gif", "apng"};
    for (size_t i = 0; i < 2; i++) {
        struct file file = make_moving(names[i]);
        if (!file.data)
            skip();
        assert_true(doppel_media_is_animated(file.data, file.size < 4096 ? file.size : 4096));
        struct doppel_frames_options options = every_frame();
        struct watched ours = watch_good(&file, &options), plain = watch_plainly(&file);
        assert_int_equal(ours.count, 30);
        assert_int_equal(ours.count, plain.count);
        for (size_t n = 0; n < ours.count; n++) {
            assert_int_equal(ours.seen[n].time_ms, plain.seen[n].time_ms);
            assert_int_equal(ours.seen[n].shown, n);
        }
        watched_free(&ours);
        watched_free(&plain);
        file_free(&file);
    }
}

static void stills_do_not_move(void **state)
{
    (void)state;
    static const enum doppel_format formats[] = {DOPPEL_FORMAT_GIF, DOPPEL_FORMAT_PNG,
                                                 DOPPEL_FORMAT_WEBP, DOPPEL_FORMAT_JPEG};
    struct scene scene = scene_make(SCENE_SMOOTH, 64, 48);
    struct doppel_frames_options options = every_frame();
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct file file = make_any(formats[i], &scene);
        if (!file.data)
            continue;
        assert_false(doppel_media_is_animated(file.data, file.size < 4096 ? file.size : 4096));
        assert_not_watched(file, &options, DOPPEL_E_FORMAT, "image");
    }
    scene_free(&scene);
}

static void heads_may_end_anywhere(void **state)
{
    (void)state;
    struct file file = make_moving("gif");
    for (size_t size = 0; size < 900 && size < file.size; size++) {
        struct file head = file_of(file.data, size); /* a block of its own: see a sanitizer */
        (void)doppel_media_is_animated(head.data, size);
        file_free(&head);
    }
    file_free(&file);
}

#ifdef HAVE_WEBP
/* Two frames of .1 s: the scene laid at (20, 10) on a canvas 30 samples larger, and at (0, 0). */
static struct file make_moving_webp(const struct scene *scene)
{
    return make_webp(scene, &(struct webp_how){.lossless = true, .animated = true});
}

static void a_webp_moves_on_its_canvas(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 64, 48);
    struct file file = make_moving_webp(&scene);
    struct doppel_frames_options options = every_frame();
    struct watched watched = watch_good(&file, &options);
    assert_int_equal(watched.count, 2);
    assert_int_equal(watched.info.duration_ms, 200);
    assert_int_equal(watched.info.width, 94);
    assert_int_equal(watched.info.height, 78);
    for (size_t n = 0; n < 2; n++) {
        uint32_t left = n ? 0 : 20, top = n ? 0 : 10;
        assert_int_equal(watched.seen[n].time_ms, 100 * n);
        for (uint32_t y = 0; y < scene.height; y++)
            for (uint32_t x = 0; x < scene.width; x++)
                assert_true(fabs(watched.seen[n].pixels[(y + top) * 94 + x + left] -
                                 scene_luma(&scene, x, y)) <= 1);
    }
    watched_free(&watched);
    options.step_ms = 250;
    watched = watch_good(&file, &options);
    assert_int_equal(watched.count, 1);
    watched_free(&watched);
    file_free(&file);
    scene_free(&scene);
}

static void broken_webps_are_refused_or_read(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 32, 24);
    struct file file = make_moving_webp(&scene);
    struct doppel_frames_options options = every_frame();
    uint32_t random = 3;
    for (size_t i = 0; i < 600; i++) {
        struct file copy = file_of(file.data, i % 3 ? file.size : 1 + file.size * i / 600);
        for (size_t n = 0; i % 3 && n < 1 + i % 4; n++) {
            random = random * 1664525 + 1013904223;
            copy.data[(random >> 8) % (i % 2 ? 80 : copy.size)] = (uint8_t)(random >> 3);
        }
        struct watched watched = watch(&copy, &options);
        if (watched.status)
            assert_true(*watched.error.message);
        watched_free(&watched);
        file_free(&copy);
    }
    options.limits.max_pixels = 94 * 78 / 4;
    assert_not_watched(file, &options, DOPPEL_E_LIMIT, "pixels");
    scene_free(&scene);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_frame_comes_at_its_time),
        cmocka_unit_test(stills_do_not_move),
        cmocka_unit_test(heads_may_end_anywhere),
#ifdef HAVE_WEBP
        cmocka_unit_test(a_webp_moves_on_its_canvas),
        cmocka_unit_test(broken_webps_are_refused_or_read),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
