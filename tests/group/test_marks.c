/* Marks: each line as it is meant, what is none is refused with its line, and files find theirs. */
#include <doppel/group.h>
#include <doppel/run.h>

#include "../tools/tree.h"
#include "group/marks.h"

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, tree_begin, tree_end)

#define A "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"
#define B "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b"
#define C "0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c"

static struct doppel_digest digest_of_hex(const char *hex)
{
    struct doppel_digest digest;
    assert_int_equal(doppel_hex_decode(hex, digest.bytes, sizeof digest.bytes), DOPPEL_OK);
    return digest;
}

static struct doppel_marks *marks_from(const char *text)
{
    struct doppel_marks *marks = NULL;
    struct doppel_error error;
    tree_file("marks.jsonl", text);
    if (doppel_marks_read("marks.jsonl", &marks, &error))
        fail_msg("%s", error.message);
    return marks;
}

/* ---- lines ---- */

static void a_line_says_what_it_says(void **state)
{
    (void)state;
    struct mark_line line;
    static const char text[] =
        "{\"mark\":\"keep\",\"a\":\"x\\ufffd\",\"a_base64\":\"eP8=\",\"a_digest\":\"" A
        "\",\"over\":[{\"path\":\"y\",\"digest\":\"" B "\"},{\"path\":\"z\"}],\"note\":\"best\"}";
    assert_int_equal(mark_line_read(text, strlen(text), &line, NULL), DOPPEL_OK);
    assert_int_equal(line.word, MARK_KEEP);
    assert_string_equal(line.a.path, "x\xff");
    assert_true(line.a.has_digest && line.a.digest.bytes[15] == 0x0a);
    assert_int_equal(line.over.count, 2);
    assert_true(line.over.items[0].has_digest && !line.over.items[1].has_digest);
    assert_string_equal(line.note, "best");
    mark_line_free(&line);
    static const char pair[] = "{\"mark\":\"distinct\",\"a\":\"x\",\"b_digest\":\"" B "\"}";
    assert_int_equal(mark_line_read(pair, strlen(pair), &line, NULL), DOPPEL_OK);
    assert_true(line.word == MARK_DISTINCT && !line.a.has_digest && line.b.has_digest);
    assert_null(line.b.path);
    mark_line_free(&line);
}

static void what_is_no_mark_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",
        "x",
        "[]",
        "{}",
        "null",
        "{\"mark\":\"keep\"}",
        "{\"mark\":1,\"a\":\"x\"}",
        "{\"mark\":\"burn\",\"a\":\"x\"}",
        "{\"mark\":[\"keep\"],\"a\":\"x\"}",
        "{\"mark\":\"keep\",\"a\":1}",
        "{\"mark\":\"keep\",\"a\":{}}",
        "{\"mark\":\"keep\",\"a\":\"x\",\"a_digest\":5}",
        "{\"mark\":\"keep\",\"a\":\"x\",\"a_digest\":\"0a0a\"}",
        "{\"mark\":\"keep\",\"a\":\"x\",\"a_digest\":\"" A "0a\"}",
        "{\"mark\":\"keep\",\"a\":\"x\",\"a_digest\":\"zz0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a\"}",
        "{\"mark\":\"keep\",\"a_base64\":\"!\",\"a_digest\":\"" A "\"}",
        "{\"mark\":\"keep\",\"a_base64\":7,\"a_digest\":\"" A "\"}",
        "{\"mark\":\"keep\",\"a\":\"x\",\"over\":{}}",
        "{\"mark\":\"keep\",\"a\":\"x\",\"over\":[1]}",
        "{\"mark\":\"keep\",\"a\":\"x\",\"over\":[{\"path\":\"y\"},{}]}",
        "{\"mark\":\"keep\",\"a\":\"x\",\"note\":[]}",
        "{\"mark\":\"same\",\"a\":\"x\"}",
        "{\"mark\":\"same\",\"a\":\"x\",\"b\":null}",
        "{\"mark\":\"same\",\"a\":\"x\\u0000y\",\"b\":\"z\"}",
        "{\"mark\":\"keep\",\"a\":\"\xff\"}",
        "{\"mark\":\"keep\",\"a\":\"x\"} {\"mark\":\"keep\",\"a\":\"y\"}",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct mark_line line = {.note = (char *)"untouched"};
        struct doppel_error error = {0};
        if (mark_line_read(wrong[i], strlen(wrong[i]), &line, &error) != DOPPEL_E_ARGUMENT)
            fail_msg("taken: %s", wrong[i]);
        assert_true(error.message[0]);
        assert_string_equal(line.note, "untouched");
    }
}

