/* A catalogue of which a page is damaged, each in turn, or several: all rows are saved but those of
 * that page, and none that was not there. What is on a page SQLite's own dbstat tells, what was in
 * the tables a copy. */
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#include "library/checksum.h"
#include "tests/library/upkeep.h"

enum { ITEMS = 60, MAX_BYTES = 1 << 20, MAX_PAGES = 1024, NAME_BYTES = 32 };

/* What the checksum of a row covers, where there is one. */
static const struct {
    const char *name, *columns;
} tables[] = {
    {"item",
     "path, settled, added_ns, device, inode, size, mtime_ns, digest, kind, scheme, version,"
     " width, height, quality"},
    {"fingerprint", "item, data"},
    {"attachment", "item, data"},
    {"corpus", "id, path"},
    {"text", "id, record_id, source, date, corpus, line, place, size, added_ns, content, words,"
             " shingles, too_short, decision, leader, leads, lanes"},
    {"text_shingles", "text, data"},
    {"text_options", "one, format, nfkc, fold_case, drop_punctuation, unit, shingle, min_words,"
                     " lanes, min_similarity, min_containment"},
    {"log", "time_ns, action, item, path, former_item, former_path, source, decision, of, reason,"
            " scheme, version, distance, bits, similarity, limit_kind, match_limit,"
            " false_positive_rate, detail"},
    {"revision", NULL},
    {"about", "item, source, date, external_id, meta"},
    {"label", NULL},
    {"list", "id, name, state"},
    {"list_item", NULL},
    {"link", "item, leader"},
    {"canonical", "leader, item"},
    {"source", "pattern, authority"},
    {"policy", "one, keep"},
    {"mark", "a, b, same, time_ns, note"},
    {"exact", NULL},
    {"failure", "path, device, inode, size, mtime_ns, settled, time_ns, status, message, program,"
                " limits"},
};
enum { TABLES = sizeof tables / sizeof *tables };

/* ---- a catalogue with rows in all tables, and free pages ---- */

#define NUMBERS(count)                                                                             \
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " #count ") "

