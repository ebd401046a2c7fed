/* Codes of a list that come in many at a time leave the library as those that come one by one:
 * rows, indexes, the log of each item; also where they are there already, or come twice. And a log
 * whose rows tell of many items is read as one with a row for each. */
#include "tests/library/fixture.h"

#include <sqlite3.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doppel/store.h>

#include "library/items/code_batch_internal.h"
#include "library/items/rows.h"

enum { CODES = 2000, ROUNDS = 4, OTHER_NAMES = 900, QUERIES = 400, ENTRIES_MAX = 40000 };

struct list_code {
    struct doppel_code code;
    enum doppel_exact algorithm; /* 0: it is a code; else its bytes are a digest's */
    enum doppel_scheme_id scheme;
    uint8_t quality;
    char name[24]; /* "": none */
};

static uint64_t random_state;

static uint64_t draw(uint64_t below)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (z ^ z >> 31) % below;
}

/* Some are codes that others have, some names; qualities, also those that no index has; and digests
 * of all makes, in runs. */
static struct list_code random_code(void)
{
    static const enum doppel_scheme_id schemes[] = {DOPPEL_SCHEME_PDQ, DOPPEL_SCHEME_IMAGEHASH,
                                                    DOPPEL_SCHEME_PHASH256};
    struct list_code code = {.scheme = schemes[draw(3)], .quality = (uint8_t)draw(101)};
    uint64_t seed = draw(8) ? draw(UINT64_MAX) : draw(200);
    for (int i = 0; i < (code.scheme == DOPPEL_SCHEME_IMAGEHASH ? 1 : 4); i++)
        code.code.word[i] = seed * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)i;
    if (draw(2))
        snprintf(code.name, sizeof code.name, "name %u", (unsigned)draw(OTHER_NAMES));
    static enum doppel_exact algorithm; /* of the last one */
    if (!draw(5))
        algorithm = (enum doppel_exact)draw(DOPPEL_EXACT_SHA256 + 1);
    code.algorithm = algorithm;
    return code;
}

static struct doppel_item item_of(struct list_code *code, uint32_t *position)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(code->scheme);
    *position = 0;
    return (struct doppel_item){.path = (char *)"",
                                .added_ns = 1000000007,
                                .record = {.kind = scheme->kind,
                                           .scheme = scheme->id,
                                           .version = scheme->version,
                                           .quality = code->quality,
                                           .fingerprint = {.scheme = scheme->id,
                                                           .version = scheme->version,
                                                           .code_bits = scheme->code_bits,
                                                           .count = 1,
                                                           .codes = &code->code,
                                                           .positions = position}}};
}

static struct doppel_library *open_named(const char *folder, const char *name)
{
    const struct doppel_library_options options = {.create = true};
    struct doppel_library *library = NULL;
    struct doppel_error error = {0};
    if (doppel_library_open(folder_path(folder, name), &options, &library, &error))
        fail_msg("%s", error.message);
    return library;
}

/* None, one or two, as a column of tags has them. */
static struct doppel_list_tags tags_of(const struct list_code *code)
{
    static char *tags[] = {(char *)"red", (char *)"blue"};
    return (struct doppel_list_tags){tags, code->quality % 3u, true};
}

/* As the importer does what is no code of a list. */
static enum doppel_status import_one_code(struct doppel_library *library, struct list_code *code,
                                          const struct doppel_metadata *about,
                                          enum doppel_added *out_added, uint64_t *out_id,
                                          struct doppel_error *error)
{
    const struct doppel_exact_digest exact = {code->algorithm, (const uint8_t *)&code->code,
                                              1000000007};
    uint32_t position;
    struct doppel_item item = item_of(code, &position);
    bool added = false;
    if (!code->algorithm)
        return doppel_library_import(library, &item, about, out_added, out_id, error);
    enum doppel_status status = library_begin(library, error);
    if (!status)
        status = exact_add(library, &exact, about->source, out_id, &added, error);
    *out_added = added ? DOPPEL_ADDED_NEW : DOPPEL_ADDED_UNCHANGED;
    return status ? status : doppel_library_set_metadata(library, *out_id, about, error);
}

static void import_one_by_one(struct doppel_library *library, struct list_code *codes, size_t count,
                              const struct doppel_metadata *about, uint64_t *counts)
{
    for (size_t i = 0; i < count; i++) {
        const struct doppel_list_tags tags = tags_of(&codes[i]);
        const struct doppel_metadata labels = {.labels = tags.items, .label_count = tags.count};
        struct doppel_metadata all = *about;
        struct doppel_error error = {0};
        enum doppel_added added;
        uint64_t id = 0;
        bool changed;
        all.external_id = *codes[i].name ? codes[i].name : NULL;
        if (import_one_code(library, &codes[i], &all, &added, &id, &error))
            fail_msg("%s", error.message);
        for (size_t list = 0; list < about->list_count; list++)
            assert_int_equal(doppel_library_list_says(library, id, about->lists[list], &tags,
                                                      added == DOPPEL_ADDED_NEW, &changed, NULL),
                             DOPPEL_OK);
        if (!about->list_count)
            assert_int_equal(doppel_library_set_metadata(library, id, &labels, NULL), DOPPEL_OK);
        counts[added]++;
    }
    commit(library);
}

