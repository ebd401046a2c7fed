/* Parts of pictures: what scan --parts, add --scheme local and find --parts say. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collection.h"

enum { SUBJECTS = 4, SIDE_W = 640, SIDE_H = 480 };

/* Four pictures side by side, each a quarter of the whole. */
static struct image make_collage(const unsigned subjects[4], uint32_t seed)
{
    struct image out = {SIDE_W, SIDE_H, calloc((size_t)SIDE_W * SIDE_H, 3)};
    assert_non_null(out.pixels);
    for (uint32_t i = 0; i < 4; i++) {
        struct image part = draw_image(subjects[i], seed, SIDE_W / 2, SIDE_H / 2);
        for (uint32_t y = 0; y < part.height; y++)
            memcpy(out.pixels +
                       3 * ((size_t)(i / 2 * part.height + y) * SIDE_W + i % 2 * part.width),
                   part.pixels + 3 * (size_t)y * part.width, 3 * (size_t)part.width);
        image_free(&part);
    }
    return out;
}

/* One picture laid over another at a place. */
static struct image paste(struct image under, struct image over, uint32_t left, uint32_t top)
{
    for (uint32_t y = 0; y < over.height; y++)
        memcpy(under.pixels + 3 * ((size_t)(top + y) * under.width + left),
               over.pixels + 3 * (size_t)y * over.width, 3 * (size_t)over.width);
    image_free(&over);
    return under;
}

/* The pictures of a collection: detailed ones. */
static const unsigned detailed[] = {0, 2, 4, 6, 7, 9};

static void make_originals(void)
{
    char path[64];
    assert_int_equal(mkdir("pics", 0777), 0);
    for (size_t i = 0; i < sizeof detailed / sizeof *detailed; i++) {
        snprintf(path, sizeof path, "pics/%s.jpg", draw_name(detailed[i]));
        keep_image(path, draw_image(detailed[i], 5, SIDE_W, SIDE_H), 90);
    }
}

/* The row of an item. */
static char *row_of(const char *json_lines, const char *name)
{
    const char *at = strstr(json_lines, name);
    if (!at)
        return NULL;
    while (at > json_lines && at[-1] != '\n')
        at--;
    return strndup(at, strcspn(at, "\n"));
}

static unsigned times_in(const char *text, const char *part)
{
    unsigned times = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        times++;
    return times;
}

static void find_says_where(void **state)
{
    (void)state;
    make_originals();
    struct image over = draw_image(detailed[0], 5, SIDE_W / 2, SIDE_H / 2);
    keep_image("overlay.jpg", paste(draw_image(detailed[3], 77, SIDE_W, SIDE_H), over, 64, 48), 88);
    struct ran ran = doppel("find", "-L", "L", "--parts", "overlay.jpg");
    assert_code(&ran, 2); /* there is no library */
    ran_free(&ran);
    free(doppel_prints(0, "add", "-L", "L", "--scheme", "local", "pics"));
    char *json = doppel_prints(0, "find", "-L", "L", "--parts", "--json", "overlay.jpg");
    char *row = row_of(json, draw_name(detailed[0]));
    assert_non_null(row);
    assert_has(row, "\"kind\":\"image\",\"scheme\":\"local\",\"relation\":\"contains\"");
    assert_has(row, "\"verified\":\"alignment\"");
    assert_has(row, "\"where\":{\"query\":{\"left\":");
    assert_true(number_of(row, "query_coverage") > .2);
    assert_true(number_of(row, "query_coverage") < .3);
    assert_true(number_of(row, "item_coverage") > .9);
    assert_true(number_of(row, "left") > .05);
    assert_true(number_of(row, "right") < .65);
    assert_true(number_of(row, "bottom") < .65);
    free(row);
    free(json);
    char *table = doppel_prints(0, "find", "-L", "L", "overlay.jpg");
    assert_has(table, "turned 0");
    assert_lacks(table, "{\"query\"");
    free(table);
    struct image whole = draw_image(detailed[1], 5, SIDE_W, SIDE_H);
    keep_image("half.jpg", edit_crop(&whole, 0, 0, SIDE_W / 2, SIDE_H), 85);
    image_free(&whole);
    table = doppel_prints(0, "find", "-L", "L", "half.jpg");
    assert_has(table, "contained");
    assert_lacks(table, "x 0-100 %"); /* of the whole one, not of the half */
    free(table);
}

/* A library of the originals, and the left half of one of them. */
static void make_library_and_half(void)
{
    make_originals();
    free(doppel_prints(0, "add", "-L", "L", "--scheme", "local", "pics"));
    struct image whole = draw_image(detailed[1], 5, SIDE_W, SIDE_H);
    keep_image("half.jpg", edit_crop(&whole, 0, 0, SIDE_W / 2, SIDE_H), 85);
    image_free(&whole);
}

static void library_of_parts_is_kept(void **state)
{
    (void)state;
    make_library_and_half();
    char *json = doppel_prints(0, "check", "-L", "L", "--json", "half.jpg");
    assert_has(json, "\"contained\"");
    free(json);
    char *path = NULL;
    assert_true(asprintf(&path, "pics/%s.jpg", draw_name(detailed[1])) > 0);
    free(doppel_prints(0, "remove", "-L", "L", path));
    free(doppel_prints(1, "find", "-L", "L", "half.jpg"));
    free(doppel_prints(0, "add", "-L", "L", "--scheme", "local", "pics"));
    free(doppel_prints(0, "find", "-L", "L", "half.jpg"));
    free(doppel_prints(0, "verify", "-L", "L", "--json"));
    free(doppel_prints(0, "export", "-L", "L", "-o", "all.jsonl"));
    free(doppel_prints(0, "import", "-L", "M", "all.jsonl"));
    free(doppel_prints(0, "find", "-L", "M", "half.jpg"));
    free(path);
}

