/* An index that is kept: as part of transactions, reopened, read by others, repaired. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/store/folder.h"
#include "tests/store/kept.h"

static int set_up(void **state)
{
    *state = folder_make();
    return 0;
}

static int tear_down(void **state)
{
    folder_remove(*state);
    return 0;
}

static struct kept open_kept(const char *folder, const struct kept_options *options)
{
    struct doppel_error error = {0};
    struct kept kept;
    if (kept_open(folder, options, &kept, &error))
        fail_msg("%s", error.message);
    return kept;
}

static void transact(struct kept *kept, uint64_t first, uint64_t end)
{
    struct doppel_error error = {0};
    for (uint64_t number = first; number < end; number++)
        if (kept_transact(kept, number, &error))
            fail_msg("%s", error.message);
}

static void assert_state(struct kept *kept, uint64_t transactions)
{
    struct doppel_error error = {0};
    uint64_t count;
    const char *wrong = kept_check(doppel_store_index_get(kept->index), &count, &error);
    if (wrong)
        fail_msg("%s after %llu transactions", wrong, (unsigned long long)count);
    assert_int_equal(count, transactions);
}

static size_t segments_of(struct kept *kept)
{
    return doppel_index_info(doppel_store_index_get(kept->index)).segments;
}

/* Names in the folder of the segments that end so. */
static size_t files_ending(const char *folder, const char *ending, char *out_last)
{
    size_t count = 0;
    DIR *list = opendir(folder_path(folder, "codes"));
    assert_non_null(list);
    for (struct dirent *entry; (entry = readdir(list));) {
        size_t length = strlen(entry->d_name), end = strlen(ending);
        if (length < end || strcmp(entry->d_name + length - end, ending) != 0 ||
            entry->d_name[0] == '.')
            continue;
        count++;
        if (out_last)
            strcpy(out_last, entry->d_name);
    }
    closedir(list);
    return count;
}

/* ---- writing and opening again ---- */

static void test_opened_again(void **state)
{
    const struct kept_options plain = {0};
    for (uint64_t done = 0; done < 60; done += 7) {
        struct kept kept = open_kept(*state, &plain);
        assert_state(&kept, done);
        transact(&kept, done, done + 7);
        assert_state(&kept, done + 7);
        kept_close(&kept);
    }
    struct kept kept = open_kept(*state, &plain);
    assert_true(segments_of(&kept) > 1);
    assert_int_equal(doppel_store_index_compact(kept.index, true, NULL), DOPPEL_OK);
    assert_int_equal(segments_of(&kept), 1);
    assert_int_equal(files_ending(*state, "", NULL), 1);
    assert_state(&kept, 63);
    struct doppel_store_index_info info;
    doppel_store_index_info(kept.index, &info);
    assert_int_equal(info.next_payload, 630);
    assert_int_equal(info.log_codes, 0);
    kept_close(&kept);
    kept = open_kept(*state, &plain);
    assert_state(&kept, 63);
    doppel_store_index_info(kept.index, &info);
    assert_int_equal(info.next_payload, 630);
    kept_close(&kept);
}

static void test_rolled_back(void **state)
{
    const struct kept_options plain = {0};
    struct kept kept = open_kept(*state, &plain);
    transact(&kept, 0, 20);
    const uint64_t code = 1, payload = 200, removed = 3;
    assert_int_equal(doppel_store_begin(kept.store, NULL), DOPPEL_OK);
    assert_int_equal(doppel_store_index_insert(kept.index, &code, &payload, 1, NULL), DOPPEL_OK);
    assert_int_equal(doppel_store_index_remove(kept.index, &removed, 1, NULL), DOPPEL_OK);
    assert_int_equal(doppel_store_execute(kept.store, "INSERT INTO done VALUES(1)", NULL),
                     DOPPEL_OK);
    /* Seen at once, and not within a transaction made a segment of. */
    uint64_t count;
    struct doppel_error error;
    assert_non_null(kept_check(doppel_store_index_get(kept.index), &count, &error));
    assert_int_equal(doppel_store_index_flush(kept.index, &error), DOPPEL_E_ARGUMENT);
    doppel_store_rollback(kept.store);
    assert_state(&kept, 20);
    transact(&kept, 20, 40);
    assert_state(&kept, 40);
    kept_close(&kept);
    kept = open_kept(*state, &plain);
    assert_state(&kept, 40);
    kept_close(&kept);
}

