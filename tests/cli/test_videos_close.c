/* Videos looked at closely: charts, ends to the frame; and odd ones: still, black, piped in. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collection.h"
#include "videos.h"

/* ---- closer ---- */

static void compare_draws_two_videos(void **state)
{
    (void)state;
    size_t size;
    make_whole_and_clip();
    copy_file("clip.mp4", "a <&> clip.mp4");
    free(doppel_prints(0, "compare", "--chart", "c.svg", "a <&> clip.mp4", "whole.mp4"));
    char *svg = read_file("c.svg", &size);
    assert_has(svg, "What two videos share");
    assert_has(svg, "a &lt;&amp;&gt; clip.mp4");
    assert_has(svg, "class=\"segment\"");
    assert_has(svg, "class=\"met\" d=\"M");
    assert_has(svg, ", mirrored");
    assert_lacks(svg, "<image");
    assert_lacks(svg, "nan");
    free(svg);
    free(doppel_prints(0, "compare", "--chart", "d.svg", "--thumbnails", "clip.mp4", "whole.mp4"));
    svg = read_file("d.svg", &size);
    assert_has(svg, "href=\"data:image/jpeg;base64,/9j/");
    free(svg);
}

static void refined_ends_are_those_of_frames(void **state)
{
    (void)state;
    keep_video("whole.mp4", (struct video_how){.view.seed = 17, .seconds = 24, .rate = 20});
    keep_video("clip.mp4",
               (struct video_how){.view = {.seed = 17, .from = 8.35}, .seconds = 7.7, .rate = 20});
    char *json = doppel_prints(0, "compare", "--json", "--refine", "clip.mp4", "whole.mp4");
    assert_number(json, "a_start", 0, .11);
    assert_number(json, "a_end", 7.7, .16);
    assert_number(json, "b_start", 8.35, .11);
    assert_number(json, "b_end", 16.05, .16);
    free(json);
    free(doppel_prints(0, "add", "whole.mp4"));
    json = doppel_prints(0, "find", "--json", "--refine", "clip.mp4");
    assert_number(json, "b_start", 8.35, .11);
    free(json);
}

/* ---- a picture in a picture ---- */

/* Behind it stands a wall of another seed, which does not move. */
static void draw_inset(const struct video_view *view, double seconds, uint32_t width,
                       uint32_t height, uint8_t *out)
{
    const struct video_view wall = {.seed = view->seed + 900};
    const uint32_t wide = width / 2, high = height / 2, left = width / 8, top = height / 4;
    uint8_t *inset = malloc((size_t)wide * high);
    assert_non_null(inset);
    video_draw(&wall, 0, width, height, out);
    video_draw(view, seconds, wide, high, inset);
    for (uint32_t y = 0; y < high; y++)
        memcpy(out + (size_t)(top + y) * width + left, inset + (size_t)y * wide, wide);
    free(inset);
}

static void keep_inset(const char *path, uint64_t seed, double seconds)
{
    keep_video(path, (struct video_how){.view.seed = seed,
                                        .draw = draw_inset,
                                        .seconds = seconds,
                                        .width = 320,
                                        .height = 240});
}

/* Whatever is longer, or comes first: what shows more is no copy, and what it shows is none of it.
 */
