/* Codes of a list that come in many at a time leave the library as those that come one by one:
 * rows, indexes, the log of each item; also where they are there already, or come twice. */
#include "tests/library/list_codes.h"

#include <sqlite3.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doppel/store.h>

#include "library/items/code_batch_internal.h"
#include "library/items/rows.h"

enum { CODES = 2000, ROUNDS = 4 };

static struct doppel_library *open_named(const char *folder, const char *name)
{
    const struct doppel_library_options options = {.create = true};
    struct doppel_library *library = NULL;
    struct doppel_error error = {0};
    if (doppel_library_open(folder_path(folder, name), &options, &library, &error))
        fail_msg("%s", error.message);
    return library;
}

/* Code number i; those that come later repeat some. */
static struct list_code numbered_code(size_t i)
{
    struct list_code code = {.scheme = DOPPEL_SCHEME_PDQ, .quality = 90};
    for (int word = 0; word < 4; word++)
        code.code.word[word] = (i + 1) * UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(word * 2 + 1);
    if (i % 7 == 0)
        snprintf(code.name, sizeof code.name, "name %zu", i);
    return code;
}

/* Somebody else brings every other code from this one on, which comes later. */
static void import_meanwhile(const char *folder, size_t first, size_t count)
{
    static const struct doppel_metadata none;
    uint64_t counts[DOPPEL_ADDED_ELSEWHERE + 1] = {0};
    struct doppel_library *library = open_library(folder);
    for (size_t i = 0; i < count; i++) {
        struct list_code code = numbered_code(first + 2 * i);
        import_one_by_one(library, &code, 1, &none, counts);
    }
    assert_int_equal(counts[DOPPEL_ADDED_NEW], count);
    doppel_library_close(library);
}

/* ---- the two libraries ---- */

static void assert_same_rows(sqlite3 *database, const char *columns, const char *table)
{
    for (int way = 0; way < 2; way++) {
        sqlite3_stmt *statement = NULL;
        char *sql = sqlite3_mprintf("SELECT * FROM (SELECT %s FROM %s.%s EXCEPT SELECT %s FROM"
                                    " %s.%s) LIMIT 1",
                                    columns, way ? "main" : "other", table, columns,
                                    way ? "other" : "main", table);
        assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
        if (sqlite3_step(statement) != SQLITE_DONE)
            fail_msg("%s: a row that is not in the other library", table);
        sqlite3_finalize(statement);
        sqlite3_free(sql);
    }
}

static void assert_same_libraries(const char *folder)
{
    static const char *const tables[][2] = {
        {"item", "id, path, device, inode, size, mtime_ns, settled, added_ns, digest, kind, scheme,"
                 " version, width, height, quality, duration_ms, simhash, pixels, words, checksum"},
        {"fingerprint", "item, data, checksum"},
        {"attachment", "item"},
        {"about", "item, source, date, external_id, meta, checksum"},
        {"exact", "algorithm, digest, item"},
        {"list_said", "item, list, tag"},
        {"label", "item, label"},
        {"list", "id, name, state, checksum"},
        {"list_item", "item, list"},
        {"sqlite_sequence", "name, seq"},
        {"decisions", "action, item, name, source, reason, detail"},
    };
    sqlite3 *database = NULL;
    char sql[600];
    assert_int_equal(sqlite3_open(folder_path(folder, "one/catalogue.db"), &database), SQLITE_OK);
    snprintf(sql, sizeof sql, "ATTACH '%s' AS other", folder_path(folder, "many/catalogue.db"));
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        assert_same_rows(database, tables[i][1], tables[i][0]);
    sqlite3_close(database);
}

/* A batch knows what the one before it brought, and what others have brought since; and the index
 * that is made at the end has all of it.
 * @param few the first code of those that come later is written by itself */
