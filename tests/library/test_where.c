/* Items asked for by SQL, and what such SQL may not do; the views that anybody may open. */
#include "tests/library/fixture.h"

#include <sqlite3.h>
#include <stdio.h>
#include <time.h>

#include "library/views.h"

enum { ITEMS = 20, TIMEOUT_MS = 1000 };

static struct doppel_library *make(const char *folder)
{
    struct doppel_library *library = open_library(folder);
    struct doppel_error error;
    char *labels[] = {(char *)"even"}, *lists[] = {(char *)"stock", (char *)"two"};
    for (uint64_t number = 1; number <= ITEMS; number++)
        if (add_numbered(library, number, record_make(number), &error))
            fail_msg("%s", error.message);
    for (uint64_t id = 2; id <= ITEMS; id += 2) {
        const struct doppel_metadata about = {.source = (char *)"camera",
                                              .external_id = (char *)"e",
                                              .meta = (char *)"{\"place\":{\"city\":\"Pune\"}}",
                                              .labels = labels,
                                              .label_count = 1,
                                              .lists = lists,
                                              .list_count = id % 4 ? 1 : 2};
        assert_int_equal(doppel_library_set_metadata(library, id, &about, NULL), DOPPEL_OK);
    }
    assert_int_equal(doppel_library_link(library, 5, 3, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_set_canonical(library, 3, 5, NULL), DOPPEL_OK);
    struct doppel_log_entry entry = {
        .action = DOPPEL_LOG_DECIDED, .item = 7, .decided = true, .decision = DOPPEL_DECISION_NEW};
    assert_int_equal(doppel_library_log(library, &entry, NULL), DOPPEL_OK);
    entry.decision = DOPPEL_DECISION_DUPLICATE;
    assert_int_equal(doppel_library_log(library, &entry, NULL), DOPPEL_OK);
    commit(library);
    return library;
}

static bool append_id(void *context, uint64_t id)
{
    char *text = context;
    size_t at = strlen(text);
    snprintf(text + at, 300 - at, "%llu ", (unsigned long long)id);
    return true;
}

static void assert_where(struct doppel_library *library, const char *expression,
                         const char *expected)
{
    char text[300] = "";
    struct doppel_error error;
    if (doppel_library_where(library, expression, TIMEOUT_MS, append_id, text, &error))
        fail_msg("%s: %s", expression, error.message);
    if (strcmp(text, expected) != 0)
        fail_msg("%s: %s", expression, text);
}

static void test_expressions(void **state)
{
    struct doppel_library *library = make(*state);
    assert_where(library, "id < 4", "1 2 3 ");
    assert_where(library, "kind = 'image' AND width > 20", "20 ");
    assert_where(library, "path LIKE '/files/1_'", "10 11 12 13 14 15 16 17 18 19 ");
    assert_where(library, "source = 'camera' AND id < 7", "2 4 6 ");
    assert_where(library, "meta ->> '$.place.city' = 'Pune' AND id > 16", "18 20 ");
    assert_where(library, "json_extract(meta, '$.place.city') = 'Pune' AND id > 16", "18 20 ");
    assert_where(library, "'two' IN (SELECT value FROM json_each(lists))", "4 8 12 16 20 ");
    assert_where(library, "labels LIKE '%\"even\"%' AND id < 5", "2 4 ");
    assert_where(library, "leader != id", "5 ");
    assert_where(library, "canonical != leader", "3 5 ");
    assert_where(library, "leader IN (SELECT leader FROM items WHERE id = 5)", "3 5 ");
    assert_where(library, "scheme = 'phash64' AND added > '2020' AND id = 1 -- so", "1 ");
    assert_where(library, "id = 1 /* ) */ OR path = ')'", "1 ");
    assert_where(library, "hamming(5, 6) = 2 AND hamming(x'ff', 'f0') = 4 AND id = 1", "1 ");
    assert_where(library, "1 = 0", "");
    assert_where(library, "decision = 'duplicate' OR decision = 'new'", "7 ");
    assert_where(library, "decision = 'new'", "");
    assert_where(library, "NULL", "");
    assert_where(library, "id = (SELECT max(id) FROM items)", "20 ");
    assert_where(library, "id = (SELECT count(*) FROM items)", "20 ");
    doppel_library_close(library);
}

static void test_what_is_refused(void **state)
{
    static const char *const expressions[] = {
        "",
        "   ",
        "id =",
        "id = 1)",
        "1) UNION SELECT 7 --",
        "1) UNION SELECT (7",
        "1); DROP TABLE item; --",
        "1; DROP TABLE item",
        "';",
        "'x",
        "\"x",
        "[x",
        "1 /* ",
        "(1",
        "1 -- \n)",
        "nosuch = 1",
        "id = ?1",
        "id = :name",
        "id, path",
        "EXISTS(SELECT 1 FROM failure)",
        "EXISTS(SELECT 1 FROM sqlite_master)",
        "EXISTS(SELECT 1 FROM sqlite_schema)",
        "EXISTS(SELECT data FROM fingerprint)",
        "EXISTS(SELECT 1 FROM pragma_table_info('item'))",
        "EXISTS(SELECT 1 FROM mark)",
        "load_extension('/tmp/x')",
        "randomblob(1000000000)",
        "zeroblob(1000000000)",
        "writefile('/tmp/x', 'y')",
        "readfile('/etc/passwd')",
        "fts3_tokenizer('a', x'00')",
        "row_checksum(1)",
        "printf('%1000000000d', 1)",
        "replace(path, '', 'a')",
        "hamming('zz', 'ff')",
        "hamming(1, 'ff')",
        "1 IN (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n)",
        "1 IN (DELETE FROM item RETURNING id)",
        "json_extract('{', '$') = 1",
    };
    struct doppel_library *library = make(*state);
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
        char text[300] = "";
        struct doppel_error error = {0};
        enum doppel_status status =
            doppel_library_where(library, expressions[i], TIMEOUT_MS, append_id, text, &error);
        if (status != DOPPEL_E_ARGUMENT || !error.message[0] || text[0])
            fail_msg("%s: %d %s %s", expressions[i], status, error.message, text);
    }
    assert_where(library, "id = 20", "20 ");
    doppel_library_close(library);
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* 20 to the tenth rows; and strings that grow, which end by their size. */
static void test_what_takes_too_long_ends(void **state)
{
    struct doppel_library *library = make(*state);
    struct doppel_error error;
    char text[300] = "";
    double begun = seconds_now();
    const char *endless =
        "(SELECT count(*) FROM item a, item b, item c, item d, item e, item f, item g, item h,"
        " item i, item j) > 5";
    assert_int_equal(doppel_library_where(library, endless, 200, append_id, text, &error),
                     DOPPEL_E_TIMEOUT);
    assert_true(seconds_now() - begun < 10);
    char deep[2000] = "length(";
    for (int i = 0; i < 60; i++)
        strcat(deep, "hex(");
    strcat(deep, "path");
    for (int i = 0; i < 61; i++)
        strcat(deep, ")");
    strcat(deep, " > 0");
    assert_int_equal(doppel_library_where(library, deep, TIMEOUT_MS, append_id, text, &error),
                     DOPPEL_E_ARGUMENT);
    char long_one[12000];
    memset(long_one, '1', sizeof long_one);
    long_one[sizeof long_one - 1] = '\0';
    assert_int_equal(doppel_library_where(library, long_one, TIMEOUT_MS, append_id, text, &error),
                     DOPPEL_E_ARGUMENT);
    doppel_library_close(library);
}

static bool refuse(void *context, uint64_t id)
{
    *(uint64_t *)context = id;
    return false;
}

static void test_a_visitor_ends_it(void **state)
{
    struct doppel_library *library = make(*state);
    uint64_t seen = 0;
    assert_int_equal(doppel_library_where(library, "id > 2", TIMEOUT_MS, refuse, &seen, NULL),
                     DOPPEL_E_CANCELLED);
    assert_int_equal(seen, 3);
    doppel_library_close(library);
}

/* ---- views ---- */

/* What a query gives on a connection that knows nothing of doppel: columns by '|', rows by ' '. */
static void assert_plain(const char *folder, const char *sql, const char *expected)
{
    sqlite3 *database;
    sqlite3_stmt *statement;
    char text[1000] = "";
    size_t at = 0;
    assert_int_equal(sqlite3_open(folder_path(folder, "a/library/catalogue.db"), &database), 0);
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL))
        fail_msg("%s: %s", sql, sqlite3_errmsg(database));
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        for (int column = 0; column < sqlite3_column_count(statement); column++) {
            const char *value = (const char *)sqlite3_column_text(statement, column);
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", value ? value : "NULL",
                                   column + 1 < sqlite3_column_count(statement) ? "|" : " ");
        }
    if (code != SQLITE_DONE)
        fail_msg("%s: %s", sql, sqlite3_errmsg(database));
    sqlite3_finalize(statement);
    sqlite3_close(database);
    assert_string_equal(text, expected);
}