/* Each beginning of a line but the whole, and nesting that would take the stack. */
static void what_is_cut_short_is_refused(void **state)
{
    (void)state;
    static const char text[] = "{\"mark\":\"keep\",\"a\":\"x\",\"a_digest\":\"" A
                               "\",\"over\":[{\"path\":\"y\",\"digest\":\"" B "\"}]}";
    struct mark_line line;
    for (size_t size = 0; size < strlen(text); size++)
        assert_int_equal(mark_line_read(text, size, &line, NULL), DOPPEL_E_ARGUMENT);
    enum { DEEP = 1 << 20 };
    char *deep = malloc(DEEP);
    assert_non_null(deep);
    memset(deep, '[', DEEP);
    assert_int_equal(mark_line_read(deep, DEEP, &line, NULL), DOPPEL_E_ARGUMENT);
    free(deep);
}

/* ---- files of them ---- */

/* Files are removed by marks: a file of them is taken whole or not at all. */
static void one_bad_line_refuses_all(void **state)
{
    (void)state;
    static const char good[] = "{\"mark\":\"remove\",\"a\":\"x\",\"a_digest\":\"" A "\"}\n";
    static const char *const bad[] = {
        "{\"mark\":\"leave\",\"a\":", "{\"mark\":\"keep\",\"a\":\"x\"}", "keep"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[512];
        struct doppel_marks *marks = NULL;
        struct doppel_error error;
        snprintf(text, sizeof text, "%s\r\n\n%s", good, bad[i]);
        tree_file("marks.jsonl", text);
        assert_int_equal(doppel_marks_read("marks.jsonl", &marks, &error), DOPPEL_E_FORMAT);
        assert_non_null(strstr(error.message, "marks.jsonl:4: "));
        assert_null(marks);
    }
    struct doppel_marks *marks;
    assert_int_equal(doppel_marks_read("nosuch", &marks, NULL), DOPPEL_E_NOT_FOUND);
    assert_int_equal(doppel_marks_read(".", &marks, NULL), DOPPEL_E_IO);
}

static void no_marks_are_no_marks(void **state)
{
    (void)state;
    struct doppel_digest digest = digest_of_hex(A);
    struct doppel_marks *marks = marks_from(" \n\r\n\n");
    marks_note_file(marks, &digest, "x");
    assert_int_equal(marks_find(marks, &digest, "x"), DOPPEL_FILE_UNMARKED);
    assert_int_equal(marks_labels(marks)->items.count, 0);
    doppel_marks_free(marks);
    doppel_marks_free(NULL);
}

/* Of files of the same bytes the nearest path decides, however it is spelt now; of those that were
 * renamed, what loses least. */
static void files_find_their_marks(void **state)
{
    (void)state;
    static const char text[] = "{\"mark\":\"remove\",\"a\":\"pics/x.jpg\",\"a_digest\":\"" A "\"}\n"
                               "{\"mark\":\"keep\",\"a\":\"./pics/y.jpg\",\"a_digest\":\"" A "\"}\n"
                               "{\"mark\":\"remove\",\"a\":\"v/p/a.jpg\",\"a_digest\":\"" B "\"}";
    enum { REMOVE = DOPPEL_FILE_REMOVE, KEEP = DOPPEL_FILE_KEEP, NONE = DOPPEL_FILE_UNMARKED };
    static const struct {
        const char *first, *second; /* files of the same bytes that are there */
        bool other;                 /* of B, not A */
        int first_mark, second_mark;
    } cases[] = {
        {"pics/x.jpg", "pics/y.jpg", false, REMOVE, KEEP},
        {"pics/y.jpg", "./pics/x.jpg", false, KEEP, REMOVE},
        {"./x.jpg", "y.jpg", false, REMOVE, KEEP},
        {"/home/you/pics/x.jpg", "/home/you/pics/y.jpg", false, REMOVE, KEEP},
        {"other/pics/x.jpg", "other/mypics/x.jpg", false, REMOVE, KEEP},
        {"new.jpg", "newer.jpg", false, KEEP, KEEP},
        {"v/p/a.jpg", "v/q/a.jpg", true, REMOVE, NONE},
        {"v/q/a.jpg", "v/p/a.jpg", true, NONE, REMOVE},
        {"/home/v/p/a.jpg", "/home/v/q/a.jpg", true, REMOVE, NONE},
        {"./p/a.jpg", "./q/a.jpg", true, REMOVE, NONE},
        {"w/p/a.jpg", "w/q/a.jpg", true, REMOVE, NONE},
        {"new.jpg", "newer.jpg", true, REMOVE, REMOVE},
    };
    struct doppel_digest a = digest_of_hex(A), b = digest_of_hex(B), c = digest_of_hex(C);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct doppel_digest *digest = cases[i].other ? &b : &a;
        struct doppel_marks *marks = marks_from(text);
        marks_note_file(marks, digest, cases[i].first);
        marks_note_file(marks, digest, cases[i].second);
        assert_int_equal(marks_find(marks, digest, cases[i].first), cases[i].first_mark);
        assert_int_equal(marks_find(marks, digest, cases[i].second), cases[i].second_mark);
        assert_int_equal(marks_find(marks, &c, cases[i].first), NONE);
        doppel_marks_free(marks);
    }
}

