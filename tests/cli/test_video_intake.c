/* Videos: what hash, add, list, show and remove say of them, and how they are read; and of bad ones
 * why not. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collection.h"
#include "videos.h"
#include "audio.h"

/* With music of its length. */
static void keep_with_music(const char *path, struct video_how how)
{
    keep_video_and_audio(path, how, audio_music(how.seconds, how.view.seed));
}

/* Replace `word` in a file by another one of its length. */
static void put_word(const char *path, const char *word, const char *other)
{
    size_t size, length = strlen(word);
    char *bytes = read_file(path, &size), *at = memmem(bytes, size, word, length);
    assert_non_null(at);
    memcpy(at, other, length);
    write_file(path, bytes, size);
    free(bytes);
}

/* ---- hash ---- */

static void hash_tells_what_a_video_is(void **state)
{
    (void)state;
    keep_with_music("a.mp4", (struct video_how){.view.seed = 1, .seconds = 10});
    keep_video("turned.mkv", (struct video_how){.view.seed = 2, .seconds = 5, .codec = "ffv1"});
    char *json = doppel_prints(0, "hash", "--json", "a.mp4");
    assert_has(json, "\"path\":\"a.mp4\",\"kind\":\"video\",\"scheme\":\"frames64\",\"version\":1");
    assert_number(json, "duration", 10, .2);
    assert_number(json, "width", 128, 0);
    assert_number(json, "height", 96, 0);
    assert_true(number_of(json, "codes") >= 6);
    assert_has(json, "\"has_sound\":true");
    assert_lacks(json, "\"sequence\"");
    assert_lacks(json, "\"code\":");
    free(json);
    json = doppel_prints(0, "hash", "--json", "turned.mkv");
    assert_has(json, "\"has_sound\":false");
    free(json);
    char *table = doppel_prints(0, "hash", "a.mp4", "turned.mkv");
    assert_has(table, "duration");
    assert_has(table, "0:10.0");
    assert_has(table, "a.mp4");
    free(table);
}

static void hash_lists_codes_with_their_times(void **state)
{
    (void)state;
    keep_video("a.mp4", (struct video_how){.view.seed = 1, .seconds = 6});
    char *json = doppel_prints(0, "hash", "--json", "--codes", "a.mp4");
    const char *at = strstr(json, "\"sequence\":[[\"");
    assert_non_null(at);
    assert_int_equal(strspn(at + 14, "0123456789abcdef"), 16);
    assert_int_equal(strncmp(at + 30, "\",0]", 4), 0); /* the first frame is at 0 */
    unsigned pairs = 0;
    for (at = strstr(at, "[\""); at; at = strstr(at + 1, "[\""))
        pairs++;
    assert_number(json, "codes", pairs, 0);
    free(json);
}

/* By file, by standard input, and again from the cache. */
static void hash_is_the_same_from_everywhere(void **state)
{
    (void)state;
    size_t size;
    keep_video("a.mp4", (struct video_how){.view.seed = 3, .seconds = 6});
    char *first = doppel_prints(0, "hash", "--json", "--codes", "a.mp4");
    char *again = doppel_prints(0, "hash", "--json", "--codes", "a.mp4");
    assert_string_equal(first, again);
    char *bytes = read_file("a.mp4", &size);
    const struct setting setting = {.input = bytes, .input_size = size};
    struct ran ran = doppel_with(&setting, "hash", "--json", "--codes", "--no-cache", "-");
    assert_code(&ran, 0);
    assert_string_equal(strstr(ran.out, "\"kind\""), strstr(first, "\"kind\""));
    ran_free(&ran);
    free(bytes);
    free(first);
    free(again);
}

