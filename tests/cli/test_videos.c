/* Videos: what compare, find, scan and groups say of them. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collection.h"
#include "videos.h"
#include "audio.h"

/* ---- compare ---- */

static void compare_says_where_a_clip_is_from(void **state)
{
    (void)state;
    make_whole_and_clip();
    char *json = doppel_prints(0, "compare", "--json", "clip.mp4", "whole.mp4");
    assert_has(json, "\"match\":true,\"limit\":{\"max_false_positive_rate\":0.001},");
    assert_has(json, "\"kind\":\"video\",\"scheme\":\"frames64\",\"relation\":\"contained\"");
    assert_has(json, "\"verified\":\"alignment\"");
    assert_has(json, "\"mirrored\":true");
    assert_has(json, "\"evidence\":\"picture\"");
    assert_lacks(json, "\"sound\"");
    assert_lacks(json, "time_uncertain");
    assert_number(json, "a_start", 0, .5);
    assert_number(json, "a_end", 9, .5);
    assert_number(json, "b_start", 10, .5);
    assert_number(json, "b_end", 19, .5);
    assert_number(json, "item_coverage", .3, .05);
    assert_true(number_of(json, "false_positive_rate") <= 1e-3);
    free(json);
    json = doppel_prints(0, "compare", "--json", "whole.mp4", "clip.mp4");
    assert_has(json, "\"relation\":\"contains\"");
    assert_number(json, "a_start", 10, .5);
    free(json);
    char *table = doppel_prints(0, "compare", "clip.mp4", "whole.mp4");
    assert_has(table, "] <-> [0:10.");
    assert_has(table, " mirrored");
    assert_int_equal(count_lines(table, ""), 2);
    free(table);
}

static void other_videos_do_not_match(void **state)
{
    (void)state;
    keep_video("a.mp4", (struct video_how){.view.seed = 2, .seconds = 12});
    keep_video("b.mp4", (struct video_how){.view.seed = 3, .seconds = 12});
    char *json = doppel_prints(1, "compare", "--json", "a.mp4", "b.mp4");
    assert_has(json, "\"match\":false");
    assert_lacks(json, "evidence");
    assert_lacks(json, "relation");
    assert_lacks(json, "segments");
    free(json);
}

static void speed_is_told(void **state)
{
    (void)state;
    keep_video("usual.mp4", (struct video_how){.view.seed = 4, .seconds = 20});
    keep_video("fast.mp4",
               (struct video_how){.view = {.seed = 4, .speed = 1.25}, .seconds = 14, .rate = 10});
    char *json = doppel_prints(0, "compare", "--json", "fast.mp4", "usual.mp4");
    assert_number(json, "speed", 1.25, .03);
    free(json);
    char *table = doppel_prints(0, "compare", "fast.mp4", "usual.mp4");
    assert_has(table, "] x1.2");
    free(table);
}

static void image_and_audio_are_told_apart(void **state)
{
    (void)state;
    const struct video_how one = {.view.seed = 5, .seconds = 12},
                           other = {.view.seed = 6, .seconds = 12};
    keep_video_and_audio("a.mp4", one, audio_music(12, 1));
    keep_video_and_audio("both.mkv", one, audio_music(12, 1));
    keep_video_and_audio("dubbed.mp4", one, audio_speech(12, 2));
    keep_video_and_audio("cover.mp4", other, audio_music(12, 1));
    keep_wav("song.wav", audio_music(12, 1));
    char *json = doppel_prints(0, "compare", "--json", "a.mp4", "both.mkv");
    assert_has(json, "\"evidence\":\"picture and sound\",\"sound\":{\"match\":true,\"score\":");
    free(json);
    json = doppel_prints(0, "compare", "--json", "a.mp4", "dubbed.mp4");
    assert_has(json, "\"scheme\":\"frames64\"");
    assert_has(json, "\"evidence\":\"picture\",\"sound\":{\"match\":false");
    free(json);
    json = doppel_prints(0, "compare", "a.mp4", "dubbed.mp4");
    assert_has(json, "same picture, other audio");
    free(json);
    json = doppel_prints(0, "compare", "--json", "a.mp4", "cover.mp4");
    assert_has(json, "\"kind\":\"video\",\"scheme\":\"peaks32\",\"relation\":\"same\"");
    assert_has(json, "\"evidence\":\"sound\",\"sound\":{\"match\":true");
    assert_has(json, "\"picture\":{\"match\":false");
    free(json);
    json = doppel_prints(0, "compare", "a.mp4", "cover.mp4");
    assert_has(json, "same audio, other picture");
    free(json);
    json = doppel_prints(0, "compare", "--json", "song.wav", "cover.mp4");
    assert_has(json, "\"evidence\":\"sound\"");
    free(json);
    free(doppel_prints(1, "compare", "song.wav", "dubbed.mp4"));
}

