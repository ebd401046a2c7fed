/* Shots of a burst, as EXIF tells them: copies are told apart from them, `--bursts` groups those of
 * a scene, the sharpest first, with camera and place; and nothing is done to another shot but by a
 * mark of its own. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "collection.h"

/* ---- photos ---- */

static const char MODEL[] = "Pocket 7", DATE[] = "2024:05:06 07:08:09";
enum { DATE_ENDS = sizeof DATE - 3 }; /* where its seconds are */

/* A photo to be written. */
struct photo {
    const char *path;
    struct image image;   /* freed */
    int quality;          /* of the JPEG */
    unsigned second;      /* after DATE, below 10 */
    const char *fraction; /* three digits */
};

static void put_number(FILE *file, uint32_t value, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--)
        fputc((int)(value >> 8 * i & 0xff), file);
}

/* Bytes of numbers; types of fields. */
enum { SHORT = 2, LONG = 4, TEXT = 2, OFFSET = 4, RATIONAL = 5 };

static void put_entry(FILE *file, unsigned tag, unsigned type, uint32_t count, uint32_t value)
{
    put_number(file, tag, SHORT);
    put_number(file, type, SHORT);
    put_number(file, count, LONG);
    put_number(file, value, LONG);
}

/* A big-endian TIFF of three directories: camera; date and parts of the second; place, 48°30' north
 * and 11°15' west. Offsets count from its begin. */
static void put_exif(FILE *file, unsigned second, const char *fraction)
{
    enum { CAMERA = 8, TIME = 50, PLACE = 80, ANGLES = 134, TEXTS = 182 };
    static const uint32_t degrees[2][6] = {{48, 1, 30, 1, 0, 1}, {11, 1, 15, 1, 0, 1}};
    fwrite("MM\0*", 1, 4, file);
    put_number(file, CAMERA, LONG);
    put_number(file, 3, SHORT);
    put_entry(file, 0x0110, TEXT, sizeof MODEL, TEXTS);
    put_entry(file, 0x8769, OFFSET, 1, TIME);
    put_entry(file, 0x8825, OFFSET, 1, PLACE);
    put_number(file, 0, LONG);
    put_number(file, 2, SHORT);
    put_entry(file, 0x9003, TEXT, sizeof DATE, TEXTS + sizeof MODEL);
    put_entry(file, 0x9291, TEXT, 4,
              (uint32_t)fraction[0] << 24 | (uint32_t)fraction[1] << 16 |
                  (uint32_t)fraction[2] << 8);
    put_number(file, 0, LONG);
    put_number(file, 4, SHORT);
    put_entry(file, 1, TEXT, 2, (uint32_t)'N' << 24);
    put_entry(file, 2, RATIONAL, 3, ANGLES);
    put_entry(file, 3, TEXT, 2, (uint32_t)'W' << 24);
    put_entry(file, 4, RATIONAL, 3, ANGLES + 24);
    put_number(file, 0, LONG);
    for (int i = 0; i < 12; i++)
        put_number(file, degrees[i / 6][i % 6], LONG);
    fwrite(MODEL, 1, sizeof MODEL, file);
    fwrite(DATE, 1, DATE_ENDS, file);
    fprintf(file, "%02u", 9 + second);
    fputc(0, file);
}

/* A JPEG file, with such a block after its first two bytes. */
static void keep_photo(struct photo photo)
{
    enum { EXIF_BYTES = 6 + 182 + sizeof MODEL + sizeof DATE };
    size_t size;
    keep_image("plain.jpg", photo.image, photo.quality);
    char *jpeg = read_file("plain.jpg", &size);
    FILE *file = fopen(photo.path, "wb");
    assert_non_null(file);
    fwrite(jpeg, 1, 2, file);
    put_number(file, 0xffe1, SHORT);
    put_number(file, 2 + EXIF_BYTES, SHORT);
    fwrite("Exif\0", 1, 6, file);
    put_exif(file, photo.second, photo.fraction);
    fwrite(jpeg + 2, 1, size - 2, file);
    assert_int_equal(fclose(file), 0);
    unlink("plain.jpg");
    free(jpeg);
}

static struct image draw_subject(void)
{
    return draw_image(0, 3, DRAWN_WIDTH, DRAWN_HEIGHT);
}

