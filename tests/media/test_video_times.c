/* Times of videos that are not even, from a moment on, and thumbnails; videos turned, or one of
 * several tracks. */
#include "watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jpeglib.h>

/* ---- times ---- */

static void uneven_times_are_kept(void **state)
{
    (void)state;
    static const int64_t times[] = {0, 10, 20, 500, 510, 700, 3000, 3001, 3100, 9000, 9100, 9249};
    struct video_how how = {.muxer = "matroska", .codec = "mpeg4", .frames = 12, .times_ms = times};
    static const unsigned sampled[] = {0, 3, 6, 9};
    struct file file = make_video(&how);
    struct doppel_frames_options options = every_frame();
    struct watched all = watch_good(&file, &options);
    assert_int_equal(all.count, 12);
    for (size_t k = 0; k < 12; k++) {
        assert_int_equal(all.seen[k].shown, k);
        assert_int_equal(all.seen[k].time_ms, times[k]);
    }
    struct watched some = watch_good(&file, NULL);
    assert_int_equal(some.count, 4);
    for (size_t k = 0; k < 4; k++)
        assert_int_equal(some.seen[k].shown, sampled[k]);
    watched_free(&some);
    watched_free(&all);
    file_free(&file);
}

static void jumps_are_closed_and_times_that_go_back(void **state)
{
    (void)state;
    enum { HOUR = 3600000 };
    static const int64_t ahead[] = {0, 40, 80, 2 * HOUR, 2 * HOUR + 40, 2 * HOUR + 1000};
    static const uint32_t closed[] = {0, 40, 80, 120, 160, 1120};
    static const int64_t late[] = {0, 40, HOUR - 1000};
    struct video_how how = {.muxer = "matroska", .codec = "mjpeg", .frames = 6, .times_ms = ahead};
    struct doppel_frames_options options = every_frame();
    struct file file = make_video(&how);
    struct watched watched = watch_good(&file, &options);
    assert_int_equal(watched.count, 6);
    for (size_t k = 0; k < 6; k++)
        assert_int_equal(watched.seen[k].time_ms, closed[k]);
    watched_free(&watched);
    file_free(&file);
    how.times_ms = late;
    how.frames = 3;
    file = make_video(&how);
    watched = watch_good(&file, &options);
    assert_int_equal(watched.seen[2].time_ms, HOUR - 1000);
    watched_free(&watched);
    file_free(&file);
}

/* Two transport streams one after the other: the second begins at 0 again. */
static void a_video_after_a_video_goes_on(void **state)
{
    (void)state;
    const struct video_how how = {.muxer = "mpegts", .codec = "mpeg2video", .frames = 100};
    struct doppel_frames_options options = every_frame();
    struct file file = make_video(&how), twice = {0};
    file_append(&twice, file.data, file.size);
    file_append(&twice, file.data, file.size);
    struct watched watched = watch_good(&twice, &options);
    assert_in_range(watched.count, 190, 200);
    const struct image_seen *last = &watched.seen[watched.count - 1];
    assert_in_range(last->time_ms, 199 * 40 - 200, 199 * 40 + 200);
    assert_int_equal(last->shown, 99);
    watched_free(&watched);
    file_free(&twice);
    file_free(&file);
}

static void ten_thousand_frames_a_second_are_told_by_time(void **state)
{
    (void)state;
    const struct video_how how = {
        .muxer = "matroska", .codec = "ffv1", .frames = 600, .rate = 10000};
    struct file file = make_video(&how);
    assert_non_null(file.data);
    struct watched watched = watch_good(&file, NULL);
    assert_int_equal(watched.count, 1);
    assert_in_range(watched.info.duration_ms, 59, 101);
    watched_free(&watched);
    file_free(&file);
}

static void one_image_is_a_video(void **state)
{
    (void)state;
    static const struct video_how hows[] = {{.muxer = "mp4", .codec = "mpeg4", .frames = 1},
                                            {.muxer = "avi", .codec = "mjpeg", .frames = 1},
                                            {.muxer = "matroska", .codec = "ffv1", .frames = 1}};
    for (size_t i = 0; i < 3; i++)
        for (int fast = 0; fast < 2; fast++) {
            struct doppel_frames_options options = doppel_frames_options_default();
            options.keyframes = fast;
            struct file file = make_video(&hows[i]);
            struct watched watched = watch_good(&file, &options);
            assert_int_equal(watched.count, 1);
            assert_int_equal(watched.seen[0].time_ms, 0);
            assert_int_equal(watched.info.width, 160);
            assert_int_equal(watched.info.height, 96);
            watched_free(&watched);
            file_free(&file);
        }
}

/* ---- from a moment on ---- */

