/* `doppel scan` finds the groups of a drawn collection, and says so in every form. */
#include "command.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collection.h"

static void assert_groups(const char *json, const char *wanted)
{
    char *text = groups_as_text(json, "");
    assert_string_equal(text, wanted);
    free(text);
}

static void finds_the_groups(void **state)
{
    (void)state;
    make_collection();
    char *json = doppel_prints(0, "scan", "--json", "pics");
    assert_groups(json, COLLECTION_GROUPS);
    free(json);
}

/* The line of a group that holds `member` also holds `what`. */
static void assert_line_has(const char *json_lines, const char *member, const char *what)
{
    for (const char *line = json_lines, *end; (end = strchr(line, '\n')); line = end + 1)
        if (memmem(line, (size_t)(end - line), member, strlen(member))) {
            if (!memmem(line, (size_t)(end - line), what, strlen(what)))
                fail_msg("no %s in %.*s", what, (int)(end - line), line);
            return;
        }
    fail_msg("no group with %s", member);
}

static void says_how_a_member_differs(void **state)
{
    (void)state;
    make_collection();
    char *json = doppel_prints(0, "scan", "--json", "pics");
    assert_line_has(json, "pics/tree-mirrored.jpg", "\"mirrored\":true");
    assert_line_has(json, "pics/marble-turned.jpg", "\"rotated\":");
    assert_line_has(json, "pics/sub/planet-cropped.jpg", "\"cropped\":true");
    assert_line_has(json, "pics/city-framed.jpg", "\"trimmed\":true");
    assert_int_equal(count_lines(json, "\"mirrored\":true"), 1);
    assert_int_equal(count_lines(json, "\"rotated\":"), 1);
    free(json);
}

static void prints_csv(void **state)
{
    (void)state;
    make_collection();
    char *csv = doppel_prints(0, "scan", "--format", "csv", "pics");
    assert_int_equal(count_lines(csv, ""), 1 + 14); /* a head, and a line a member */
    assert_int_equal(count_lines(csv, "pics/clock"), 3);
    assert_int_equal(count_lines(csv, ",identical,"), 2);
    free(csv);
}

static void prints_a_table(void **state)
{
    (void)state;
    make_collection();
    char *table = doppel_prints(0, "scan", "pics");
    assert_has(table, "pics/tree-mirrored.jpg");
    assert_lacks(table, "pics/sea.jpg");
    assert_lacks(table, "\033"); /* no colour: this is no terminal */
    free(table);
}

static size_t count_words(const char *text, const char *word)
{
    size_t found = 0;
    for (; (text = strstr(text, word)); text += strlen(word))
        found++;
    return found;
}

/* Two copies of what is less than identical to the kept one are told as such, and counted as
 * '--action hardlink' counts them. */
static void tells_copies_of_near_doubles(void **state)
{
    (void)state;
    struct stat small;
    char freed[64];
    make_collection();
    copy_file("pics/mountains-small.jpg", "pics/sub/small-again.jpg");
    assert_int_equal(stat("pics/mountains-small.jpg", &small), 0);
    char *json = doppel_prints(0, "scan", "--json", "--exclude", "clock*", "pics");
    assert_int_equal(count_lines(json, "\"identical_to\":"), 1);
    assert_has(json, "\"identical_to\":\"pics/mountains-small.jpg\"");
    free(json);
    char *text = doppel_prints(0, "scan", "--exclude", "clock*", "pics");
    assert_has(text, "identical to one above  pics/sub/small-again.jpg\n");
    double kilobytes = (double)small.st_size / 1000;
    snprintf(freed, sizeof freed, kilobytes < 9.95 ? "%.1f kB" : "%.0f kB", kilobytes);
    assert_has(text, " of it in identical files\n");
    assert_has(strstr(text, " could be saved, "), freed);
    free(text);
    struct ran ran = doppel("scan", "--action", "hardlink", "--exclude", "clock*", "pics");
    assert_has(ran.err, "1 file would be hardlinked");
    assert_has(ran.err, freed);
    ran_free(&ran);
}

/* -0 gives bare paths, for xargs: of the members that are not kept, each ended by NUL. */
static void prints_bare_paths(void **state)
{
    (void)state;
    make_collection();
    char *json = doppel_prints(0, "scan", "--json", "pics");
    size_t expected = count_words(json, "\"reason\":") - count_words(json, "\"kept\"");
    struct ran ran = doppel("scan", "-0", "pics");
    assert_code(&ran, 0);
    size_t paths = 0;
    for (size_t at = 0; at < ran.out_size; at += strlen(ran.out + at) + 1, paths++) {
        char kept[300];
        snprintf(kept, sizeof kept, "\"keep\":\"%s\"", ran.out + at);
        assert_int_equal(access(ran.out + at, R_OK), 0);
        assert_lacks(json, kept);
    }
    assert_true(expected > 0);
    assert_int_equal(paths, expected);
    assert_null(memchr(ran.out, '\n', ran.out_size));
    ran_free(&ran);
    free(json);
}

