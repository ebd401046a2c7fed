/* Parts of pictures in videos: what add --scheme local, find --parts and scan --parts say of them.
 */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collection.h"
#include "videos.h"

enum { WIDTH = 480, HEIGHT = 360, SECONDS = 9, SHOT = 3 };

/* Pictures in turn, SHOT seconds each. Drawn once each: that takes its time. */
static void draw_shots(const struct video_view *view, double seconds, uint32_t width,
                       uint32_t height, uint8_t *out)
{
    static const unsigned detailed[] = {0, 2, 4, 6, 7, 9};
    static uint8_t drawn[(size_t)WIDTH * HEIGHT];
    static uint64_t last = UINT64_MAX;
    const uint64_t shot = view->still ? 0 : (uint64_t)((view->from + seconds) / SHOT);
    const uint64_t number = view->seed * 100 + shot;
    assert_true(width == WIDTH && height == HEIGHT);
    if (number != last) {
        struct image image =
            draw_image(detailed[(shot + 3 * view->seed) % 6], (uint32_t)number, WIDTH, HEIGHT);
        for (size_t i = 0; i < sizeof drawn; i++)
            drawn[i] = (uint8_t)((image.pixels[3 * i] + 2 * image.pixels[3 * i + 1] +
                                  image.pixels[3 * i + 2]) /
                                 4);
        image_free(&image);
        last = number;
    }
    memcpy(out, drawn, sizeof drawn);
}

static void keep_large_video(const char *path, uint64_t seed, double from, double seconds)
{
    keep_video(path, (struct video_how){.view = {.seed = seed, .from = from},
                                        .draw = draw_shots,
                                        .seconds = seconds,
                                        .width = WIDTH,
                                        .height = HEIGHT,
                                        .quality = 2});
}

/* One picture all the time, with a recording. */
static void keep_cover(const char *path, struct recording recording)
{
    keep_video_and_audio(path,
                         (struct video_how){.view = {.seed = 3, .still = true},
                                            .draw = draw_shots,
                                            .seconds = SECONDS,
                                            .width = WIDTH,
                                            .height = HEIGHT},
                         recording);
}

/* The left half of what is shown at a time. */
static void keep_half(const char *path, uint64_t seed, double seconds)
{
    const struct video_view view = {.seed = seed};
    struct image image = {WIDTH / 2, HEIGHT, malloc((size_t)3 * WIDTH / 2 * HEIGHT)};
    uint8_t *luma = malloc((size_t)WIDTH * HEIGHT);
    assert_true(image.pixels && luma);
    draw_shots(&view, seconds, WIDTH, HEIGHT, luma);
    for (size_t i = 0; i < (size_t)WIDTH / 2 * HEIGHT; i++)
        memset(image.pixels + 3 * i, luma[i / (WIDTH / 2) * WIDTH + i % (WIDTH / 2)], 3);
    free(luma);
    keep_image(path, image, 90);
}

static void make_library(void)
{
    assert_int_equal(mkdir("videos", 0777), 0);
    keep_large_video("videos/a.mp4", 1, 0, SECONDS);
    keep_large_video("videos/b.mp4", 2, 0, SECONDS);
    free(doppel_prints(0, "add", "-L", "L", "--scheme", "local", "videos"));
}

static void still_is_found_where_and_when(void **state)
{
    (void)state;
    make_library();
    keep_half("half.jpg", 1, 7.5);
    keep_half("other.jpg", 3, 7.5);
    char *json = doppel_prints(0, "find", "-L", "L", "--parts", "--json", "half.jpg");
    assert_has(json, "\"path\":\"");
    assert_has(json, "a.mp4\",\"kind\":\"video\",\"scheme\":\"frames128\"");
    assert_lacks(json, "b.mp4");
    assert_has(json, "\"where\":{\"query\":{\"left\":");
    assert_true(number_of(json, "query_coverage") > .8);
    assert_true(number_of(json, "item_coverage") < .3);
    assert_true(number_of(json, "b_start") <= 7.5);
    assert_true(number_of(json, "b_end") >= 7.5);
    free(json);
    char *table = doppel_prints(0, "find", "-L", "L", "--parts", "half.jpg");
    assert_has(table, "a.mp4");
    free(table);
    free(doppel_prints(1, "find", "-L", "L", "--parts", "other.jpg"));
    json = doppel_prints(0, "check", "-L", "L", "--json", "half.jpg");
    assert_has(json, "\"decision\":\"part\"");
    free(json);
}

static void clip_is_found_at_its_time(void **state)
{
    (void)state;
    make_library();
    keep_large_video("clip.mp4", 2, 4, 5);
    char *json = doppel_prints(0, "find", "-L", "L", "--parts", "--json", "clip.mp4");
    assert_has(json, "b.mp4\",\"kind\":\"video\",\"scheme\":\"frames128\"");
    const double off = number_of(json, "b_start") - number_of(json, "a_start");
    assert_true(off > 2 && off < 6);
    assert_true(number_of(json, "query_coverage") > .8);
    free(json);
}

