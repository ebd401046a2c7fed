/* Texts of a library: remembered, visited, removed; ids, options, damage, and versions 2 and 6. */
#include "tests/library/fixture.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include <doppel/text.h>

#include "library/schema.h"

static const struct doppel_text_limits limits = {0.7, 0.9};

enum { LANES = 128, TEXTS = 40, MAX_SHINGLES = 50 };

/* What `seed` makes, in static storage. */
struct made {
    struct doppel_library_text text;
    char id[32], source[32], path[64];
    uint16_t lanes[LANES];
    uint32_t shingles[MAX_SHINGLES];
};

static const struct doppel_library_text *make(uint64_t seed, struct made *out)
{
    memset(out, 0, sizeof *out);
    snprintf(out->id, sizeof out->id, "record/%llu", (unsigned long long)seed);
    snprintf(out->source, sizeof out->source, "s%llu", (unsigned long long)seed % 3);
    snprintf(out->path, sizeof out->path, "/corpus/%llu", (unsigned long long)seed / 10);
    for (unsigned i = 0; i < LANES; i++)
        out->lanes[i] = (uint16_t)(seed * 77 + i * 513);
    for (unsigned i = 0; i < MAX_SHINGLES; i++)
        out->shingles[i] = (uint32_t)(seed + i * 80000000);
    out->text = (struct doppel_library_text){
        .record_id = seed % 5 ? out->id : NULL,
        .origin = {seed % 2 ? out->source : NULL, seed % 4 ? "2024-05-31" : NULL},
        .path = seed % 3 ? out->path : NULL,
        .line = seed,
        .offset = seed << 33,
        .size = seed * 100,
        .content = {.bytes = {(uint8_t)seed, 1}},
        .words = seed * 3,
        .too_short = seed % 7 == 0,
        .decision = (enum doppel_decision)(seed % 5),
        .leads = seed % 2,
        .leader = seed % 2 ? 0 : 1,
        .lanes = out->lanes,
        .lane_count = LANES,
        .shingle_total = seed % 6 ? MAX_SHINGLES : 0,
        .shingles = seed % 6 ? out->shingles : NULL,
    };
    return &out->text;
}

static void assert_same_string(const char *a, const char *b)
{
    assert_int_equal(a != NULL, b != NULL);
    if (a)
        assert_string_equal(a, b);
}

static void assert_same_text(const struct doppel_library_text *text,
                             const struct doppel_library_text *expected, bool with_shingles)
{
    assert_int_equal(text->error.status, DOPPEL_OK);
    assert_same_string(text->record_id, expected->record_id);
    assert_same_string(text->origin.source, expected->origin.source);
    assert_same_string(text->origin.date, expected->origin.date);
    assert_same_string(text->path, expected->path);
    assert_int_equal(text->line, expected->line);
    assert_int_equal(text->offset, expected->offset);
    assert_int_equal(text->size, expected->size);
    assert_memory_equal(&text->content, &expected->content, sizeof text->content);
    assert_int_equal(text->words, expected->words);
    assert_int_equal(text->too_short, expected->too_short);
    assert_int_equal(text->decision, expected->decision);
    assert_int_equal(text->leads, expected->leads);
    assert_int_equal(text->leader, expected->leader);
    assert_int_equal(text->lane_count, LANES);
    assert_memory_equal(text->lanes, expected->lanes, LANES * sizeof *text->lanes);
    assert_int_equal(text->shingle_total, expected->shingle_total);
    assert_true(text->added_ns > 0);
    if (with_shingles && expected->shingles)
        assert_memory_equal(text->shingles, expected->shingles, MAX_SHINGLES * 4);
    else
        assert_null(text->shingles);
}

static struct doppel_library *open_for_texts(const char *folder)
{
    const struct doppel_text_options options = doppel_text_options_default();
    struct doppel_library *library = open_library(folder);
    assert_int_equal(doppel_library_set_text_options(library, &options, &limits, NULL), DOPPEL_OK);
    return library;
}

static uint64_t add(struct doppel_library *library, uint64_t seed)
{
    struct made made;
    struct doppel_error error = {0};
    uint64_t id = 0;
    if (doppel_library_add_text(library, make(seed, &made), &id, &error))
        fail_msg("%s", error.message);
    return id;
}

struct visit {
    uint64_t next, count, damaged;
    bool shingles;
};

static bool check_text(void *context, const struct doppel_library_text *text)
{
    struct visit *visit = context;
    struct made made;
    assert_int_equal(text->id, visit->next);
    assert_same_text(text, make(visit->next, &made), visit->shingles);
    visit->next++;
    visit->count++;
    return true;
}

