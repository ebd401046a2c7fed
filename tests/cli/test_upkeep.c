/* verify, compact, stats and add --refresh: a library kept in order from the outside. */
#include "command.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collection.h"
#include "kept.h"

static void verify_says_what_is_wrong(void **state)
{
    (void)state;
    make_library();
    char *told = verify(0, NULL);
    assert_string_equal(told, "");
    free(told);
    run_sql("UPDATE item SET width = 1 WHERE id = 3; INSERT INTO label VALUES(99, 'x')");
    told = verify(3, NULL);
    assert_int_equal(count_lines(told, ""), 2);
    assert_has(told, "{\"problem\":\"item\",\"id\":3,\"path\":\"/");
    assert_has(told, "{\"problem\":\"label\",\"id\":99,");
    assert_int_equal(count_lines(told, "\"repaired\":false"), 2);
    free(told);
    told = verify(3, "--repair");
    assert_int_equal(count_lines(told, "\"repaired\":true"), 2);
    assert_has(told, "recomputed from its file");
    free(told);
    told = verify(0, NULL);
    assert_string_equal(told, "");
    free(told);
    char *shown = doppel_prints(0, "show", "-L", "library", "--json", "3");
    assert_has(shown, "\"width\":");
    assert_lacks(shown, "\"width\":1,");
    free(shown);
    size_t size;
    char *aside = read_file("library/damaged.jsonl", &size);
    assert_string_equal(aside, "{\"table\":\"label\",\"item\":99,\"label\":\"x\"}\n");
    free(aside);
}

/* The file is gone: what is left of the item is kept aside. */
static void verify_gives_up_what_is_gone(void **state)
{
    (void)state;
    make_library();
    char *list = doppel_prints(0, "list", "-L", "library", "--json");
    assert_int_equal(count_lines(list, ""), COLLECTION_FILES);
    free(list);
    run_sql("UPDATE fingerprint SET data = x'00' WHERE item = 1");
    char *shown = doppel_prints(3, "list", "-L", "library", "--json");
    assert_int_equal(count_lines(shown, ""), COLLECTION_FILES - 1);
    free(shown);
    assert_int_equal(rename("pics", "elsewhere"), 0);
    char *told = verify(3, "--repair");
    assert_has(told, "quarantined");
    free(told);
    free(verify(0, NULL));
    size_t size;
    char *aside = read_file("library/damaged.jsonl", &size);
    assert_int_equal(count_lines(aside, "{\"table\":\"item\",\"id\":1,"), 1);
    assert_int_equal(count_lines(aside, "{\"table\":\"fingerprint\",\"item\":1,"), 1);
    free(aside);
    list = doppel_prints(0, "list", "-L", "library", "--json");
    assert_int_equal(count_lines(list, ""), COLLECTION_FILES - 1);
    free(list);
}

static void verify_looks_at_files(void **state)
{
    (void)state;
    make_library();
    free(doppel_prints(0, "verify", "-L", "library", "--files"));
    size_t size;
    char *bytes = read_file("pics/tree.jpg", &size);
    assert_int_equal(unlink("pics/tree.jpg"), 0);
    char *told = doppel_prints(3, "verify", "-L", "library", "--files", "--json");
    assert_int_equal(count_lines(told, ""), 1);
    assert_has(told, "\"problem\":\"file\"");
    assert_has(told, "the file is gone");
    free(told);
    pause_ms(20);
    write_file("pics/tree.jpg", bytes, size);
    told = doppel_prints(3, "verify", "-L", "library", "--files", "--json");
    assert_has(told, "changed or replaced");
    free(told);
    free(doppel_prints(0, "verify", "-L", "library", "--files", "--digest"));
    bytes[size - 1] ^= 1;
    write_file("pics/tree.jpg", bytes, size);
    told = doppel_prints(3, "verify", "-L", "library", "--files", "--digest", "--json");
    assert_has(told, "other bytes");
    free(told);
    free(bytes);
}

