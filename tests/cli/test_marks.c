/* `scan --marks`, `report --marks` and `groups --marks`: what a person decided is done, by the
 * bytes of the files, without a library. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "collection.h"

static const char *const files[] = {"pics/a-copy.jpg", "pics/a-small.jpg", "pics/a.jpg",
                                    "pics/b-small.jpg", "pics/b.jpg"};

/* a.jpg, its copy of the same bytes, and a smaller one; b.jpg and a smaller one. */
static void make_images(void)
{
    make_folder("pics");
    keep_drawing("pics/a.jpg", 0, 3);
    copy_file("pics/a.jpg", "pics/a-copy.jpg");
    keep_image("pics/a-small.jpg", draw_image(0, 3, DRAWN_WIDTH / 2, DRAWN_HEIGHT / 2), 80);
    keep_drawing("pics/b.jpg", 3, 3);
    keep_image("pics/b-small.jpg", draw_image(3, 3, DRAWN_WIDTH / 2, DRAWN_HEIGHT / 2), 80);
}

/* The digest of a file, as the page of a report has it; given (free). */
static char *digest_in_report(const char *path)
{
    size_t size;
    char wanted[128];
    free(doppel_prints(0, "report", "pics", "-o", "digests.html", "--no-thumbnails"));
    char *page = read_file("digests.html", &size);
    snprintf(wanted, sizeof wanted, "\"path\":\"%s\"", path);
    const char *member = strstr(page, wanted);
    assert_non_null(member);
    const char *digest = strstr(member, "\"digest\":\"");
    assert_non_null(digest);
    char *copy = strndup(digest + 10, 32);
    free(page);
    return copy;
}

static void add_mark_to(FILE *stream, const char *word, const char *path)
{
    char *digest = digest_in_report(path);
    fprintf(stream, "{\"mark\":\"%s\",\"a\":\"%s\",\"a_digest\":\"%s\"}\n", word, path, digest);
    free(digest);
}

/* @param marks of each of `files` '-', 'k', 'r' or 'l' */
static void write_marks(const char *marks)
{
    FILE *stream = fopen("marks.jsonl", "w");
    assert_non_null(stream);
    for (size_t i = 0; i < strlen(marks); i++)
        if (marks[i] != '-')
            add_mark_to(stream,
                        marks[i] == 'k'   ? "keep"
                        : marks[i] == 'r' ? "remove"
                                          : "leave",
                        files[i]);
    assert_int_equal(fclose(stream), 0);
}

/* Which of `files` are there: 'x' or '.'. */
static void assert_files(const char *wanted)
{
    char found[8] = "";
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        found[i] = access(files[i], F_OK) == 0 ? 'x' : '.';
    assert_string_equal(found, wanted);
}

static void marks_are_done_and_undone(void **state)
{
    (void)state;
    static const struct {
        const char *verb, *marks, *reason, *left;
    } cases[] = {
        {"scan", "-----", "identical", ".xxxx"}, {"scan", "k----", "identical", "xx.xx"},
        {"scan", "--krk", "identical", ".xx.x"}, {"scan", "kkk--", "identical", "xxxxx"},
        {"scan", "lr-r-", "near", "xxx.x"},      {"scan", "-k---", "near,identical", ".x..x"},
        {"report", "k-rkr", "marked", "xx.x."},
    };
    make_images();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_marks(cases[i].marks);
        free(doppel_prints(0, cases[i].verb, "pics", "--marks", "marks.jsonl", "--action", "trash",
                           "--reason", cases[i].reason, "--yes"));
        assert_files(cases[i].left);
        free(doppel_prints(0, "undo"));
        assert_files("xxxxx");
    }
}

static void marks_are_printed(void **state)
{
    (void)state;
    make_images();
    write_marks("-r-ll");
    char *json = doppel_prints(0, "scan", "pics", "--marks", "marks.jsonl", "--json");
    assert_int_equal(count_lines(json, "\"mark\":\"remove\""), 1);
    assert_int_equal(count_lines(json, "\"savable\":0,"), 1);
    free(json);
    char *table = doppel_prints(0, "scan", "pics", "--marks", "marks.jsonl");
    assert_int_equal(count_lines(table, "marked: remove"), 1);
    assert_int_equal(count_lines(table, "left alone"), 2);
    free(table);
    struct ran bare = doppel("scan", "-0", "pics", "--marks", "marks.jsonl");
    assert_int_equal(bare.out_size, strlen("pics/a-small.jpg") + strlen("pics/a-copy.jpg") + 2);
    ran_free(&bare);
    char *script = doppel_prints(0, "scan", "pics", "--marks", "marks.jsonl", "--action", "script");
    assert_has(script, "is marked to be left alone");
    free(script);
}