/* Two shots, half a second apart. */
static void make_burst(void)
{
    make_folder("pics");
    keep_photo((struct photo){"pics/first.jpg", draw_subject(), 95, 0, "100"});
    keep_photo((struct photo){"pics/second.jpg", draw_subject(), 85, 0, "600"});
}

/* ---- what is said ---- */

static json_t *member_of(const json_t *group, const char *path)
{
    size_t i;
    json_t *member;
    json_array_foreach(json_object_get(group, "members"), i,
                       member) if (strcmp(json_string_value(json_object_get(member, "path")),
                                          path) == 0) return member;
    fail_msg("%s is in no group", path);
    return NULL;
}

static json_t *only_group(const char *lines)
{
    json_error_t error;
    json_t *group = json_loads(lines, JSON_DISABLE_EOF_CHECK, &error);
    assert_non_null(group);
    return group;
}

static void assert_taken(const json_t *member)
{
    assert_string_equal(json_string_value(json_object_get(member, "taken")), "2024-05-06T07:08:09");
    assert_string_equal(json_string_value(json_object_get(member, "camera")), MODEL);
    assert_true(json_number_value(json_object_get(member, "latitude")) == 48.5);
    assert_true(json_number_value(json_object_get(member, "longitude")) == -11.25);
}

static void a_scan_tells_bursts(void **state)
{
    (void)state;
    make_burst();
    char *out = doppel_prints(0, "scan", "--json", "--bursts", "pics");
    json_t *group = only_group(out);
    json_t *first = member_of(group, "pics/first.jpg"),
           *second = member_of(group, "pics/second.jpg");
    assert_string_equal(json_string_value(json_object_get(group, "keep")), "pics/first.jpg");
    assert_true(json_is_true(json_object_get(group, "burst")));
    assert_true(json_is_true(json_object_get(second, "burst")));
    assert_false(json_is_true(json_object_get(first, "burst")));
    assert_string_equal(json_string_value(json_object_get(second, "relation")), "burst");
    assert_int_equal(json_integer_value(json_object_get(group, "savable")), 0);
    assert_taken(first);
    assert_taken(second);
    json_decref(group);
    free(out);
    out = doppel_prints(0, "scan", "--bursts", "pics");
    assert_has(out, "burst");
    free(out);
}

static void without_the_option_copies_alone_are_grouped(void **state)
{
    (void)state;
    make_burst();
    char *out = doppel_prints(0, "scan", "--json", "pics");
    assert_string_equal(out, "");
    free(out);
    keep_photo((struct photo){"pics/again.jpg", draw_subject(), 75, 0, "600"});
    keep_photo((struct photo){"pics/export.jpg",
                              draw_image(0, 3, DRAWN_WIDTH / 2, DRAWN_HEIGHT / 2), 90, 0, "100"});
    out = doppel_prints(0, "scan", "--json", "pics");
    char *groups = groups_as_text(out, "");
    assert_string_equal(groups, "pics/again.jpg near, pics/second.jpg kept\n"
                                "pics/export.jpg near, pics/first.jpg kept\n");
    free(groups);
    free(out);
}

/* Three shots in four seconds, the second of which is the sharpest, and its copy; then another
 * scene, and the first one long after. */
static void the_sharpest_of_a_scene_is_kept(void **state)
{
    (void)state;
    make_folder("pics");
    keep_photo((struct photo){"pics/a.jpg", draw_subject(), 60, 0, "100"});
    keep_photo((struct photo){"pics/b.jpg", draw_subject(), 95, 2, "100"});
    keep_photo((struct photo){"pics/b-again.jpg", draw_subject(), 80, 2, "100"});
    keep_photo((struct photo){"pics/c.jpg", draw_subject(), 70, 4, "100"});
    keep_photo((struct photo){"pics/other.jpg", draw_image(1, 3, DRAWN_WIDTH, DRAWN_HEIGHT), 90, 5,
                              "100"});
    char *out = doppel_prints(0, "scan", "--json", "--bursts", "pics");
    json_t *group = only_group(out);
    assert_int_equal(count_lines(out, "\"group\":"), 1);
    assert_string_equal(json_string_value(json_object_get(group, "keep")), "pics/b.jpg");
    assert_string_equal(json_string_value(json_object_get(group, "keep_reason")), "sharpest");
    assert_int_equal(json_array_size(json_object_get(group, "members")), 4);
    for (size_t i = 0; i < 2; i++) {
        const json_t *shot = member_of(group, i ? "pics/c.jpg" : "pics/a.jpg");
        assert_string_equal(json_string_value(json_object_get(shot, "relation")), "burst");
        assert_true(json_is_true(json_object_get(shot, "burst")));
    }
    const json_t *copy = member_of(group, "pics/b-again.jpg");
    assert_string_equal(json_string_value(json_object_get(copy, "relation")), "same");
    assert_int_equal(json_integer_value(json_object_get(group, "savable")),
                     json_integer_value(json_object_get(copy, "size")));
    json_decref(group);
    free(out);
    out = doppel_prints(0, "scan", "--json", "--bursts", "--keep", "name", "pics");
    assert_has(out, "\"keep\":\"pics/a.jpg\"");
    free(out);
}

