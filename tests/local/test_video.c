/* Videos by their keypoints: which frames are chosen, their portable form, and what a set of them
 * finds, and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scenes.h"

enum { SCENES = 6, SCENE_MS = 3000, SIDE = 320 };

static const struct scene_view whole = {0, 0, 1. / SIDE, 0, false, SIDE, SIDE};
static const struct scene_view corner = {.4, .5, 1. / SIDE, 0, false, SIDE * 6 / 10, SIDE / 2};

/* A view of scenes in turn, SCENE_MS each. */
static void push_scenes(struct doppel_local_chooser *chooser, const struct scene_view *view,
                        uint64_t first, uint64_t count, uint32_t from_ms)
{
    for (uint64_t i = 0; i < count; i++) {
        struct scene scene = scene_make(first + i);
        uint8_t *samples = scene_draw(&scene, view);
        const struct doppel_plane plane = {samples, view->width, view->height, view->width};
        for (uint32_t ms = 0; ms < SCENE_MS; ms += DOPPEL_LOCAL_STEP_MS)
            assert_int_equal(doppel_local_chooser_push(chooser, &plane,
                                                       from_ms + (uint32_t)i * SCENE_MS + ms, NULL),
                             DOPPEL_OK);
        free(samples);
    }
}

static struct doppel_local_video video_of(const struct scene_view *view, uint64_t first,
                                          uint64_t count)
{
    struct doppel_local_chooser *chooser;
    struct doppel_local_video video;
    assert_int_equal(doppel_local_chooser_new(&chooser, NULL), DOPPEL_OK);
    push_scenes(chooser, view, first, count, 0);
    doppel_local_chooser_finish(chooser, count * SCENE_MS, &video);
    doppel_local_chooser_free(chooser);
    return video;
}

/* ---- frames ---- */

static void test_each_scene_gives_a_frame(void **state)
{
    (void)state;
    struct doppel_local_video video = video_of(&whole, 300, SCENES);
    assert_int_equal(video.count, SCENES);
    assert_int_equal(video.duration_ms, SCENES * SCENE_MS);
    for (uint32_t i = 0; i < SCENES; i++) {
        assert_int_equal(video.frames[i].from_ms, i * SCENE_MS);
        assert_int_equal(video.frames[i].to_ms, (i + 1) * SCENE_MS);
        assert_true(video.frames[i].points.count > DOPPEL_LOCAL_KEPT);
    }
    doppel_local_video_free(&video);
}

static void test_what_stands_and_what_is_blank(void **state)
{
    (void)state;
    static const uint8_t blank[SIDE * SIDE] = {0};
    const struct doppel_plane plane = {blank, SIDE, SIDE, SIDE};
    struct doppel_local_chooser *chooser;
    struct doppel_local_video video;
    assert_int_equal(doppel_local_chooser_new(&chooser, NULL), DOPPEL_OK);
    for (uint32_t i = 0; i < 6; i++)
        push_scenes(chooser, &whole, 300, 1, i * SCENE_MS);
    assert_int_equal(doppel_local_chooser_push(chooser, &plane, 20000, NULL), DOPPEL_OK);
    assert_int_equal(doppel_local_chooser_push(chooser, &plane, 20000, NULL), DOPPEL_E_ARGUMENT);
    push_scenes(chooser, &whole, 300, 1, 30000);
    doppel_local_chooser_finish(chooser, 40000, &video);
    assert_true(video.count >= 3 && video.count <= 4); /* it is shown again from time to time */
    assert_int_equal(video.frames[0].from_ms, 0);
    assert_int_equal(video.frames[video.count - 2].to_ms, 20000);
    assert_int_equal(video.frames[video.count - 1].from_ms, 30000);
    assert_int_equal(video.frames[video.count - 1].to_ms, 40000);
    doppel_local_video_free(&video);
    doppel_local_chooser_finish(chooser, 0, &video);
    assert_int_equal(video.count, 0);
    doppel_local_chooser_free(chooser);
    doppel_local_chooser_free(NULL);
}