static void images_are_found_in_videos(void **state)
{
    (void)state;
    keep_video("film.mp4", (struct video_how){.view.seed = 10, .seconds = 16});
    keep_shot("shot.png", 10, 3);
    keep_shot("other.png", 12, 3);
    char *json = doppel_prints(0, "compare", "--json", "shot.png", "film.mp4");
    assert_has(json, "\"kind\":\"video\"");
    assert_has(json, "\"evidence\":\"picture\"");
    assert_true(number_of(json, "b_start") <= 3.3 && number_of(json, "b_end") >= 2.7);
    free(json);
    json = doppel_prints(0, "compare", "--json", "film.mp4", "shot.png");
    assert_true(number_of(json, "a_start") <= 3.3 && number_of(json, "a_end") >= 2.7);
    free(json);
    free(doppel_prints(1, "compare", "other.png", "film.mp4"));
}

static void same_bytes_are_exact(void **state)
{
    (void)state;
    keep_video("a.mp4", (struct video_how){.view.seed = 9, .seconds = 8});
    copy_file("a.mp4", "b.mp4");
    char *json = doppel_prints(0, "compare", "--json", "a.mp4", "b.mp4");
    assert_has(json, "\"relation\":\"same\",\"similarity\":1.0,\"false_positive_rate\":0.0,"
                     "\"verified\":\"exact\"");
    assert_number(json, "a_end", 8, .3);
    free(json);
}

/* ---- the library ---- */

static void find_tells_videos_by_all_they_have(void **state)
{
    (void)state;
    make_folder("films");
    keep_video_and_audio("films/one.mp4", (struct video_how){.view.seed = 10, .seconds = 24},
                         audio_music(24, 3));
    keep_video("films/two.mp4", (struct video_how){.view.seed = 11, .seconds = 24});
    keep_wav("films/song.wav", audio_music(24, 3));
    free(doppel_prints(0, "add", "films"));
    keep_video("clip.mp4",
               (struct video_how){.view = {.seed = 11, .from = 8}, .seconds = 8, .quality = 12});
    char *json = doppel_prints(0, "find", "--json", "clip.mp4");
    assert_int_equal(count_lines(json, ""), 1);
    assert_has(json, "/films/two.mp4\"");
    assert_has(json, "\"kind\":\"video\"");
    assert_has(json, "\"relation\":\"contained\"");
    assert_number(json, "b_start", 8, .5);
    free(json);

    struct recording song = audio_music(24, 3);
    keep_wav("part.wav", audio_cut(&song, 5, 8));
    free(song.samples);
    json = doppel_prints(0, "find", "--json", "part.wav");
    assert_int_equal(count_lines(json, ""), 2);
    assert_int_equal(count_lines(json, "\"evidence\":\"sound\""), 1);
    assert_has(json, "/films/one.mp4\"");
    assert_has(json, "/films/song.wav\"");
    free(json);

    keep_shot("shot.png", 10, 3);
    json = doppel_prints(0, "find", "--json", "shot.png");
    assert_int_equal(count_lines(json, ""), 1);
    assert_has(json, "/films/one.mp4\"");
    assert_true(number_of(json, "b_start") <= 3.3 && number_of(json, "b_end") >= 2.7);
    free(json);

    json = doppel_prints(0, "find", "--json", "--kind", "video", "films/one.mp4");
    assert_int_equal(count_lines(json, ""), 1);
    assert_has(json, "\"verified\":\"exact\"");
    free(json);
    free(doppel_prints(1, "find", "--json", "--kind", "image", "shot.png"));
}