static void test_views_need_no_doppel(void **state)
{
    struct doppel_library *library = make(*state);
    const struct doppel_digest a = {{0x0a}}, b = {{0xb0}};
    assert_int_equal(doppel_library_set_source(library, "camera", 3, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_set_list(library, "two", DOPPEL_LIST_BENIGN, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_mark(library, &a, &b, NULL, DOPPEL_LABEL_SAME, "why", NULL),
                     DOPPEL_OK);
    commit(library);
    doppel_library_close(library);
    assert_plain(*state,
                 "SELECT id, kind, path, source, external_id, labels, lists, leader, canonical,"
                 " scheme, width FROM items WHERE id IN (4, 5)",
                 "4|image|/files/4|camera|e|[\"even\"]|[\"stock\",\"two\"]|4|4|phash64|5 "
                 "5|image|/files/5|NULL|NULL|[]|[]|3|5|phash64|6 ");
    assert_plain(*state, "SELECT * FROM lists ORDER BY name",
                 "stock|active|10|NULL|NULL|NULL two|benign|5|NULL|NULL|NULL ");
    assert_plain(*state, "SELECT * FROM sources", "camera|3 ");
    assert_plain(*state, "SELECT a, b, word, note FROM marks",
                 "0a000000000000000000000000000000|b0000000000000000000000000000000|same|why ");
    assert_plain(*state,
                 "SELECT action, item, of_item, former_item, reason FROM decisions"
                 " WHERE action = 'canonical'",
                 "canonical|5|3|3|said ");
}

/* The names in the views are those of the code. */
static void test_views_name_schemes_and_decisions(void **state)
{
    char sql[3000], expected[2000] = "";
    size_t count, at = 0, shown = 0;
    const struct doppel_scheme *schemes = doppel_schemes(&count);
    doppel_library_close(open_library(*state));
    for (size_t i = 0; i < count; i++) {
        at +=
            (size_t)snprintf(sql + at, sizeof sql - at, "%s(%d)", i ? "," : "", (int)schemes[i].id);
        shown +=
            (size_t)snprintf(expected + shown, sizeof expected - shown, "%s ", schemes[i].name);
    }
    char query[6000];
    snprintf(query, sizeof query, "SELECT %s FROM (VALUES%s)", SCHEME_NAME("column1"), sql);
    assert_plain(*state, query, expected);
    shown = 0;
    for (int decision = 0; decision <= DOPPEL_DECISION_IGNORED; decision++)
        shown += (size_t)snprintf(expected + shown, sizeof expected - shown, "%s ",
                                  doppel_decision_name((enum doppel_decision)decision));
    snprintf(query, sizeof query, "SELECT %s FROM (VALUES(0),(1),(2),(3),(4),(5),(6),(7))",
             DECISION_NAME("column1"));
    assert_plain(*state, query, expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_expressions),
        IN_FOLDER(test_what_is_refused),
        IN_FOLDER(test_what_takes_too_long_ends),
        IN_FOLDER(test_a_visitor_ends_it),
        IN_FOLDER(test_views_need_no_doppel),
        IN_FOLDER(test_views_name_schemes_and_decisions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
