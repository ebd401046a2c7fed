/* `doppel scan`: which files are scanned, and which copy of a group is kept. */
#include "command.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collection.h"

/* The same picture in two folders, twice in one of them. */
static void make_shelves(void)
{
    make_folder("a");
    make_folder("b");
    keep_drawing("a/one.jpg", 0, 1);
    copy_file("a/one.jpg", "a/two.jpg");
    copy_file("a/one.jpg", "b/three.jpg");
}

#define assert_scans(wanted, ...)                                                                  \
    do {                                                                                           \
        char *json_ = doppel_prints(0, "scan", "-q", "--json", "a", "b", ##__VA_ARGS__);           \
        char *groups_ = groups_as_text(json_, "");                                                 \
        assert_string_equal(groups_, wanted);                                                      \
        free(groups_);                                                                             \
        free(json_);                                                                               \
    } while (0)

static void rules_say_which_copy_is_kept(void **state)
{
    (void)state;
    make_shelves();
    assert_scans("a/one.jpg kept, a/two.jpg identical, b/three.jpg identical\n");
    assert_scans("a/one.jpg kept, b/three.jpg identical\n", "--not-within");
    assert_scans("a/one.jpg identical, a/two.jpg identical, b/three.jpg kept\n", "--keep-from",
                 "b/");
    assert_scans("a/one.jpg identical, b/three.jpg kept\n", "--keep-from", "./b", "--not-within");
    assert_scans("a/one.jpg identical, a/two.jpg identical, b/three.jpg kept\n", "--protect",
                 "thr*.jpg");
    assert_scans("", "--not-within", "--exclude", "three.jpg"); /* one of the folder is no group */
    struct ran ran = doppel("scan", "a", "b", "--keep-from", "nowhere", "--action", "trash");
    assert_code(&ran, 2);
    assert_has(ran.err, "nowhere: is no folder to keep copies from");
    ran_free(&ran);
    /* what is protected stays, though another copy is kept */
    free(doppel_prints(0, "scan", "a", "b", "--protect", "b/*", "--protect", "two.jpg", "--action",
                       "trash", "--yes"));
    assert_int_equal(access("a/one.jpg", F_OK), -1);
    assert_int_equal(access("a/two.jpg", F_OK), 0);
    assert_int_equal(access("b/three.jpg", F_OK), 0);
}

/* However the path of what is protected is written. */
static void what_is_protected_may_be_written_in_many_ways(void **state)
{
    (void)state;
    char whole[4200], here[4096];
    make_shelves();
    assert_non_null(getcwd(here, sizeof here));
    snprintf(whole, sizeof whole, "%s/b/*", here);
    const char *const globs[] = {"b/*", "./b/*", "b", "b/", "three.jpg", "thr*", whole};
    for (size_t i = 0; i < sizeof globs / sizeof *globs; i++) {
        struct ran ran = doppel("scan", "a", "./b", "--protect", globs[i], "--action", "trash");
        assert_code(&ran, 0);
        assert_lacks(ran.err, "protects none");
        assert_lacks(ran.out, "b/three.jpg");
        ran_free(&ran);
    }
    struct ran ran = doppel("scan", "a", "b", "--protect", "c/*");
    assert_code(&ran, 0);
    assert_has(ran.err, "doppel: 'c/*' protects none of these files");
    ran_free(&ran);
}

static void files_are_chosen_by_extension_and_age(void **state)
{
    (void)state;
    make_shelves();
    copy_file("a/one.jpg", "b/four.JPEG");
    const struct timespec old[2] = {{1000000000, 0}, {1000000000, 0}}; /* in 2001 */
    assert_int_equal(utimensat(AT_FDCWD, "a/two.jpg", old, 0), 0);
    assert_scans("a/one.jpg identical, a/two.jpg kept, b/three.jpg identical\n", "--ext", "jpg");
    assert_scans("a/one.jpg identical, a/two.jpg kept, b/four.JPEG identical, "
                 "b/three.jpg identical\n",
                 "--ext", "png,.Jpg", "--ext", "jpeg");
    assert_scans("", "--ext", "png");
    assert_scans("a/one.jpg kept, b/four.JPEG identical, b/three.jpg identical\n", "--newer-than",
                 "7d");
    assert_scans("", "--older-than", "2002-01-01");
    static const char *const no_dates[] = {"soon", "2026-02-30", "2026-13-01"};
    for (size_t i = 0; i < sizeof no_dates / sizeof *no_dates; i++) {
        struct ran ran = doppel("scan", "--newer-than", no_dates[i], "a");
        assert_code(&ran, 2);
        assert_has(ran.err, "'--newer-than' takes a date");
        ran_free(&ran);
    }
}

/* A picture of a dark sky: what is below it may be taken for what a frame is around. */
static struct image draw_sky(void)
{
    enum { WIDTH = 640, HEIGHT = 640, SKY = 176 };
    struct image sky = {WIDTH, HEIGHT, calloc(3 * WIDTH * HEIGHT, 1)};
    struct image below = draw_image(0, 1, WIDTH, HEIGHT - SKY);
    assert_non_null(sky.pixels);
    memcpy(sky.pixels + 3 * WIDTH * SKY, below.pixels, 3 * WIDTH * (HEIGHT - SKY));
    image_free(&below);
    return sky;
}

static void a_dark_sky_is_no_frame(void **state)
{
    (void)state;
    struct image sky = draw_sky();
    make_folder("a");
    make_folder("b");
    keep_image("b/corner.jpg", edit_crop(&sky, 0, 0, 576, 576), 90);
    keep_image("b/mirrored.jpg", edit_mirror(&sky), 80);
    keep_image("a/whole.jpg", sky, 92);
    assert_scans("a/whole.jpg kept, b/corner.jpg part, b/mirrored.jpg near\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(rules_say_which_copy_is_kept),
        IN_SANDBOX(what_is_protected_may_be_written_in_many_ways),
        IN_SANDBOX(files_are_chosen_by_extension_and_age),
        IN_SANDBOX(a_dark_sky_is_no_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