/* What has the same parts of the second is one shot, saved twice. */
static void one_shot_is_no_burst(void **state)
{
    (void)state;
    make_folder("pics");
    keep_photo((struct photo){"pics/first.jpg", draw_subject(), 95, 0, "100"});
    keep_photo((struct photo){"pics/again.jpg", draw_subject(), 85, 0, "100"});
    char *out = doppel_prints(0, "scan", "--json", "--bursts", "pics");
    assert_lacks(out, "burst");
    json_t *group = only_group(out);
    assert_true(json_integer_value(json_object_get(group, "savable")) > 0);
    json_decref(group);
    free(out);
}

static void a_report_shows_camera_and_place(void **state)
{
    (void)state;
    size_t size;
    make_burst();
    free(doppel_prints(0, "report", "--bursts", "pics", "-o", "page.html", "--no-thumbnails"));
    char *page = read_file("page.html", &size);
    assert_has(page, "\"camera\":\"Pocket 7\"");
    assert_has(page, "\"taken\":\"2024-05-06T07:08:09\"");
    assert_has(page, "\"latitude\":48.5");
    assert_has(page, "\"longitude\":-11.25");
    assert_has(page, "\"burst\":true");
    free(page);
}

/* ---- what is done ---- */

static void nothing_is_done_to_a_burst(void **state)
{
    (void)state;
    make_burst();
    struct ran ran =
        doppel("scan", "--bursts", "pics", "--action", "trash", "--reason", "near,part", "--yes");
    assert_code(&ran, 0);
    ran_free(&ran);
    assert_int_equal(access("pics/first.jpg", F_OK), 0);
    assert_int_equal(access("pics/second.jpg", F_OK), 0);
}

/* The digest of a file as the page of a report has it; given (free). */
static char *digest_of(const char *page, const char *path)
{
    char wanted[128];
    snprintf(wanted, sizeof wanted, "\"path\":\"%s\"", path);
    const char *member = strstr(page, wanted);
    assert_non_null(member);
    const char *digest = strstr(member, "\"digest\":\"");
    assert_non_null(digest);
    return strndup(digest + strlen("\"digest\":\""), 32);
}

static void a_mark_removes_a_shot(void **state)
{
    (void)state;
    size_t size;
    make_burst();
    free(doppel_prints(0, "report", "--bursts", "pics", "-o", "page.html", "--no-thumbnails"));
    char *page = read_file("page.html", &size), *digest = digest_of(page, "pics/second.jpg");
    FILE *marks = fopen("marks.jsonl", "w");
    assert_non_null(marks);
    fprintf(marks, "{\"mark\":\"remove\",\"a\":\"pics/second.jpg\",\"a_digest\":\"%s\"}\n", digest);
    assert_int_equal(fclose(marks), 0);
    struct ran ran = doppel("scan", "--bursts", "pics", "--marks", "marks.jsonl", "--action",
                            "trash", "--reason", "marked", "--yes");
    assert_code(&ran, 0);
    ran_free(&ran);
    assert_int_equal(access("pics/first.jpg", F_OK), 0);
    assert_int_not_equal(access("pics/second.jpg", F_OK), 0);
    free(digest);
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(a_scan_tells_bursts),
        IN_SANDBOX(without_the_option_copies_alone_are_grouped),
        IN_SANDBOX(the_sharpest_of_a_scene_is_kept),
        IN_SANDBOX(one_shot_is_no_burst),
        IN_SANDBOX(a_report_shows_camera_and_place),
        IN_SANDBOX(nothing_is_done_to_a_burst),
        IN_SANDBOX(a_mark_removes_a_shot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
