/* The program doppel-worker with videos: the same tracks as in this process, the audio beside them,
 * what cannot be read, close looks and thumbnails. */
#include "helper.h"

#include <doppel/media.h>
#include <doppel/video.h>

#include "video.h"
#include "audio.h"

static const struct doppel_order whole = {.scheme = DOPPEL_SCHEME_FRAMES64, .version = 1};

/* A video in memory. */
static int video_of(const struct video_how *how)
{
    char path[64];
    int fd = memfd_create("film", MFD_CLOEXEC);
    struct video_how filled = *how;
    assert_true(fd >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    filled.muxer = how->muxer ? how->muxer : "matroska";
    if (!video_write(path, &filled))
        skip();
    return fd;
}

/* Replace `word` in a file by another one of its length. */
static void put_word(int fd, const char *word, const char *other)
{
    size_t size = (size_t)lseek(fd, 0, SEEK_END), length = strlen(word);
    uint8_t *bytes = malloc(size);
    assert_int_equal(pread(fd, bytes, size, 0), size);
    const uint8_t *at = memmem(bytes, size, word, length);
    assert_non_null(at);
    assert_int_equal(pwrite(fd, other, length, at - bytes), length);
    free(bytes);
}

static struct doppel_outcome ask(struct doppel_pool *pool, int fd, const struct doppel_order *order)
{
    assert_int_equal(doppel_pool_submit(pool, fd, order, 7, NULL), DOPPEL_OK);
    return next(pool);
}

static struct doppel_outcome ask_once(int fd, const struct doppel_order *order)
{
    struct doppel_pool *pool = true_pool(0);
    struct doppel_outcome outcome = ask(pool, fd, order);
    doppel_pool_free(pool);
    return outcome;
}

static struct doppel_video_track track_of(const struct doppel_outcome *outcome)
{
    struct doppel_video_track track;
    if (outcome->error.status)
        fail_msg("%s", outcome->error.message);
    assert_int_equal(outcome->kind, DOPPEL_KIND_VIDEO);
    assert_int_equal(outcome->fingerprint.scheme, DOPPEL_SCHEME_FRAMES64);
    assert_int_equal(outcome->fingerprint.count, 0);
    assert_int_equal(doppel_video_track_read(outcome->attachment, outcome->attachment_size,
                                             DOPPEL_VIDEO_ALL, &track, NULL),
                     DOPPEL_OK);
    return track;
}

static bool push(void *context, const struct doppel_frame *frame)
{
    return doppel_video_push(context, &frame->plane, frame->time_ms, NULL) == DOPPEL_OK;
}

/* The track without its audio, as a worker is to pack it. */
static void read_here(int fd, uint8_t **out, size_t *out_size)
{
    struct doppel_video *video;
    struct doppel_video_track track;
    struct doppel_frames_info info;
    assert_int_equal(doppel_video_new(NULL, &video, NULL), DOPPEL_OK);
    assert_int_equal(doppel_media_read_frames(fd, NULL, push, video, &info, NULL), DOPPEL_OK);
    assert_int_equal(doppel_video_finish(video, &track, NULL), DOPPEL_OK);
    track.width = info.width;
    track.height = info.height;
    track.duration_ms = info.duration_ms;
    track.damaged_ms = info.damaged_ms;
    assert_int_equal(doppel_video_track_write(&track, DOPPEL_VIDEO_ALL, out, out_size, NULL),
                     DOPPEL_OK);
    doppel_video_track_free(&track);
    doppel_video_free(video);
}

/* One after the other by the same worker: nothing of the last video is left in the next. */
static void test_same_as_in_process(void **state)
{
    (void)state;
    struct doppel_pool *pool = true_pool(0);
    struct doppel_order order = whole;
    order.video_no_audio = true;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        int fd = video_of(&(struct video_how){.view.seed = seed, .seconds = 4 * (double)seed});
        uint8_t *wanted;
        size_t size;
        read_here(fd, &wanted, &size);
        struct doppel_outcome outcome = ask(pool, fd, &order);
        assert_int_equal(outcome.error.status, DOPPEL_OK);
        assert_string_equal(outcome.error.message, "");
        assert_int_equal(outcome.width, 160);
        assert_int_equal(outcome.height, 120);
        assert_int_equal(outcome.attachment_size, size);
        assert_memory_equal(outcome.attachment, wanted, size);
        doppel_outcome_free(&outcome);
        free(wanted);
    }
    doppel_pool_free(pool);
}

/* The audio of a video is what an order of its audio alone gives. */
static void test_audio_goes_along(void **state)
{
    (void)state;
    struct recording recording = audio_music(8, 5);
    struct video_how how = {.view.seed = 5, .seconds = 8, .audio = &recording};
    struct doppel_order order = {.scheme = DOPPEL_SCHEME_PEAKS32, .version = 1};
    struct doppel_outcome clip = ask_once(video_of(&how), &whole);
    struct doppel_outcome alone = ask_once(video_of(&how), &order);
    struct doppel_video_track track = track_of(&clip);
    assert_int_equal(alone.error.status, DOPPEL_OK);
    assert_int_equal(track.audio_size, alone.attachment_size);
    assert_memory_equal(track.audio, alone.attachment, alone.attachment_size);
    assert_true(track.duration_ms >= 7900 && track.duration_ms <= 8300);
    assert_true(track.count > 4);
    doppel_video_track_free(&track);
    doppel_outcome_free(&clip);
    order = whole;
    order.video_no_audio = true;
    clip = ask_once(video_of(&how), &order);
    track = track_of(&clip);
    assert_null(track.audio);
    doppel_video_track_free(&track);
    doppel_outcome_free(&clip);
    doppel_outcome_free(&alone);
    free(recording.samples);
}