static const char rows[] =
    NUMBERS(
        60) "INSERT INTO about SELECT i, CAST('source ' || i % 7 AS BLOB), NULL, 'name ' || i,"
            " '{\"n\":' || i || '}', 0 FROM n;" NUMBERS(
                120) "INSERT INTO label SELECT i % 60 + 1, 'label ' || i FROM n;"
                     "INSERT INTO list VALUES(1, 'first', 0, 0), (2, 'second', 2, 0);" NUMBERS(120) "INSERT INTO list_item SELECT i % 60 + 1, i / 61 + 1 FROM n;" NUMBERS(
                         60) "INSERT INTO link SELECT i, i - i % 3, 0 FROM n WHERE i > 2 AND i % 3 "
                             "!= 0;" NUMBERS(60) "INSERT INTO canonical SELECT i, i + 1, 0 FROM n "
                                                 "WHERE i % 3 = "
                                                 "0;" NUMBERS(
                                                     60) "INSERT INTO source SELECT 'https://' || "
                                                         "i || "
                                                         "'.example/*', i, 0 FROM n;"
                                                         "INSERT INTO policy VALUES(1, "
                                                         "'resolution', "
                                                         "0);" NUMBERS(
                                                             60) "INSERT INTO mark SELECT CAST('a' "
                                                                 "|| (100 + "
                                                                 "i) AS BLOB), CAST('b' || i AS "
                                                                 "BLOB),"
                                                                 " i % 2, i, 'note ' || i, 0 FROM "
                                                                 "n;" NUMBERS(
                                                                     90) "INSERT INTO exact SELECT "
                                                                         "i % 3 + 1, "
                                                                         "CAST('digest ' || i AS "
                                                                         "BLOB), i % "
                                                                         "60 + 1"
                                                                         " FROM n;" NUMBERS(
                                                                             40) "INSERT INTO "
                                                                                 "failure SELECT "
                                                                                 "CAST('/broken/' "
                                                                                 "|| i AS "
                                                                                 "BLOB), 1, i, 9, "
                                                                                 "9, 1, 9, 7,"
                                                                                 " 'it is "
                                                                                 "damaged', "
                                                                                 "'doppel', "
                                                                                 "'none', 0 FROM "
                                                                                 "n;" NUMBERS(20) "INSERT INTO corpus SELECT i, CAST('/corpora/' || i AS BLOB), 0 FROM n;" NUMBERS(
                                                                                     40) "INSERT "
                                                                                         "INTO "
                                                                                         "text "
                                                                                         "SELECT "
                                                                                         "1000 + "
                                                                                         "i, "
                                                                                         "CAST('r' "
                                                                                         "|| i AS "
                                                                                         "BLOB), "
                                                                                         "NULL, "
                                                                                         "NULL, "
                                                                                         "i % 20 + "
                                                                                         "1,"
                                                                                         " i, 0, "
                                                                                         "9, 9, "
                                                                                         "zeroblob("
                                                                                         "16), 9, "
                                                                                         "9, "
                                                                                         "0, 0, 0, "
                                                                                         "1, "
                                                                                         "zeroblob("
                                                                                         "256), 0, "
                                                                                         "NULL "
                                                                                         "FROM "
                                                                                         "n"
                                                                                         ";" NUMBERS(
                                                                                             40) "I"
                                                                                                 "N"
                                                                                                 "S"
                                                                                                 "E"
                                                                                                 "R"
                                                                                                 "T"
                                                                                                 " "
                                                                                                 "I"
                                                                                                 "N"
                                                                                                 "T"
                                                                                                 "O"
                                                                                                 " "
                                                                                                 "t"
                                                                                                 "e"
                                                                                                 "x"
                                                                                                 "t"
                                                                                                 "_"
                                                                                                 "s"
                                                                                                 "h"
                                                                                                 "i"
                                                                                                 "n"
                                                                                                 "g"
                                                                                                 "l"
                                                                                                 "e"
                                                                                                 "s"
                                                                                                 " "
                                                                                                 "S"
                                                                                                 "E"
                                                                                                 "L"
                                                                                                 "E"
                                                                                                 "C"
                                                                                                 "T"
                                                                                                 " "
                                                                                                 "1"
                                                                                                 "0"
                                                                                                 "0"
                                                                                                 "0"
                                                                                                 " "
                                                                                                 "+"
                                                                                                 " "
                                                                                                 "i"
                                                                                                 ","
                                                                                                 " "
                                                                                                 "z"
                                                                                                 "e"
                                                                                                 "r"
                                                                                                 "o"
                                                                                                 "b"
                                                                                                 "l"
                                                                                                 "o"
                                                                                                 "b"
                                                                                                 "("
                                                                                                 "4"
                                                                                                 "0"
                                                                                                 " "
                                                                                                 "*"
                                                                                                 " "
                                                                                                 "i"
                                                                                                 ")"
                                                                                                 ","
                                                                                                 " "
                                                                                                 "0"
                                                                                                 " "
                                                                                                 "F"
                                                                                                 "R"
                                                                                                 "O"
                                                                                                 "M"
                                                                                                 " "
                                                                                                 "n"
                                                                                                 ";"
                                                                                                 "I"
                                                                                                 "N"
                                                                                                 "S"
                                                                                                 "E"
                                                                                                 "R"
                                                                                                 "T"
                                                                                                 " "
                                                                                                 "I"
                                                                                                 "N"
                                                                                                 "T"
                                                                                                 "O"
                                                                                                 " "
                                                                                                 "t"
                                                                                                 "e"
                                                                                                 "x"
                                                                                                 "t"
                                                                                                 "_"
                                                                                                 "o"
                                                                                                 "p"
                                                                                                 "t"
                                                                                                 "i"
                                                                                                 "o"
                                                                                                 "n"
                                                                                                 "s"
                                                                                                 " "
                                                                                                 "V"
                                                                                                 "A"
                                                                                                 "L"
                                                                                                 "U"
                                                                                                 "E"
                                                                                                 "S"
                                                                                                 "("
                                                                                                 "1"
                                                                                                 ","
                                                                                                 " "
                                                                                                 "0"
                                                                                                 ","
                                                                                                 " "
                                                                                                 "0"
                                                                                                 ","
                                                                                                 " "
                                                                                                 "1"
                                                                                                 ","
                                                                                                 " "
                                                                                                 "0"
                                                                                                 ","
                                                                                                 " "
                                                                                                 "0"
                                                                                                 ","
                                                                                                 " "
                                                                                                 "5"
                                                                                                 ","
                                                                                                 " "
                                                                                                 "9"
                                                                                                 ","
                                                                                                 " "
                                                                                                 "1"
                                                                                                 "2"
                                                                                                 "8"
                                                                                                 ","
                                                                                                 " "
                                                                                                 "1"
                                                                                                 "."
                                                                                                 "0"
                                                                                                 ","
                                                                                                 " "
                                                                                                 "0"
                                                                                                 "."
                                                                                                 "5"
                                                                                                 ","
                                                                                                 " "
                                                                                                 "0"
                                                                                                 ")"
                                                                                                 ";"
                                                                                                 "I"
                                                                                                 "N"
                                                                                                 "S"
                                                                                                 "E"
                                                                                                 "R"
                                                                                                 "T"
                                                                                                 " "
                                                                                                 "I"
                                                                                                 "N"
                                                                                                 "T"
                                                                                                 "O"
                                                                                                 " "
                                                                                                 "r"
                                                                                                 "e"
                                                                                                 "v"
                                                                                                 "i"
                                                                                                 "s"
                                                                                                 "i"
                                                                                                 "o"
                                                                                                 "n"
                                                                                                 " "
                                                                                                 "V"
                                                                                                 "A"
                                                                                                 "L"
                                                                                                 "U"
                                                                                                 "E"
                                                                                                 "S"
                                                                                                 "("
                                                                                                 "0"
                                                                                                 ","
                                                                                                 " "
                                                                                                 "5"
                                                                                                 ")"
                                                                                                 ","
                                                                                                 " "
                                                                                                 "("
                                                                                                 "1"
                                                                                                 ","
                                                                                                 " "
                                                                                                 "7"
                                                                                                 ")"
                                                                                                 " "
                                                                                                 "O"
                                                                                                 "N"
                                                                                                 " "
                                                                                                 "C"
                                                                                                 "O"
                                                                                                 "N"
                                                                                                 "F"
                                                                                                 "L"
                                                                                                 "I"
                                                                                                 "C"
                                                                                                 "T"
                                                                                                 " "
                                                                                                 "D"
                                                                                                 "O"
                                                                                                 " "
                                                                                                 "N"
                                                                                                 "O"
                                                                                                 "T"
                                                                                                 "H"
                                                                                                 "I"
                                                                                                 "N"
                                                                                                 "G"
                                                                                                 ";";