static void old_versions_are_computed_anew(void **state)
{
    (void)state;
    make_library();
    run_sql("INSERT INTO label VALUES(2, 'kept'); UPDATE item SET version = 1 WHERE id IN (2, 5)");
    struct ran ran = doppel("stats", "-L", "library", "--json");
    assert_code(&ran, 0);
    assert_number(ran.out, "old_items", 2, 0);
    assert_has(ran.err, "2 items are of another version of their scheme");
    ran_free(&ran);
    /* Rows whose version was changed are damaged, too: sealed they are old alone. */
    ran = doppel("add", "-L", "library", "--refresh", "--json");
    assert_code(&ran, 0);
    assert_int_equal(count_lines(ran.out, "\"added\":\"updated\""), 2);
    assert_int_equal(count_lines(ran.out, ""), 2);
    ran_free(&ran);
    char *stats = doppel_prints(0, "stats", "-L", "library", "--json");
    assert_number(stats, "old_items", 0, 0);
    assert_number(stats, "items", COLLECTION_FILES, 0);
    assert_number(stats, "labels", 1, 0);
    free(stats);
    char *log = doppel_prints(0, "log", "-L", "library", "2", "--json");
    assert_int_equal(count_lines(log, "\"refreshed\""), 1);
    free(log);
    ran = doppel("add", "-L", "library", "--refresh", "--json");
    assert_code(&ran, 0);
    assert_string_equal(ran.out, "");
    ran_free(&ran);
}

/* By id, by path, by folder; what is gone stays. */
static void refresh_takes_names(void **state)
{
    (void)state;
    make_library();
    char *out = doppel_prints(0, "add", "-L", "library", "--refresh", "3", "--json");
    assert_int_equal(count_lines(out, "\"id\":3,"), 1);
    assert_int_equal(count_lines(out, ""), 1);
    free(out);
    out = doppel_prints(0, "add", "-L", "library", "--refresh", "pics", "--json");
    assert_int_equal(count_lines(out, "\"added\":\"unchanged\""), COLLECTION_FILES);
    free(out);
    assert_int_equal(unlink("pics/tree.jpg"), 0);
    struct ran ran = doppel("add", "-L", "library", "--refresh", "pics/tree.jpg", "nosuch");
    assert_code(&ran, 3);
    assert_has(ran.err, "the file is gone; its item stays as it is");
    assert_has(ran.err, "nosuch: the library holds no such item");
    ran_free(&ran);
    char *list = doppel_prints(0, "list", "-L", "library", "--json");
    assert_int_equal(count_lines(list, ""), COLLECTION_FILES);
    free(list);
}

/* What is damaged of one item is told, with the reason; the groups of the others are. */
static void groups_go_on_past_damage(void **state)
{
    (void)state;
    make_library();
    char *whole = doppel_prints(0, "groups", "-L", "library", "--json");
    run_sql("INSERT INTO link(item, leader, checksum) SELECT max(id), 1, 7 FROM item");
    struct ran ran = doppel("groups", "-L", "library", "--json");
    assert_code(&ran, 3);
    assert_has(ran.err, "whom it follows is damaged");
    assert_lacks(ran.err, "ended early");
    assert_true(count_lines(ran.out, "") > 0 && count_lines(ran.out, "") <= count_lines(whole, ""));
    ran_free(&ran);
    free(whole);
}

static void compact_says_what_it_saved(void **state)
{
    (void)state;
    make_library();
    free(doppel_prints(0, "remove", "-L", "library", "pics"));
    char *told = doppel_prints(0, "compact", "-L", "library", "--json");
    assert_true(number_of(told, "after") < number_of(told, "before"));
    assert_true(number_of(told, "saved") == number_of(told, "before") - number_of(told, "after"));
    free(told);
    free(verify(0, NULL));
}

/* ---- what is none, or may not be written ---- */

#define VERBS                                                                                      \
    {                                                                                              \
        "verify", "compact", "stats", "list", "log"                                                \
    }