static bool alive_below(void *context, uint64_t payload)
{
    return payload < *(uint64_t *)context;
}

struct source {
    uint64_t first, count, at;
};

static size_t read_source(void *context, uint64_t *codes, uint64_t *payloads, size_t max)
{
    struct source *source = context;
    size_t count = 0;
    for (; count < max && source->at < source->count; count++, source->at++) {
        payloads[count] = source->first + source->at;
        codes[count] = kept_code(payloads[count]);
    }
    return count;
}

static void rewind_source(void *context)
{
    ((struct source *)context)->at = 0;
}

static void test_bulk(void **state)
{
    const struct kept_options plain = {0};
    struct kept kept = open_kept(*state, &plain);
    struct source source = {0, 5000, 0};
    struct doppel_index_load load = {
        .count = 5000, .read = read_source, .rewind = rewind_source, .context = &source};
    assert_int_equal(doppel_store_index_bulk(kept.index, &load, NULL), DOPPEL_OK);
    const uint64_t payload = 5000, code = kept_code(payload);
    assert_int_equal(doppel_store_index_insert(kept.index, &code, &payload, 1, NULL), DOPPEL_OK);
    source = (struct source){5001, 999, 0};
    load.count = 999;
    assert_int_equal(doppel_store_index_bulk(kept.index, &load, NULL), DOPPEL_OK);
    uint64_t end = 6000;
    struct doppel_error error = {0};
    for (int i = 0; i < 2; i++) {
        const char *wrong =
            kept_compare(doppel_store_index_get(kept.index), 7000, alive_below, &end, &error);
        if (wrong)
            fail_msg("%s", wrong);
        struct doppel_store_index_info info;
        doppel_store_index_info(kept.index, &info);
        assert_int_equal(info.next_payload, 6000);
        kept_close(&kept);
        kept = open_kept(*state, &plain);
    }
    kept_close(&kept);
}

/* A source that dries up in its first or its second pass. */
static size_t read_dry(void *context, uint64_t *codes, uint64_t *payloads, size_t max)
{
    struct source *source = context;
    bool dry = source->first <= 1 && source->at >= source->count / 2;
    return dry ? 0 : read_source(context, codes, payloads, max);
}

static void rewind_dry(void *context)
{
    struct source *source = context;
    source->at = 0;
    source->first--; /* passes until it dries up */
}

static void test_bulk_cut_short(void **state)
{
    const struct kept_options plain = {0};
    struct kept kept = open_kept(*state, &plain);
    transact(&kept, 0, 10);
    for (uint64_t passes = 2; passes < 4; passes++) {
        struct source source = {passes, 5000, 0};
        struct doppel_index_load load = {
            .count = 5000, .read = read_dry, .rewind = rewind_dry, .context = &source};
        assert_int_not_equal(doppel_store_index_bulk(kept.index, &load, NULL), DOPPEL_OK);
        assert_state(&kept, 10);
    }
    transact(&kept, 10, 20);
    kept_close(&kept);
    kept = open_kept(*state, &plain);
    assert_state(&kept, 20);
    kept_close(&kept);
}

/* ---- several readers, one writer ---- */

