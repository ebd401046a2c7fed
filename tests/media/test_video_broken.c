/* Videos as nobody should make them: cut, damaged, lying, locked, or no videos at all. */
#include "video_mutants.h"
#include "make_audio.h"
#include "audio_mutants.h"
#include "watch.h"

#include <string.h>
#include <unistd.h>

enum { MUTANTS = 100 };

/* ---- cut short ---- */

static void assert_part_is_refused(const struct file *file, size_t size, const char *words)
{
    assert_not_watched(file_of(file->data, size), NULL, DOPPEL_E_CORRUPT, words);
}

static void what_is_cut_short_is_used_from_three_seconds_on(void **state)
{
    (void)state;
    const struct video_how hows[] = {
        {.muxer = "mp4", .codec = "mpeg4", .options = "movflags=faststart", .audio = true},
        {.muxer = "matroska", .codec = "mpeg4", .b_frames = 2},
        {.muxer = "matroska", .codec = "mpeg4", .audio = true},
        {.muxer = "avi", .codec = "mjpeg"},
        {.muxer = "flv", .codec = "flv"},
        {.muxer = "mp4", .codec = "mpeg4", .options = "movflags=frag_keyframe+empty_moov"},
    };
    for (size_t i = 0; i < sizeof hows / sizeof *hows; i++) {
        struct video_how how = hows[i];
        how.frames = 250;
        struct file file = make_video(&how);
        for (int fast = 0; fast < 2; fast++) {
            struct doppel_frames_options options = doppel_frames_options_default();
            options.keyframes = fast;
            struct file part = {file.data, file.size / 2};
            struct watched watched = watch(&part, &options);
            if (watched.status != DOPPEL_OK)
                fail_msg("%s, %d: %s", how.muxer, fast, watched.error.message);
            if (!watched.info.damaged_ms)
                fail_msg("%s, %d: not noted", how.muxer, fast);
            assert_in_range(watched.info.damaged_ms, 3500, 6500);
            assert_in_range(watched.info.duration_ms, 3500, 6500);
            watched_free(&watched);
            watched = watch_good(&file, &options);
            assert_int_equal(watched.info.damaged_ms, 0);
            watched_free(&watched);
        }
        assert_part_is_refused(&file, file.size / 5, "of which at least 3 are needed");
        file_free(&file);
    }
}

static void a_video_without_its_index_is_no_video(void **state)
{
    (void)state;
    struct video_how how = {.muxer = "mp4", .codec = "mpeg4", .frames = 250};
    struct file file = make_video(&how);
    const char *at_end = "is cut short: its index, which stands at the end, is missing";
    uint8_t *media = memmem(file.data, file.size, "mdat", 4);
    assert_non_null(media);
    size_t header = (size_t)(media - 4 - file.data);
    assert_part_is_refused(&file, header + 8, at_end);
    assert_part_is_refused(&file, file.size * 9 / 10, at_end);
    memset(media - 4, 0, 4); /* its size, of a recording that was broken off */
    assert_part_is_refused(&file, file.size * 9 / 10, at_end);
    assert_part_is_refused(&file, 20, "is cut short in its header");
    assert_part_is_refused(&file, header, "is cut short in its header");
    file_free(&file);
    how.options = "movflags=faststart";
    file = make_video(&how);
    assert_part_is_refused(&file, 900, "is cut short in its header");
    uint8_t *index = memmem(file.data, file.size, "moov", 4);
    assert_non_null(index);
    memcpy(index - 4, "\0\0\0\3", 4); /* less than a box has */
    assert_part_is_refused(&file, file.size, "is damaged in its header");
    file_free(&file);
}

static void a_header_without_a_video_is_no_video(void **state)
{
    (void)state;
    const struct video_how how = {.muxer = "matroska", .codec = "mpeg4", .frames = 250};
    struct file file = make_video(&how);
    const uint8_t *first = memmem(file.data, file.size, "\x1f\x43\xb6\x75", 4); /* a cluster */
    assert_non_null(first);
    size_t header = (size_t)(first - file.data);
    for (size_t size = 5; size < header; size += 7) {
        struct file part = {file.data, size};
        struct watched watched = watch(&part, NULL);
        assert_int_equal(watched.status, DOPPEL_E_CORRUPT);
        if (!strstr(watched.error.message, "cut short"))
            fail_msg("%zu bytes: %s", size, watched.error.message);
        watched_free(&watched);
    }
    assert_part_is_refused(&file, header + 50, "damaged or cut short: no picture could be decoded");
    file_free(&file);
}

static void damage_is_noted_and_passed_over(void **state)
{
    (void)state;
    const struct video_how how = {.muxer = "matroska", .codec = "mpeg4", .frames = 250};
    struct file file = make_video(&how);
    memset(file.data + file.size / 2, 0xff, 300);
    struct watched watched = watch_good(&file, NULL);
    assert_in_range(watched.info.damaged_ms, 3500, 6500);
    assert_in_range(watched.info.duration_ms, 9900, 10100);
    const struct image_seen *last = &watched.seen[watched.count - 1];
    assert_int_equal(last->shown, last->time_ms / 40);
    watched_free(&watched);
    file_free(&file);
}

