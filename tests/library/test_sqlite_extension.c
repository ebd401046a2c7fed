/* The extension for SQLite as anybody loads it, on a catalogue: against a count of bits one by one.
 */
#include "tests/library/fixture.h"

#include <sqlite3.h>
#include <stdio.h>

static sqlite3 *open_with_extension(const char *path)
{
    sqlite3 *database;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL),
                     SQLITE_OK);
    if (sqlite3_load_extension(database, EXTENSION, NULL, &message))
        fail_msg("%s", message);
    return database;
}

/* The one value of a query as text, "NULL", or "error: SENTENCE". */
static void ask(sqlite3 *database, const char *sql, char out[200])
{
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
    if (sqlite3_step(statement) != SQLITE_ROW)
        snprintf(out, 200, "error: %s", sqlite3_errmsg(database));
    else if (sqlite3_column_type(statement, 0) == SQLITE_NULL)
        snprintf(out, 200, "NULL");
    else
        snprintf(out, 200, "%s", (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
}

static void assert_asked(sqlite3 *database, const char *sql, const char *expected)
{
    char got[200];
    ask(database, sql, got);
    if (strcmp(got, expected) != 0)
        fail_msg("%s: %s", sql, got);
}

static void test_kinds_of_codes(void **state)
{
    (void)state;
    sqlite3 *database = open_with_extension(":memory:");
    assert_asked(database, "SELECT hamming(5, 6)", "2");
    assert_asked(database, "SELECT hamming(-1, 0)", "64");
    assert_asked(database, "SELECT hamming('ff00', 'FE01')", "2");
    assert_asked(database, "SELECT hamming(x'ff00', 'fe01')", "2");
    assert_asked(database, "SELECT hamming(255, '00000000000000f0')", "4");
    assert_asked(database, "SELECT hamming('', '')", "0");
    assert_asked(database, "SELECT hamming(x'', '')", "0");
    assert_asked(database, "SELECT hamming(NULL, 5)", "NULL");
    assert_asked(database, "SELECT hamming(5, NULL)", "NULL");
    assert_asked(database, "SELECT hamming('f', 'f')",
                 "error: hamming: a code is an integer, text in hex, or a blob");
    assert_asked(database, "SELECT hamming('zz', 'ff')",
                 "error: hamming: a code is an integer, text in hex, or a blob");
    assert_asked(database, "SELECT hamming(1.5, 1)",
                 "error: hamming: a code is an integer, text in hex, or a blob");
    assert_asked(database, "SELECT hamming('ff', 1)", "error: hamming: codes of different lengths");
    sqlite3_close(database);
}

static int count_bits(uint64_t bits)
{
    int count = 0;
    for (int i = 0; i < 64; i++)
        count += (int)(bits >> i & 1);
    return count;
}

static void test_random_codes(void **state)
{
    (void)state;
    sqlite3 *database = open_with_extension(":memory:");
    uint64_t a = 88172645463325252u;
    for (int i = 0; i < 1000; i++) {
        char sql[200], expected[20];
        a ^= a << 13, a ^= a >> 7, a ^= a << 17;
        uint64_t b = a * UINT64_C(0x9e3779b97f4a7c15);
        snprintf(sql, sizeof sql, "SELECT hamming(%lld, '%016llx')", (long long)a,
                 (unsigned long long)b);
        snprintf(expected, sizeof expected, "%d", count_bits(a ^ b));
        assert_asked(database, sql, expected);
    }
    sqlite3_close(database);
}

/* The column is the code that `show` and `hash` print. */
static void test_a_catalogue(void **state)
{
    struct doppel_library *library = open_library(*state);
    struct doppel_record record = record_make(7);
    const struct doppel_file_stamp stamp = {.inode = 7};
    enum doppel_added added;
    uint64_t id;
    char hex[65], sql[300];
    doppel_code_to_hex(&record.fingerprint.codes[0], 64, hex);
    assert_int_equal(doppel_library_add(library, "/seven", &stamp, &record, &added, &id, NULL),
                     DOPPEL_OK);
    commit(library);
    doppel_library_close(library);
    doppel_record_free(&record);
    sqlite3 *database = open_with_extension(folder_path(*state, "a/library/catalogue.db"));
    snprintf(sql, sizeof sql,
             "SELECT path || hamming(simhash, '%s') FROM items WHERE hamming(simhash, x'%s') <= 3",
             hex, hex);
    assert_asked(database, sql, "/seven0");
    sqlite3_close(database);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds_of_codes),
        cmocka_unit_test(test_random_codes),
        IN_FOLDER(test_a_catalogue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