/* ---- the portable form ---- */

static void assert_same_frame(const struct doppel_local_frame *a,
                              const struct doppel_local_frame *b, uint32_t points)
{
    assert_int_equal(a->from_ms, b->from_ms);
    assert_int_equal(a->to_ms, b->to_ms);
    assert_int_equal(b->points.count, points);
    assert_memory_equal(a->points.positions, b->points.positions, points * 4);
    for (uint32_t i = 0; i < points; i++)
        assert_memory_equal(a->points.codes[i].word, b->points.codes[i].word, 16);
}

/* @param kept what a library keeps, or all; the video's points become that */
static void assert_written_is_read(struct doppel_local_video *video, bool kept)
{
    struct doppel_local_video read, head;
    struct doppel_local_frame frame;
    uint8_t *bytes;
    size_t size, wanted = DOPPEL_LOCAL_HEAD_BYTES;
    assert_int_equal(doppel_local_video_write(video, kept, &bytes, &size, NULL), DOPPEL_OK);
    assert_int_equal(doppel_local_video_read(bytes, size, &read, NULL), DOPPEL_OK);
    assert_int_equal(doppel_local_video_head(bytes, size, &head, NULL), DOPPEL_OK);
    assert_int_equal(read.count, video->count);
    assert_int_equal(head.count, video->count);
    assert_int_equal(head.duration_ms, video->duration_ms);
    assert_int_equal(read.damaged_ms, video->damaged_ms);
    for (uint32_t i = 0; i < video->count; i++) {
        if (kept)
            doppel_local_keep(&video->frames[i].points);
        const uint32_t points = video->frames[i].points.count;
        wanted += 12 + points * (kept ? 16 : 20);
        assert_same_frame(&video->frames[i], &read.frames[i], points);
        assert_int_equal(doppel_local_video_frame(bytes, size, i, &frame, NULL), DOPPEL_OK);
        assert_same_frame(&video->frames[i], &frame, points);
        doppel_fingerprint_free(&frame.points);
    }
    assert_int_equal(size, wanted);
    assert_int_equal(doppel_local_video_frame(bytes, size, video->count, &frame, NULL),
                     DOPPEL_E_CORRUPT);
    free(bytes);
    doppel_local_video_free(&read);
}

static void test_what_was_written_is_read(void **state)
{
    (void)state;
    struct doppel_local_video video = video_of(&whole, 300, SCENES);
    video.damaged_ms = 12;
    assert_written_is_read(&video, false);
    assert_written_is_read(&video, true);
    doppel_local_video_free(&video);
}

static void assert_picture_is_read(const uint8_t *bytes, size_t size,
                                   const struct doppel_local_frame *picture)
{
    struct doppel_local_video read;
    assert_int_equal(doppel_local_read(DOPPEL_SCHEME_LOCAL, bytes, size, &read, NULL), DOPPEL_OK);
    assert_int_equal(read.count, 1);
    assert_same_frame(picture, &read.frames[0], picture->points.count);
    doppel_local_video_free(&read);
}

/* As a worker gives it, as a library keeps it, and as one of an earlier version has kept it. */
static void test_pictures_are_read(void **state)
{
    (void)state;
    struct doppel_local_video video = video_of(&whole, 300, 1), read;
    struct doppel_local_frame *picture = &video.frames[0];
    uint8_t *bytes;
    size_t size;
    picture->from_ms = picture->to_ms = 0;
    assert_int_equal(doppel_local_video_write(&video, true, &bytes, &size, NULL), DOPPEL_OK);
    uint8_t *whole_bytes = malloc(doppel_fingerprint_size(&picture->points));
    doppel_fingerprint_write(&picture->points, whole_bytes);
    assert_picture_is_read(whole_bytes, doppel_fingerprint_size(&picture->points), picture);
    picture->points.count = 96;
    doppel_fingerprint_write(&picture->points, whole_bytes);
    assert_picture_is_read(whole_bytes, doppel_fingerprint_size(&picture->points), picture);
    picture->points.count = DOPPEL_LOCAL_KEPT;
    doppel_local_keep(&picture->points);
    assert_picture_is_read(bytes, size, picture);
    free(bytes);
    video.count = 0; /* a picture without points */
    assert_int_equal(doppel_local_video_write(&video, true, &bytes, &size, NULL), DOPPEL_OK);
    assert_int_equal(doppel_local_read(DOPPEL_SCHEME_LOCAL, bytes, size, &read, NULL), DOPPEL_OK);
    assert_int_equal(read.count, 0);
    doppel_local_video_free(&read);
    free(whole_bytes);
    free(bytes);
    video.count = 1;
    doppel_local_video_free(&video);
}