/* Rows that were removed stay on their pages as they were. */
static const char removals[] =
    "PRAGMA secure_delete=OFF;"
    "DELETE FROM attachment WHERE item BETWEEN 11 AND 25;"
    "DELETE FROM fingerprint WHERE item BETWEEN 11 AND 25;"
    "DELETE FROM item WHERE id BETWEEN 11 AND 25; DELETE FROM item WHERE id IN (3, 60);"
    "DELETE FROM label WHERE item BETWEEN 30 AND 50; DELETE FROM source WHERE authority > 50;"
    "DELETE FROM log WHERE entry BETWEEN 5 AND 30; DELETE FROM text WHERE id > 1030;"
    "DELETE FROM text_shingles WHERE text > 1030";

/* @param page_size of 4096 as doppel makes it; else packed, too */
static void make(const char *folder, int page_size)
{
    struct doppel_library *library = open_library(folder);
    struct doppel_error error;
    char sql[1024];
    for (uint64_t number = 1; number <= ITEMS; number++)
        if (add_numbered(library, number, record_make(number), &error))
            fail_msg("%s", error.message);
    commit(library);
    doppel_library_close(library);
    const char *path = folder_path(folder, "a/library/catalogue.db");
    run_raw(path, rows);
    for (size_t i = 0; i < TABLES; i++) {
        snprintf(sql, sizeof sql, "UPDATE %s SET checksum = row_checksum(%s)", tables[i].name,
                 tables[i].columns);
        if (tables[i].columns)
            run_raw(path, sql);
    }
    snprintf(sql, sizeof sql, "PRAGMA journal_mode=DELETE;PRAGMA page_size=%d;%s", page_size,
             page_size == 4096 ? "" : "VACUUM");
    run_raw(path, sql);
    run_raw(path, removals);
}

/* ---- what is where ---- */

struct owner {
    char name[NAME_BYTES]; /* the tree; "": a free page */
    char type;             /* l: leaf, i: inner, o: overflow */
    int cells;
};

struct original {
    char *path, *copy;
    size_t size, page_size, pages;
    uint8_t bytes[MAX_BYTES], damaged[MAX_BYTES];
    struct owner owners[MAX_PAGES + 1];
};

static sqlite3 *open_raw(const char *path)
{
    sqlite3 *database;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(checksum_define(database), SQLITE_OK);
    return database;
}