/* @param step so many are written at once */
static void import_batches(struct doppel_library *library, struct list_code *codes, size_t count,
                           size_t step, const struct doppel_metadata *about, uint64_t *counts)
{
    struct doppel_code_batch *batch = NULL;
    struct doppel_error error = {0};
    assert_int_equal(doppel_code_batch_new(library, about, &batch, NULL), DOPPEL_OK);
    for (size_t i = 0; i < count; i++) {
        uint32_t position;
        struct doppel_item item = item_of(&codes[i], &position);
        bool full = true;
        assert_true(doppel_code_batch_takes(&item));
        const struct doppel_exact_digest exact = {codes[i].algorithm,
                                                  (const uint8_t *)&codes[i].code, item.added_ns};
        const struct doppel_list_code code = {.item = &item,
                                              .name = *codes[i].name ? codes[i].name : NULL,
                                              .tags = tags_of(&codes[i]),
                                              .exact = exact.algorithm ? &exact : NULL};
        if (doppel_code_batch_add(batch, &code, &full, &error) ||
            ((i + 1) % step == 0 && doppel_code_batch_write(batch, counts, &error)))
            fail_msg("%s", error.message);
        assert_false(full);
    }
    if (doppel_code_batch_write(batch, counts, &error))
        fail_msg("%s", error.message);
    doppel_code_batch_free(batch);
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

static bool count_problem(void *context, const struct doppel_problem *problem)
{
    print_message("%s\n", problem->detail);
    ++*(int *)context;
    return true;
}

static void assert_whole(struct doppel_library *library)
{
    int problems = 0;
    assert_int_equal(doppel_library_verify(library, false, count_problem, &problems, NULL),
                     DOPPEL_OK);
    assert_int_equal(problems, 0);
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
        struct doppel_item item = item_of(&code, &position);
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
    random_state = 19;
    for (size_t i = 0; i < 200; i++) {
        codes[i] = random_code();
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
            struct doppel_item item = item_of(&codes[i], &position);
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
    random_state = 7;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t expected[DOPPEL_ADDED_ELSEWHERE + 1] = {0}, counts[sizeof expected / 8] = {0};
        for (size_t i = 0; i < CODES; i++)
            if (!round || draw(3)) /* the others are there */
                codes[i] = random_code();
        import_one_by_one(one, codes, CODES, &abouts[round], expected);
        import_batches(many, codes, CODES, steps[round], &abouts[round], counts);
        assert_memory_equal(counts, expected, sizeof expected);
        assert_true(counts[DOPPEL_ADDED_NEW] > 500 && counts[DOPPEL_ADDED_UNCHANGED] > 10);
        assert_same_libraries(*state);
        for (int i = 0; i < 20 && round == 0; i++) { /* of which the log knows the names */
            uint64_t id = 1 + draw(1000);
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
    random_state = 9;
    for (size_t i = 0; i < 40; i++)
        do
            codes[i] = random_code();
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

/* ---- the log ---- */

struct seen_entry {
    uint64_t entry, item;
    int64_t time_ns;
    enum doppel_log_action action;
    char name[24];
};

struct seen_log {
    struct seen_entry *entries;
    size_t count, stop;
};

static bool see_entry(void *context, const struct doppel_log_entry *entry,
                      const struct doppel_error *error)
{
    struct seen_log *log = context;
    assert_int_equal(error->status, DOPPEL_OK);
    assert_true(log->count < ENTRIES_MAX);
    struct seen_entry *seen = &log->entries[log->count++];
    *seen = (struct seen_entry){entry->entry, entry->item, entry->time_ns, entry->action, ""};
    snprintf(seen->name, sizeof seen->name, "%s", entry->name);
    return log->count != log->stop;
}

/* The slow way: all entries, of which those are left that are asked for. */
static size_t entries_of(const struct seen_log *all, const struct doppel_log_query *query,
                         struct seen_entry *out)
{
    size_t count = 0;
    for (size_t i = 0; i < all->count && !(query->limit && count == query->limit); i++) {
        const struct seen_entry *entry =
            &all->entries[query->newest_first ? all->count - 1 - i : i];
        if (entry->entry >= query->first && (!query->last || entry->entry <= query->last) &&
            (!query->item || entry->item == query->item) && entry->time_ns >= query->since_ns &&
            (!query->until_ns || entry->time_ns <= query->until_ns))
            out[count++] = *entry;
    }
    return count;
}

static void check_query(struct doppel_library *library, const struct seen_log *all,
                        const struct doppel_log_query *query, struct seen_entry *expected,
                        struct seen_log *seen)
{
    seen->count = 0;
    seen->stop = draw(4) ? 0 : 1 + draw(50);
    size_t count = entries_of(all, query, expected);
    bool stopped = seen->stop && seen->stop <= count;
    assert_int_equal(doppel_library_each_log(library, query, see_entry, seen, NULL),
                     stopped ? DOPPEL_E_CANCELLED : DOPPEL_OK);
    assert_int_equal(seen->count, stopped ? seen->stop : count);
    assert_memory_equal(seen->entries, expected, seen->count * sizeof *expected);
}

static void a_row_of_many_is_many_entries(void **state)
{
    char *lists[] = {(char *)"bad"};
    const struct doppel_metadata none = {0}, listed = {.lists = lists, .list_count = 1};
    struct doppel_library *library = open_library(*state);
    static struct list_code codes[600];
    struct seen_log all = {calloc(ENTRIES_MAX, sizeof *all.entries), 0, 0}, seen = all;
    struct seen_entry *expected = calloc(ENTRIES_MAX, sizeof *expected);
    const struct doppel_log_query everything = {0};
    uint64_t counts[DOPPEL_ADDED_ELSEWHERE + 1] = {0};
    seen.entries = calloc(ENTRIES_MAX, sizeof *seen.entries);
    random_state = 11;
    for (int round = 0; round < 5; round++) {
        for (size_t i = 0; i < 600; i++)
            codes[i] = random_code();
        import_batches(library, codes, 600, round == 2 ? 600 : 90, round % 2 ? &listed : &none,
                       counts);
        for (int i = 0; i < 5; i++)
            (void)doppel_library_remove(library, 1 + draw(600), NULL);
        commit(library);
    }
    assert_int_equal(doppel_library_each_log(library, &everything, see_entry, &all, NULL),
                     DOPPEL_OK);
    assert_true(all.count > 2500);
    for (size_t i = 0; i < all.count; i++)
        assert_int_equal(all.entries[i].entry, i + 1);
    for (int i = 0; i < QUERIES; i++) {
        const int64_t times[2] = {all.entries[draw(all.count)].time_ns,
                                  all.entries[draw(all.count)].time_ns};
        const struct doppel_log_query query = {
            .item = draw(2) ? 0 : 1 + draw(2700),
            .first = draw(2) ? 0 : draw(all.count),
            .last = draw(2) ? 0 : draw(all.count + 10),
            .since_ns = draw(4) ? 0 : times[0],
            .until_ns = draw(4) ? 0 : times[1],
            .limit = draw(2) ? 0 : 1 + draw(300),
            .newest_first = draw(2),
        };
        check_query(library, &all, &query, expected, &seen);
    }
    free(all.entries);
    free(seen.entries);
    free(expected);
    doppel_library_close(library);
}

static bool note_damage(void *context, const struct doppel_log_entry *entry,
                        const struct doppel_error *error)
{
    uint64_t *damaged = context;
    if (error->status)
        *damaged = entry->entry;
    return true;
}

/* How many there are is covered by the checksum of the row. */
static void a_damaged_row_of_many(void **state)
{
    static const char *const changes[] = {"last_item = last_item - 1", "last_item = NULL",
                                          "item = item + 1", "last_item = item"};
    const struct doppel_metadata none = {0};
    const struct doppel_log_query everything = {0};
    struct list_code codes[50];
    uint64_t counts[DOPPEL_ADDED_ELSEWHERE + 1] = {0};
    struct doppel_library *library = open_library(*state);
    random_state = 13;
    for (size_t i = 0; i < 50; i++)
        codes[i] = random_code();
    import_batches(library, codes, 50, 50, &none, counts);
    doppel_library_close(library);
    run_raw(folder_path(*state, "a/library/catalogue.db"),
            "CREATE TABLE kept AS SELECT * FROM log");
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char sql[200];
        uint64_t damaged = 0;
        snprintf(sql, sizeof sql, "UPDATE log SET %s WHERE last_item IS NOT NULL", changes[i]);
        run_raw(folder_path(*state, "a/library/catalogue.db"), sql);
        library = open_library(*state);
        assert_int_equal(doppel_library_each_log(library, &everything, note_damage, &damaged, NULL),
                         DOPPEL_OK);
        if (!damaged)
            fail_msg("%s", changes[i]);
        doppel_library_close(library);
        run_raw(folder_path(*state, "a/library/catalogue.db"),
                "DELETE FROM log; INSERT INTO log SELECT * FROM kept");
    }
}

#define VERSION_10_UNDONE                                                                          \
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
    random_state = 18;
    for (size_t i = 0; i < 90; i++) {
        codes[i] = random_code();
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
    random_state = 17;
    for (size_t i = 0; i < 40; i++) {
        codes[i] = random_code();
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
        IN_FOLDER(a_row_of_many_is_many_entries), IN_FOLDER(a_damaged_row_of_many),
        IN_FOLDER(version_8_is_brought_up),       IN_FOLDER(version_9_is_brought_up),
        IN_FOLDER(a_checksum_is_the_same_in_sql),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
