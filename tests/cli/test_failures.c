/* Files that cannot be read are remembered with the reason until something changes; files that are
 * gone are told from those of a drive that is not there. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

#include "collection.h"

/* Any decoding ends the run. */
static const struct setting no_worker = {.environment = {"DOPPEL_WORKER=/nonexistent"}};

/* Stamps are believed when they are old. */
static void age(const char *path)
{
    const struct utimbuf old = {1000000000, 1000000000};
    assert_int_equal(utime(path, &old), 0);
}

/* Two pictures, one that is cut short, and one that is none. */
static void make_files(void)
{
    make_folder("pics");
    keep_drawing("pics/a.jpg", 0, 1);
    keep_drawing("pics/b.jpg", 1, 1);
    copy_part("pics/a.jpg", "pics/cut.jpg", 300);
    write_file("pics/none.png", "certainly not\1\2\3", 16);
    age("pics/a.jpg");
    age("pics/b.jpg");
    age("pics/cut.jpg");
    age("pics/none.png");
}

static void assert_both_fail(const struct ran *ran)
{
    assert_code(ran, 3);
    assert_true(reported(ran->err, "pics/cut.jpg"));
    assert_true(reported(ran->err, "pics/none.png"));
}

static void scan_tries_once(void **state)
{
    (void)state;
    make_files();
    struct ran ran = doppel("scan", "pics");
    assert_both_fail(&ran);
    struct ran again = doppel_with(&no_worker, "scan", "pics");
    assert_both_fail(&again);
    assert_string_equal(again.err, ran.err);
    ran_free(&again);
    again = doppel_with(&no_worker, "scan", "--retry", "pics");
    assert_code(&again, 2);
    ran_free(&again);
    ran_free(&ran);
}

/* A decoder that is stopped may have been slow alone. */
static void what_took_too_long_names_retry(void **state)
{
    (void)state;
    enum { SIZE = 32 << 20 };
    char *words = malloc(SIZE);
    assert_non_null(words);
    for (size_t i = 0; i < SIZE; i++)
        words[i] = i % 7 == 6 ? ' ' : (char)('a' + i * i % 26);
    make_folder("texts");
    write_file("texts/long.txt", words, SIZE);
    free(words);
    age("texts/long.txt");
    static const char sentence[] = "texts/long.txt: took longer than 0.001 s (--timeout); --retry";
    const struct setting *const settings[] = {NULL, &no_worker};
    for (size_t i = 0; i < 2; i++) {
        struct ran ran = command_run(
            settings[i], (const char *const[]){"scan", "--timeout", "1ms", "texts", NULL});
        assert_code(&ran, 3);
        assert_has(ran.err, sentence);
        ran_free(&ran);
    }
    struct ran ran = doppel("scan", "--timeout", "1ms", "--retry", "--sandbox=none", "texts");
    assert_has(ran.err, sentence);
    ran_free(&ran);
}

static void add_tries_once(void **state)
{
    (void)state;
    make_files();
    struct ran ran = doppel("add", "-L", "library", "pics");
    assert_both_fail(&ran);
    struct ran again = doppel_with(&no_worker, "add", "-L", "library", "--no-cache", "pics");
    assert_both_fail(&again);
    assert_string_equal(again.err, ran.err);
    ran_free(&again);
    again = doppel_with(&no_worker, "add", "-L", "library", "--no-cache", "--retry", "pics");
    assert_code(&again, 2);
    ran_free(&again);
    ran_free(&ran);
}

static void list_tells_failures(void **state)
{
    (void)state;
    make_files();
    struct ran ran = doppel("add", "-L", "library", "pics");
    ran_free(&ran);
    char *list = doppel_prints(0, "list", "-L", "library", "--failures", "--json");
    assert_int_equal(count_lines(list, ""), 2);
    assert_has(list, "pics/cut.jpg\",\"status\":\"corrupt\",\"reason\":\"");
    assert_has(list, "\"time\":");
    free(list);
    copy_file("pics/b.jpg", "pics/cut.jpg"); /* it was mended */
    unlink("pics/none.png");
    free(doppel_prints(0, "add", "-L", "library", "pics"));
    list = doppel_prints(0, "list", "-L", "library", "--failures", "--json");
    assert_int_equal(count_lines(list, ""), 1);
    assert_has(list, "none.png");
    free(list);
    ran = doppel("remove", "-L", "library", "--gone");
    assert_code(&ran, 0);
    ran_free(&ran);
    list = doppel_prints(0, "list", "-L", "library", "--failures", "--json");
    assert_string_equal(list, "");
    free(list);
}