static struct visit visit_all(struct doppel_library *library, struct doppel_text_query query)
{
    struct visit visit = {.next = query.first ? query.first : 1, .shingles = query.shingles};
    assert_int_equal(doppel_library_each_text(library, &query, check_text, &visit, NULL),
                     DOPPEL_OK);
    return visit;
}

static void test_what_is_added_is_visited(void **state)
{
    struct doppel_library *library = open_for_texts(*state);
    for (uint64_t seed = 1; seed <= TEXTS; seed++)
        assert_int_equal(add(library, seed), seed);
    assert_int_equal(visit_all(library, (struct doppel_text_query){0}).count, TEXTS);
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
    add(library, 100); /* not committed: taken back */
    doppel_library_close(library);

    library = open_library(*state);
    assert_int_equal(visit_all(library, (struct doppel_text_query){0}).count, TEXTS);
    assert_int_equal(visit_all(library, (struct doppel_text_query){.shingles = true}).count, TEXTS);
    assert_int_equal(visit_all(library, (struct doppel_text_query){.first = 7, .last = 12}).count,
                     6);
    struct doppel_text_query one = {.first = 9, .record_id = "record/9"};
    assert_int_equal(visit_all(library, one).count, 1);
    one.record_id = "record/8";
    assert_int_equal(visit_all(library, one).count, 0);
    doppel_library_close(library);
}

static bool look_at_one(void *context, const struct doppel_library_text *text)
{
    struct doppel_library *library = context;
    visit_all(library,
              (struct doppel_text_query){.first = text->id, .last = text->id, .shingles = true});
    const struct doppel_text_query all = {0};
    assert_int_equal(doppel_library_each_text(library, &all, look_at_one, library, NULL),
                     DOPPEL_E_ARGUMENT);
    return text->id != 5;
}

static void test_one_within_a_visit(void **state)
{
    struct doppel_library *library = open_for_texts(*state);
    for (uint64_t seed = 1; seed <= 9; seed++)
        add(library, seed);
    const struct doppel_text_query all = {0}, with = {.shingles = true};
    assert_int_equal(doppel_library_each_text(library, &all, look_at_one, library, NULL),
                     DOPPEL_E_CANCELLED);
    assert_int_equal(doppel_library_each_text(library, &with, look_at_one, library, NULL),
                     DOPPEL_E_CANCELLED);
    doppel_library_close(library);
}

/* Files and texts share the ids, which are never used twice. */
static void test_ids(void **state)
{
    const char *path = folder_path(*state, "one");
    folder_write(path, "one");
    uint64_t last = 0;
    for (uint64_t round = 0; round < 4; round++) {
        struct doppel_library *library = open_for_texts(*state);
        uint64_t text = add(library, 3 + round);
        assert_true(text > last);
        uint64_t file = add_file(library, path, 1, DOPPEL_ADDED_NEW);
        assert_true(file > text);
        uint64_t next = add(library, 20 + round);
        assert_true(next > file);
        assert_int_equal(doppel_library_remove(library, file, NULL), DOPPEL_OK);
        assert_int_equal(doppel_library_remove(library, next, NULL), DOPPEL_OK);
        assert_int_equal(doppel_library_remove(library, next, NULL), DOPPEL_E_NOT_FOUND);
        assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
        doppel_library_close(library);
        last = next;
    }
}

