/* verify --repair of a catalogue with damaged pages: what it says, and whose files it touches. */
#include "command.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collection.h"
#include "kept.h"

/* Pages are damaged: what can be read is there afterwards. */
static void verify_saves_what_can_be_read(void **state)
{
    (void)state;
    make_library();
    size_t size;
    free(doppel_prints(0, "compact", "-L", "library"));
    char *bytes = read_file("library/catalogue.db", &size);
    memset(bytes + size / 2, 0x5a, 8192);
    write_file("library/catalogue.db", bytes, size);
    free(bytes);
    char *told = verify(3, NULL);
    assert_has(told, "\"problem\":\"catalogue\"");
    free(told);
    struct ran ran = doppel("verify", "-L", "library", "--repair");
    assert_code(&ran, 3);
    assert_has(ran.out, "catalogue.db.damaged");
    assert_has(ran.out, "rows are in the new catalogue");
    unsigned news = count_lines(ran.out, " in the new catalogue"), rows = count_lines(ran.out, "");
    char summary[64];
    snprintf(summary, sizeof summary, "doppel: %u problems, ", rows - 1 - news);
    assert_has(ran.err, summary);
    ran_free(&ran);
    assert_int_equal(access("library/catalogue.db.damaged", F_OK), 0);
    free(verify(0, NULL));
    free(doppel_prints(0, "add", "-L", "library", "pics"));
    char *list = doppel_prints(0, "list", "-L", "library", "--json");
    assert_int_equal(count_lines(list, ""), COLLECTION_FILES);
    free(list);
}

/* Nothing but the first page says whose it is, and where the tables begin: all the same nothing is
 * lost. */
static void verify_needs_no_first_page(void **state)
{
    (void)state;
    size_t size;
    make_library();
    run_sql("INSERT INTO label VALUES(2, 'a word')");
    char *before = doppel_prints(0, "list", "-L", "library", "--json");
    free(doppel_prints(0, "compact", "-L", "library"));
    char *bytes = read_file("library/catalogue.db", &size);
    memset(bytes, 0, 4096);
    write_file("library/catalogue.db", bytes, size);
    free(bytes);
    char *told = verify(3, "--repair");
    assert_lacks(told, "lost");
    assert_lacks(told, "\"repaired\":false");
    assert_has(told, "{\"problem\":\"label\",\"detail\":\"1 row is in the new catalogue\"");
    free(told);
    free(verify(0, NULL));
    char *after = doppel_prints(0, "list", "-L", "library", "--json");
    assert_string_equal(after, before);
    free(before);
    free(after);
}

/* The mark of doppel changed: what is in it tells. Others' files stay as they are. */
static void verify_knows_whose_it_is(void **state)
{
    (void)state;
    size_t size, after;
    make_library();
    free(doppel_prints(0, "compact", "-L", "library"));
    run_sql("PRAGMA application_id = 1684040524");
    free(verify(3, "--repair"));
    free(verify(0, NULL));
    make_folder("other");
    sqlite3 *other;
    assert_int_equal(sqlite3_open("other/catalogue.db", &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other,
                                  "CREATE TABLE item(id INTEGER PRIMARY KEY AUTOINCREMENT, name);"
                                  "INSERT INTO item VALUES(1, 'a'), (2, 'b')",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(other);
    char *bytes = read_file("other/catalogue.db", &size);
    struct ran ran = doppel("verify", "-L", "other", "--repair");
    assert_code(&ran, 2);
    assert_has(ran.err, "another program's database");
    ran_free(&ran);
    char *same = read_file("other/catalogue.db", &after);
    assert_int_equal(after, size);
    assert_memory_equal(same, bytes, size);
    assert_int_not_equal(access("other/catalogue.db.damaged", F_OK), 0);
    free(same);
    free(bytes);
}

/* Somebody has it open, who read it when it was whole. */
static void verify_waits_for_others(void **state)
{
    (void)state;
    const struct setting shell = {.program = "/bin/sh"};
    sqlite3 *other;
    make_library();
    assert_int_equal(sqlite3_open("library/catalogue.db", &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "SELECT count(*) FROM item", NULL, NULL, NULL), SQLITE_OK);
    /* by another process: to close the file here would give up the lock */
    struct ran ran =
        doppel_with(&shell, "-c", "printf damaged | dd of=library/catalogue.db conv=notrunc 2>&1");
    assert_code(&ran, 0);
    ran_free(&ran);
    ran = doppel("verify", "-L", "library", "--repair");
    assert_code(&ran, 2);
    assert_has(ran.err, "another process");
    ran_free(&ran);
    assert_int_not_equal(access("library/catalogue.db.damaged", F_OK), 0);
    sqlite3_close(other);
    free(verify(3, "--repair"));
    free(verify(0, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(verify_saves_what_can_be_read),
        IN_SANDBOX(verify_needs_no_first_page),
        IN_SANDBOX(verify_knows_whose_it_is),
        IN_SANDBOX(verify_waits_for_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