/* What is read of a video is asked for, and the cache does not mix it up. */
static void parts_of_a_video_are_asked_for(void **state)
{
    (void)state;
    keep_with_music("a.mp4", (struct video_how){.view.seed = 4, .seconds = 8});
    keep_video("silent.mp4", (struct video_how){.view.seed = 5, .seconds = 5});
    for (int i = 0; i < 2; i++) {
        char *json = doppel_prints(0, "hash", "--json", "a.mp4");
        assert_has(json, "\"kind\":\"video\"");
        assert_has(json, "\"has_sound\":true");
        assert_lacks(json, "\"keyframes\"");
        free(json);
        json = doppel_prints(0, "hash", "--json", "--fast", "--no-audio", "a.mp4");
        assert_has(json, "\"keyframes\":true,\"has_sound\":false");
        free(json);
        json = doppel_prints(0, "hash", "--json", i ? "--no-video" : "--kind=audio", "a.mp4");
        assert_has(json, "\"kind\":\"audio\",\"scheme\":\"peaks32\"");
        free(json);
        struct ran ran = doppel("hash", "--json", "--no-video", "silent.mp4");
        assert_code(&ran, 3);
        assert_has(ran.err, "doppel: silent.mp4: has no audio in it");
        ran_free(&ran);
    }
    make_folder("all");
    copy_file("a.mp4", "all/a.mp4");
    copy_file("silent.mp4", "all/silent.mp4");
    struct ran ran = doppel("hash", "--json", "--no-video", "all");
    assert_code(&ran, 0); /* nobody named the silent one */
    assert_int_equal(count_lines(ran.out, ""), 1);
    ran_free(&ran);
    ran = doppel("hash", "--json", "--kind", "image", "all");
    assert_code(&ran, 0);
    assert_string_equal(ran.out, "");
    ran_free(&ran);
}

/* With audio alone it is a recording, by whatever name; where only videos are wanted, it is none.
 */
static void containers_with_audio_alone_are_audio(void **state)
{
    (void)state;
    keep_with_music("a.mp4", (struct video_how){.view.seed = 6, .seconds = 5, .no_images = true});
    copy_file("a.mp4", "again.mp4"); /* waits for the other */
    for (int i = 0; i < 2; i++) {    /* by the worker, then by what the cache knows */
        char *json = doppel_prints(0, "hash", "--json", "a.mp4", "again.mp4");
        assert_int_equal(count_lines(json, "\"kind\":\"audio\",\"scheme\":\"peaks32\""), 2);
        free(json);
        struct ran ran = doppel("hash", "--json", "--kind", "video", "a.mp4");
        assert_code(&ran, 3);
        assert_has(ran.err, "doppel: a.mp4: has no pictures in it, only audio");
        ran_free(&ran);
    }
}

/* First bytes that nobody knows, but the name of a video. */
static void videos_are_tried_by_their_names(void **state)
{
    (void)state;
    keep_video(
        "a.m2v",
        (struct video_how){
            .view.seed = 7, .seconds = 5, .rate = 25, .muxer = "rawvideo", .codec = "mpeg4"});
    copy_file("a.m2v", "b.bin");
    make_folder("all");
    copy_file("a.m2v", "all/a.m2v");
    copy_file("a.m2v", "all/b.bin");
    char *json = doppel_prints(0, "hash", "--json", "a.m2v", "b.bin");
    assert_int_equal(count_lines(json, "\"kind\":\"video\""), 2);
    free(json);
    json = doppel_prints(0, "hash", "--json", "all");
    assert_int_equal(count_lines(json, "\"kind\":\"video\""), 1);
    free(json);
}

/* A list of vPDQ's is written, read again as it is, and equal to the video that it was made of. */
static void lists_of_vpdq_go_round(void **state)
{
    (void)state;
    keep_video("a.mp4", (struct video_how){.view.seed = 17, .seconds = 6});
    char *list = doppel_prints(0, "hash", "--vpdq", "a.mp4");
    assert_int_equal(count_lines(list, ""), 6); /* a frame a second */
    assert_int_equal(strncmp(list, "0,", 2), 0);
    write_file("a.txt", list, strlen(list));
    char *again = doppel_prints(0, "hash", "--vpdq", "a.txt");
    assert_string_equal(again, list);
    free(again);
    free(list);
    char *json = doppel_prints(0, "hash", "--json", "--scheme", "vpdq", "--codes", "a.txt");
    assert_has(json, "\"kind\":\"video\",\"scheme\":\"vpdq\",\"version\":1,\"codes\":6,");
    assert_has(json, ",1000],[\"");
    free(json);
    json = doppel_prints(0, "compare", "--json", "--scheme", "vpdq", "a.txt", "a.mp4");
    assert_has(json, "\"match\":true");
    assert_lacks(json, "\"distance\""); /* shares are compared: lists have none */
    free(json);
    write_file("bad.txt", "0,100,zz,0.000\n", 15);
    struct ran ran = doppel("hash", "--scheme", "vpdq", "bad.txt");
    assert_code(&ran, 3);
    assert_true(reported(ran.err, "bad.txt"));
    ran_free(&ran);
}