/* A reference is always kept, also where another one is the kept one of the group. */
static void bare_paths_spare_references(void **state)
{
    (void)state;
    make_folder("pics");
    make_folder("old");
    keep_drawing("pics/a.jpg", 0, 1);
    keep_drawing("old/a.jpg", 0, 1);
    keep_drawing("old/b.jpg", 0, 1);
    struct ran ran = doppel("scan", "-0", "pics", "--reference", "old");
    assert_code(&ran, 0);
    assert_int_equal(ran.out_size, sizeof "pics/a.jpg");
    assert_string_equal(ran.out, "pics/a.jpg");
    ran_free(&ran);
}

/* Within few descriptors it works with few files at a time; with too few it says so, once. */
static void lives_with_few_descriptors(void **state)
{
    (void)state;
    struct setting shell = {.program = "/bin/sh"};
    char path[300] = "pics";
    for (int depth = 0; depth < 12; depth++) {
        make_folder(path);
        strcat(path, "/a");
        keep_drawing(path, 0, (uint32_t)depth);
        strcat(path, "b");
    }
    struct ran ran = doppel_with(&shell, "-c", "ulimit -n 20; exec " DOPPEL_PROGRAM " scan pics");
    assert_code(&ran, 2);
    assert_has(ran.err, "(ulimit -n 64)");
    assert_int_equal(count_lines(ran.err, ""), 1);
    ran_free(&ran);
    ran = doppel_with(&shell, "-c", "ulimit -n 64; exec " DOPPEL_PROGRAM " scan -j40 pics");
    assert_code(&ran, 0);
    assert_string_equal(ran.err, "");
    ran_free(&ran);
}

/* Standard error is this, standard output empty. */
#define assert_says(said, ...)                                                                     \
    do {                                                                                           \
        struct ran ran_ = doppel(__VA_ARGS__);                                                     \
        assert_code(&ran_, 0);                                                                     \
        assert_string_equal(ran_.out, "");                                                         \
        assert_string_equal(ran_.err, said);                                                       \
        ran_free(&ran_);                                                                           \
    } while (0)