static void write_bytes(const char *path, const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* @return false where SQLite was built without dbstat */
static bool read_owners(struct original *original)
{
    sqlite3 *database = open_raw(original->path);
    sqlite3_stmt *row = NULL;
    bool can = !sqlite3_prepare_v2(database, "SELECT pageno, name, pagetype, ncell FROM dbstat", -1,
                                   &row, NULL);
    while (can && sqlite3_step(row) == SQLITE_ROW) {
        struct owner *owner = &original->owners[sqlite3_column_int(row, 0)];
        snprintf(owner->name, sizeof owner->name, "%s", (const char *)sqlite3_column_text(row, 1));
        owner->type = *(const char *)sqlite3_column_text(row, 2);
        owner->cells = sqlite3_column_int(row, 3);
    }
    sqlite3_finalize(row);
    sqlite3_close(database);
    return can;
}

static struct original *open_original(const char *folder, int page_size)
{
    struct original *original = calloc(1, sizeof *original);
    assert_non_null(original);
    make(folder, page_size);
    original->path = strdup(folder_path(folder, "a/library/catalogue.db"));
    original->copy = strdup(folder_path(folder, "original.db"));
    FILE *file = fopen(original->path, "r");
    assert_non_null(file);
    original->size = fread(original->bytes, 1, MAX_BYTES, file);
    fclose(file);
    original->page_size = (size_t)page_size;
    original->pages = original->size / original->page_size;
    assert_true(original->size < MAX_BYTES && original->pages <= MAX_PAGES);
    write_bytes(original->copy, original->bytes, original->size);
    if (!read_owners(original))
        skip();
    return original;
}

static void close_original(struct original *original)
{
    free(original->path);
    free(original->copy);
    free(original);
}

static uint8_t *page_of(struct original *original, size_t number)
{
    return original->damaged + (number - 1) * original->page_size;
}

/* ---- a salvage, and what came of it ---- */

/* How many rows of one database another one lacks; of those that are as they were written. */
static int count_lacking(sqlite3 *database, size_t table, const char *from, const char *in)
{
    char sql[1024];
    sqlite3_stmt *row;
    const char *columns = tables[table].columns;
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM (SELECT * FROM %s.%s WHERE %s%s%s EXCEPT SELECT * FROM %s.%s)",
             from, tables[table].name, columns ? "checksum = row_checksum(" : "1",
             columns ? columns : "", columns ? ")" : "", in, tables[table].name);
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &row, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(row), SQLITE_ROW);
    int count = sqlite3_column_int(row, 0);
    sqlite3_finalize(row);
    return count;
}

struct outcome {
    struct told told;
    int lost[TABLES], wrong[TABLES];
};