static void lost_index_is_made_again(void **state)
{
    (void)state;
    make_library_and_half();
    assert_int_equal(system("rm -rf L/parts"), 0);
    free(doppel_prints(0, "verify", "-L", "L", "--repair"));
    free(doppel_prints(0, "find", "-L", "L", "half.jpg"));
}

static void scan_finds_parts(void **state)
{
    (void)state;
    static const unsigned of_collage[4] = {0, 2, 4, 6};
    make_originals();
    keep_image("pics/x-collage.jpg", make_collage(of_collage, 5), 88);
    char *plain = doppel_prints(0, "scan", "--json", "pics");
    assert_string_equal(plain, ""); /* as wholes they have nothing in common */
    free(plain);
    char *json = doppel_prints(0, "scan", "--parts", "--json", "pics");
    assert_int_equal(count_lines(json, "x-collage.jpg"), 1); /* one group */
    assert_true(times_in(json, "\"reason\":\"part\"") >= 3);
    assert_has(json, "\"scheme\":\"local\"");
    assert_has(json, "\"where\":");
    assert_has(json, "\"reason\":\"part\"");
    assert_has(json, "\"savable\":0"); /* a part is no copy */
    char *again = doppel_prints(0, "scan", "--parts", "--json", "pics");
    assert_string_equal(json, again);
    char *saved = doppel_prints(0, "scan", "--parts", "--save", "s.doppel-scan", "--json", "pics");
    char *loaded = doppel_prints(0, "scan", "--json", "s.doppel-scan");
    assert_has(loaded, "\"where\":");
    free(saved);
    free(loaded);
    free(again);
    free(json);
}

/* Files with the same bytes are one picture. */
static void same_bytes_are_one_picture(void **state)
{
    (void)state;
    make_originals();
    struct image whole = draw_image(detailed[1], 5, SIDE_W, SIDE_H);
    keep_image("pics/half.jpg", edit_crop(&whole, 0, 0, SIDE_W / 2, SIDE_H), 85);
    image_free(&whole);
    assert_int_equal(system("cp pics/half.jpg pics/zz-half.jpg"), 0);
    char *json = doppel_prints(0, "scan", "--parts", "--json", "pics");
    assert_int_equal(times_in(json, "half.jpg\",\"size\""), 2);
    assert_int_equal(times_in(json, "\"reason\":\"part\""), 2);
    assert_has(json, "\"identical_to\":\"pics/half.jpg\"");
    free(json);
    free(doppel_prints(0, "add", "-L", "L", "--scheme", "local", "pics"));
    char *groups = doppel_prints(0, "groups", "-L", "L", "--json");
    assert_has(groups, "\"where\":");
    assert_int_equal(times_in(groups, "\"identical_to\":"), 1);
    assert_int_equal(count_lines(groups, "half.jpg"), 1);
    free(groups);
    free(doppel_prints(0, "report", "-L", "L", "-o", "r.html"));
}

/* What is a copy as a whole stays in its group, whoever else shows a part of it. */
static void copies_stay_with_their_original(void **state)
{
    (void)state;
    static const unsigned of_collage[4] = {0, 2, 4, 6};
    make_originals();
    keep_image("pics/a-collage.jpg", make_collage(of_collage, 5), 88);
    struct image one = draw_image(0, 5, SIDE_W, SIDE_H);
    keep_image("pics/zz-copy.jpg", edit_mirror(&one), 70);
    image_free(&one);
    char *json = doppel_prints(0, "scan", "--parts", "--json", "pics");
    char *row = row_of(json, "zz-copy.jpg");
    assert_non_null(row);
    assert_has(row, draw_name(0));
    free(row);
    free(json);
}

static void wrong_use_is_told(void **state)
{
    (void)state;
    keep_drawing("a.jpg", 0, 1);
    struct ran ran = doppel("add", "-L", "L", "a.jpg");
    ran_free(&ran);
    ran = doppel("find", "-L", "L", "--parts", "a.jpg");
    assert_code(&ran, 2);
    assert_has(ran.err, "add --scheme local");
    ran_free(&ran);
    static const char *const wrong[][3] = {{"--max-distance", "3", "no distance"},
                                           {"--code", "0123456789abcdef", "no one code"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ran = i ? doppel("find", "-L", "L", "--scheme", "local", wrong[i][0], wrong[i][1])
                : doppel("find", "-L", "L", "--scheme", "local", wrong[i][0], wrong[i][1], "a.jpg");
        assert_code(&ran, 2);
        assert_has(ran.err, wrong[i][2]);
        ran_free(&ran);
    }
    ran = doppel("scan", "--parts", "--files-from", "-");
    assert_code(&ran, 2);
    assert_has(ran.err, "reads files twice");
    ran_free(&ran);
    ran = doppel("scan", "--parts", "--kind", "text", ".");
    assert_code(&ran, 2);
    assert_has(ran.err, "'--parts' is for images and videos");
    ran_free(&ran);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(find_says_where),
        IN_SANDBOX(library_of_parts_is_kept),
        IN_SANDBOX(lost_index_is_made_again),
        IN_SANDBOX(scan_finds_parts),
        IN_SANDBOX(same_bytes_are_one_picture),
        IN_SANDBOX(copies_stay_with_their_original),
        IN_SANDBOX(wrong_use_is_told),
    };
    return cmocka_run_group_tests_name("parts", tests, NULL, NULL);
}