static void check_two_batches(const char *folder, bool meanwhile, bool few)
{
    enum { FULL = 4096, REPEATED = 700, BROUGHT = 60, LATER = 3000 };
    static const struct doppel_metadata none;
    uint64_t counts[DOPPEL_ADDED_ELSEWHERE + 1] = {0};
    struct doppel_library *library = open_library(folder);
    struct doppel_code_batch *batch = NULL;
    struct doppel_error error = {0};
    assert_int_equal(doppel_code_batch_new(library, &none, &batch, NULL), DOPPEL_OK);
    batch->full = FULL;
    for (size_t i = 0; i < FULL + LATER; i++) {
        struct list_code code = numbered_code(i < FULL + REPEATED || i % 2 ? i % FULL : i);
        uint32_t position;
        struct doppel_item item = item_of_code(&code, &position);
        bool full;
        const struct doppel_list_code one = {&item, *code.name ? code.name : NULL, {0}, NULL};
        if (doppel_code_batch_add(batch, &one, &full, &error))
            fail_msg("%s", error.message);
        assert_int_equal(full, i + 1 == FULL);
        if ((full || (few && i == FULL)) && doppel_code_batch_write(batch, counts, &error))
            fail_msg("%s", error.message);
        if (full && meanwhile)
            import_meanwhile(folder, FULL + REPEATED, BROUGHT);
    }
    if (doppel_code_batch_write(batch, counts, &error))
        fail_msg("%s", error.message);
    doppel_code_batch_free(batch);
    const size_t fresh = (LATER - REPEATED) / 2 - (meanwhile ? BROUGHT : 0);
    assert_int_equal(counts[DOPPEL_ADDED_NEW], FULL + fresh);
    assert_int_equal(counts[DOPPEL_ADDED_UNCHANGED], LATER - fresh);
    assert_whole(library);
    doppel_library_close(library);
}

static void a_batch_after_another(void **state)
{
    check_two_batches(*state, false, false);
}

static void others_between_batches(void **state)
{
    check_two_batches(*state, true, false);
}

static void others_before_a_few(void **state)
{
    check_two_batches(*state, true, true);
}

/* Of a process that is killed after a batch, that batch is there, and no index: what comes again is
 * there already, and the index is made. */
static void a_killed_import_is_completed(void **state)
{
    const struct doppel_metadata none = {0};
    struct list_code codes[200];
    uint64_t counts[DOPPEL_ADDED_ELSEWHERE + 1] = {0};
    struct code_source source = {.random = 19};
    for (size_t i = 0; i < 200; i++) {
        codes[i] = random_code(&source);
        snprintf(codes[i].name, sizeof codes[i].name, "code %zu", i);
        codes[i].scheme = DOPPEL_SCHEME_PDQ;
        codes[i].algorithm = i < 190 ? 0 : codes[i].algorithm;
    }
    pid_t child = fork();
    if (child == 0) {
        struct doppel_code_batch *batch = NULL;
        struct doppel_library *library = open_library(*state);
        bool full = doppel_code_batch_new(library, &none, &batch, NULL) != DOPPEL_OK;
        for (size_t i = 0; i < 150 && !full; i++) {
            uint32_t position;
            struct doppel_item item = item_of_code(&codes[i], &position);
            const struct doppel_list_code code = {&item, codes[i].name, {0}, NULL};
            full |= doppel_code_batch_add(batch, &code, &full, NULL) != DOPPEL_OK;
            if (i == 99)
                full |= doppel_code_batch_write(batch, counts, NULL) != DOPPEL_OK;
        }
        kill(getpid(), full ? SIGTERM : SIGKILL);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    struct doppel_library *library = open_library(*state);
    import_batches(library, codes, 200, 200, &none, counts);
    assert_int_equal(counts[DOPPEL_ADDED_UNCHANGED], 100);
    assert_int_equal(counts[DOPPEL_ADDED_NEW], 100);
    assert_int_equal(access(folder_path(*state, "a/library/pdq"), F_OK), 0);
    assert_whole(library);
    doppel_library_close(library);
}

/* Whose state depends on a list that is not active is told at once. */
static void assert_state(struct doppel_library *library, uint64_t id,
                         enum doppel_list_state expected)
{
    enum doppel_list_state state = DOPPEL_LIST_ACTIVE;
    assert_int_equal(doppel_library_state_of(library, id, &state, NULL), DOPPEL_OK);
    assert_int_equal(state, expected);
}

static void many_are_as_one_by_one(void **state)
{
    char *labels[] = {(char *)"seen"}, *lists[] = {(char *)"bad", (char *)"worse"};
    const struct doppel_metadata abouts[ROUNDS] = {
        {.lists = lists, .list_count = 1},
        {.source = (char *)"somebody", .lists = lists, .list_count = 2},
        {.labels = labels, .label_count = 1, .lists = lists, .list_count = 1},
        {.meta = (char *)"{\"a\": 1}"},
    };
    const size_t steps[ROUNDS] = {CODES, 700, 64, 15};
    struct doppel_library *one = open_named(*state, "one"), *many = open_named(*state, "many");
    struct list_code *codes = calloc(CODES, sizeof *codes);
    assert_non_null(codes);
    struct code_source source = {.random = 7};
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t expected[DOPPEL_ADDED_ELSEWHERE + 1] = {0}, counts[sizeof expected / 8] = {0};
        for (size_t i = 0; i < CODES; i++)
            if (!round || draw_below(&source, 3)) /* the others are there */
                codes[i] = random_code(&source);
        import_one_by_one(one, codes, CODES, &abouts[round], expected);
        import_batches(many, codes, CODES, steps[round], &abouts[round], counts);
        assert_memory_equal(counts, expected, sizeof expected);
        assert_true(counts[DOPPEL_ADDED_NEW] > 500 && counts[DOPPEL_ADDED_UNCHANGED] > 10);
        assert_same_libraries(*state);
        for (int i = 0; i < 20 && round == 0; i++) { /* of which the log knows the names */
            uint64_t id = 1 + draw_below(&source, 1000);
            assert_int_equal(doppel_library_remove(one, id, NULL),
                             doppel_library_remove(many, id, NULL));
        }
        assert_int_equal(doppel_library_set_list(one, "worse", DOPPEL_LIST_BENIGN, NULL),
                         DOPPEL_OK);
        assert_int_equal(doppel_library_set_list(many, "worse", DOPPEL_LIST_BENIGN, NULL),
                         DOPPEL_OK);
        commit(one);
        commit(many);
    }
    assert_same_libraries(*state);
    assert_whole(one);
    assert_whole(many);
    free(codes);
    doppel_library_close(one);
    doppel_library_close(many);
}