static void test_options(void **state)
{
    struct doppel_library *library = open_library(*state);
    struct doppel_text_options options = doppel_text_options_default(), got;
    struct doppel_text_limits got_limits, other = {0.6, 0.9};
    struct doppel_error error;
    uint64_t id;
    struct made made;
    assert_int_equal(doppel_library_text_options(library, &got, NULL, NULL), DOPPEL_E_NOT_FOUND);
    assert_int_equal(doppel_library_add_text(library, make(1, &made), &id, NULL),
                     DOPPEL_E_NOT_FOUND);
    assert_int_equal(doppel_library_set_text_options(library, &options, &limits, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_set_text_options(library, &options, &limits, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
    doppel_library_close(library);

    library = open_library(*state);
    assert_int_equal(doppel_library_text_options(library, &got, &got_limits, NULL), DOPPEL_OK);
    assert_memory_equal(&got_limits, &limits, sizeof limits);
    assert_memory_equal(&got, &options, sizeof got);
    options.shingle = 4;
    assert_int_equal(doppel_library_set_text_options(library, &options, &limits, &error),
                     DOPPEL_E_VERSION);
    assert_non_null(strstr(error.message, "with shingle 5, not 4"));
    options.shingle = 5;
    options.unit = DOPPEL_TEXT_CHARACTERS;
    assert_int_equal(doppel_library_set_text_options(library, &options, &limits, &error),
                     DOPPEL_E_VERSION);
    assert_non_null(strstr(error.message, "with unit words by script, not characters"));
    options = got;
    options.nfkc = false;
    assert_int_equal(doppel_library_set_text_options(library, &options, &limits, &error),
                     DOPPEL_E_VERSION);
    assert_non_null(strstr(error.message, "with nfkc on, not off"));
    assert_int_equal(doppel_library_set_text_options(library, &got, &other, &error),
                     DOPPEL_E_VERSION);
    assert_non_null(strstr(error.message, "with minimal similarity 0.7, not 0.6"));
    make(1, &made);
    made.text.lane_count = 64;
    assert_int_equal(doppel_library_add_text(library, &made.text, &id, NULL), DOPPEL_E_ARGUMENT);
    doppel_library_close(library);
}

static bool count_damaged(void *context, const struct doppel_library_text *text)
{
    struct visit *visit = context;
    visit->count++;
    visit->damaged += text->error.status == DOPPEL_E_CORRUPT;
    return true;
}

/* Every column of one row changed, one after the other. */
static void test_damage_is_noticed(void **state)
{
    static const char *const changes[] = {
        "text SET record_id = x'00'",  "text SET source = x'41'",
        "text SET date = NULL",        "text SET corpus = NULL",
        "text SET line = line + 1",    "text SET place = 0",
        "text SET size = -1",          "text SET added_ns = 1",
        "text SET content = x'01'",    "text SET words = words + 1",
        "text SET shingles = 49",      "text SET too_short = 1",
        "text SET decision = 6",       "text SET leader = 2",
        "text SET leads = 0",          "text SET lanes = zeroblob(256)",
        "corpus SET path = x'2f'",     "text_shingles SET data = zeroblob(200)",
        "text_options SET shingle = 6"};
    struct doppel_library *library = open_for_texts(*state);
    for (uint64_t seed = 1; seed <= 3; seed++)
        add(library, 17);
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
    doppel_library_close(library);
    const char *path = folder_path(*state, "a/library/catalogue.db");
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char sql[160];
        const char *table = changes[i];
        bool one = strncmp(table, "text SET", 8) == 0;
        snprintf(sql, sizeof sql, "CREATE TABLE kept AS SELECT * FROM %.*s;UPDATE %s%s",
                 (int)strcspn(table, " "), table, changes[i], one ? " WHERE id = 2" : "");
        run_raw(path, sql);
        library = open_library(*state);
        const struct doppel_text_query all = {.shingles = true};
        struct visit visit = {0};
        struct doppel_text_options options;
        assert_int_equal(doppel_library_each_text(library, &all, count_damaged, &visit, NULL),
                         DOPPEL_OK);
        enum doppel_status status = doppel_library_text_options(library, &options, NULL, NULL);
        bool is_options = strncmp(table, "text_options", 12) == 0;
        assert_int_equal(status, is_options ? DOPPEL_E_CORRUPT : DOPPEL_OK);
        assert_int_equal(visit.count, 3);
        if (visit.damaged != (is_options ? 0u : one ? 1u : 3u))
            fail_msg("%s: %llu", changes[i], (unsigned long long)visit.damaged);
        doppel_library_close(library);
        snprintf(sql, sizeof sql,
                 "PRAGMA foreign_keys=OFF;REPLACE INTO %.*s SELECT * FROM kept;"
                 "DROP TABLE kept",
                 (int)strcspn(table, " "), table);
        run_raw(path, sql);
    }
}

/* What makes no sense is no text, even under a checksum that fits. */
static void test_nonsense_is_noticed(void **state)
{
    static const char *const changes[] = {
        "record_id = x'4100'", "words = -5",        "decision = 8", "leader = 2",
        "lanes = x'00'",       "content = x'0011'", "leads = -1",   "place = -1"};
    struct doppel_library *library = open_for_texts(*state);
    for (uint64_t seed = 1; seed <= 3; seed++)
        add(library, 17);
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
    doppel_library_close(library);
    const char *path = folder_path(*state, "a/library/catalogue.db");
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char sql[400];
        run_raw(path, "CREATE TABLE kept AS SELECT * FROM text");
        snprintf(sql, sizeof sql,
                 "UPDATE text SET %s WHERE id = 2;UPDATE text SET checksum = row_checksum(id, "
                 "record_id, source, date, corpus, line, place, size, added_ns, content, words, "
                 "shingles, too_short, decision, leader, leads, lanes)",
                 changes[i]);
        run_raw(path, sql);
        library = open_library(*state);
        const struct doppel_text_query all = {0};
        struct visit visit = {0};
        assert_int_equal(doppel_library_each_text(library, &all, count_damaged, &visit, NULL),
                         DOPPEL_OK);
        assert_int_equal(visit.count, 3);
        if (visit.damaged != 1)
            fail_msg("%s", changes[i]);
        assert_int_equal(doppel_library_remove(library, 2, NULL), DOPPEL_OK);
        doppel_library_close(library);
        run_raw(path, "REPLACE INTO text SELECT * FROM kept;DROP TABLE kept");
    }
}

/* Takes away what versions from 9 on have of their own, with the views that show it. */
#define VERSION_9_UNDONE                                                                           \
    "DROP TABLE job; DROP TABLE job_input; DROP TABLE text_vectors;"                               \
    "DROP VIEW lists; DROP VIEW list_matches;"                                                     \
    "DROP TABLE answer; DROP TABLE request; DROP TABLE upstream;"                                  \
    "DROP TABLE list_rule; DROP TABLE list_said; DROP TABLE list_match;"                           \
    "DROP VIEW decisions; DROP INDEX log_last; ALTER TABLE log DROP COLUMN last_item;"             \
    "DROP INDEX item_with_file; DROP INDEX item_without_file;"

/* And what versions 5, 6 and 7 have, with the other views. */
#define LEDGER_UNDONE                                                                              \
    VERSION_9_UNDONE                                                                               \
        "DROP VIEW items; DROP VIEW marks; DROP VIEW sources;"                                     \
        "ALTER TABLE item DROP COLUMN words;"                                                      \
        "DROP INDEX item_pixels; ALTER TABLE item DROP COLUMN pixels;"                             \
        "DROP TABLE about; DROP TABLE label; DROP TABLE list_item; DROP TABLE list; DROP TABLE "   \
        "link;"                                                                                    \
        "DROP TABLE canonical; DROP TABLE source; DROP TABLE policy; DROP TABLE mark;"             \
        "DROP TABLE exact; DROP TABLE failure; DROP INDEX log_item; DROP INDEX log_of;"            \
        "DROP TABLE revision;"                                                                     \
        "ALTER TABLE item DROP COLUMN duration_ms; ALTER TABLE item DROP COLUMN simhash;"          \
        "CREATE TABLE former AS SELECT entry, time_ns, action, item, path, former_item, "          \
        "former_path"                                                                              \
        " FROM log; DROP TABLE log;"                                                               \
        "CREATE TABLE log(entry INTEGER PRIMARY KEY AUTOINCREMENT, time_ns INTEGER NOT NULL,"      \
        " action TEXT NOT NULL, item INTEGER NOT NULL, path BLOB NOT NULL,"                        \
        " former_item INTEGER, former_path BLOB) STRICT;"                                          \
        "INSERT INTO log SELECT * FROM former; DROP TABLE former;"

/* A library of version 2 gets the tables when it is opened, also to read, and keeps what it has. */
static void test_version_2(void **state)
{
    const char *file = folder_path(*state, "one");
    folder_write(file, "one");
    struct doppel_library *library = open_library(*state);
    add_file(library, file, 1, DOPPEL_ADDED_NEW);
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
    doppel_library_close(library);
    run_raw(folder_path(*state, "a/library/catalogue.db"), LEDGER_UNDONE
            "DROP TABLE text_shingles;DROP TABLE text;DROP TABLE corpus;DROP TABLE text_options;"
            "DROP TABLE doppel_index_segment;DROP TABLE doppel_index;DROP TABLE doppel_index_log;"
            "PRAGMA user_version = 2");
    const struct doppel_library_options reader = {.read_only = true};
    struct doppel_item item;
    assert_int_equal(doppel_library_open(directory_of(*state), &reader, &library, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_get(library, 1, false, &item, NULL), DOPPEL_OK);
    doppel_item_free(&item);
    doppel_library_close(library);
    library = open_for_texts(*state);
    assert_int_equal(add(library, 2), 2);
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
    doppel_library_close(library);
    assert_int_equal(doppel_library_open(directory_of(*state), &reader, &library, NULL), DOPPEL_OK);
    doppel_library_close(library);
}

/* A text file whose bytes came to 12 words, as a worker tells it. */
static enum doppel_added add_words(struct doppel_library *library, uint64_t simhash)
{
    struct doppel_scheme scheme = *doppel_scheme_by_id(DOPPEL_SCHEME_MINHASH128);
    struct doppel_record record = {.digest = doppel_digest_bytes("12", 2),
                                   .kind = DOPPEL_KIND_TEXT,
                                   .scheme = scheme.id,
                                   .version = scheme.version};
    const struct doppel_text_result result = {.words = 12, .simhash = simhash};
    const struct doppel_file_stamp stamp = {.size = 2, .mtime_ns = 1};
    enum doppel_added added;
    uint64_t id;
    assert_int_equal(doppel_fingerprint_make(&scheme, 256, 8, &record.fingerprint, NULL),
                     DOPPEL_OK);
    for (uint32_t i = 0; i < 8; i++)
        record.fingerprint.positions[i] = i;
    record.attachment_size = doppel_text_attachment_size(&result);
    record.attachment = malloc(record.attachment_size);
    doppel_text_attachment_write(&result, record.attachment);
    assert_int_equal(doppel_library_add(library, "/twelve", &stamp, &record, &added, &id, NULL),
                     DOPPEL_OK);
    commit(library);
    doppel_record_free(&record);
    return added;
}

static bool take_id(void *context, uint64_t id)
{
    *(uint64_t *)context = id;
    return true;
}

/* What SQL finds, 0: nothing. */
static uint64_t find_where(struct doppel_library *library, const char *where)
{
    uint64_t found = 0;
    assert_int_equal(doppel_library_where(library, where, 5000, take_id, &found, NULL), DOPPEL_OK);
    return found;
}

/* A library of version 6 knows no words of text files, and few SimHashes: the columns come with the
 * views that show them, and are filled when a file is read again. */
static void test_version_6(void **state)
{
    const int64_t simhash = INT64_MIN + 5;
    struct doppel_library *library = open_library(*state);
    assert_int_equal(add_words(library, (uint64_t)simhash), DOPPEL_ADDED_NEW);
    assert_int_equal(add_words(library, (uint64_t)simhash), DOPPEL_ADDED_UNCHANGED);
    assert_int_equal(find_where(library, "words = 12 AND simhash = -9223372036854775803"), 1);
    doppel_library_close(library);
    run_raw(folder_path(*state, "a/library/catalogue.db"),
            VERSION_9_UNDONE "DROP VIEW items;"
                             "CREATE VIEW items AS SELECT id, NULL AS words FROM item;"
                             "ALTER TABLE item DROP COLUMN words; UPDATE item SET simhash = NULL;"
                             "PRAGMA user_version = 6");
    library = open_library(*state);
    assert_int_equal(find_where(library, "words IS NULL AND simhash IS NULL"), 1);
    assert_int_equal(add_words(library, 0), DOPPEL_ADDED_UPDATED);
    assert_int_equal(find_where(library, "words = 12 AND simhash IS NULL"), 1);
    assert_int_equal(add_words(library, (uint64_t)simhash), DOPPEL_ADDED_UPDATED);
    assert_int_equal(find_where(library, "words = 12 AND simhash = -9223372036854775803"), 1);
    assert_int_equal(add_words(library, (uint64_t)simhash), DOPPEL_ADDED_UNCHANGED);
    assert_int_equal(add_words(library, 0), DOPPEL_ADDED_UNCHANGED); /* as of an older export */
    doppel_library_close(library);
}

/* Who only reads is told why the tables of today cannot be made. */
static void test_no_room_for_an_upgrade(void **state)
{
    struct doppel_library *library = open_library(*state);
    struct doppel_error error = {0};
    doppel_library_close(library);
    run_raw(folder_path(*state, "a/library/catalogue.db"),
            VERSION_9_UNDONE "DROP VIEW items; ALTER TABLE item DROP COLUMN words;"
                             "PRAGMA user_version = 6");
    struct rlimit before, none = {0};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    none.rlim_max = before.rlim_max;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    const struct doppel_library_options reader = {.read_only = true};
    enum doppel_status status =
        doppel_library_open(directory_of(*state), &reader, &library, &error);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    assert_int_equal(status, DOPPEL_E_IO);
    assert_non_null(strstr(error.message, "brought up to date"));
    assert_int_equal(doppel_library_open(directory_of(*state), &reader, &library, &error),
                     DOPPEL_OK);
    doppel_library_close(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_what_is_added_is_visited),
        IN_FOLDER(test_one_within_a_visit),
        IN_FOLDER(test_ids),
        IN_FOLDER(test_options),
        IN_FOLDER(test_damage_is_noticed),
        IN_FOLDER(test_nonsense_is_noticed),
        IN_FOLDER(test_version_2),
        IN_FOLDER(test_version_6),
        IN_FOLDER(test_no_room_for_an_upgrade),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