static void a_picture_in_a_picture_is_not_savable(void **state)
{
    (void)state;
    static const struct {
        const char *inset, *whole;
        double longer;
    } cases[] = {{"a.mp4", "b.mp4", 0}, {"b.mp4", "a.mp4", 0}, {"a.mp4", "b.mp4", 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_folder("both");
        char inset[32], whole[32];
        snprintf(inset, sizeof inset, "both/%s", cases[i].inset);
        snprintf(whole, sizeof whole, "both/%s", cases[i].whole);
        keep_inset(inset, 31, 14 + cases[i].longer);
        keep_video(whole, (struct video_how){.view.seed = 31, .seconds = 14});
        char *json = doppel_prints(0, "scan", "--json", "both");
        assert_int_equal(count_lines(json, "\"savable\":0,"), 1);
        assert_has(json, "\"reason\":\"part\"");
        free(json);
        json = doppel_prints(0, "compare", "--json", inset, whole);
        assert_has(json, "\"relation\":\"contains\"");
        assert_has(json, "\"where\":{\"query\":{\"left\":0.1");
        free(json);
        json = doppel_prints(0, "compare", "--json", whole, inset);
        assert_has(json, "\"relation\":\"contained\"");
        assert_has(json, "\"item\":{\"left\":0.1");
        free(json);
        assert_int_equal(system("rm -r both"), 0);
    }
}

/* Copies of either are copies, of which one is kept. */
static void copies_of_what_is_shown_are_copies(void **state)
{
    (void)state;
    const struct video_how whole = {.view.seed = 32, .seconds = 14};
    struct video_how small = whole;
    small.width = 96;
    small.height = 72;
    make_folder("all");
    keep_video("all/whole.mp4", whole);
    keep_video("all/small.mp4", small);
    keep_inset("all/inset.mp4", 32, 14);
    char *json = doppel_prints(0, "scan", "--json", "all");
    char *groups = groups_as_text(json, "");
    assert_string_equal(groups, "all/small.mp4 near, all/whole.mp4 kept\n");
    free(groups);
    free(json);
}

/* ---- odd ones ---- */

/* Songs of an album show its cover: they are no duplicates. */
static void still_videos_are_the_same_if_they_audio_so(void **state)
{
    (void)state;
    const struct video_how how = {.view = {.seed = 18, .still = true}, .seconds = 12};
    struct video_how small = how;
    small.width = 96;
    small.height = 72;
    make_folder("album");
    keep_video_and_audio("album/one.mp4", how, audio_music(12, 6));
    keep_video_and_audio("album/two.mp4", how, audio_music(12, 7));
    keep_video_and_audio("album/two-again.mp4", small, audio_music(12, 7));
    char *json = doppel_prints(0, "scan", "--json", "album");
    char *groups = groups_as_text(json, "");
    assert_string_equal(groups, "album/two-again.mp4 near, album/two.mp4 kept\n");
    free(groups);
    free(json);
    char *table = doppel_prints(0, "compare", "album/one.mp4", "album/two.mp4");
    assert_has(table, "same picture, time uncertain, other audio");
    free(table);
}

static void black_videos_have_nothing_to_be_told_by(void **state)
{
    (void)state;
    const struct video_view nothing = {.seed = 1, .top = 2}; /* all of it lies below */
    keep_video("black.mp4", (struct video_how){.view = nothing, .seconds = 6});
    keep_video("film.mp4", (struct video_how){.view.seed = 19, .seconds = 8});
    struct ran ran = doppel("compare", "--json", "black.mp4", "film.mp4");
    assert_code(&ran, 1);
    assert_has(ran.out, "\"match\":false");
    assert_has(ran.out, "\"reason\":\"a has nothing to tell it by: ");
    ran_free(&ran);
}

static void a_video_may_be_piped_in(void **state)
{
    (void)state;
    size_t size;
    make_whole_and_clip();
    free(doppel_prints(0, "add", "whole.mp4"));
    char *bytes = read_file("clip.mp4", &size);
    const struct setting piped = {.input = bytes, .input_size = size};
    struct ran ran = doppel_with(&piped, "find", "--json", "--refine", "-");
    assert_code(&ran, 0);
    assert_has(ran.out, "/whole.mp4\"");
    ran_free(&ran);
    free(bytes);
}

static void near_misses_say_what_they_lack(void **state)
{
    (void)state;
    keep_video("a.mp4", (struct video_how){.view.seed = 20, .seconds = 12});
    free(doppel_prints(0, "add", "a.mp4"));
    keep_video("moment.mp4", (struct video_how){.view = {.seed = 20, .from = 6}, .seconds = 3});
    struct ran ran =
        doppel("find", "--json", "--near-misses", "1", "--max-fp-rate", "1e-200", "moment.mp4");
    assert_code(&ran, 1);
    assert_has(ran.out, "\"near_miss\":true");
    assert_has(ran.out, "\"lacks\":\"a rate of false positives of 1e-200 or less");
    ran_free(&ran);
    keep_video("other.mp4", (struct video_how){.view.seed = 91, .seconds = 12});
    ran = doppel("find", "--json", "--near-misses", "1", "other.mp4");
    assert_code(&ran, 1);
    assert_has(ran.out, "\"near_miss\":true");
    assert_true(number_of(ran.out, "false_positive_rate") <= 1); /* it is a share */
    ran_free(&ran);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(compare_draws_two_videos),
        IN_SANDBOX(refined_ends_are_those_of_frames),
        IN_SANDBOX(a_picture_in_a_picture_is_not_savable),
        IN_SANDBOX(copies_of_what_is_shown_are_copies),
        IN_SANDBOX(still_videos_are_the_same_if_they_audio_so),
        IN_SANDBOX(black_videos_have_nothing_to_be_told_by),
        IN_SANDBOX(a_video_may_be_piped_in),
        IN_SANDBOX(near_misses_say_what_they_lack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
