/* An index that is damaged: refused, told, repaired, rebuilt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/store/folder.h"
#include "tests/store/kept_test.h"

static bool alive_below(void *context, uint64_t payload)
{
    return payload < *(uint64_t *)context;
}

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
    struct kept kept = kept_must_open(folder, &plain);
    struct doppel_error error;
    assert_int_equal(insert_all(kept.store, kept.index, &error), DOPPEL_OK);
    assert_true(kept_segments(&kept) > 2);
    kept_close(&kept);
    assert_true(kept_files_ending(folder, ".segment", out_segment) > 2);
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

    struct kept kept = kept_must_open(*state, &salvage);
    struct damage damage = {0};
    assert_int_equal(doppel_store_index_verify(kept.index, note_damage, &damage, NULL), DOPPEL_OK);
    assert_int_equal(damage.count, 1);
    assert_string_equal(damage.name, name);
    uint64_t codes = doppel_index_count(doppel_store_index_get(kept.index));
    kept_close(&kept);

    kept = kept_must_open(*state, &rebuilding);
    uint64_t end = 400;
    struct doppel_error error;
    assert_null(kept_compare(doppel_store_index_get(kept.index), 500, alive_below, &end, &error));
    assert_true(codes < doppel_index_count(doppel_store_index_get(kept.index)));
    kept_close(&kept);
    kept = kept_must_open(*state, &plain);
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
    struct kept kept = kept_must_open(*state, &salvage);
    struct damage damage = {0}, again = {0};
    assert_int_equal(doppel_store_index_repair(kept.index, note_damage, &damage, NULL), DOPPEL_OK);
    assert_int_equal(damage.count, 1);
    assert_string_equal(damage.name, name);
    assert_int_equal(doppel_store_index_verify(kept.index, note_damage, &again, NULL), DOPPEL_OK);
    assert_int_equal(again.count, 0);
    kept_close(&kept);
    assert_int_equal(kept_files_ending(*state, ".damaged", NULL), 1);
    kept = kept_must_open(*state, &plain); /* and it goes on */
    kept_must_transact(&kept, 40, 60);
    kept_close(&kept);
}

static void test_damaged_log(void **state)
{
    const struct kept_options plain = {0}, salvage = {.salvage = true};
    struct kept kept = kept_must_open(*state, &plain);
    kept_must_transact(&kept, 0, 3);
    kept_close(&kept);
    run_raw(
        folder_path(*state, "index.db"),
        "UPDATE doppel_index_log SET data=CAST(substr(data, 1, 40) || x'55' || substr(data, 42) "
        "AS BLOB) WHERE record & 1023 = 3");
    assert_refused(*state, "record 3 of the log");
    kept = kept_must_open(*state, &salvage);
    struct doppel_store_index_info info;
    doppel_store_index_info(kept.index, &info);
    assert_int_equal(info.damaged, 1);
    assert_int_equal(doppel_store_index_repair(kept.index, NULL, NULL, NULL), DOPPEL_OK);
    doppel_store_index_info(kept.index, &info);
    assert_int_equal(info.damaged, 0);
    kept_close(&kept);
    kept = kept_must_open(*state, &plain);
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
    kept = kept_must_open(*state, &rebuilding);
    kept_close(&kept);
    kept = kept_must_open(*state, &reading);
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
    struct kept kept = kept_must_open(*state, &reading);
    kept_close(&kept);
    assert_int_equal(access(orphan, F_OK), 0); /* a reader takes nothing away */
    kept = kept_must_open(*state, &plain);
    kept_close(&kept);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(access(orphan, F_OK), -1);
    assert_int_equal(access(half, F_OK), -1);
    assert_int_equal(access(folder_path(*state, "codes/notes.txt"), F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KEPT_TEST(test_lost_segment),        KEPT_TEST(test_repaired),
        KEPT_TEST(test_damaged_log),         KEPT_TEST(test_half_rebuilt),
        KEPT_TEST(test_orphans_are_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