/* In other folders, and from elsewhere, they are the same files. */
static void marks_follow_files_that_move(void **state)
{
    (void)state;
    make_images();
    write_marks("-r--r");
    make_folder("new");
    assert_int_equal(rename("pics", "new/photos"), 0);
    free(doppel_prints(0, "scan", "new", "--marks", "marks.jsonl", "--action", "trash", "--yes",
                       "--reason", "marked"));
    assert_int_not_equal(access("new/photos/a-small.jpg", F_OK), 0);
    assert_int_not_equal(access("new/photos/b.jpg", F_OK), 0);
    assert_int_equal(access("new/photos/a-copy.jpg", F_OK), 0);
    assert_int_equal(access("new/photos/b-small.jpg", F_OK), 0);
}

static void missing_files_end_with_3(void **state)
{
    (void)state;
    make_images();
    write_marks("-r---");
    assert_int_equal(remove("pics/a-small.jpg"), 0);
    struct ran ran = doppel("scan", "pics", "--marks", "marks.jsonl");
    assert_code(&ran, 3);
    assert_true(reported(ran.err, "marks.jsonl"));
    assert_has(ran.err, "1 of its marks");
    assert_has(ran.err, "pics/a-small.jpg");
    ran_free(&ran);
}

static void nothing_is_done_by_bad_marks(void **state)
{
    (void)state;
    static const char *const wrong[][10] = {
        {"scan", "pics", "--marks", "nosuch", "--action", "trash", "--yes"},
        {"scan", "pics", "--marks", "cut.jsonl", "--action", "trash", "--yes"},
        {"scan", "pics", "--marks", "pics/a.jpg", "--action", "trash", "--yes"},
        {"report", "pics", "--marks", "marks.jsonl"},
        {"report", "pics", "--action", "trash", "--yes"},
        {"report", "pics", "-o", "x.html", "--marks", "marks.jsonl", "--action", "trash", "--yes"},
        {"compare", "pics/a.jpg", "pics/b.jpg", "--marks", "marks.jsonl"},
    };
    size_t size;
    make_images();
    write_marks("rrrrr");
    char *text = read_file("marks.jsonl", &size);
    write_file("cut.jsonl", text, size - 20);
    free(text);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ran ran = command_run(NULL, wrong[i]);
        assert_code(&ran, 2);
        assert_has(ran.err, "doppel: ");
        ran_free(&ran);
    }
    assert_files("xxxxx");
}

/* All of a group cannot go. */
static void one_stays(void **state)
{
    (void)state;
    make_images();
    write_marks("rrrrr");
    struct ran ran = doppel("scan", "pics", "--marks", "marks.jsonl", "--action", "trash", "--yes");
    assert_code(&ran, 3);
    assert_has(ran.err, "one stays");
    ran_free(&ran);
    assert_files("..x.x");
}

/* Labels of pairs count; and what is for files is passed over by a library, which is told. */
static void pairs_and_libraries(void **state)
{
    (void)state;
    make_images();
    char *a = digest_in_report("pics/a.jpg"), *small = digest_in_report("pics/a-small.jpg");
    char *b = digest_in_report("pics/b.jpg"), text[1024];
    int length = snprintf(text, sizeof text,
                          "{\"mark\":\"distinct\",\"a_digest\":\"%s\",\"b_digest\":\"%s\"}\n"
                          "{\"mark\":\"remove\",\"a_digest\":\"%s\"}\n",
                          a, small, b);
    write_file("pairs.jsonl", text, (size_t)length);
    char *json = doppel_prints(0, "scan", "pics", "--marks", "pairs.jsonl", "--json");
    char *groups = groups_as_text(json, "");
    assert_string_equal(groups, "pics/a-copy.jpg identical, pics/a.jpg kept\n"
                                "pics/b-small.jpg kept, pics/b.jpg near\n");
    free(groups);
    free(json);
    free(doppel_prints(0, "add", "-L", "lib", "pics"));
    json = doppel_prints(0, "groups", "-L", "lib", "--marks", "pairs.jsonl", "--json");
    assert_int_equal(count_lines(json, "\"mark\":\"remove\""), 1);
    assert_lacks(json, "a-small");
    free(json);
    struct ran ran = doppel("mark", "-L", "lib", "--from", "pairs.jsonl");
    assert_code(&ran, 0);
    assert_has(ran.err, "1 mark \"remove\" or \"leave\" passed over");
    ran_free(&ran);
    free(a);
    free(small);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(marks_are_done_and_undone),    IN_SANDBOX(marks_are_printed),
        IN_SANDBOX(marks_follow_files_that_move), IN_SANDBOX(missing_files_end_with_3),
        IN_SANDBOX(nothing_is_done_by_bad_marks), IN_SANDBOX(one_stays),
        IN_SANDBOX(pairs_and_libraries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