static bool is_in_order(const struct doppel_local_video *video)
{
    for (uint32_t i = 0; i < video->count; i++) {
        const struct doppel_local_frame *frame = &video->frames[i];
        if ((frame->from_ms >= frame->to_ms && frame->to_ms) || !frame->points.count ||
            frame->points.count > DOPPEL_LOCAL_POINTS ||
            (i && frame->from_ms < video->frames[i - 1].to_ms))
            return false;
    }
    return true;
}

static void test_what_is_damaged_is_refused(void **state)
{
    (void)state;
    struct doppel_local_video video = video_of(&whole, 300, 3), read;
    struct doppel_local_frame frame;
    uint64_t random = 7;
    uint8_t *bytes, *cut;
    size_t size, refused = 0;
    assert_int_equal(doppel_local_video_write(&video, true, &bytes, &size, NULL), DOPPEL_OK);
    for (size_t i = 0; i < size; i++) {
        cut = malloc(i + 1); /* so that a sanitizer knows where it ends */
        memcpy(cut, bytes, i);
        assert_int_equal(doppel_local_video_read(cut, i, &read, NULL), DOPPEL_E_CORRUPT);
        if (!doppel_local_video_frame(cut, i, 2, &frame, NULL))
            doppel_fingerprint_free(&frame.points);
        free(cut);
    }
    for (int i = 0; i < 20000; i++) {
        size_t at = (size_t)(scene_number(&random) * (i % 2 ? (double)size : 60));
        uint8_t was = bytes[at];
        bytes[at] = (uint8_t)(scene_number(&random) * 256);
        if (doppel_local_video_read(bytes, size, &read, NULL)) {
            refused++;
        } else {
            assert_true(is_in_order(&read));
            doppel_local_video_free(&read);
        }
        for (uint32_t number = 0; number < 4; number++)
            if (!doppel_local_video_frame(bytes, size, number, &frame, NULL))
                doppel_fingerprint_free(&frame.points);
        bytes[at] = was;
    }
    assert_true(refused > 2000);
    assert_int_equal(doppel_local_read(DOPPEL_SCHEME_LOCAL, bytes, size, &read, NULL),
                     DOPPEL_E_CORRUPT);
    assert_int_equal(doppel_local_read(DOPPEL_SCHEME_PDQ, bytes, size, &read, NULL),
                     DOPPEL_E_ARGUMENT);
    free(bytes);
    doppel_local_video_free(&video);
}

/* ---- sets ---- */

struct shown {
    uint64_t ids[20];
    struct doppel_local_verdict verdicts[20];
    struct doppel_local_span first[20];
    size_t count;
};

static bool note_shown(void *context, uint64_t id, bool is_match,
                       const struct doppel_local_verdict *verdict)
{
    struct shown *shown = context;
    assert_true(is_match);
    shown->ids[shown->count] = id;
    shown->verdicts[shown->count] = *verdict;
    if (verdict->span_count)
        shown->first[shown->count] = verdict->spans[0];
    shown->count++;
    return true;
}

static struct shown shown_in(const struct doppel_local_set *set,
                             const struct doppel_local_video *query)
{
    const struct doppel_local_options options = doppel_local_options_default();
    struct shown shown = {.count = 0};
    assert_int_equal(doppel_local_find_video(set, query, &options, note_shown, &shown, NULL),
                     DOPPEL_OK);
    return shown;
}