static void says_that_there_are_none(void **state)
{
    (void)state;
    make_folder("pics");
    keep_drawing("pics/a.jpg", 0, 1);
    keep_drawing("pics/b.jpg", 5, 1);
    make_folder("empty");
    const struct {
        const char *paths, *said;
    } cases[] = {
        {"pics", "doppel: no duplicates among 2 pictures\n"},
        {"empty", "doppel: nothing to compare: no pictures, texts, recordings or videos\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_says(cases[i].said, "scan", cases[i].paths);
        assert_says(cases[i].said, "scan", "--json", cases[i].paths);
        assert_says("", "scan", "-q", cases[i].paths);
    }
    assert_says(cases[1].said, "scan", "--action", "trash", "empty");
    assert_says("doppel: nothing to compare: no pictures, texts, recordings or videos; 2 files are "
                "left out by '--ext', '--min-size'\n",
                "scan", "--ext", "png", "--min-size", "1", "pics");
    assert_says("doppel: page.html: 0 groups\n", "report", "pics", "-o", "page.html");
    assert_says("", "report", "-q", "pics", "-o", "page.html");
}

/* With groups, the total on standard output says all. */
static void is_quiet_with_duplicates(void **state)
{
    (void)state;
    make_folder("pics");
    keep_drawing("pics/a.jpg", 0, 1);
    keep_drawing("pics/b.jpg", 0, 1);
    write_file("pics/c.txt", "words", 5);
    struct ran ran = doppel("scan", "pics");
    assert_code(&ran, 0);
    assert_has(ran.out, "1 duplicate in 1 group");
    assert_string_equal(ran.err, "");
    ran_free(&ran);
}

static void same_output_for_any_jobs(void **state)
{
    (void)state;
    make_collection();
    char *one = doppel_prints(0, "scan", "--json", "--no-cache", "--jobs", "1", "pics");
    char *two = doppel_prints(0, "scan", "--json", "--no-cache", "--jobs", "2", "pics");
    char *four = doppel_prints(0, "scan", "--json", "--no-cache", "-j4", "pics");
    assert_string_equal(one, two);
    assert_string_equal(one, four);
    free(one);
    free(two);
    free(four);
}

static void reference_is_only_compared_against(void **state)
{
    (void)state;
    make_folder("new");
    make_folder("archive");
    keep_drawing("archive/a.jpg", 0, 1);
    copy_file("archive/a.jpg", "archive/a-again.jpg");
    keep_drawing("archive/b.jpg", 5, 1);
    keep_image("new/b.jpg", draw_image(5, 1, 320, 240), 60);
    keep_drawing("new/c.jpg", 7, 1);
    char *json = doppel_prints(0, "scan", "--json", "new", "--reference", "archive");
    assert_groups(json, "archive/b.jpg kept, new/b.jpg near\n");
    free(json);
}

/* What lies in the reference is kept, also when the other is the better copy. */
static void reference_is_kept(void **state)
{
    (void)state;
    make_folder("new");
    make_folder("archive");
    keep_drawing("new/a.jpg", 0, 1);
    keep_image("archive/a.jpg", draw_image(0, 1, 320, 240), 60);
    char *json = doppel_prints(0, "scan", "--json", "new", "--reference", "archive");
    assert_groups(json, "archive/a.jpg kept, new/a.jpg near\n");
    free(json);
}

static void across_wants_more_than_one_path(void **state)
{
    (void)state;
    make_folder("one");
    make_folder("two");
    keep_drawing("one/a.jpg", 0, 1);
    copy_file("one/a.jpg", "one/a-again.jpg");
    keep_drawing("one/b.jpg", 5, 1);
    keep_image("two/b.jpg", draw_image(5, 1, 320, 240), 60);
    char *json = doppel_prints(0, "scan", "--json", "--cross-folder", "one", "two");
    assert_groups(json, "one/b.jpg kept, two/b.jpg near\n");
    free(json);
    struct ran ran = doppel("scan", "--cross-folder", "one");
    assert_code(&ran, 2);
    assert_has(ran.err, "'--cross-folder' wants two PATHs");
    ran_free(&ran);
}

static void limits_can_be_set(void **state)
{
    (void)state;
    make_collection();
    char *json = doppel_prints(0, "scan", "--json", "--min-similarity", "0.999", "pics");
    assert_has(json, "pics/clock-again.png");
    assert_lacks(json, "pics/sub/planet-cropped.jpg");
    free(json);
    json = doppel_prints(0, "scan", "--json", "--max-distance", "0", "pics");
    assert_has(json, "pics/clock-again.png");
    assert_lacks(json, "pics/sea.jpg");
    free(json);
    json = doppel_prints(0, "scan", "--json", "--views", "full", "--no-orientations", "pics");
    assert_lacks(json, "pics/tree-mirrored.jpg");
    assert_lacks(json, "pics/city-framed.jpg");
    assert_has(json, "pics/mountains-small.jpg");
    free(json);
    json = doppel_prints(0, "scan", "--json", "--check", "pixels", "pics");
    assert_groups(json, COLLECTION_GROUPS);
    free(json);
}

static void other_schemes_work(void **state)
{
    (void)state;
    make_collection();
    const char *const schemes[] = {"phash256", "imagehash", "pdq"};
    for (size_t i = 0; i < 3; i++) {
        char *json = doppel_prints(0, "scan", "--json", "--scheme", schemes[i], "pics");
        assert_has(json, "pics/clock-again.png");
        assert_has(json, "pics/mountains-small.jpg");
        assert_lacks(json, "pics/sea.jpg");
        free(json);
    }
}

/* Flat and two-tone pictures are the same as many others by hash alone. */
static void flat_images_match_nothing(void **state)
{
    (void)state;
    make_folder("pics");
    for (int i = 0; i < 6; i++) {
        char path[32];
        snprintf(path, sizeof path, "pics/%d.png", i);
        struct image flat = draw_image(0, 1, 200, 150);
        for (size_t at = 0; at < 200 * 150 * 3; at++)
            flat.pixels[at] = (uint8_t)(at / 3 % 200 < 100 || i < 3 ? 40 * i : 250 - 20 * i);
        keep_image(path, flat, 0);
    }
    struct ran ran = doppel("scan", "--json", "pics");
    assert_code(&ran, 0);
    assert_string_equal(ran.out, "");
    ran_free(&ran);
}

static void hard_links_are_one_file(void **state)
{
    (void)state;
    make_folder("pics");
    keep_drawing("pics/a.jpg", 0, 1);
    assert_int_equal(link("pics/a.jpg", "pics/b.jpg"), 0);
    char *json = doppel_prints(0, "scan", "--json", "pics");
    assert_string_equal(json, "");
    free(json);
}

static void paths_can_come_from_a_list(void **state)
{
    (void)state;
    make_collection();
    const struct setting list = {.input = "pics/tree.jpg\npics/tree-mirrored.jpg\npics/sea.jpg\n"};
    struct ran ran = doppel_with(&list, "scan", "--json", "--files-from", "-");
    assert_code(&ran, 0);
    assert_groups(ran.out, "pics/tree-mirrored.jpg near, pics/tree.jpg kept\n");
    ran_free(&ran);
    const struct setting nul = {.input = "pics/tree.jpg\0pics/tree-mirrored.jpg", .input_size = 36};
    ran = doppel_with(&nul, "scan", "--format", "json", "-0", "--files-from", "-");
    assert_code(&ran, 0);
    assert_groups(ran.out, "pics/tree-mirrored.jpg near, pics/tree.jpg kept\n");
    ran_free(&ran);
    ran = doppel("scan", "--files-from", "pics"); /* a folder is no list, nor an empty one */
    assert_code(&ran, 2);
    assert_true(reported(ran.err, "pics"));
    ran_free(&ran);
}

static void strictness_is_a_preset(void **state)
{
    (void)state;
    make_collection();
    const char *const presets[] = {"exact", "strict", "normal", "loose"};
    unsigned before = 0;
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
        char *json = doppel_prints(0, "scan", "--json", "--strictness", presets[i], "pics");
        unsigned members = (unsigned)count_words(json, "\"reason\"");
        assert_true(members >= before);
        before = members;
        if (i == 2)
            assert_groups(json, COLLECTION_GROUPS);
        free(json);
    }
    char *strict = doppel_prints(0, "scan", "--json", "--strictness", "strict", "pics");
    char *same = doppel_prints(0, "scan", "--json", "--min-similarity", "0.9", "pics");
    assert_string_equal(strict, same);
    free(strict);
    free(same);
}