static void videos_of_a_library_are_kept(void **state)
{
    (void)state;
    make_library();
    keep_half("half.jpg", 1, 7.5);
    free(doppel_prints(0, "export", "-L", "L", "-o", "all.jsonl"));
    free(doppel_prints(0, "import", "-L", "M", "all.jsonl"));
    free(doppel_prints(0, "find", "-L", "M", "--parts", "half.jpg"));
    assert_int_equal(system("rm -rf L/parts"), 0);
    free(doppel_prints(0, "verify", "-L", "L", "--repair"));
    free(doppel_prints(0, "find", "-L", "L", "--parts", "half.jpg"));
    free(doppel_prints(0, "remove", "-L", "L", "videos/a.mp4"));
    free(doppel_prints(1, "find", "-L", "L", "--parts", "half.jpg"));
    char *json = doppel_prints(0, "list", "-L", "L", "--json");
    assert_has(json, "\"duration\":9");
    free(json);
}

static void scan_groups_stills_with_their_video(void **state)
{
    (void)state;
    assert_int_equal(mkdir("mixed", 0777), 0);
    keep_large_video("mixed/a.mp4", 1, 0, SECONDS);
    keep_large_video("mixed/b.mp4", 2, 0, SECONDS);
    keep_half("mixed/half.jpg", 1, 7.5);
    keep_half("mixed/other.jpg", 3, 7.5);
    char *json = doppel_prints(0, "scan", "--parts", "--json", "mixed");
    assert_has(json, "{\"group\":1,\"kind\":\"video\",\"keep\":\"mixed/a.mp4\"");
    assert_has(json, "\"path\":\"mixed/half.jpg\"");
    assert_has(json, "\"reason\":\"part\"");
    assert_has(json, "\"segments\":[{\"a_start\"");
    assert_lacks(json, "b.mp4");
    assert_lacks(json, "other.jpg");
    char *again = doppel_prints(0, "scan", "--parts", "--json", "--jobs", "3", "mixed");
    assert_string_equal(json, again);
    free(again);
    free(doppel_prints(0, "add", "-L", "L", "--scheme", "local", "mixed"));
    char *groups = doppel_prints(0, "groups", "-L", "L", "--json");
    assert_has(groups, "\"kind\":\"video\"");
    assert_has(groups, "half.jpg");
    free(groups);
    free(json);
}

/* What frames, bytes and audio say of videos stays as it is; a video is in one group. */
static void parts_come_on_top_of_what_scan_finds(void **state)
{
    (void)state;
    assert_int_equal(mkdir("mixed", 0777), 0);
    keep_large_video("mixed/a.mp4", 1, 0, SECONDS);
    keep_large_video("mixed/a-other.mkv", 1, 0, SECONDS);
    copy_file("mixed/a.mp4", "mixed/a-copy.mp4");
    keep_large_video("mixed/a-clip.mp4", 1, 2, 5);
    keep_cover("mixed/song.mp4", audio_music(SECONDS, 1));
    keep_cover("mixed/speech.mp4", audio_speech(SECONDS, 2));
    keep_half("mixed/half.jpg", 1, 7.5);
    char *json = doppel_prints(0, "scan", "--json", "mixed");
    char *groups = groups_as_text(json, "");
    assert_string_equal(groups, "mixed/a-clip.mp4 part, mixed/a-copy.mp4 same-content, "
                                "mixed/a-other.mkv kept, mixed/a.mp4 same-content\n");
    free(groups);
    free(json);
    json = doppel_prints(0, "scan", "--parts", "--json", "mixed");
    groups = groups_as_text(json, "");
    assert_string_equal(groups,
                        "mixed/a-clip.mp4 part, mixed/a-copy.mp4 same-content, "
                        "mixed/a-other.mkv kept, mixed/a.mp4 same-content, mixed/half.jpg part\n"
                        "mixed/song.mp4 kept, mixed/speech.mp4 part\n");
    assert_int_equal(count_lines(json, "\"scheme\":\"frames64\""), 1);
    assert_int_equal(count_lines(json, "\"savable\":0"), 1);
    free(groups);
    free(json);
    free(doppel_prints(0, "scan", "--scheme", "local", "--save", "saved", "mixed"));
    size_t size;
    char *saved = read_file("saved", &size);
    assert_has(saved, "\"files\":{\"text\":0,\"image\":1,\"audio\":0,\"video\":6}");
    free(saved);
    json = doppel_prints(0, "scan", "--parts", "--kind", "video", "--json", "mixed");
    assert_lacks(json, "half.jpg");
    free(json);
}

static void videos_are_compared_by_parts(void **state)
{
    (void)state;
    keep_large_video("a.mp4", 1, 0, SECONDS);
    keep_half("half.jpg", 1, 7.5);
    keep_half("other.jpg", 3, 7.5);
    char *json = doppel_prints(0, "compare", "--scheme", "local", "--json", "half.jpg", "a.mp4");
    assert_has(json, "\"match\":true");
    assert_has(json, "\"segments\":");
    free(json);
    free(doppel_prints(1, "compare", "--scheme", "local", "other.jpg", "a.mp4"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(still_is_found_where_and_when),
        IN_SANDBOX(clip_is_found_at_its_time),
        IN_SANDBOX(videos_of_a_library_are_kept),
        IN_SANDBOX(scan_groups_stills_with_their_video),
        IN_SANDBOX(parts_come_on_top_of_what_scan_finds),
        IN_SANDBOX(videos_are_compared_by_parts),
    };
    return cmocka_run_group_tests_name("video parts", tests, NULL, NULL);
}