struct failures {
    unsigned count;
    char path[64], reason[512];
};

static void take_failure(void *context, const char *path, const struct doppel_error *reason)
{
    struct failures *failures = context;
    failures->count++;
    snprintf(failures->path, sizeof failures->path, "%s", path);
    snprintf(failures->reason, sizeof failures->reason, "%s", reason->message);
}

static void missing_files_are_told_once(void **state)
{
    (void)state;
    char text[8192] = "", line[128];
    for (int i = 0; i < 30; i++) {
        snprintf(line, sizeof line,
                 "{\"mark\":\"remove\",\"a\":\"gone%02d.jpg\",\"a_digest\":\"%032x\"}\n", i, i + 1);
        strcat(text, line);
    }
    strcat(text, "{\"mark\":\"same\",\"a\":\"p\",\"a_digest\":\"" A
                 "\",\"b\":\"q\",\"b_digest\":\"" B "\"}");
    struct failures failures = {0};
    const struct doppel_run_options options = {.on_failed = take_failure, .context = &failures};
    struct doppel_run *run;
    assert_int_equal(doppel_run_new(&options, &run, NULL), DOPPEL_OK);
    struct doppel_marks *marks = marks_from(text);
    assert_int_equal(marks_labels(marks)->items.count, 1);
    marks_report_missing(marks, true, run);
    assert_int_equal(failures.count, 1);
    assert_string_equal(failures.path, "marks.jsonl");
    assert_non_null(strstr(failures.reason, "32 of its marks"));
    assert_non_null(strstr(failures.reason, "gone00.jpg, gone01.jpg, gone02.jpg, \u2026"));
    marks_report_missing(marks, false, run);
    assert_non_null(strstr(failures.reason, "30 of its marks"));
    doppel_marks_free(marks);
    doppel_run_free(run);
}

/* So many that a search of all for each would take hours. */
static void many_marks_are_read(void **state)
{
    (void)state;
    enum { MARKS = 200000 };
    FILE *stream = fopen("many.jsonl", "w");
    struct doppel_marks *marks;
    assert_non_null(stream);
    for (unsigned i = 0; i < MARKS; i++)
        fprintf(stream, "{\"mark\":\"%s\",\"a\":\"f/%u.jpg\",\"a_digest\":\"%08x%024x\"}\n",
                i % 2 ? "keep" : "remove", i, i * 2654435761u, i);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(doppel_marks_read("many.jsonl", &marks, NULL), DOPPEL_OK);
    for (unsigned i = 0; i < MARKS; i += 997) {
        char hex[64], path[64];
        snprintf(hex, sizeof hex, "%08x%024x", i * 2654435761u, i);
        snprintf(path, sizeof path, "f/%u.jpg", i);
        struct doppel_digest digest = digest_of_hex(hex);
        assert_int_equal(marks_find(marks, &digest, path),
                         i % 2 ? DOPPEL_FILE_KEEP : DOPPEL_FILE_REMOVE);
    }
    doppel_marks_free(marks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_says_what_it_says),
        cmocka_unit_test(what_is_no_mark_is_refused),
        cmocka_unit_test(what_is_cut_short_is_refused),
        IN_FOLDER(one_bad_line_refuses_all),
        IN_FOLDER(no_marks_are_no_marks),
        IN_FOLDER(files_find_their_marks),
        IN_FOLDER(missing_files_are_told_once),
        IN_FOLDER(many_marks_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