/* What is in memory of states knows the new ones. */
static void new_ones_are_disabled(void **state)
{
    char *lists[] = {(char *)"off"};
    const struct doppel_metadata about = {.lists = lists, .list_count = 1}, none = {0};
    struct doppel_library *library = open_library(*state);
    struct list_code codes[40];
    uint64_t counts[DOPPEL_ADDED_ELSEWHERE + 1] = {0};
    struct code_source source = {.random = 9};
    for (size_t i = 0; i < 40; i++)
        do
            codes[i] = random_code(&source);
        while (*codes[i].name);
    import_batches(library, codes, 1, 1, &none, counts);
    assert_int_equal(doppel_library_set_list(library, "off", DOPPEL_LIST_DISABLED, NULL),
                     DOPPEL_OK);
    assert_state(library, 1, DOPPEL_LIST_ACTIVE);
    import_batches(library, codes + 1, 39, 39, &about, counts);
    assert_state(library, 1, DOPPEL_LIST_ACTIVE);
    assert_state(library, 2, DOPPEL_LIST_DISABLED);
    assert_state(library, counts[DOPPEL_ADDED_NEW], DOPPEL_LIST_DISABLED);
    doppel_library_close(library);
}

/* Of a row that is bound it is computed here, of one that is read by SQLite. */
static void a_checksum_is_the_same_in_sql(void **state)
{
    const struct values values = VALUES(ID(0), ID(UINT64_MAX), value_real(-.5), value_text("text"),
                                        value_text(""), value_text(NULL), value_string("text"));
    struct doppel_library *library = open_library(*state);
    int64_t checksum = 0;
    assert_int_equal(rows_number(library, "SELECT row_checksum(?1, ?2, ?3, ?4, ?5, ?6, ?7)", values,
                                 &checksum, NULL, NULL),
                     DOPPEL_OK);
    assert_int_equal(checksum, values_checksum(values).integer);
    doppel_library_close(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_batch_after_another),         IN_FOLDER(others_between_batches),
        IN_FOLDER(others_before_a_few),           IN_FOLDER(many_are_as_one_by_one),
        IN_FOLDER(a_killed_import_is_completed),  IN_FOLDER(new_ones_are_disabled),
        IN_FOLDER(a_checksum_is_the_same_in_sql),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