/* What was too much under these limits is tried under others. */
static void other_limits_are_tried(void **state)
{
    (void)state;
    make_folder("pics");
    keep_drawing("pics/a.jpg", 0, 1);
    age("pics/a.jpg");
    static const char *const verbs[][4] = {{"scan"}, {"add", "-L", "library", "--no-cache"}};
    for (size_t i = 0; i < 2; i++) {
        const char *words[12] = {NULL};
        size_t count = 0;
        while (count < 4 && verbs[i][count]) {
            words[count] = verbs[i][count];
            count++;
        }
        words[count] = "pics";
        words[count + 1] = "--max-pixels";
        words[count + 2] = "1000";
        struct ran ran = command_run(NULL, words);
        assert_code(&ran, 3);
        ran_free(&ran);
        ran = command_run(&no_worker, words);
        assert_code(&ran, 3);
        assert_true(reported(ran.err, "pics/a.jpg"));
        ran_free(&ran);
        words[count + 3] = "--sandbox=none"; /* it may have been what stopped the decoder */
        ran = command_run(&no_worker, words);
        assert_code(&ran, 2);
        ran_free(&ran);
        words[count + 3] = NULL;
        words[count + 2] = "999";
        ran = command_run(&no_worker, words);
        assert_code(&ran, 2);
        ran_free(&ran);
        words[count + 1] = NULL;
        ran = command_run(NULL, words);
        assert_code(&ran, 0);
        ran_free(&ran);
    }
}

/* ---- what is gone ---- */

static unsigned count_items(void)
{
    char *list = doppel_prints(0, "list", "-L", "library", "--json");
    unsigned count = count_lines(list, "");
    free(list);
    return count;
}

static void remove_gone(const char *path, const char *said)
{
    struct ran ran = doppel("remove", "-L", "library", "--gone", path);
    assert_code(&ran, 0);
    assert_has(ran.err, said);
    ran_free(&ran);
}

static void absent_is_not_gone(void **state)
{
    (void)state;
    make_folder("all");
    make_folder("all/drive");
    make_folder("all/here");
    keep_drawing("all/drive/a.jpg", 0, 1);
    keep_drawing("all/drive/b.jpg", 1, 1);
    keep_drawing("all/here/c.jpg", 2, 1);
    keep_drawing("all/here/d.jpg", 3, 1);
    keep_drawing("all/here/e.jpg", 4, 1);
    free(doppel_prints(0, "add", "-L", "library", "all"));
    unlink("all/here/c.jpg");
    assert_int_equal(rename("all/drive", "away"), 0);
    free(doppel_prints(0, "add", "-L", "library", "all")); /* forgets nothing */
    assert_int_equal(count_items(), 5);
    remove_gone("all/drive", "nothing to remove");
    remove_gone("all", "1 item removed: its file is gone");
    assert_int_equal(count_items(), 4);
    make_folder("all/drive"); /* where a drive would be mounted */
    remove_gone("all", "2 items kept: the folder is not there, empty, or of another drive");
    assert_int_equal(count_items(), 4);
    assert_int_equal(rmdir("all/drive"), 0);
    assert_int_equal(rename("away", "all/drive"), 0);
    unlink("all/drive/a.jpg");
    unlink("all/here/d.jpg");
    remove_gone("all/drive", "1 item removed: its file is gone");
    assert_int_equal(count_items(), 3);
    remove_gone("all", "1 item removed: its file is gone");
    assert_int_equal(count_items(), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(scan_tries_once),        IN_SANDBOX(what_took_too_long_names_retry),
        IN_SANDBOX(add_tries_once),         IN_SANDBOX(list_tells_failures),
        IN_SANDBOX(other_limits_are_tried), IN_SANDBOX(absent_is_not_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