/* ---- bad ones ---- */

static void what_is_no_video_is_named(void **state)
{
    (void)state;
    keep_video("good.mp4", (struct video_how){.view.seed = 8, .seconds = 5});
    copy_part("good.mp4", "stub.mp4", 40);
    write_file("empty.mkv", "", 0);
    write_file("noise.avi", "\x80\x81\x82\x00\x01\x02garbage\x00\x00", 15);
    write_file("list.m3u8", "#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n", 38);
    keep_drawing("picture.mp4", 0, 1);
    struct ran ran = doppel("hash", "--json", "--kind", "video", "stub.mp4", "empty.mkv",
                            "noise.avi", "list.m3u8", "picture.mp4", "good.mp4");
    assert_code(&ran, 3);
    assert_true(reported(ran.err, "stub.mp4"));
    assert_has(ran.err, "doppel: empty.mkv: the file is empty");
    assert_has(ran.err, "doppel: noise.avi: not a video of a format that doppel knows");
    assert_has(ran.err, "doppel: list.m3u8: not a video but text");
    assert_has(ran.err, "doppel: picture.mp4: not a video but a picture");
    assert_int_equal(count_lines(ran.out, ""), 1);
    ran_free(&ran);
}

/* What decoded before the damage is used, and said. */
static void what_breaks_off_is_used_and_said(void **state)
{
    (void)state;
    size_t size;
    keep_video("a.ts", (struct video_how){.view.seed = 9, .seconds = 12, .rate = 25});
    free(read_file("a.ts", &size));
    char *bytes = read_file("a.ts", &size);
    uint32_t random = 5;
    for (size_t at = size / 2; at < size / 2 + 40000 && at < size; at++)
        bytes[at] = (char)next_random(&random);
    write_file("bad.ts", bytes, size);
    free(bytes);
    for (int i = 0; i < 2; i++) {
        struct ran ran = doppel("hash", "--json", "bad.ts");
        assert_code(&ran, 0);
        assert_true(reported(ran.err, "bad.ts"));
        assert_has(ran.err, " is used");
        assert_true(number_of(ran.out, "damaged") > 1);
        ran_free(&ran);
    }
}

/* A codec that is missing: of the audio it is remarked, also by the cache; of the pictures it is an
 * error that says what can be done. */
static void missing_codecs_are_told(void **state)
{
    (void)state;
    keep_with_music("sound.mkv", (struct video_how){.view.seed = 10, .seconds = 5});
    copy_file("sound.mkv", "pictures.mkv");
    put_word("sound.mkv", "A_AAC", "A_XYZ");
    put_word("pictures.mkv", "V_MPEG4/ISO/ASP", "V_XYZAB/ISO/ASP");
    for (int i = 0; i < 2; i++) {
        struct ran ran = doppel("hash", "--json", "sound.mkv");
        assert_code(&ran, 0);
        assert_has(ran.err, "doppel: sound.mkv: read without its audio: ");
        assert_has(ran.out, "\"has_sound\":false");
        ran_free(&ran);
        ran = doppel("hash", "--json", "pictures.mkv");
        assert_code(&ran, 3);
        assert_has(ran.err, "its audio alone can be read (--no-video)");
        ran_free(&ran);
    }
    free(doppel_prints(0, "hash", "--no-video", "pictures.mkv"));
    keep_video("tag.mov", (struct video_how){.view.seed = 10, .seconds = 1, .codec = "mjpeg"});
    put_word("tag.mov", "jpeg", "xyz1");
    struct ran ran = doppel("hash", "tag.mov");
    assert_code(&ran, 3);
    assert_has(ran.err, "holds pictures coded as xyz1, for which");
    ran_free(&ran);
}

static void limits_of_videos_are_kept(void **state)
{
    (void)state;
    keep_video("a.mp4", (struct video_how){.view.seed = 11, .seconds = 6});
    static const char *const limits[][2] = {
        {"--max-seconds", "5"}, {"--max-pixels", "10K"}, {"--max-bytes", "1K"}};
    for (int cached = 0; cached < 2; cached++) {
        for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
            struct ran ran = doppel("hash", limits[i][0], limits[i][1], "a.mp4");
            assert_code(&ran, 3);
            assert_true(reported(ran.err, "a.mp4"));
            assert_has(ran.err, limits[i][0]);
            ran_free(&ran);
        }
        free(doppel_prints(0, "hash", "--max-seconds", "7", "a.mp4"));
    }
}