static void find_tells_what_differs(void **state)
{
    (void)state;
    const struct video_how how = {.view.seed = 12, .seconds = 14};
    keep_video_and_audio("film.mp4", how, audio_music(14, 4));
    keep_video_and_audio("dubbed.mp4", how, audio_speech(14, 5));
    free(doppel_prints(0, "add", "film.mp4"));
    char *table = doppel_prints(0, "find", "dubbed.mp4");
    assert_has(table, "same picture, other audio");
    assert_int_equal(count_lines(table, ""), 2);
    free(table);
    table = doppel_prints(0, "find", "--no-audio", "dubbed.mp4");
    assert_lacks(table, "other audio");
    free(table);
    free(doppel_prints(1, "find", "--no-video", "dubbed.mp4"));
    keep_video_and_audio("cover.mp4", (struct video_how){.view.seed = 13, .seconds = 14},
                         audio_music(14, 4));
    char *json = doppel_prints(0, "find", "--json", "--no-video", "cover.mp4");
    assert_has(json, "\"evidence\":\"sound\"");
    assert_has(json, "/film.mp4\"");
    free(json);
}

/* ---- groups ---- */

/* A video, other encodings of it, its clip, and what has nothing to do with it. */
static void make_videos(void)
{
    const struct video_view view = {.seed = 13};
    make_folder("films");
    keep_video("films/a.mp4", (struct video_how){.view = view, .seconds = 24, .quality = 3});
    keep_video(
        "films/a-small.mp4",
        (struct video_how){.view = view, .seconds = 24, .width = 96, .height = 72, .quality = 14});
    keep_video("films/a-clip.mp4",
               (struct video_how){.view = {.seed = 13, .from = 9}, .seconds = 8, .quality = 9});
    copy_file("films/a.mp4", "films/b-copy.mp4");
    keep_video("films/other.mp4", (struct video_how){.view.seed = 14, .seconds = 20});
    keep_video("films/c.mp4",
               (struct video_how){.view = {.seed = 15, .mirrored = true}, .seconds = 12});
    keep_video("films/c-turned.mp4",
               (struct video_how){.view.seed = 15, .seconds = 12, .width = 96, .height = 72});
}

static const char VIDEO_GROUPS[] =
    "films/a-clip.mp4 part, films/a-small.mp4 near, films/a.mp4 kept, "
    "films/b-copy.mp4 identical\n"
    "films/c-turned.mp4 near, films/c.mp4 kept\n";

static void scan_groups_videos_by_what_they_show(void **state)
{
    (void)state;
    make_videos();
    for (int i = 0; i < 2; i++) { /* then from the cache */
        char *json = doppel_prints(0, "scan", "--json", "films");
        char *groups = groups_as_text(json, "");
        assert_string_equal(groups, VIDEO_GROUPS);
        free(groups);
        free(json);
    }
    char *table = doppel_prints(0, "scan", "films");
    assert_has(table, "contained");
    assert_has(table, "0:24.");
    free(table);
}

static void groups_of_a_library_are_those_of_scan(void **state)
{
    (void)state;
    make_videos();
    free(doppel_prints(0, "add", "films"));
    char *json = doppel_prints(0, "groups", "--json");
    char *here = getcwd(NULL, 0), base[4096];
    snprintf(base, sizeof base, "%s/", here);
    char *groups = groups_as_text(json, base);
    assert_string_equal(groups, VIDEO_GROUPS);
    free(groups);
    free(here);
    free(json);
}

/* A crop finds its original, and not the other way round: whichever is the longer. */
static void a_crop_is_grouped_with_its_original(void **state)
{
    (void)state;
    const struct video_view crop = {
        .seed = 16, .left = .06F, .right = .08F, .top = .07F, .bottom = .05F};
    make_folder("one");
    make_folder("two");
    keep_video("one/original.mp4",
               (struct video_how){.view.seed = 16, .seconds = 18, .width = 192, .height = 144});
    keep_video("one/crop.mp4", (struct video_how){.view = crop, .seconds = 14});
    keep_video("two/original.mp4",
               (struct video_how){.view.seed = 16, .seconds = 14, .width = 192, .height = 144});
    keep_video("two/crop.mp4", (struct video_how){.view = crop, .seconds = 18});
    char *json = doppel_prints(0, "scan", "--json", "one");
    assert_int_equal(count_lines(json, "\"reason\":\"part\""), 1);
    free(json);
    json = doppel_prints(0, "scan", "--json", "two");
    assert_int_equal(count_lines(json, "\"reason\":\"part\""), 1);
    free(json);
}