static void test_readers(void **state)
{
    const struct kept_options plain = {0}, reading = {.read_only = true};
    struct kept writer = open_kept(*state, &plain);
    transact(&writer, 0, 3);
    struct kept reader = open_kept(*state, &reading);
    bool changed;
    assert_state(&reader, 3);
    assert_int_equal(doppel_store_index_refresh(reader.index, &changed, NULL), DOPPEL_OK);
    assert_false(changed);
    for (uint64_t done = 3; done < 60; done += 3) {
        transact(&writer, done, done + 3);
        assert_state(&reader, done); /* as it was, though segments may be gone */
        if (done % 9 == 0)
            assert_int_equal(doppel_store_index_compact(writer.index, true, NULL), DOPPEL_OK);
        assert_int_equal(doppel_store_index_refresh(reader.index, &changed, NULL), DOPPEL_OK);
        assert_true(changed);
        assert_state(&reader, done + 3);
    }
    const uint64_t one = 1;
    struct doppel_error error;
    assert_int_equal(doppel_store_index_insert(reader.index, &one, &one, 1, &error),
                     DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_store_index_compact(reader.index, true, &error), DOPPEL_E_ARGUMENT);
    kept_close(&reader);
    kept_close(&writer);
}

static void test_second_writer_is_told(void **state)
{
    const struct kept_options plain = {0}, hasty = {.hasty = true};
    struct kept writer = open_kept(*state, &plain), second;
    struct doppel_error error = {0};
    assert_int_equal(kept_open(*state, &hasty, &second, &error), DOPPEL_E_BUSY);
    assert_non_null(strstr(error.message, "another process is writing to this index"));
    kept_close(&writer);
    second = open_kept(*state, &hasty);
    kept_close(&second);
}

/* ---- several of them, of every table, in one database ---- */

static struct doppel_store_index *open_named(struct doppel_store *store, const char *folder,
                                             const char *name,
                                             const struct doppel_index_options *make)
{
    struct doppel_error error = {0};
    struct doppel_store_index *index = NULL;
    const struct doppel_store_index_options options = {
        .name = name, .folder = folder_path(folder, name), .make = make};
    if (doppel_store_index_open(store, &options, &index, &error))
        fail_msg("%s", error.message);
    return index;
}

static void insert_numbers(struct doppel_store_index *index, size_t words, uint64_t first)
{
    uint64_t codes[5 * 32], payloads[5];
    uint64_t seed = first;
    for (size_t i = 0; i < 5 * words; i++)
        codes[i] = kept_random(&seed);
    for (size_t i = 0; i < 5; i++)
        payloads[i] = first + i;
    if (words == 1) /* a 32-bit code is the low half */
        for (size_t i = 0; i < 5; i++)
            codes[i] &= UINT32_MAX;
    assert_int_equal(doppel_store_index_insert(index, codes, payloads, 5, NULL), DOPPEL_OK);
}

/* Each of the codes that insert_numbers put in is found, and nothing else at its place. */
static void assert_numbers(struct doppel_store_index *index, size_t words, uint64_t first,
                           bool there)
{
    uint64_t codes[5 * 32], seed = first;
    for (size_t i = 0; i < 5 * words; i++)
        codes[i] = kept_random(&seed) & (words == 1 ? UINT32_MAX : UINT64_MAX);
    struct doppel_index_hit *hits = NULL;
    size_t count;
    const struct doppel_index_request same = {.queries = codes, .count = 5};
    assert_int_equal(
        doppel_index_search_array(doppel_store_index_get(index), &same, &hits, &count, NULL),
        DOPPEL_OK);
    assert_int_equal(count, there ? 5 : 0);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(hits[i].payload, first + i);
    free(hits);
}

enum { TABLES = 3 };

static void open_tables(struct doppel_store *store, const char *folder,
                        struct doppel_store_index *out[TABLES])
{
    struct doppel_index_options narrow = doppel_index_options_default();
    struct doppel_index_options wide = narrow, bands = narrow;
    narrow.bits = 32;
    wide.bits = 256;
    bands.table = DOPPEL_INDEX_BANDS;
    out[0] = open_named(store, folder, "narrow", &narrow);
    out[1] = open_named(store, folder, "wide", &wide);
    out[2] = open_named(store, folder, "bands", &bands);
}

static const size_t words_of[TABLES] = {1, 4, 32};