static void others_are_refused(void **state)
{
    (void)state;
    static const char *const verbs[] = VERBS;
    make_library();
    run_sql("PRAGMA user_version = 99");
    write_file("a-file", "x", 1);
    assert_int_equal(mkfifo("a-fifo", 0600), 0);
    make_folder("empty");
    make_folder("begun");
    write_file("begun/catalogue.db", "", 0);
    make_folder("fifo");
    assert_int_equal(mkfifo("fifo/catalogue.db", 0600), 0);
    static const struct {
        const char *library, *sentence;
    } others[] = {{"library", "made by a newer doppel"},
                  {"a-file", "no library here"},
                  {"a-fifo", "no library here"},
                  {"empty", "no library here"},
                  {"begun", "catalogue.db: holds nothing: its making was interrupted"},
                  {"fifo", "not a file"}};
    size_t before, after;
    char *catalogue = read_file("library/catalogue.db", &before);
    for (size_t v = 0; v < sizeof verbs / sizeof *verbs; v++)
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
            struct ran ran = doppel(verbs[v], "-L", others[i].library);
            assert_code(&ran, 2);
            assert_has(ran.err, others[i].sentence);
            ran_free(&ran);
        }
    struct ran ran = doppel("verify", "-L", "library", "--repair");
    assert_code(&ran, 2);
    assert_has(ran.err, "made by a newer doppel");
    ran_free(&ran);
    char *same = read_file("library/catalogue.db", &after);
    assert_int_equal(before, after);
    assert_memory_equal(same, catalogue, before);
    free(same);
    free(catalogue);
}

/* Nobody begins anew over indexes of items: a backup may be there. */
static void an_emptied_catalogue_is_damage(void **state)
{
    (void)state;
    make_library();
    write_file("library/catalogue.db", "", 0);
    static const char *const verbs[][2] = {
        {"add", "pics"}, {"list", NULL}, {"verify", "--repair"}, {"ingest", "pics"}};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        struct ran ran = doppel(verbs[i][0], "-L", "library", verbs[i][1]);
        assert_code(&ran, 2);
        assert_has(ran.err, "catalogue.db: it is empty, but the indexes of its items are there");
        assert_has(ran.err, "put a backup in its place");
        ran_free(&ran);
    }
    char *told = verify(3, NULL);
    assert_has(told, "{\"problem\":\"catalogue\",\"detail\":\"library/catalogue.db: it is empty");
    free(told);
}

/* Also where there is nothing yet, and the folder cannot be written. */
static void a_place_that_cannot_be_written_is_named(void **state)
{
    (void)state;
    const struct setting powerless = {.powerless = true};
    write_file("code", "1111111111111111  more\n", 23);
    make_folder("bare");
    assert_int_equal(chmod("bare", 0555), 0);
    struct ran ran = doppel_with(&powerless, "import", "-L", "bare", "code");
    assert_code(&ran, 2);
    assert_has(ran.err, "bare/catalogue.db: cannot be made: its directory cannot be written");
    ran_free(&ran);
}

static void a_symlink_will_do(void **state)
{
    (void)state;
    make_library();
    assert_int_equal(symlink("library", "link"), 0);
    free(doppel_prints(0, "verify", "-L", "link"));
    free(doppel_prints(0, "compact", "-L", "link"));
    char *stats = doppel_prints(0, "stats", "-L", "link");
    assert_has(stats, "\nduplicates      ingest, mark ");
    free(stats);
    free(verify(0, NULL));
}

static void readers_need_not_write(void **state)
{
    (void)state;
    static const char *const readers[] = {"verify", "stats", "list", "log"};
    static const char *const writers[][2] = {
        {"compact", NULL}, {"verify", "--repair"}, {"add", "--refresh"}};
    const struct setting powerless = {.powerless = true};
    make_library();
    free(doppel_prints(0, "compact", "-L", "library"));
    assert_int_equal(chmod("library/catalogue.db", 0444), 0);
    assert_int_equal(chmod("library", 0555), 0);
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        struct ran ran = doppel_with(&powerless, readers[i], "-L", "library");
        assert_code(&ran, 0);
        ran_free(&ran);
    }
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
        struct ran ran = doppel_with(&powerless, writers[i][0], "-L", "library", writers[i][1]);
        assert_code(&ran, 2);
        assert_has(ran.err, "cannot be written");
        ran_free(&ran);
    }
    assert_int_equal(chmod("library", 0755), 0);
    assert_int_equal(chmod("library/catalogue.db", 0644), 0);
    free(verify(0, NULL));
}