static void assert_part(const struct file *file, const struct watched *all, uint32_t from,
                        uint32_t to, const char *name)
{
    struct doppel_frames_options options = every_frame();
    options.from_ms = from;
    options.to_ms = to;
    struct watched part = watch_good(file, &options);
    size_t at = 0;
    for (size_t k = 0; k < all->count; k++) {
        const struct image_seen *seen = &all->seen[k];
        if (seen->time_ms < from || (to && seen->time_ms >= to))
            continue;
        if (at >= part.count || part.seen[at].shown != seen->shown ||
            part.seen[at].time_ms != seen->time_ms)
            fail_msg("%s from %u: picture %u at %u ms is missing", name, from, seen->shown,
                     seen->time_ms);
        at++;
    }
    if (at != part.count)
        fail_msg("%s from %u to %u: %zu pictures more", name, from, to, part.count - at);
    watched_free(&part);
}

static void parts_of_videos_are_those_of_the_whole(void **state)
{
    (void)state;
    static const struct video_how hows[] = {
        {.muxer = "mp4", .codec = "mpeg4", .frames = 500, .b_frames = 2},
        {.muxer = "matroska", .codec = "mpeg4", .frames = 500, .b_frames = 2, .audio = true},
        {.muxer = "mpegts", .codec = "mpeg2video", .frames = 500, .b_frames = 2},
        {.muxer = "flv", .codec = "flv", .frames = 500},
        {.muxer = "avi", .codec = "mjpeg", .frames = 500},
        {.muxer = "m4v", .codec = "mpeg4", .frames = 300}, /* no container at all */
        {.muxer = "mp4", .codec = "libx264", .frames = 500, .b_frames = 3, .keyframe_every = 250},
    };
    static const uint32_t parts[][2] = {{1, 0},       {40, 2000},   {4000, 4001},
                                        {4000, 4041}, {7777, 9000}, {10200, 0},
                                        {19960, 0},   {50000, 0},   {12345, 12346}};
    for (size_t i = 0; i < sizeof hows / sizeof *hows; i++) {
        struct file file = make_video(&hows[i]);
        if (!file.data)
            continue;
        struct doppel_frames_options options = every_frame();
        struct watched all = watch_good(&file, &options);
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            assert_part(&file, &all, parts[k][0], parts[k][1], hows[i].muxer);
        watched_free(&all);
        file_free(&file);
    }
}

/* ---- tracks ---- */

static void the_default_track_is_the_video(void **state)
{
    (void)state;
    const struct video_how hows[] = {
        {.muxer = "matroska", .codec = "mpeg4", .frames = 20, .decoy = true},
        {.muxer = "mp4", .codec = "mpeg4", .frames = 20, .cover = true, .audio = true},
    };
    struct doppel_frames_options options = every_frame();
    for (size_t i = 0; i < 2; i++) {
        struct file file = make_video(&hows[i]);
        struct watched watched = watch_good(&file, &options);
        assert_int_equal(watched.count, 20);
        for (size_t k = 0; k < 20; k++)
            assert_int_equal(watched.seen[k].shown, k);
        assert_int_equal(watched.expected_ms, 800);
        watched_free(&watched);
        file_free(&file);
    }
}

/* ---- turned ---- */

enum { ONE = 65536 };

/* How each step to the right and down in the frame goes on the screen. */
static const int turns[][4] = {{1, 0, 0, 1}, {-1, 0, 0, 1}, {-1, 0, 0, -1}, {1, 0, 0, -1},
                               {0, 1, 1, 0}, {0, 1, -1, 0}, {0, -1, -1, 0}, {0, -1, 1, 0}};

static void assert_turned_like(const struct image_seen *shown, const struct image_seen *stored,
                               const int turn[4])
{
    bool transposed = turn[0] == 0;
    assert_int_equal(shown->width, transposed ? stored->height : stored->width);
    assert_int_equal(shown->height, transposed ? stored->width : stored->height);
    int across = turn[0] + turn[2], down = turn[1] + turn[3]; /* which corner is the first */
    for (int y = 0; y < (int)stored->height; y++)
        for (int x = 0; x < (int)stored->width; x++) {
            int to_x = x * turn[0] + y * turn[2], to_y = x * turn[1] + y * turn[3];
            to_x += across < 0 ? (int)shown->width - 1 : 0;
            to_y += down < 0 ? (int)shown->height - 1 : 0;
            assert_int_equal(shown->pixels[to_y * (int)shown->width + to_x],
                             stored->pixels[y * (int)stored->width + x]);
        }
}

static void turned_videos_are_turned_upright(void **state)
{
    (void)state;
    struct doppel_frames_options options = every_frame();
    struct video_how how = {.muxer = "mp4", .codec = "mpeg4", .frames = 3, .width = 176};
    struct file straight = make_video(&how);
    struct watched stored = watch_good(&straight, &options);
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        const int *turn = turns[i];
        const int32_t matrix[9] = {
            turn[0] * ONE, turn[1] * ONE, 0, turn[2] * ONE, turn[3] * ONE, 0, 0, 0, 1 << 30};
        how.matrix = matrix;
        struct file file = make_video(&how);
        struct watched watched = watch_good(&file, &options);
        assert_int_equal(watched.count, 3);
        assert_turned_like(&watched.seen[2], &stored.seen[2], turn);
        assert_int_equal(watched.info.width, watched.seen[0].width);
        watched_free(&watched);
        file_free(&file);
    }
    watched_free(&stored);
    file_free(&straight);
}