/* Videos 1 to 3, of SCENES scenes each; and a picture 9, of a scene of the second. */
static struct doppel_local_set *set_of_videos(void)
{
    struct doppel_local_set *set;
    assert_int_equal(doppel_local_set_new(&set, NULL), DOPPEL_OK);
    for (uint64_t i = 1; i <= 3; i++) {
        struct doppel_local_video video = video_of(&whole, i * 1000, SCENES);
        assert_int_equal(doppel_local_set_add_video(set, i, &video, NULL), DOPPEL_OK);
        assert_int_equal(doppel_local_set_add_video(set, i, &video, NULL), DOPPEL_E_ARGUMENT);
        doppel_local_video_free(&video);
    }
    struct scene scene = scene_make(2004);
    struct doppel_fingerprint points = scene_points(&scene, &corner);
    assert_int_equal(doppel_local_set_add(set, 9, &points, NULL), DOPPEL_OK);
    doppel_fingerprint_free(&points);
    assert_int_equal(doppel_local_set_count(set), 3 * SCENES + 1);
    return set;
}

static void test_a_still_is_found_at_its_time(void **state)
{
    (void)state;
    struct doppel_local_set *set = set_of_videos();
    for (uint64_t i = 0; i < SCENES; i++) {
        struct scene scene = scene_make(3000 + i);
        struct doppel_local_frame frame = {.points = scene_points(&scene, &corner)};
        const struct doppel_local_video still = {.frames = &frame, .count = 1};
        struct shown shown = shown_in(set, &still);
        assert_int_equal(shown.count, 1);
        assert_int_equal(shown.ids[0], 3);
        assert_int_equal(shown.verdicts[0].span_count, 1);
        assert_true(shown.verdicts[0].false_positive_rate > 0); /* its logarithm is printed */
        assert_int_equal(shown.first[0].query_to_ms, 0);
        assert_int_equal(shown.first[0].item_from_ms, i * SCENE_MS);
        assert_int_equal(shown.first[0].item_to_ms, (i + 1) * SCENE_MS);
        assert_true(fabs(shown.verdicts[0].where.item.x - .7) < .1);
        doppel_fingerprint_free(&frame.points);
    }
    doppel_local_set_free(set);
}

static void test_a_clip_is_found_at_its_time(void **state)
{
    (void)state;
    struct doppel_local_set *set = set_of_videos();
    struct doppel_local_video clip = video_of(&corner, 2002, 3);
    struct shown shown = shown_in(set, &clip);
    assert_int_equal(shown.count, 2);
    for (size_t i = 0; i < 2; i++) {
        const bool is_video = shown.ids[i] == 2;
        assert_true(is_video || shown.ids[i] == 9);
        assert_int_equal(shown.verdicts[i].span_count, 1);
        assert_int_equal(shown.first[i].query_from_ms, is_video ? 0 : 2 * SCENE_MS);
        assert_int_equal(shown.first[i].query_to_ms, 3 * SCENE_MS);
        assert_int_equal(shown.first[i].item_from_ms, is_video ? 2 * SCENE_MS : 0);
        assert_int_equal(shown.first[i].item_to_ms, is_video ? 5 * SCENE_MS : 0);
    }
    assert_int_equal(doppel_local_set_remove(set, 2, NULL), DOPPEL_OK);
    assert_int_equal(shown_in(set, &clip).count, 1);
    doppel_local_video_free(&clip);
    clip = video_of(&corner, 9000, 4);
    assert_int_equal(shown_in(set, &clip).count, 0);
    doppel_local_video_free(&clip);
    doppel_local_set_free(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_scene_gives_a_frame),
        cmocka_unit_test(test_what_stands_and_what_is_blank),
        cmocka_unit_test(test_what_was_written_is_read),
        cmocka_unit_test(test_pictures_are_read),
        cmocka_unit_test(test_what_is_damaged_is_refused),
        cmocka_unit_test(test_a_still_is_found_at_its_time),
        cmocka_unit_test(test_a_clip_is_found_at_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