static void test_tables_of_all_kinds(void **state)
{
    const struct doppel_store_options options = {.application_id = 1,
                                                 .schema_version = 1,
                                                 .schema = DOPPEL_STORE_INDEX_SCHEMA,
                                                 .create = true,
                                                 .busy_timeout_ms = 1000};
    struct doppel_store *store;
    struct doppel_store_index *indexes[TABLES];
    for (uint64_t round = 0; round < 4; round++) {
        assert_int_equal(doppel_store_open(folder_path(*state, "a.db"), &options, &store, NULL),
                         DOPPEL_OK);
        open_tables(store, *state, indexes);
        for (size_t i = 0; i < TABLES; i++)
            for (uint64_t past = 0; past < round; past++) {
                assert_numbers(indexes[i], words_of[i], 1000 * (past + 1), true);
                assert_numbers(indexes[i], words_of[i], 1000 * (past + 1) + 500, false);
            }
        /* One transaction for all of them that stays, one that is taken back. */
        assert_int_equal(doppel_store_begin(store, NULL), DOPPEL_OK);
        for (size_t i = 0; i < TABLES; i++)
            insert_numbers(indexes[i], words_of[i], 1000 * (round + 1));
        assert_int_equal(doppel_store_commit(store, NULL), DOPPEL_OK);
        assert_int_equal(doppel_store_begin(store, NULL), DOPPEL_OK);
        for (size_t i = 0; i < TABLES; i++)
            insert_numbers(indexes[i], words_of[i], 1000 * (round + 1) + 500);
        doppel_store_rollback(store);
        for (size_t i = 0; i < TABLES && round % 2; i++)
            assert_int_equal(doppel_store_index_flush(indexes[i], NULL), DOPPEL_OK);
        for (size_t i = 0; i < TABLES; i++)
            doppel_store_index_close(indexes[i]);
        doppel_store_close(store);
    }
}

static enum doppel_status insert_item(struct doppel_store_index *index, uint64_t payload)
{
    const struct doppel_index_posting postings[] = {{7, 1}, {9, 4}, {(uint32_t)payload, 2}};
    const struct doppel_index_item item = {
        .payload = payload, .length = 10, .count = 3, .postings = postings};
    return doppel_store_index_insert_item(index, &item, NULL);
}

static uint64_t postings_of(struct doppel_store_index *index, uint32_t key)
{
    struct doppel_index_axis *axis;
    uint64_t length;
    assert_int_equal(doppel_index_axis_take(doppel_store_index_get(index), &axis, NULL), DOPPEL_OK);
    assert_int_equal(doppel_index_lengths(axis, &key, 1, &length, NULL), DOPPEL_OK);
    doppel_index_axis_free(axis);
    return length;
}

static void test_items(void **state)
{
    const struct doppel_store_options options = {.application_id = 1,
                                                 .schema_version = 1,
                                                 .schema = DOPPEL_STORE_INDEX_SCHEMA,
                                                 .create = true,
                                                 .busy_timeout_ms = 1000};
    struct doppel_index_options make = doppel_index_options_default();
    struct doppel_store *store;
    make.table = DOPPEL_INDEX_POSTINGS;
    for (uint64_t round = 0; round < 4; round++) {
        assert_int_equal(doppel_store_open(folder_path(*state, "a.db"), &options, &store, NULL),
                         DOPPEL_OK);
        struct doppel_store_index *index = open_named(store, *state, "postings", &make);
        assert_int_equal(insert_item(index, 1000 + round), DOPPEL_OK);
        assert_int_equal(postings_of(index, 7), round + 1);
        assert_int_equal(postings_of(index, (uint32_t)(1000 + round)), 1);
        assert_int_equal(doppel_store_begin(store, NULL), DOPPEL_OK);
        assert_int_equal(insert_item(index, 2000 + round), DOPPEL_OK);
        assert_int_equal(postings_of(index, 7), round + 2);
        doppel_store_rollback(store);
        assert_int_equal(postings_of(index, 7), round + 1);
        if (round % 2)
            assert_int_equal(doppel_store_index_flush(index, NULL), DOPPEL_OK);
        doppel_store_index_close(index);
        doppel_store_close(store);
    }
}

/* ---- damage ---- */

