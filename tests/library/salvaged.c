/* A catalogue that is damaged, salvaged, and compared with what it was: what is on a page SQLite's
 * own dbstat tells, what was in the tables a copy. */
#include "tests/library/salvaged.h"

#include <stdio.h>
#include <unistd.h>

#include "library/checksum.h"

/* ---- what is where ---- */

sqlite3 *open_raw(const char *path)
{
    sqlite3 *database;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(checksum_define(database), SQLITE_OK);
    return database;
}

void write_bytes(const char *path, const uint8_t *bytes, size_t size)
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

struct original *original_open(const char *folder, int page_size)
{
    struct original *original = calloc(1, sizeof *original);
    assert_non_null(original);
    original_make(folder, page_size);
    original->path = strdup(folder_path(folder, "a/library/catalogue.db"));
    original->copy = strdup(folder_path(folder, "original.db"));
    FILE *file = fopen(original->path, "r");
    assert_non_null(file);
    original->size = fread(original->bytes, 1, ORIGINAL_BYTES, file);
    fclose(file);
    original->page_size = (size_t)page_size;
    original->pages = original->size / original->page_size;
    assert_true(original->size < ORIGINAL_BYTES && original->pages <= ORIGINAL_PAGES);
    write_bytes(original->copy, original->bytes, original->size);
    if (!read_owners(original))
        skip();
    return original;
}

void original_close(struct original *original)
{
    free(original->path);
    free(original->copy);
    free(original);
}

uint8_t *original_page(struct original *original, size_t number)
{
    return original->damaged + (number - 1) * original->page_size;
}

/* ---- a salvage, and what came of it ---- */

/* How many rows of one database another one lacks; of those that are as they were written. */
static int count_lacking(sqlite3 *database, size_t table, const char *from, const char *in)
{
    char sql[1024];
    sqlite3_stmt *row;
    const char *columns = original_tables[table].columns;
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM (SELECT * FROM %s.%s WHERE %s%s%s EXCEPT SELECT * FROM %s.%s)",
             from, original_tables[table].name, columns ? "checksum = row_checksum(" : "1",
             columns ? columns : "", columns ? ")" : "", in, original_tables[table].name);
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &row, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(row), SQLITE_ROW);
    int count = sqlite3_column_int(row, 0);
    sqlite3_finalize(row);
    return count;
}

static void clear(const char *folder)
{
    static const char *const names[] = {"a/library/catalogue.db-wal", "a/library/catalogue.db-shm",
                                        "a/library/catalogue.db.damaged",
                                        "a/library/catalogue.db.damaged-wal",
                                        "a/library/damaged.jsonl"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(folder_path(folder, names[i]));
}

static int count_aside(const char *folder)
{
    FILE *file = fopen(folder_path(folder, "a/library/damaged.jsonl"), "r");
    int lines = 0;
    for (int byte; file && (byte = getc(file)) != EOF;)
        lines += byte == '\n';
    if (file)
        fclose(file);
    return lines;
}

struct outcome original_salvage(const char *folder, struct original *original, size_t size)
{
    struct outcome outcome = {0};
    struct doppel_error error;
    char sql[512];
    clear(folder);
    write_bytes(original->path, original->damaged, size);
    if (original->log)
        write_bytes(folder_path(folder, "a/library/catalogue.db-wal"), original->log,
                    original->log_size);
    if (doppel_library_salvage(directory_of(folder), take_problem, &outcome.told, &error))
        fail_msg("%s", error.message);
    sqlite3 *database = open_raw(original->path);
    snprintf(sql, sizeof sql, "ATTACH '%s' AS original", original->copy);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    for (size_t i = 0; i < ORIGINAL_TABLES; i++) {
        outcome.lost[i] = count_lacking(database, i, "original", "main");
        outcome.wrong[i] = count_lacking(database, i, "main", "original");
    }
    sqlite3_close(database);
    outcome.aside = count_aside(folder);
    return outcome;
}

/* ---- what a page may cost ---- */

/* Of a table without row ids, inner pages have rows, too. */
static int rows_on(const struct owner *owner, const char *table)
{
    static const char *const keyed[] = {"label", "list_item", "list_said", "list_match", "source",
                                        "mark",  "exact",     "failure",   "job_input",  "answer"};
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
    static const char *const unguarded[] = {"item",      "revision",  "label",
                                            "list_item", "list_said", "exact"};
    for (size_t i = 0; i < sizeof unguarded / sizeof *unguarded; i++)
        if (strcmp(table, unguarded[i]) == 0)
            return true;
    return false;
}

/* Rows of these look alike, and like those of an index: where nothing else tells they are set
 * aside. */
static bool may_be_set_aside(const char *table)
{
    return strcmp(table, "link") == 0 || strcmp(table, "canonical") == 0 ||
           strcmp(table, "list_item") == 0 || strcmp(table, "attachment") == 0;
}

/* A place on a list is known by the list. */
static bool is_list_lost(const struct outcome *outcome, const char *table)
{
    bool lost = false;
    for (size_t i = 0; i < ORIGINAL_TABLES; i++)
        lost |= strcmp(original_tables[i].name, "list") == 0 && outcome->lost[i];
    return lost && strcmp(table, "list_item") == 0;
}

void assert_saved(const struct original *original, const struct outcome *outcome, size_t first,
                  size_t count, bool bytes, const char *damage)
{
    for (size_t i = 0; i < ORIGINAL_TABLES; i++) {
        const char *table = original_tables[i].name;
        int most = 0;
        for (size_t page = first; page < first + count; page++)
            most += rows_on(&original->owners[page], table);
        if (count > 1 && may_be_set_aside(table))
            most += outcome->aside;
        if (outcome->lost[i] > most && !is_list_lost(outcome, table))
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
