/* Pictures that are cut short: told by every verb that reads them, and never kept before whole
 * ones. */
#include "command.h"

#include <stdlib.h>
#include <string.h>
#include <utime.h>

#include "collection.h"

static const struct setting no_worker = {.environment = {"DOPPEL_WORKER=/nonexistent"}};

/* The first parts in a hundred of a file, with an old stamp, which is believed. */
static void cut(const char *from, const char *to, size_t parts)
{
    const struct utimbuf old = {1000000000, 1000000000};
    size_t size;
    free(read_file(from, &size));
    copy_part(from, to, size * parts / 100);
    assert_int_equal(utime(to, &old), 0);
}

static void assert_tells(const struct ran *ran, const char *sentence)
{
    assert_has(ran->err, sentence);
    assert_int_equal(count_lines(ran->err, "cut short"), 1);
}

/* The PNG has more bytes and declares as many pixels. */
static void scan_keeps_the_whole_one(void **state)
{
    (void)state;
    make_folder("pics");
    keep_drawing("all.png", 1, 1);
    keep_drawing("pics/whole.jpg", 1, 1);
    cut("all.png", "pics/cut.png", 99);
    for (int i = 0; i < 2; i++) {
        struct ran ran = doppel_with(i ? &no_worker : NULL, "scan", "--json", "pics");
        assert_code(&ran, 0);
        assert_tells(&ran, "doppel: pics/cut.png: the PNG is cut short after 3");
        assert_has(ran.err, " of 360 rows, which are used");
        assert_has(ran.out, "\"keep\":\"pics/whole.jpg\"");
        ran_free(&ran);
    }
    struct ran ran = doppel("scan", "-q", "--json", "--keep", "date", "pics");
    assert_has(ran.out, "\"keep\":\"pics/whole.jpg\""); /* though it is younger */
    ran_free(&ran);
    ran = doppel("scan", "-q", "pics");
    assert_code(&ran, 0);
    assert_string_equal(ran.err, "");
    ran_free(&ran);
}

/* So does a library. */
static void every_verb_tells(void **state)
{
    (void)state;
    keep_drawing("all.png", 1, 1);
    keep_drawing("whole.jpg", 1, 1);
    cut("all.png", "cut.png", 99);
    const char *const sentence = "doppel: cut.png: the PNG is cut short after ";
    struct ran ran = doppel("hash", "--json", "cut.png");
    assert_code(&ran, 0);
    assert_tells(&ran, sentence);
    assert_has(ran.out, "\"remark\":\"the PNG is cut short after ");
    assert_number(ran.out, "width", 480, 0);
    assert_number(ran.out, "height", 350, 9); /* that are there */
    ran_free(&ran);
    ran = doppel("add", "-L", "library", "cut.png");
    assert_code(&ran, 0);
    assert_tells(&ran, sentence);
    ran_free(&ran);
    ran = doppel("find", "-L", "library", "cut.png");
    assert_code(&ran, 0);
    assert_tells(&ran, sentence);
    ran_free(&ran);
    ran = doppel("compare", "whole.jpg", "cut.png");
    assert_code(&ran, 0);
    assert_tells(&ran, sentence);
    ran_free(&ran);
    ran = doppel("check", "--json", "-L", "other", "cut.png");
    assert_code(&ran, 2); /* there is no library */
    ran_free(&ran);
    ran = doppel("ingest", "--json", "-L", "other", "cut.png");
    assert_code(&ran, 0);
    assert_tells(&ran, sentence);
    assert_has(ran.out, "\"remark\":\"the PNG is cut short after ");
    ran_free(&ran);
    ran = doppel("ingest", "--json", "-L", "other", "whole.jpg");
    assert_code(&ran, 0);
    assert_has(ran.out, "\"replaces\":1");
    assert_lacks(ran.out, "remark");
    ran_free(&ran);
}

/* What is there of a tenth or more is used for what it is, and is no duplicate of the whole. */
static void little_is_no_double(void **state)
{
    (void)state;
    make_folder("pics");
    keep_drawing("pics/whole.jpg", 1, 1);
    cut("pics/whole.jpg", "pics/half.jpg", 50);
    struct ran ran = doppel("scan", "--json", "pics");
    assert_code(&ran, 0);
    assert_tells(&ran, "doppel: pics/half.jpg: the JPEG is cut short after ");
    assert_string_equal(ran.out, "");
    ran_free(&ran);
    cut("pics/whole.jpg", "pics/half.jpg", 3);
    ran = doppel("scan", "--json", "pics");
    assert_code(&ran, 3);
    assert_true(reported(ran.err, "pics/half.jpg"));
    assert_lacks(ran.err, "which are used");
    ran_free(&ran);
}

/* Markers in the middle of a JPEG's data, where none can be. It is said, of what the cache knows,
 * too; and a copy that is not damaged is kept. */
static void damage_inside_is_told(void **state)
{
    (void)state;
    const struct utimbuf old = {1000000000, 1000000000};
    size_t size;
    make_folder("pics");
    keep_drawing("pics/small.jpg", 1, 1);
    char *bytes = read_file("pics/small.jpg", &size);
    for (size_t i = 0; i < 32; i++)
        bytes[size * 4 / 5 + i] = i % 2 ? 'A' : '\xff';
    write_file("pics/damaged.jpg", bytes, size);
    free(bytes);
    assert_int_equal(utime("pics/damaged.jpg", &old), 0);
    for (int i = 0; i < 2; i++) {
        struct ran ran =
            doppel_with(i ? &no_worker : NULL, "scan", "--json", "--keep", "date", "pics");
        assert_code(&ran, 0);
        assert_int_equal(
            count_lines(ran.err, "doppel: pics/damaged.jpg: the JPEG is damaged inside"), 1);
        assert_int_equal(count_lines(ran.err, "is damaged"), 1);
        assert_has(ran.out, "\"keep\":\"pics/small.jpg\"");
        ran_free(&ran);
    }
    char *out = doppel_prints(0, "hash", "--json", "--scheme", "pdq", "pics/damaged.jpg");
    assert_has(out, "\"remark\":\"the JPEG is damaged inside");
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(scan_keeps_the_whole_one),
        IN_SANDBOX(every_verb_tells),
        IN_SANDBOX(little_is_no_double),
        IN_SANDBOX(damage_inside_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