/* However many pixels a cut or a frame with bars has, and whichever of the two looks for the other:
 * by the order of names, and by length. */
static void what_shows_most_is_kept(void **state)
{
    (void)state;
    static const struct {
        struct video_view view;
        uint32_t width, height;
        double seconds;
        const char *reason;
    } copies[] = {
        {{.left = .342F, .right = .342F}, 360, 640, 14, "crop"}, /* upright: the middle */
        {{.left = .342F, .right = .342F}, 360, 640, 14.6, "crop"},
        {{.left = .06F, .right = .08F, .top = .07F, .bottom = .05F}, 480, 272, 14, "crop"},
        {{.left = .06F, .right = .08F, .top = .07F, .bottom = .05F}, 480, 272, 14.6, "crop"},
        {{.top = -.2F, .bottom = -.2F}, 320, 252, 14, "frame"},
        {{.top = -.2F, .bottom = -.2F}, 320, 252, 14.6, "frame"},
        {{.top = -.2F, .bottom = -.2F}, 240, 252, 14, "resolution"},
    };
    static const char *const names[] = {"a.mp4", "z.mp4"};
    make_folder("films");
    keep_video("films/m.mp4",
               (struct video_how){.view.seed = 16, .seconds = 14.3, .width = 320, .height = 180});
    for (size_t i = 0; i < 2 * sizeof copies / sizeof *copies; i++) {
        struct video_how how = {copies[i / 2].view, .seconds = copies[i / 2].seconds,
                                .width = copies[i / 2].width, .height = copies[i / 2].height,
                                .quality = 2};
        char path[32], reason[64];
        snprintf(path, sizeof path, "films/%s", names[i % 2]);
        snprintf(reason, sizeof reason, "\"keep_reason\":\"%s\"", copies[i / 2].reason);
        how.view.seed = 16;
        keep_video(path, how);
        char *json = doppel_prints(0, "scan", "--json", "films");
        assert_has(json, "\"keep\":\"films/m.mp4\"");
        assert_has(json, reason);
        free(json);
        assert_int_equal(unlink(path), 0);
    }
}

/* With a rate that nothing has, what would be groups are near misses. */
static void scan_tells_videos_that_nearly_match(void **state)
{
    (void)state;
    make_videos();
    char *json = doppel_prints(0, "scan", "--json", "--near-misses", "9", "--max-fp-rate", "1e-300",
                               "films");
    assert_has(json, "\"reason\":\"identical\"");
    assert_has(json, "\"path\":\"films/a-clip.mp4\",\"of_path\":\"films/a.mp4\"");
    assert_has(json, "\"path\":\"films/c-turned.mp4\",\"of_path\":\"films/c.mp4\"");
    char *again = doppel_prints(0, "scan", "--json", "--near-misses", "9", "--max-fp-rate",
                                "1e-300", "--jobs", "3", "films");
    assert_string_equal(json, again);
    free(again);
    free(json);
    json = doppel_prints(0, "scan", "--json", "--near-misses", "1", "films");
    assert_lacks(json, "\"path\":\"films/a-clip.mp4\",\"of_path\":\"films/a.mp4\"");
    free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(compare_says_where_a_clip_is_from),
        IN_SANDBOX(other_videos_do_not_match),
        IN_SANDBOX(speed_is_told),
        IN_SANDBOX(image_and_audio_are_told_apart),
        IN_SANDBOX(images_are_found_in_videos),
        IN_SANDBOX(same_bytes_are_exact),
        IN_SANDBOX(find_tells_videos_by_all_they_have),
        IN_SANDBOX(find_tells_what_differs),
        IN_SANDBOX(scan_groups_videos_by_what_they_show),
        IN_SANDBOX(groups_of_a_library_are_those_of_scan),
        IN_SANDBOX(scan_tells_videos_that_nearly_match),
        IN_SANDBOX(a_crop_is_grouped_with_its_original),
        IN_SANDBOX(what_shows_most_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