/* ---- nothing to see ---- */

static void what_is_no_video_is_told(void **state)
{
    (void)state;
    assert_not_watched(FILE_OF(""), NULL, DOPPEL_E_EMPTY, "empty");
    assert_not_watched(FILE_OF("a text under the name of a video\n"), NULL, DOPPEL_E_FORMAT,
                       "text");
    assert_not_watched(FILE_OF("\x89PNG\r\n\x1a\n12345678901"), NULL, DOPPEL_E_FORMAT, "image");
    assert_not_watched(FILE_OF("\1\2\3\4\5\6\7\xff"), NULL, DOPPEL_E_FORMAT, "no known format");
    assert_not_watched(FILE_OF("\x1a\x45\xdf\xa3"), NULL, DOPPEL_E_CORRUPT, "damaged");
}

static void audio_alone_is_no_video_but_told(void **state)
{
    (void)state;
    struct tune tune = tune_make(2, 48000, 1);
    const struct audio_how hows[] = {{.muxer = "mp4", .codec = "aac"},
                                     {.muxer = "matroska", .codec = "mp2"},
                                     {.muxer = "mp3", .codec = "libmp3lame"}};
    for (size_t i = 0; i < 3; i++) {
        struct file file = make_audio(&tune, &hows[i]);
        if (!file.data)
            continue;
        struct doppel_frames_info info = {.width = 77};
        struct doppel_error error = {0};
        int fd = file_open(file.data, file.size);
        assert_int_equal(doppel_media_read_frames(fd, NULL, NULL, NULL, &info, &error),
                         DOPPEL_E_FORMAT);
        assert_string_equal(error.message, "has no pictures in it, only audio");
        assert_true(info.has_audio);
        assert_int_equal(info.width, 77);
        close(fd);
        file_free(&file);
    }
    tune_free(&tune);
}

static void videos_of_nothing_are_refused(void **state)
{
    (void)state;
    static const char *const muxers[] = {"mp4", "matroska", "avi"};
    for (size_t i = 0; i < 3; i++) {
        struct video_how how = {.muxer = muxers[i], .codec = "mpeg4"};
        struct file file = make_video(&how);
        struct watched watched = watch(&file, NULL);
        if (watched.status != DOPPEL_E_EMPTY && watched.status != DOPPEL_E_CORRUPT &&
            watched.status != DOPPEL_E_FORMAT)
            fail_msg("%s: %s", muxers[i], watched.error.message);
        watched_free(&watched);
        file_free(&file);
    }
}

/* Lists that would have other files opened, hidden behind a byte that is no text. */
static void lists_of_files_are_refused(void **state)
{
    (void)state;
    static const char *const lists[] = {
        "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n/tmp/other.ts\n#EXT-X-ENDLIST\n",
        "ffconcat version 1.0\nfile '/tmp/other.mp4'\n",
        "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
        "m=video 5004 RTP/AVP 96\r\n",
        "<?xml version=\"1.0\"?><MPD type=\"static\"><Period></Period></MPD>",
        "[playlist]\nFile1=http://127.0.0.1/film.mp4\n",
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct file plain = file_of(lists[i], strlen(lists[i]));
        struct file hidden = file_of(lists[i], strlen(lists[i]) + 1);
        assert_not_watched(plain, NULL, DOPPEL_E_FORMAT, "text");
        assert_not_watched(hidden, NULL, DOPPEL_E_FORMAT, "no known format");
    }
}

static void noise_is_no_video(void **state)
{
    (void)state;
    static uint8_t noise[100000];
    uint64_t random = 7;
    for (int round = 0; round < 40; round++) {
        for (size_t i = 0; i < sizeof noise; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            noise[i] = (uint8_t)(random >> 40);
        }
        struct file file = {noise, sizeof noise};
        struct watched watched = watch(&file, NULL);
        assert_int_not_equal(watched.status, DOPPEL_OK);
        watched_free(&watched);
    }
}

/* ---- locked, or of a codec that nobody knows ---- */

static void encrypted_videos_are_told(void **state)
{
    (void)state;
    const struct video_how how = {.muxer = "mp4",
                                  .codec = "libx264",
                                  .frames = 100,
                                  .options = "encryption_scheme=cenc-aes-ctr:"
                                             "encryption_key=00112233445566778899aabbccddeeff:"
                                             "encryption_kid=0123456789abcdef0123456789abcdef"};
    struct file file = make_video(&how);
    if (file.data)
        assert_not_watched(file, NULL, DOPPEL_E_UNSUPPORTED, "is encrypted");
}

static void unknown_codecs_are_told(void **state)
{
    (void)state;
    const struct video_how how = {.muxer = "matroska", .codec = "mpeg4", .frames = 100};
    struct file file = make_video(&how);
    char *name = memmem(file.data, file.size, "V_MPEG4/ISO/ASP", 15);
    assert_non_null(name);
    memcpy(name, "V_NOBODYKNOWSIT", 15);
    assert_not_watched(file, NULL, DOPPEL_E_UNSUPPORTED, "no decoder");
}