/* Who looks for copies of such pictures is told that most are not found. */
static void pictures_without_structure_are_counted(void **state)
{
    (void)state;
    struct image flat = {200, 150, calloc(200 * 150, 3)};
    assert_non_null(flat.pixels);
    keep_image("flat.png", flat, 90);
    keep_drawing("detailed.jpg", 0, 1);
    struct ran ran = doppel("scan", ".");
    assert_code(&ran, 0);
    assert_has(ran.err, "1 picture has too little structure to be distinguished");
    ran_free(&ran);
    ran = doppel("add", "-L", "library", "flat.png");
    assert_has(ran.err, "1 picture has too little structure");
    ran_free(&ran);
    keep_image("other.png", (struct image){240, 160, calloc(240 * 160, 3)}, 90);
    ran = doppel("find", "-L", "library", "--json", "other.png");
    assert_string_equal(ran.out, "{\"query\":\"other.png\",\"match\":false,"
                                 "\"reason\":\"has too little structure to be told by\"}\n");
    ran_free(&ran);
    ran = doppel("find", "-L", "library", "detailed.jpg");
    assert_lacks(ran.err, "too little structure");
    ran_free(&ran);
}

/* Discs before a slope, as the sun over a lake: quality 3 to 39. */
static struct image draw_sunset(int centre)
{
    enum { WIDTH = 320, HEIGHT = 240, RADIUS = 50 };
    struct image image = {WIDTH, HEIGHT, malloc(WIDTH * HEIGHT * 3)};
    assert_non_null(image.pixels);
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        const int x = i % WIDTH - centre, y = i / WIDTH - 100;
        const bool sun = x * x + y * y < RADIUS * RADIUS;
        const int ripple = (i % WIDTH / 8 * 7 + i / WIDTH / 8 * 13) % 23 / 8;
        memset(image.pixels + 3 * (size_t)i, sun ? 220 : 30 + i / WIDTH / 3 + ripple, 3);
    }
    return image;
}

