/* Raw files beside their JPEGs, sidecars, live photos: what belongs together is no duplicate, and
 * goes together. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collection.h"
#include "make.h"

/* A raw file with a JPEG as its preview. */
static void keep_raw(const char *path, const char *jpeg)
{
    struct scene sensor = scene_make(SCENE_SMOOTH, 64, 48);
    struct raw_how how = {.preview_width = DRAWN_WIDTH, .preview_height = DRAWN_HEIGHT};
    how.preview.data = (uint8_t *)read_file(jpeg, &how.preview.size);
    struct file file = make_raw(&sensor, &how);
    write_file(path, file.data, file.size);
    file_free(&file);
    file_free(&how.preview);
    scene_free(&sensor);
}

/* A shot of a camera, with what a program wrote beside it. */
static void keep_shot(const char *folder, uint32_t seed)
{
    char jpeg[64], raw[64], sidecar[64];
    snprintf(jpeg, sizeof jpeg, "%s/P1.JPG", folder);
    snprintf(raw, sizeof raw, "%s/P1.DNG", folder);
    snprintf(sidecar, sizeof sidecar, "%s/P1.xmp", folder);
    make_folder(folder);
    keep_image(jpeg, draw_image(0, seed, DRAWN_WIDTH, DRAWN_HEIGHT), 92);
    keep_raw(raw, jpeg);
    write_file(sidecar, folder, strlen(folder));
}

static void a_raw_file_and_its_jpeg_are_no_duplicates(void **state)
{
    (void)state;
    keep_shot("a", 3);
    char *out = doppel_prints(0, "scan", "--json", "a");
    assert_string_equal(out, "");
    free(out);
    out = doppel_prints(0, "scan", "--json", "--companions", "separate", "a");
    assert_int_equal(count_lines(out, "\"group\""), 1);
    assert_lacks(out, "companion_of");
    free(out);
}

static void a_copy_of_a_shot_is_told_with_both_its_files(void **state)
{
    (void)state;
    keep_shot("a", 3);
    keep_shot("b", 3);
    char *out = doppel_prints(0, "scan", "--json", "a", "b");
    assert_int_equal(count_lines(out, "\"group\""), 1);
    assert_has(out, "\"companion_of\":\"a/P1.DNG\"");
    assert_has(out, "\"companion_of\":\"b/P1.DNG\"");
    free(out);
    out = doppel_prints(0, "scan", "-0", "a", "b"); /* NULs between: the first name is printed */
    assert_string_equal(out, "b/P1.DNG");
    free(out);
}

/* Which files are there: those of a/, then of b/. */
static void assert_there(const char *wanted)
{
    static const char *const paths[] = {"a/P1.DNG", "a/P1.JPG", "a/P1.xmp",
                                        "b/P1.DNG", "b/P1.JPG", "b/P1.xmp"};
    char there[7] = "";
    for (size_t i = 0; i < 6; i++)
        there[i] = access(paths[i], F_OK) ? '-' : '+';
    assert_string_equal(there, wanted);
}

static void a_shot_goes_with_its_sidecar_and_comes_back(void **state)
{
    (void)state;
    keep_shot("a", 3);
    keep_shot("b", 3);
    free(doppel_prints(0, "scan", "a", "b", "--action", "trash", "--yes"));
    assert_there("+++---");
    free(doppel_prints(0, "undo"));
    assert_there("++++++");
}

static void half_a_shot_does_not_go(void **state)
{
    (void)state;
    keep_shot("a", 3);
    keep_shot("b", 3);
    keep_image("b/P1.JPG", draw_image(0, 3, DRAWN_WIDTH, DRAWN_HEIGHT), 60); /* another JPEG */
    free(doppel_prints(0, "scan", "a", "b", "--action", "trash", "--yes"));
    assert_there("++++++");
    free(doppel_prints(0, "scan", "a", "b", "--action", "trash", "--reason", "identical,near",
                       "--yes"));
    assert_there("+++---");
}

/* The video stays with the image that stays, and goes with the one that goes. */
static void the_video_of_a_live_photo_goes_with_it(void **state)
{
    (void)state;
    make_folder("a");
    make_folder("b");
    keep_image("a/L.jpg", draw_image(0, 4, DRAWN_WIDTH, DRAWN_HEIGHT), 92);
    copy_file("a/L.jpg", "b/L.jpg");
    copy_file("a/L.jpg", "b/M.jpg");
    copy_file("a/L.jpg", "b/M.png"); /* another image of that name stays */
    keep_image("b/M.png", draw_image(0, 9, DRAWN_WIDTH, DRAWN_HEIGHT), 92);
    write_file("b/L.MOV", "film", 4);
    write_file("b/M.MOV", "film", 4);
    free(doppel_prints(0, "scan", "a", "b", "--action", "trash", "--kind", "image", "--yes"));
    assert_int_equal(access("b/L.jpg", F_OK), -1);
    assert_int_equal(access("b/L.MOV", F_OK), -1);
    assert_int_equal(access("b/M.jpg", F_OK), -1);
    assert_int_equal(access("b/M.MOV", F_OK), 0);
}

static void links_take_no_sidecars(void **state)
{
    (void)state;
    keep_shot("a", 3);
    keep_shot("b", 3);
    free(doppel_prints(0, "scan", "a", "b", "--action", "hardlink", "--yes"));
    assert_there("++++++");
    size_t size;
    char *sidecar = read_file("b/P1.xmp", &size);
    assert_string_equal(sidecar, "b");
    free(sidecar);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(a_raw_file_and_its_jpeg_are_no_duplicates),
        IN_SANDBOX(a_copy_of_a_shot_is_told_with_both_its_files),
        IN_SANDBOX(a_shot_goes_with_its_sidecar_and_comes_back),
        IN_SANDBOX(half_a_shot_does_not_go),
        IN_SANDBOX(the_video_of_a_live_photo_goes_with_it),
        IN_SANDBOX(links_take_no_sidecars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
