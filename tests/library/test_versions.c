/* Catalogues of versions 8 to 14 are brought up, and then have what those of today have. */
#include "tests/library/list_codes.h"

#include <sqlite3.h>
#include <stdio.h>

#define VERSION_15_UNDONE "DROP TABLE text_vectors;"
#define VERSION_14_UNDONE VERSION_15_UNDONE "DROP TABLE answer; DROP TABLE request;"
#define VERSION_13_UNDONE VERSION_14_UNDONE "DROP TABLE job; DROP TABLE job_input;"
#define VERSION_12_UNDONE VERSION_13_UNDONE "DROP TABLE upstream;"
#define VERSION_10_UNDONE                                                                          \
    VERSION_12_UNDONE                                                                              \
    "DROP VIEW lists; DROP VIEW list_matches;"                                                     \
    "DROP TABLE list_rule; DROP TABLE list_said; DROP TABLE list_match;"

static int64_t count_rows(const char *path, const char *sql)
{
    sqlite3 *database = NULL;
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return number;
}

/* Which items came with a list, the log of a catalogue of version 9 says. */
static void version_9_is_brought_up(void **state)
{
    static char *lists[] = {"blocked"};
    const struct doppel_metadata none = {0}, listed = {.lists = lists, .list_count = 1};
    struct list_code codes[90];
    uint64_t counts[DOPPEL_ADDED_ELSEWHERE + 1] = {0};
    const char *path = folder_path(*state, "a/library/catalogue.db");
    struct doppel_library *library = open_library(*state);
    struct code_source source = {.random = 18};
    for (size_t i = 0; i < 90; i++) {
        codes[i] = random_code(&source);
        codes[i].algorithm = 0; /* so that codes alone are what they are known by */
        codes[i].quality = 90;  /* no tags */
        codes[i].name[0] = '\0';
    }
    import_one_by_one(library, codes, 10, &none, counts); /* by hand */
    import_batches(library, codes, 60, 60, &listed, counts);
    import_batches(library, codes + 60, 5, 5, &listed, counts);
    import_one_by_one(library, codes + 65, 5, &listed, counts);
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
    doppel_library_close(library);
    const int64_t listed_items = count_rows(path, "SELECT count(*) FROM list_item");
    run_raw(path, "CREATE TABLE kept AS SELECT * FROM list_said");
    assert_in_range(count_rows(path, "SELECT count(*) FROM kept"), 40, listed_items - 1);
    run_raw(path, VERSION_10_UNDONE "PRAGMA user_version = 9");
    library = open_library(*state);
    doppel_library_close(library);
    assert_int_equal(count_rows(path, "SELECT count(*) FROM (SELECT item, list, tag FROM kept"
                                      " EXCEPT SELECT item, list, tag FROM list_said)"),
                     0);
    assert_in_range(count_rows(path, "SELECT count(*) FROM list_said") -
                        count_rows(path, "SELECT count(*) FROM kept"),
                    0, 5);
    run_raw(path, "DROP TABLE kept");
}

/* A catalogue of version 8 has two other indexes, and a row of the log for each item. */
static void version_8_is_brought_up(void **state)
{
    const struct doppel_metadata none = {0};
    struct list_code codes[40];
    uint64_t counts[DOPPEL_ADDED_ELSEWHERE + 1] = {0};
    struct doppel_library *library = open_library(*state);
    struct doppel_scheme_count count;
    struct code_source source = {.random = 17};
    for (size_t i = 0; i < 40; i++) {
        codes[i] = random_code(&source);
        codes[i].algorithm = 0;
    }
    import_one_by_one(library, codes, 20, &none, counts);
    doppel_library_close(library);
    run_raw(folder_path(*state, "a/library/catalogue.db"), VERSION_10_UNDONE
            "DROP VIEW decisions; DROP INDEX log_last; ALTER TABLE log DROP COLUMN last_item;"
            "DROP INDEX item_with_file; DROP INDEX item_without_file;"
            "CREATE INDEX item_version ON item(kind, scheme, version);"
            "CREATE INDEX item_scheme ON item(scheme, version);"
            "CREATE INDEX item_without_file ON item(scheme) WHERE path < x'01';"
            "PRAGMA user_version = 8");
    library = open_library(*state);
    import_batches(library, codes, 40, 40, &none, counts);
    uint64_t all = 0;
    for (int scheme = DOPPEL_SCHEME_PHASH256; scheme <= DOPPEL_SCHEME_PDQ; scheme++) {
        assert_int_equal(
            doppel_library_count_scheme(library, doppel_scheme_by_id((enum doppel_scheme_id)scheme),
                                        &count, NULL),
            DOPPEL_OK);
        assert_int_equal(count.all, count.without_file);
        all += count.all;
    }
    assert_int_equal(all, counts[DOPPEL_ADDED_NEW]);
    assert_whole(library);
    doppel_library_close(library);
}

/* The view of a catalogue of version 10 names no digest that came in with many. */
static void version_10_is_brought_up(void **state)
{
    enum { DIGESTS = 40 };
    const struct doppel_metadata none = {0};
    const struct doppel_library_options reading = {.read_only = true};
    struct list_code codes[DIGESTS];
    uint64_t counts[DOPPEL_ADDED_ELSEWHERE + 1] = {0};
    const char *path = folder_path(*state, "a/library/catalogue.db");
    struct doppel_library *library = open_library(*state);
    struct code_source source = {.random = 23};
    for (size_t i = 0; i < DIGESTS; i++) {
        codes[i] = random_code(&source);
        codes[i].algorithm = DOPPEL_EXACT_MD5;
    }
    import_batches(library, codes, DIGESTS, DIGESTS, &none, counts);
    doppel_library_close(library);
    run_raw(path, VERSION_12_UNDONE
            "DROP VIEW decisions; CREATE VIEW decisions AS SELECT entry, '' AS name FROM log;"
            "PRAGMA user_version = 10");
    assert_int_equal(doppel_library_open(directory_of(*state), &reading, &library, NULL),
                     DOPPEL_OK);
    doppel_library_close(library);
    assert_int_equal(count_rows(path, "SELECT count(*) FROM decisions JOIN item ON item.id = item"
                                      " WHERE name = CAST(path AS TEXT) AND name LIKE 'md5:%'"),
                     counts[DOPPEL_ADDED_NEW]);
    assert_true(counts[DOPPEL_ADDED_NEW] >= DIGESTS / 2);
}

/* A catalogue of version 12 has no jobs. */
static void version_12_is_brought_up(void **state)
{
    static const char *const inputs[] = {"{}"};
    const struct doppel_job job = {0};
    uint64_t id;
    struct doppel_library *library = open_library(*state);
    doppel_library_close(library);
    run_raw(folder_path(*state, "a/library/catalogue.db"),
            VERSION_13_UNDONE "PRAGMA user_version = 12");
    library = open_library(*state);
    assert_int_equal(doppel_library_add_job(library, &job, inputs, 1, &id, NULL), DOPPEL_OK);
    commit(library);
    assert_int_equal(id, 1);
    assert_whole(library);
    doppel_library_close(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(version_8_is_brought_up),
        IN_FOLDER(version_9_is_brought_up),
        IN_FOLDER(version_10_is_brought_up),
        IN_FOLDER(version_12_is_brought_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