static void copies_without_structure_are_found_in_libraries(void **state)
{
    (void)state;
    keep_image("sunset.jpg", draw_sunset(110), 90);
    keep_image("copy.jpg", draw_sunset(110), 60);
    keep_image("another.jpg", draw_sunset(220), 90);
    char *hashed = doppel_prints(0, "hash", "--json", "sunset.jpg");
    const char *quality = strstr(hashed, "\"quality\":");
    assert_non_null(quality);
    assert_in_range(strtol(quality + strlen("\"quality\":"), NULL, 10), 3, 39);
    free(hashed);
    free(doppel_prints(0, "add", "-L", "library", "sunset.jpg"));
    char *found = doppel_prints(0, "find", "-L", "library", "--json", "copy.jpg");
    assert_has(found, "sunset.jpg\"");
    free(found);
    free(doppel_prints(1, "find", "-L", "library", "another.jpg"));
    char *checked = doppel_prints(0, "check", "-L", "library", "--json", "copy.jpg");
    assert_has(checked, "\"decision\":\"duplicate\"");
    free(checked);
    free(doppel_prints(0, "add", "-L", "library", "copy.jpg", "another.jpg"));
    char *groups = doppel_prints(0, "groups", "-L", "library", "--json");
    assert_int_equal(count_words(groups, "\"reason\":\"near\""), 1);
    free(groups);
}

static void images_below_the_threshold_are_told_on_request(void **state)
{
    (void)state;
    keep_drawing("one.jpg", 0, 1);
    keep_drawing("other.jpg", 1, 1);
    free(doppel_prints(0, "add", "-L", "library", "one.jpg", "other.jpg"));
    keep_image("query.jpg", draw_image(0, 1, DRAWN_WIDTH, DRAWN_HEIGHT), 40);
    char *plain = doppel_prints(0, "find", "-L", "library", "--json", "query.jpg");
    assert_lacks(plain, "near_miss");
    free(plain);
    char *near = doppel_prints(1, "find", "-L", "library", "--json", "--near-misses", "2",
                               "--max-fp-rate", "1e-200", "query.jpg");
    assert_has(near, "\"near_miss\":true");
    assert_has(near, "\"lacks\":\"a rate of false positives of 1e-200 or less");
    free(near);
}

/* What no rate lets match is a pair below the groups, also when its pixels were compared before. */
static void near_misses_of_a_scan_stand_below_the_groups(void **state)
{
    (void)state;
    make_folder("p");
    keep_drawing("p/one.jpg", 0, 1);
    keep_image("p/like.jpg", draw_image(0, 1, DRAWN_WIDTH, DRAWN_HEIGHT), 40);
    copy_file("p/one.jpg", "p/same.jpg");
    for (int i = 0; i < 2; i++) {
        char *json = doppel_prints(0, "scan", "--json", "--near-misses", "2", "--max-fp-rate",
                                   "1e-200", "p");
        assert_int_equal(count_words(json, "\"near_miss\":true"), 1);
        assert_has(json, "\n{\"near_miss\":true,\"path\":\"p/like.jpg\",\"of_path\":\"p/one.jpg\","
                         "\"kind\":\"image\"");
        assert_int_equal(count_words(json, "\"group\":"), 1);
        free(json);
        json = doppel_prints(0, "scan", "--json", "--near-misses", "2", "p");
        assert_lacks(json, "near_miss"); /* they match */
        free(json);
    }
    char *table = doppel_prints(0, "scan", "--near-misses", "2", "--max-fp-rate", "1e-200", "p");
    assert_has(table, "Below the threshold");
    free(table);
    static const char *const refused[][2] = {{"--format", "csv"}, {"-0", NULL}, {"--kind", "text"}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        free(doppel_prints(2, "scan", "--near-misses", "2", "p", refused[i][0], refused[i][1]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(pictures_without_structure_are_counted),
        IN_SANDBOX(copies_without_structure_are_found_in_libraries),
        IN_SANDBOX(images_below_the_threshold_are_told_on_request),
        IN_SANDBOX(near_misses_of_a_scan_stand_below_the_groups),
        IN_SANDBOX(finds_the_groups),
        IN_SANDBOX(says_how_a_member_differs),
        IN_SANDBOX(prints_csv),
        IN_SANDBOX(prints_a_table),
        IN_SANDBOX(tells_copies_of_near_doubles),
        IN_SANDBOX(prints_bare_paths),
        IN_SANDBOX(bare_paths_spare_references),
        IN_SANDBOX(lives_with_few_descriptors),
        IN_SANDBOX(says_that_there_are_none),
        IN_SANDBOX(is_quiet_with_duplicates),
        IN_SANDBOX(same_output_for_any_jobs),
        IN_SANDBOX(reference_is_only_compared_against),
        IN_SANDBOX(reference_is_kept),
        IN_SANDBOX(across_wants_more_than_one_path),
        IN_SANDBOX(limits_can_be_set),
        IN_SANDBOX(other_schemes_work),
        IN_SANDBOX(flat_images_match_nothing),
        IN_SANDBOX(hard_links_are_one_file),
        IN_SANDBOX(paths_can_come_from_a_list),
        IN_SANDBOX(strictness_is_a_preset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