/* Another process is in the middle of a change. */
static void writers_wait_and_say_why(void **state)
{
    (void)state;
    static const char *const writers[][6] = {{"compact", "-L", "library", NULL},
                                             {"verify", "-L", "library", "--repair", NULL},
                                             {"add", "-L", "library", "--refresh", "pics", NULL}};
    enum { WRITERS = sizeof writers / sizeof *writers };
    struct running running[WRITERS];
    sqlite3 *other;
    make_library();
    run_sql("UPDATE item SET version = 1");
    assert_int_equal(sqlite3_open("library/catalogue.db", &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    for (size_t i = 0; i < WRITERS; i++)
        running[i] = command_start(NULL, writers[i]);
    free(doppel_prints(0, "stats", "-L", "library"));
    free(doppel_prints(3, "verify", "-L", "library"));
    for (size_t i = 0; i < WRITERS; i++) {
        struct ran ran = command_end(&running[i]);
        assert_code(&ran, 2);
        assert_has(ran.err, "another process is writing to it");
        assert_true(ran.seconds > 4 && ran.seconds < 30);
        ran_free(&ran);
    }
    sqlite3_close(other);
    free(doppel_prints(0, "add", "-L", "library", "--refresh"));
    free(verify(0, NULL));
}

/* Files may grow to so many KiB: each verb ends in words, and the library is as it was, or mended.
 */
static void a_full_disk_loses_nothing(void **state)
{
    (void)state;
    static const char *const verbs[] = {"compact -L library", "verify -L library --repair",
                                        "add -L library --refresh"};
    const struct setting shell = {.program = "/bin/sh"};
    char command[512];
    make_library();
    for (int kilobytes = 16; kilobytes <= 4096; kilobytes *= 4)
        for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
            run_sql("INSERT OR IGNORE INTO label VALUES(99, 'x');"
                    "UPDATE item SET version = 1 WHERE id > 4");
            snprintf(command, sizeof command, "ulimit -f %d; exec " DOPPEL_PROGRAM " %s",
                     kilobytes * 2, verbs[i]);
            struct ran ran = doppel_with(&shell, "-c", command);
            if (ran.code != 0 && ran.code != 3) {
                assert_code(&ran, 2);
                assert_has(ran.err, "doppel: ");
            }
            ran_free(&ran);
            char *stats = doppel_prints(0, "stats", "-L", "library", "--json");
            assert_number(stats, "items", COLLECTION_FILES, 0);
            free(stats);
        }
    free(verify(3, "--repair"));
    free(verify(0, NULL));
    char *list = doppel_prints(0, "list", "-L", "library", "--json");
    assert_int_equal(count_lines(list, ""), COLLECTION_FILES);
    free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(verify_says_what_is_wrong),
        IN_SANDBOX(verify_gives_up_what_is_gone),
        IN_SANDBOX(verify_looks_at_files),
        IN_SANDBOX(old_versions_are_computed_anew),
        IN_SANDBOX(refresh_takes_names),
        IN_SANDBOX(compact_says_what_it_saved),
        IN_SANDBOX(groups_go_on_past_damage),
        IN_SANDBOX(others_are_refused),
        IN_SANDBOX(an_emptied_catalogue_is_damage),
        IN_SANDBOX(a_place_that_cannot_be_written_is_named),
        IN_SANDBOX(a_symlink_will_do),
        IN_SANDBOX(readers_need_not_write),
        IN_SANDBOX(writers_wait_and_say_why),
        IN_SANDBOX(a_full_disk_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