/* ---- thumbnails ---- */

struct thumbnail {
    uint32_t width, height;
    uint8_t *grey; /* of the pixels */
};

static struct thumbnail thumbnail_of(const struct file *file, uint32_t time_ms, uint32_t longest)
{
    uint8_t *jpeg = NULL;
    size_t size = 0;
    struct doppel_error error = {0};
    int fd = file_open(file->data, file->size);
    if (doppel_media_read_thumbnail(fd, time_ms, longest, &jpeg, &size, &error) != DOPPEL_OK)
        fail_msg("%s", error.message);
    close(fd);
    struct jpeg_decompress_struct cinfo;
    struct jpeg_error_mgr errors;
    cinfo.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&cinfo);
    jpeg_mem_src(&cinfo, jpeg, size);
    jpeg_read_header(&cinfo, TRUE);
    assert_int_equal(cinfo.num_components, 3);
    cinfo.out_color_space = JCS_GRAYSCALE;
    jpeg_start_decompress(&cinfo);
    struct thumbnail thumbnail = {cinfo.output_width, cinfo.output_height,
                                  malloc(cinfo.output_width * cinfo.output_height)};
    while (cinfo.output_scanline < cinfo.output_height) {
        JSAMPROW row = thumbnail.grey + (size_t)cinfo.output_scanline * thumbnail.width;
        jpeg_read_scanlines(&cinfo, &row, 1);
    }
    jpeg_finish_decompress(&cinfo);
    jpeg_destroy_decompress(&cinfo);
    free(jpeg);
    return thumbnail;
}

static void thumbnails_show_the_frame_of_their_time(void **state)
{
    (void)state;
    static const struct video_how hows[] = {
        {.muxer = "mp4", .codec = "mpeg4", .frames = 200, .b_frames = 2},
        {.muxer = "mpegts", .codec = "mpeg2video", .frames = 200},
        {.muxer = "matroska", .codec = "ffv1", .frames = 200, .pixel_format = "bgr0"}};
    static const struct {
        uint32_t time_ms;
        unsigned shown;
    } moments[] = {{0, 0}, {39, 0}, {40, 1}, {4000, 100}, {4039, 100}, {6001, 150}, {90000, 199}};
    for (size_t i = 0; i < 3; i++) {
        struct file file = make_video(&hows[i]);
        for (size_t k = 0; k < sizeof moments / sizeof *moments; k++) {
            struct thumbnail small = thumbnail_of(&file, moments[k].time_ms, 100);
            assert_int_equal(small.width, 100);
            assert_int_equal(small.height, 60);
            struct doppel_plane plane = {small.grey, small.width, small.height, small.width};
            assert_int_equal(video_number(&plane), moments[k].shown);
            free(small.grey);
        }
        file_free(&file);
    }
}

static void thumbnails_are_upright_and_of_sane_sizes(void **state)
{
    (void)state;
    const int32_t quarter[9] = {0, ONE, 0, -ONE, 0, 0, 0, 0, 1 << 30};
    const struct video_how how = {.muxer = "mp4", .codec = "mpeg4", .frames = 5, .matrix = quarter};
    struct file file = make_video(&how);
    struct thumbnail small = thumbnail_of(&file, 0, 100);
    assert_int_equal(small.width, 60);
    assert_int_equal(small.height, 100);
    /* What was brighter downwards is brighter to the left. */
    assert_true(small.grey[50 * small.width + 1] > small.grey[50 * small.width + 58] + 20);
    free(small.grey);
    /* Nothing is made larger. */
    small = thumbnail_of(&file, 0, 1024);
    assert_in_range(small.height, 101, 1023);
    free(small.grey);
    uint8_t *jpeg = NULL;
    size_t size = 0;
    int fd = file_open(file.data, file.size);
    assert_int_equal(doppel_media_read_thumbnail(fd, 0, 15, &jpeg, &size, NULL), DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_media_read_thumbnail(fd, 0, 1025, &jpeg, &size, NULL),
                     DOPPEL_E_ARGUMENT);
    assert_null(jpeg);
    close(fd);
    file_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uneven_times_are_kept),
        cmocka_unit_test(jumps_are_closed_and_times_that_go_back),
        cmocka_unit_test(a_video_after_a_video_goes_on),
        cmocka_unit_test(ten_thousand_frames_a_second_are_told_by_time),
        cmocka_unit_test(one_image_is_a_video),
        cmocka_unit_test(parts_of_videos_are_those_of_the_whole),
        cmocka_unit_test(the_default_track_is_the_video),
        cmocka_unit_test(turned_videos_are_turned_upright),
        cmocka_unit_test(thumbnails_show_the_frame_of_their_time),
        cmocka_unit_test(thumbnails_are_upright_and_of_sane_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
