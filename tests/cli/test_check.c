/* doppel check: the decision of ingest, and nothing is changed. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collection.h"
#include "audio.h"
#include "videos.h"
#include "writer.h"

/* All that the library says of its items and its history; given (free). */
static char *all_of_library(void)
{
    char *list = doppel_prints(0, "list", "-L", "library", "--json");
    char *log = doppel_prints(0, "log", "-L", "library", "--json"), *both;
    assert_true(asprintf(&both, "%s%s", list, log) >= 0);
    free(list);
    free(log);
    return both;
}

/* The same stream, checked and ingested: the same answers but for the numbers of new items. */
static void it_decides_as_ingest(void **state)
{
    (void)state;
    make_folder("p");
    keep_drawing("p/a.png", 1, 1);
    copy_file("p/a.png", "p/b.png");
    keep_text("p/c.txt", write_words(1, 100));
    keep_wav("p/d.wav", audio_music(10, 1));
    free(doppel_prints(0, "ingest", "-L", "library", "p/a.png"));
    char *before = all_of_library();
    char *checked = doppel_prints(0, "check", "-L", "library", "p");
    char *after = all_of_library();
    assert_string_equal(before, after);
    assert_lacks(checked, "\"item\":2");
    char *told = doppel_prints(0, "ingest", "-L", "library", "p");
    static const char *const parts[] = {"\"decision\":\"new\"", "\"reason\":\"identical\"",
                                        "\"reason\":\"known\""};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_int_equal(count_lines(checked, parts[i]), count_lines(told, parts[i]));
    assert_int_equal(count_lines(checked, ""), 4);
    free(before);
    free(after);
    free(checked);
    free(told);
}

/* Nothing is known to later ones. */
static void its_files_do_not_know_each_other(void **state)
{
    (void)state;
    keep_drawing("a.png", 1, 1);
    copy_file("a.png", "b.png");
    keep_drawing("c.png", 2, 1);
    free(doppel_prints(0, "ingest", "-L", "library", "c.png"));
    const struct setting setting = {.input = "a.png\nb.png\n"
                                             "{\"id\":\"x\",\"text\":\"one two three\"}\n"
                                             "{\"id\":\"y\",\"text\":\"one two three\"}\n"};
    struct ran ran = doppel_with(&setting, "check", "-L", "library", "-");
    assert_code(&ran, 1);
    assert_int_equal(count_lines(ran.out, "\"decision\":\"new\""), 2);
    assert_int_equal(count_lines(ran.out, "\"decision\":\"too_short\""), 2);
    ran_free(&ran);
}

static void exit_codes_tell(void **state)
{
    (void)state;
    keep_drawing("a.png", 1, 1);
    keep_drawing("b.png", 2, 1);
    free(doppel_prints(0, "ingest", "-L", "library", "a.png"));
    free(doppel_prints(0, "check", "-L", "library", "a.png", "b.png"));
    free(doppel_prints(1, "check", "-L", "library", "b.png"));
    struct ran ran = doppel("check", "-L", "library", "absent.png", "a.png");
    assert_code(&ran, 3);
    assert_true(reported(ran.err, "absent.png"));
    assert_int_equal(count_lines(ran.out, ""), 2);
    ran_free(&ran);
    ran = doppel("check", "-L", "nowhere", "a.png");
    assert_code(&ran, 2);
    ran_free(&ran);
    ran = doppel("check", "-L", "library");
    assert_code(&ran, 2);
    ran_free(&ran);
    ran = doppel("check", "-L", "library", "-", "a.png");
    assert_code(&ran, 2);
    ran_free(&ran);
}

/* --emit chooses the lines themselves. */
static void lines_are_emitted(void **state)
{
    (void)state;
    keep_drawing("a.png", 1, 1);
    keep_drawing("b.png", 2, 1);
    free(doppel_prints(0, "ingest", "-L", "library", "a.png"));
    const struct setting setting = {.input = "a.png\nb.png\n{\"id\":\"b\",\"path\":\"b.png\"}\n"};
    struct ran ran = doppel_with(&setting, "check", "-L", "library", "-", "--emit", "unique");
    assert_code(&ran, 0);
    assert_string_equal(ran.out, "b.png\n{\"id\":\"b\",\"path\":\"b.png\"}\n");
    ran_free(&ran);
    ran = doppel_with(&setting, "check", "-L", "library", "-", "--emit", "annotated");
    assert_int_equal(count_lines(ran.out, "\"doppel\":{"), 3);
    ran_free(&ran);
}

/* A list by which a video cannot be looked for: it may be on it. */
static void what_is_not_compared_is_not_new(void **state)
{
    static const char list[] = "scheme,code\n"
                               "vpdq,"
                               "f8f8f0cee0f4a84f06370a22038f63f0b36e2ed596621e1d33e6b39c4e9c9b22\n";
    static const char *const verbs[] = {"check", "ingest"};
    (void)state;
    write_file("list.csv", list, strlen(list));
    free(doppel_prints(0, "import", "-L", "library", "list.csv"));
    keep_video("v.mkv", (struct video_how){.view.seed = 1, .seconds = 6, .codec = "ffv1"});
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        struct ran ran = doppel(verbs[i], "-L", "library", "--json", "v.mkv");
        assert_code(&ran, 3);
        assert_has(ran.out, "\"decision\":\"unreadable\"");
        assert_has(ran.out, "\"not_compared\":{\"vpdq\":1}");
        assert_has(ran.err, "v.mkv: nothing like it among what it could be compared with");
        ran_free(&ran);
    }
    char *known = doppel_prints(0, "list", "-L", "library", "--json");
    assert_int_equal(count_lines(known, ""), 1);
    free(known);
    /* who names the scheme knows what is asked */
    free(doppel_prints(1, "check", "-L", "library", "--scheme", "frames64", "v.mkv"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(it_decides_as_ingest),
        IN_SANDBOX(its_files_do_not_know_each_other),
        IN_SANDBOX(exit_codes_tell),
        IN_SANDBOX(lines_are_emitted),
        IN_SANDBOX(what_is_not_compared_is_not_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