static void run_raw(const char *path, const char *sql)
{
    sqlite3 *database;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

static void assert_refused(const char *folder, const char *word)
{
    const struct kept_options plain = {0}, reading = {.read_only = true};
    struct kept kept;
    struct doppel_error error = {0};
    assert_int_equal(kept_open(folder, &plain, &kept, &error), DOPPEL_E_CORRUPT);
    if (!strstr(error.message, word))
        fail_msg("\"%s\" does not name %s", error.message, word);
    assert_int_equal(kept_open(folder, &reading, &kept, &error), DOPPEL_E_CORRUPT);
}

static enum doppel_status insert_all(void *context, struct doppel_store_index *index,
                                     struct doppel_error *error)
{
    struct kept kept = {context, index};
    for (uint64_t number = 0; number < 40; number++)
        if (kept_transact(&kept, number, error))
            return error->status;
    return DOPPEL_OK;
}

/* The rebuilder needs the store, which kept_open opens itself. */
static enum doppel_status rebuild(void *context, struct doppel_store_index *index,
                                  struct doppel_error *error)
{
    uint64_t codes[KEPT_CODES], payloads[KEPT_CODES];
    (void)context;
    for (uint64_t number = 0; number < 40; number++) {
        for (uint64_t i = 0; i < KEPT_CODES; i++) {
            payloads[i] = number * KEPT_CODES + i;
            codes[i] = kept_code(payloads[i]);
        }
        if (doppel_store_index_insert(index, codes, payloads, KEPT_CODES, error))
            return error->status;
    }
    return DOPPEL_OK;
}

static void make_segments(const char *folder, char *out_segment)
{
    const struct kept_options plain = {0};
    struct kept kept = open_kept(folder, &plain);
    struct doppel_error error;
    assert_int_equal(insert_all(kept.store, kept.index, &error), DOPPEL_OK);
    assert_true(segments_of(&kept) > 2);
    kept_close(&kept);
    assert_true(files_ending(folder, ".segment", out_segment) > 2);
}

struct damage {
    size_t count;
    uint64_t codes;
    char name[256];
};

static bool note_damage(void *context, const struct doppel_store_segment *segment)
{
    struct damage *damage = context;
    if (segment->error) {
        damage->count++;
        damage->codes += segment->codes;
        assert_non_null(strstr(segment->error->message, segment->name));
        assert_true(segment->most - segment->least + 1 >= segment->codes);
        strcpy(damage->name, segment->name);
    }
    return true;
}

static void test_lost_segment(void **state)
{
    const struct kept_options plain = {0}, salvage = {.salvage = true};
    const struct kept_options rebuilding = {.rebuild = rebuild};
    char name[256], path[512];
    make_segments(*state, name);
    snprintf(path, sizeof path, "%s/codes/%s", (char *)*state, name);
    assert_int_equal(unlink(path), 0);
    assert_refused(*state, name);

    struct kept kept = open_kept(*state, &salvage);
    struct damage damage = {0};
    assert_int_equal(doppel_store_index_verify(kept.index, note_damage, &damage, NULL), DOPPEL_OK);
    assert_int_equal(damage.count, 1);
    assert_string_equal(damage.name, name);
    uint64_t codes = doppel_index_count(doppel_store_index_get(kept.index));
    kept_close(&kept);

    kept = open_kept(*state, &rebuilding);
    uint64_t end = 400;
    struct doppel_error error;
    assert_null(kept_compare(doppel_store_index_get(kept.index), 500, alive_below, &end, &error));
    assert_true(codes < doppel_index_count(doppel_store_index_get(kept.index)));
    kept_close(&kept);
    kept = open_kept(*state, &plain);
    kept_close(&kept);
}

static void test_repaired(void **state)
{
    const struct kept_options plain = {0}, salvage = {.salvage = true};
    char name[256], path[512];
    make_segments(*state, name);
    snprintf(path, sizeof path, "%s/codes/%s", (char *)*state, name);
    assert_int_equal(truncate(path, 100), 0);
    assert_refused(*state, name);
    struct kept kept = open_kept(*state, &salvage);
    struct damage damage = {0}, again = {0};
    assert_int_equal(doppel_store_index_repair(kept.index, note_damage, &damage, NULL), DOPPEL_OK);
    assert_int_equal(damage.count, 1);
    assert_string_equal(damage.name, name);
    assert_int_equal(doppel_store_index_verify(kept.index, note_damage, &again, NULL), DOPPEL_OK);
    assert_int_equal(again.count, 0);
    kept_close(&kept);
    assert_int_equal(files_ending(*state, ".damaged", NULL), 1);
    kept = open_kept(*state, &plain); /* and it goes on */
    transact(&kept, 40, 60);
    kept_close(&kept);
}

static void test_damaged_log(void **state)
{
    const struct kept_options plain = {0}, salvage = {.salvage = true};
    struct kept kept = open_kept(*state, &plain);
    transact(&kept, 0, 3);
    kept_close(&kept);
    run_raw(
        folder_path(*state, "index.db"),
        "UPDATE doppel_index_log SET data=CAST(substr(data, 1, 40) || x'55' || substr(data, 42) "
        "AS BLOB) WHERE record & 1023 = 3");
    assert_refused(*state, "record 3 of the log");
    kept = open_kept(*state, &salvage);
    struct doppel_store_index_info info;
    doppel_store_index_info(kept.index, &info);
    assert_int_equal(info.damaged, 1);
    assert_int_equal(doppel_store_index_repair(kept.index, NULL, NULL, NULL), DOPPEL_OK);
    doppel_store_index_info(kept.index, &info);
    assert_int_equal(info.damaged, 0);
    kept_close(&kept);
    kept = open_kept(*state, &plain);
    assert_int_equal(doppel_index_count(doppel_store_index_get(kept.index)), 18);
    kept_close(&kept);
}

/* A rebuild that was interrupted is not mistaken for an index. */
static void test_half_rebuilt(void **state)
{
    const struct kept_options plain = {0}, reading = {.read_only = true};
    const struct kept_options rebuilding = {.rebuild = rebuild};
    char name[256];
    make_segments(*state, name);
    run_raw(folder_path(*state, "index.db"), "UPDATE doppel_index SET whole=0");
    struct kept kept;
    struct doppel_error error;
    assert_int_equal(kept_open(*state, &plain, &kept, &error), DOPPEL_E_CORRUPT);
    assert_int_equal(kept_open(*state, &reading, &kept, &error), DOPPEL_E_BUSY);
    kept = open_kept(*state, &rebuilding);
    kept_close(&kept);
    kept = open_kept(*state, &reading);
    uint64_t end = 400;
    assert_null(kept_compare(doppel_store_index_get(kept.index), 500, alive_below, &end, &error));
    kept_close(&kept);
}

/* What a crash has left of files that no manifest names. */
static void test_orphans_are_removed(void **state)
{
    const struct kept_options plain = {0}, reading = {.read_only = true};
    char name[256], orphan[600], half[640], path[600];
    make_segments(*state, name);
    snprintf(path, sizeof path, "%s/codes/%s", (char *)*state, name);
    snprintf(orphan, sizeof orphan, "%s/codes/ff%s", (char *)*state, name);
    snprintf(half, sizeof half, "%s.new", orphan);
    folder_write(orphan, "x");
    folder_write(half, "x");
    folder_write(folder_path(*state, "codes/notes.txt"), "x");
    struct kept kept = open_kept(*state, &reading);
    kept_close(&kept);
    assert_int_equal(access(orphan, F_OK), 0); /* a reader takes nothing away */
    kept = open_kept(*state, &plain);
    kept_close(&kept);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(access(orphan, F_OK), -1);
    assert_int_equal(access(half, F_OK), -1);
    assert_int_equal(access(folder_path(*state, "codes/notes.txt"), F_OK), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_opened_again),
        TEST(test_rolled_back),
        TEST(test_bulk),
        TEST(test_bulk_cut_short),
        TEST(test_readers),
        TEST(test_second_writer_is_told),
        TEST(test_tables_of_all_kinds),
        TEST(test_items),
        TEST(test_lost_segment),
        TEST(test_repaired),
        TEST(test_damaged_log),
        TEST(test_half_rebuilt),
        TEST(test_orphans_are_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