/* ---- limits and callers ---- */

/* Where nothing can be decoded, the lack of memory may be why. */
static void what_could_not_be_held_is_not_called_damaged(void **state)
{
    (void)state;
    const struct video_how how = {
        .muxer = "matroska", .codec = "mpeg4", .frames = 50, .width = 640, .height = 480};
    struct doppel_frames_options options = doppel_frames_options_default();
    struct file file = make_video(&how), part = {0};
    const uint8_t *first = memmem(file.data, file.size, "\x1f\x43\xb6\x75", 4); /* a cluster */
    assert_non_null(first);
    file_append(&part, file.data, (size_t)(first - file.data) + 50);
    file_free(&file);
    options.limits.max_memory = 3 * 640 * 480 - 1;
    struct watched watched = watch(&part, &options);
    assert_int_equal(watched.status, DOPPEL_E_LIMIT);
    assert_non_null(strstr(watched.error.message, "--max-memory"));
    watched_free(&watched);
    options.limits.max_memory++;
    assert_not_watched(part, &options, DOPPEL_E_CORRUPT, "no picture could be decoded");
}

static bool stop_at_once(void *context, const struct doppel_frame *frame)
{
    (void)frame;
    ++*(int *)context;
    return false;
}

static void limits_are_kept(void **state)
{
    (void)state;
    const struct video_how how = {
        .muxer = "matroska", .codec = "mpeg4", .frames = 50, .width = 640, .height = 480};
    struct doppel_frames_options options = doppel_frames_options_default();
    options.max_seconds = 1.5;
    assert_not_watched(make_video(&how), &options, DOPPEL_E_LIMIT, "1.5 seconds");
    options.max_seconds = 3;
    struct file file = make_video(&how);
    struct watched watched = watch_good(&file, &options);
    watched_free(&watched);
    file_free(&file);
    options.limits.max_bytes = 1000;
    assert_not_watched(make_video(&how), &options, DOPPEL_E_LIMIT, "--max-bytes");
    options = doppel_frames_options_default();
    options.limits.max_pixels = 640 * 480 - 1;
    assert_not_watched(make_video(&how), &options, DOPPEL_E_LIMIT, "--max-pixels");
    options = doppel_frames_options_default();
    options.limits.max_memory = 2 * 640 * 480; /* two frames are kept to make the next */
    assert_not_watched(make_video(&how), &options, DOPPEL_E_LIMIT, "--max-memory");
    options.limits.max_memory = 12 * 640 * 480;
    file = make_video(&how);
    watched = watch_good(&file, &options);
    watched_free(&watched);
    file_free(&file);
}

static void visitors_end_it(void **state)
{
    (void)state;
    const struct video_how how = {.muxer = "matroska", .codec = "mpeg4", .frames = 50};
    struct file file = make_video(&how);
    int fd = file_open(file.data, file.size), calls = 0, ends[2];
    assert_int_equal(doppel_media_read_frames(fd, NULL, stop_at_once, &calls, NULL, NULL),
                     DOPPEL_E_CANCELLED);
    assert_int_equal(calls, 1);
    close(fd);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(doppel_media_read_frames(ends[0], NULL, stop_at_once, &calls, NULL, NULL),
                     DOPPEL_E_IO);
    close(ends[0]);
    close(ends[1]);
    file_free(&file);
}

/* ---- mutants ---- */

static void mutants_are_survived(void **state)
{
    (void)state;
    struct doppel_frames_options options = doppel_frames_options_default();
    struct file seeds[VIDEO_SEEDS];
    size_t count = video_seeds(seeds);
    assert_true(count >= 12);
    uint64_t random = 11;
    for (unsigned round = 0; round < MUTANTS; round++) {
        struct file mutant = file_mutant(&seeds[round % count], &random);
        options.keyframes = round / count % 2;
        options.from_ms = round / count % 3 == 2 ? 1500 : 0;
        struct watched watched = watch(&mutant, &options);
        watched_free(&watched);
        file_free(&mutant);
    }
    for (size_t i = 0; i < count; i++)
        file_free(&seeds[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_cut_short_is_used_from_three_seconds_on),
        cmocka_unit_test(a_video_without_its_index_is_no_video),
        cmocka_unit_test(a_header_without_a_video_is_no_video),
        cmocka_unit_test(damage_is_noted_and_passed_over),
        cmocka_unit_test(what_is_no_video_is_told),
        cmocka_unit_test(audio_alone_is_no_video_but_told),
        cmocka_unit_test(videos_of_nothing_are_refused),
        cmocka_unit_test(lists_of_files_are_refused),
        cmocka_unit_test(noise_is_no_video),
        cmocka_unit_test(encrypted_videos_are_told),
        cmocka_unit_test(unknown_codecs_are_told),
        cmocka_unit_test(what_could_not_be_held_is_not_called_damaged),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(visitors_end_it),
        cmocka_unit_test(mutants_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