static void clear(const char *folder)
{
    static const char *const names[] = {"a/library/catalogue.db-wal", "a/library/catalogue.db-shm",
                                        "a/library/catalogue.db.damaged",
                                        "a/library/catalogue.db.damaged-wal",
                                        "a/library/damaged.jsonl"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(folder_path(folder, names[i]));
}

static struct outcome salvage(const char *folder, struct original *original, size_t size)
{
    struct outcome outcome = {0};
    struct doppel_error error;
    char sql[512];
    clear(folder);
    write_bytes(original->path, original->damaged, size);
    if (doppel_library_salvage(directory_of(folder), take_problem, &outcome.told, &error))
        fail_msg("%s", error.message);
    sqlite3 *database = open_raw(original->path);
    snprintf(sql, sizeof sql, "ATTACH '%s' AS original", original->copy);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    for (size_t i = 0; i < TABLES; i++) {
        outcome.lost[i] = count_lacking(database, i, "original", "main");
        outcome.wrong[i] = count_lacking(database, i, "main", "original");
    }
    sqlite3_close(database);
    return outcome;
}

/* ---- what a page may cost ---- */

/* Of a table without row ids, inner pages have rows, too. */
static int rows_on(const struct owner *owner, const char *table)
{
    static const char *const keyed[] = {"label", "list_item", "source", "mark", "exact", "failure"};
    bool in_inner = false;
    if (strcmp(owner->name, table) != 0)
        return 0;
    for (size_t i = 0; i < sizeof keyed / sizeof *keyed; i++)
        in_inner |= strcmp(table, keyed[i]) == 0;
    return owner->type == 'o' ? 1 : owner->type == 'l' || in_inner ? owner->cells : 0;
}

/* Where a byte changed that no checksum covers, also not the id of an item. */
static bool may_change(const char *table)
{
    static const char *const unguarded[] = {"item", "revision", "label", "list_item", "exact"};
    for (size_t i = 0; i < sizeof unguarded / sizeof *unguarded; i++)
        if (strcmp(table, unguarded[i]) == 0)
            return true;
    return false;
}

/* @param bytes a few bytes of pages were changed, which may show in rows of these pages only
 * @param first, count pages that were damaged */
static void assert_saved(const struct original *original, const struct outcome *outcome,
                         size_t first, size_t count, bool bytes, const char *damage)
{
    for (size_t i = 0; i < TABLES; i++) {
        const char *table = tables[i].name;
        int most = 0;
        for (size_t page = first; page < first + count; page++)
            most += rows_on(&original->owners[page], table);
        if (outcome->lost[i] > most)
            fail_msg("page %zu (%s) %s: %d rows of %s are lost", first,
                     original->owners[first].name, damage, outcome->lost[i], table);
        if (outcome->wrong[i] > (bytes && may_change(table) ? most : 0) &&
            !is_told(&outcome->told, "catalogue 0: which pages were free is not known"))
            fail_msg("page %zu (%s) %s: %d rows of %s are new", first, original->owners[first].name,
                     damage, outcome->wrong[i], table);
        if (outcome->lost[i] && !bytes && !is_told(&outcome->told, table))
            fail_msg("page %zu %s: rows of %s are lost, and it is not told", first, damage, table);
    }
}

/* ---- damages ---- */

/* Of pages that are much alike some will do. */
static bool is_one_of_many(const struct owner *owner, size_t page)
{
    bool table = strcmp(owner->name, "sqlite_schema") == 0;
    for (size_t i = 0; i < TABLES; i++)
        table |= strcmp(owner->name, tables[i].name) == 0;
    return page % 5 != 0 && (!table || owner->type == 'o');
}

static void zero_each_page(const char *folder, int page_size)
{
    struct original *original = open_original(folder, page_size);
    for (size_t page = 1; page <= original->pages; page++) {
        if (is_one_of_many(&original->owners[page], page))
            continue;
        memcpy(original->damaged, original->bytes, original->size);
        memset(page_of(original, page), 0, original->page_size);
        struct outcome outcome = salvage(folder, original, original->size);
        assert_saved(original, &outcome, page, 1, false, "zeroed");
    }
    close_original(original);
}

static void test_zeroed_pages(void **state)
{
    zero_each_page(*state, 4096);
}

static void test_zeroed_small_pages(void **state)
{
    zero_each_page(*state, 1024);
}

static uint64_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *state >> 33;
}

/* All of a page, its beginning, or a few bytes. */
static void test_random_bytes(void **state)
{
    struct original *original = open_original(*state, 1024);
    const char *seed = getenv("DOPPEL_TEST_SEED"), *rounds = getenv("DOPPEL_TEST_ROUNDS");
    uint64_t random = seed ? strtoull(seed, NULL, 10) : 1;
    for (long round = 0; round < (rounds ? atol(rounds) : 40); round++) {
        char damage[64];
        size_t page = 1 + next(&random) % original->pages, what = next(&random) % 3;
        size_t changes = what == 0 ? 1024 : what == 1 ? 16 : 1 + next(&random) % 8;
        memcpy(original->damaged, original->bytes, original->size);
        uint8_t *bytes = page_of(original, page);
        for (size_t i = 0; i < changes; i++)
            bytes[what < 2 ? i : next(&random) % 1024] = (uint8_t)next(&random);
        snprintf(damage, sizeof damage, "round %ld, %zu bytes", round, changes);
        struct outcome outcome = salvage(*state, original, original->size);
        assert_saved(original, &outcome, page, 1, true, damage);
    }
    close_original(original);
}

static void test_cut_short(void **state)
{
    struct original *original = open_original(*state, 4096);
    for (size_t pages = 1; pages < original->pages; pages += 5) {
        memcpy(original->damaged, original->bytes, original->size);
        struct outcome outcome = salvage(*state, original, pages * original->page_size + 100);
        assert_saved(original, &outcome, pages + 1, original->pages - pages, false, "cut off");
    }
    close_original(original);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_zeroed_pages),
        IN_FOLDER(test_zeroed_small_pages),
        IN_FOLDER(test_random_bytes),
        IN_FOLDER(test_cut_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