static void blank_videos_have_nothing_to_be_told_by(void **state)
{
    (void)state;
    /* All bars: black. */
    keep_video("black.mp4",
               (struct video_how){.view = {.seed = 12, .left = -400, .right = 400}, .seconds = 5});
    struct ran ran = doppel("hash", "--json", "black.mp4");
    assert_code(&ran, 0);
    assert_has(ran.err, "doppel: black.mp4: nothing to tell it by");
    assert_number(ran.out, "codes", 0, 0);
    ran_free(&ran);
}

/* ---- the library ---- */

static void a_library_holds_videos(void **state)
{
    (void)state;
    make_folder("all");
    keep_with_music("all/a.mp4", (struct video_how){.view.seed = 13, .seconds = 6});
    keep_video("all/b.mkv", (struct video_how){.view.seed = 14, .seconds = 5, .codec = "ffv1"});
    keep_wav("all/c.wav", audio_music(4, 15));
    char *json = doppel_prints(0, "add", "-L", "lib", "--json", "all");
    assert_int_equal(count_lines(json, "\"added\":\"new\""), 3);
    free(json);
    json = doppel_prints(0, "add", "-L", "lib", "--json", "all");
    assert_int_equal(count_lines(json, "\"added\":\"unchanged\""), 3);
    free(json);
    json = doppel_prints(0, "list", "-L", "lib", "--json", "--kind", "video");
    assert_int_equal(count_lines(json, "\"kind\":\"video\",\"scheme\":\"frames64\""), 2);
    assert_number(json, "duration", 6, .2);
    free(json);
    json = doppel_prints(0, "show", "-L", "lib", "--json", "1");
    assert_has(json, "\"kind\":\"video\"");
    assert_has(json, "\"has_sound\":true");
    assert_has(json, "\"sequence\":[[\"");
    assert_number(json, "width", 128, 0);
    free(json);
    free(doppel_prints(0, "remove", "-L", "lib", "1"));
    json = doppel_prints(0, "list", "-L", "lib", "--json", "--kind", "video");
    assert_int_equal(count_lines(json, ""), 1);
    free(json);
}

/* The audio of a video that was added alone, before, makes place for the video. */
static void videos_take_the_place_of_their_audio(void **state)
{
    (void)state;
    keep_with_music("a.mp4", (struct video_how){.view.seed = 16, .seconds = 6});
    free(doppel_prints(0, "add", "-L", "lib", "--no-video", "a.mp4"));
    char *json = doppel_prints(0, "list", "-L", "lib", "--json");
    assert_int_equal(count_lines(json, "\"kind\":\"audio\""), 1);
    free(json);
    free(doppel_prints(0, "add", "-L", "lib", "a.mp4"));
    json = doppel_prints(0, "list", "-L", "lib", "--json");
    assert_int_equal(count_lines(json, ""), 1);
    assert_int_equal(count_lines(json, "\"kind\":\"video\""), 1);
    free(json);
}

static void schemes_of_videos_are_listed(void **state)
{
    (void)state;
    char *json = doppel_prints(0, "schemes", "--json");
    assert_int_equal(count_lines(json, "\"scheme\":\"frames64\",\"kind\":\"video\""), 1);
    assert_int_equal(count_lines(json, "\"scheme\":\"vpdq\",\"kind\":\"video\""), 1);
    free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(hash_tells_what_a_video_is),
        IN_SANDBOX(hash_lists_codes_with_their_times),
        IN_SANDBOX(hash_is_the_same_from_everywhere),
        IN_SANDBOX(parts_of_a_video_are_asked_for),
        IN_SANDBOX(containers_with_audio_alone_are_audio),
        IN_SANDBOX(videos_are_tried_by_their_names),
        IN_SANDBOX(lists_of_vpdq_go_round),
        IN_SANDBOX(what_is_no_video_is_named),
        IN_SANDBOX(what_breaks_off_is_used_and_said),
        IN_SANDBOX(missing_codecs_are_told),
        IN_SANDBOX(limits_of_videos_are_kept),
        IN_SANDBOX(blank_videos_have_nothing_to_be_told_by),
        IN_SANDBOX(a_library_holds_videos),
        IN_SANDBOX(videos_take_the_place_of_their_audio),
        IN_SANDBOX(schemes_of_videos_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
