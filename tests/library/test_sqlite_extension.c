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

/* ---- doppel_find ---- */

enum { FIND_ITEMS = 600 };

/* Codes at 0 to 13 bits of one of eight, of which every third is too flat for the index. */
static void add_codes_near_each_other(struct doppel_library *library)
{
    for (uint64_t i = 0; i < FIND_ITEMS; i++) {
        struct doppel_record record = record_make(i + 1), base = record_make(i % 8 + 1);
        uint64_t word = base.fingerprint.codes[0].word[0];
        for (uint64_t flips = i / 8 % 14; flips; flips--)
            word ^= UINT64_C(1) << (i * 7 + flips * 11) % 64;
        record.fingerprint.codes[0].word[0] = word;
        record.quality = i % 3 ? 90 : 2;
        assert_int_equal(add_numbered(library, i, record, NULL), DOPPEL_OK);
        doppel_record_free(&base);
    }
}

static uint64_t first_code_of(uint64_t seed)
{
    struct doppel_record record = record_make(seed);
    const uint64_t word = record.fingerprint.codes[0].word[0];
    doppel_record_free(&record);
    return word;
}

/* All that hamming() finds row by row, and at least `least` of it. */
static void assert_found_as_by_hamming(sqlite3 *database, uint64_t word, unsigned radius, int least)
{
    char find[300], scan[300], found[200], expected[200];
    snprintf(find, sizeof find,
             "SELECT count(*) || ' ' || sum(id * id) || ' ' || sum(distance * id) "
             "FROM doppel_find('%016llx', %u)",
             (unsigned long long)word, radius);
    snprintf(scan, sizeof scan,
             "SELECT count(*) || ' ' || sum(id * id) || ' ' || sum(hamming(simhash, %lld) * id) "
             "FROM items WHERE quality > 2 AND hamming(simhash, %lld) <= %u",
             (long long)word, (long long)word, radius);
    ask(database, find, found);
    ask(database, scan, expected);
    assert_string_equal(found, expected);
    assert_true(atoi(found) >= least);
}

static sqlite3 *open_catalogue_of(const char *folder)
{
    return open_with_extension(folder_path(folder, "a/library/catalogue.db"));
}

static void test_found_as_by_hamming(void **state)
{
    static const unsigned radii[] = {0, 1, 3, 8, 13, 24, 64, 1000};
    struct doppel_library *library = open_library(*state);
    add_codes_near_each_other(library);
    commit(library);
    sqlite3 *database = open_catalogue_of(*state);
    for (size_t i = 0; i < sizeof radii / sizeof *radii; i++)
        for (uint64_t seed = 1; seed <= 9; seed++)
            assert_found_as_by_hamming(database, first_code_of(seed), radii[i],
                                       seed < 9 && radii[i] ? (int)radii[i] % 64 : 0);
    /* what others commit is found, what they remove is not */
    assert_int_equal(doppel_library_remove(library, 2, NULL), DOPPEL_OK);
    commit(library);
    assert_found_as_by_hamming(database, first_code_of(2), 8, 8);
    doppel_library_close(library);
    sqlite3_close(database);
}

static void test_found_in_joins(void **state)
{
    struct doppel_library *library = open_library(*state);
    add_codes_near_each_other(library);
    commit(library);
    doppel_library_close(library);
    sqlite3 *database = open_catalogue_of(*state);
    char pairs[200], found[200];
    ask(database,
        "SELECT count(*) || ' ' || sum(a.id * b.id) FROM items a, items b "
        "WHERE a.quality > 2 AND b.quality > 2 AND hamming(a.simhash, b.simhash) <= 3",
        pairs);
    ask(database,
        "SELECT count(*) || ' ' || sum(a.id * f.id) FROM items a, doppel_find(a.simhash, 3) f "
        "WHERE a.quality > 2",
        found);
    assert_string_equal(found, pairs);
    assert_asked(database, "SELECT group_concat(distance) = '0' FROM doppel_find(NULL, 3)", "NULL");
    assert_asked(database,
                 "SELECT max(distance) < 9 FROM doppel_find((SELECT simhash FROM items), 8,"
                 " 'phash64') JOIN items USING (id)",
                 "1");
    sqlite3_close(database);
}

static void test_what_is_not_found(void **state)
{
#define FIND "SELECT * FROM doppel_find"
    static const char *const refused[][2] = {
        {FIND "('zz', 8)", "a code is an integer, text in hex, or a blob"},
        {FIND "(1.5, 8)", "a code is an integer, text in hex, or a blob"},
        {FIND "('ff', 8)", "the code has not as many bits as the scheme: "
                           "64 of phash64, 256 of phash256"},
        {FIND "(5, -1)", "a radius is a whole number of bits, 0 or more"},
        {FIND "(5, 'x')", "a radius is a whole number of bits, 0 or more"},
        {FIND "(5, 8, 'nothing')", "there is no such scheme"},
        {FIND "(5, 8, 'frames64')", "items of this scheme are not found by one code: phash64, "
                                    "phash256, imagehash, pdq and simhash64 are"},
    };
    char expected[200];
    doppel_library_close(open_library(*state));
    sqlite3 *database = open_catalogue_of(*state);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        snprintf(expected, sizeof expected, "error: doppel_find: %s", refused[i][1]);
        assert_asked(database, refused[i][0], expected);
    }
    assert_asked(database, "SELECT count(*) FROM doppel_find(5, 8)", "0");
    assert_asked(database, "SELECT count(*) FROM doppel_find(zeroblob(32), 31)", "0");
    assert_asked(database, "SELECT count(*) FROM doppel_find(5, 8, 'imagehash')", "0");
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(database, FIND, -1, &statement, NULL), SQLITE_ERROR);
    assert_int_equal(sqlite3_prepare_v2(database, FIND "(5)", -1, &statement, NULL), SQLITE_ERROR);
    sqlite3_close(database);
    database = open_with_extension(":memory:");
    assert_asked(database, FIND "(5, 8)",
                 "error: doppel_find: the open database is not the catalogue of a library");
    sqlite3_close(database);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds_of_codes), cmocka_unit_test(test_random_codes),
        IN_FOLDER(test_a_catalogue),           IN_FOLDER(test_found_as_by_hamming),
        IN_FOLDER(test_found_in_joins),        IN_FOLDER(test_what_is_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