/* A video's container with audio alone is told as a recording. */
static void test_no_images(void **state)
{
    (void)state;
    struct recording recording = audio_music(4, 6);
    int fd = video_of(
        &(struct video_how){.seconds = 4, .audio = &recording, .no_images = true, .muxer = "mp4"});
    struct doppel_outcome outcome = ask_once(fd, &whole);
    assert_int_equal(outcome.error.status, DOPPEL_E_FORMAT);
    assert_int_equal(outcome.kind, DOPPEL_KIND_AUDIO);
    doppel_outcome_free(&outcome);
    free(recording.samples);
}

/* A recording that no decoder knows costs the audio; pictures that none knows cost the video, and
 * it is said that there is a recording. */
static void test_unknown_codecs(void **state)
{
    (void)state;
    struct recording recording = audio_music(4, 7);
    struct video_how how = {.view.seed = 7, .seconds = 4, .audio = &recording};
    int fd = video_of(&how);
    put_word(fd, "A_AAC", "A_XYZ");
    struct doppel_outcome outcome = ask_once(fd, &whole);
    struct doppel_video_track track = track_of(&outcome);
    assert_true(track.count > 2);
    assert_null(track.audio);
    assert_non_null(strstr(outcome.error.message, "read without its audio: "));
    doppel_video_track_free(&track);
    doppel_outcome_free(&outcome);
    fd = video_of(&how);
    put_word(fd, "V_MPEG4/ISO/ASP", "V_XYZAB/ISO/ASP");
    outcome = ask_once(fd, &whole);
    assert_int_equal(outcome.error.status, DOPPEL_E_UNSUPPORTED);
    assert_int_equal(outcome.kind, DOPPEL_KIND_VIDEO);
    assert_non_null(strstr(outcome.error.message, "its audio alone can be read (--no-video)"));
    doppel_outcome_free(&outcome);
    free(recording.samples);
}

static void test_longest_video(void **state)
{
    (void)state;
    struct doppel_pool *pool = true_pool(4);
    struct video_how how = {.view.seed = 8, .seconds = 6};
    struct doppel_outcome outcome = ask(pool, video_of(&how), &whole);
    assert_int_equal(outcome.error.status, DOPPEL_E_LIMIT);
    assert_non_null(strstr(outcome.error.message, "--max-seconds"));
    doppel_outcome_free(&outcome);
    how.seconds = 3.5;
    outcome = ask(pool, video_of(&how), &whole);
    assert_int_equal(outcome.error.status, DOPPEL_OK);
    doppel_outcome_free(&outcome);
    doppel_pool_free(pool);
}

/* Every frame of a stretch, whatever it shows. */
static void test_close_look(void **state)
{
    (void)state;
    struct doppel_order order = whole;
    order.video_task = DOPPEL_VIDEO_CLOSE;
    order.from_ms = 2000;
    order.to_ms = 3000;
    order.video_box[2] = order.video_box[3] = 1;
    struct doppel_outcome outcome =
        ask_once(video_of(&(struct video_how){.view.seed = 9, .seconds = 6}), &order);
    struct doppel_video_track track = track_of(&outcome);
    assert_int_equal(track.count, 25);
    for (size_t i = 0; i < track.count; i++)
        assert_int_equal(track.frames[i].start_ms, 2000 + 40 * i);
    assert_null(track.audio);
    doppel_video_track_free(&track);
    doppel_outcome_free(&outcome);
}

static void test_thumbnail(void **state)
{
    (void)state;
    struct doppel_order order = whole;
    order.video_task = DOPPEL_VIDEO_THUMBNAIL;
    order.from_ms = 2000;
    order.to_ms = 64;
    struct doppel_outcome outcome =
        ask_once(video_of(&(struct video_how){.view.seed = 9, .seconds = 4}), &order);
    assert_int_equal(outcome.error.status, DOPPEL_OK);
    assert_true(outcome.attachment_size > 64);
    assert_memory_equal(outcome.attachment, "\xff\xd8\xff", 3);
    doppel_outcome_free(&outcome);
}

static void test_wrong_orders(void **state)
{
    (void)state;
    struct doppel_pool *pool = true_pool(0);
    static const struct doppel_order orders[] = {
        {.scheme = DOPPEL_SCHEME_FRAMES64, .version = 9},
        {.scheme = DOPPEL_SCHEME_FRAMES64, .version = 1},
        {.scheme = DOPPEL_SCHEME_FRAMES64, .version = 1, .video_task = 77},
        {.scheme = DOPPEL_SCHEME_FRAMES64,
         .version = 1,
         .video_task = DOPPEL_VIDEO_THUMBNAIL,
         .from_ms = UINT32_MAX,
         .to_ms = UINT32_MAX},
        {.scheme = DOPPEL_SCHEME_FRAMES64,
         .version = 1,
         .video_task = DOPPEL_VIDEO_CLOSE,
         .from_ms = 9,
         .to_ms = 1,
         .video_box = {2, 3, -1, 0}},
        {.scheme = DOPPEL_SCHEME_VPDQ, .version = 1}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct doppel_outcome outcome = ask(pool, file_of("no video at all\n", 15), &orders[i]);
        expect_refusal(&outcome);
    }
    doppel_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_in_process), cmocka_unit_test(test_audio_goes_along),
        cmocka_unit_test(test_no_images),          cmocka_unit_test(test_unknown_codecs),
        cmocka_unit_test(test_longest_video),      cmocka_unit_test(test_close_look),
        cmocka_unit_test(test_thumbnail),          cmocka_unit_test(test_wrong_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
