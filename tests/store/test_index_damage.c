/* An index that is damaged: refused, told, repaired, rebuilt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
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

static enum doppel_status rebuild_half(void *context, struct doppel_store_index *index,
                                       struct doppel_error *error)
{
    const uint64_t payload = 0, code = kept_code(0);
    (void)context;
    if (doppel_store_index_insert(index, &code, &payload, 1, error))
        return error->status;
    return doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted");
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
    const struct kept_options failing = {.rebuild = rebuild_half};
    struct kept kept = kept_must_open(*state, &failing);
    struct doppel_error error;
    assert_int_equal(doppel_store_index_rebuild(kept.index, &error), DOPPEL_E_CANCELLED);
    kept_close(&kept);
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

static void run_in(const char *folder, const char *script)
{
    char command[2048];
    snprintf(command, sizeof command, "cd '%s' && %s", folder, script);
    assert_int_equal(system(command), 0);
}

/* A commit that was cut off after its last frame in SQLite's log is not seen as long as somebody
 * has the database open, and comes to light when all are gone: what it names must not be swept away
 * meanwhile. The cut is made by putting back what else the commit, and what followed, changed. */
static void test_cut_off_commit(void **state)
{
    const struct kept_options plain = {0}, reading = {.read_only = true};
    char name[256];
    make_segments(*state, name);
    struct kept reader = kept_must_open(*state, &reading), kept = kept_must_open(*state, &plain);
    run_in(*state, "cp index.db-shm shm && cp -r codes before");
    assert_int_equal(doppel_index_compact(doppel_store_index_get(kept.index), true, NULL),
                     DOPPEL_OK);
    kept_close(&kept);
    run_in(*state, "dd if=shm of=index.db-shm conv=notrunc status=none && cp before/* codes");
    kept = kept_must_open(*state, &plain);
    assert_true(kept_segments(&kept) > 2); /* the commit is not seen */
    run_in(*state, "mkdir copy && cp -r index.db index.db-wal codes copy");
    kept_close(&kept);
    kept_close(&reader);
    kept = kept_must_open(folder_path(*state, "copy"), &plain);
    kept_assert_state(&kept, 40);
    kept_close(&kept);
}

/* ---- the entry of the index ---- */

/* What is not as it was written is refused, also by a repair, which leaves all as it is; a rebuild
 * mends it. */
static void assert_entry_refused(const char *folder, const char *sql)
{
    const struct kept_options salvage = {.salvage = true}, plain = {0};
    const struct kept_options rebuilding = {.rebuild = rebuild};
    struct kept kept;
    struct doppel_error error;
    size_t files = kept_files_ending(folder, ".segment", NULL);
    run_raw(folder_path(folder, "index.db"), sql);
    assert_refused(folder, "index.db: the entry of index 'codes' is damaged");
    assert_int_equal(kept_open(folder, &salvage, &kept, &error), DOPPEL_E_CORRUPT);
    assert_int_equal(kept_files_ending(folder, ".segment", NULL), files);
    assert_int_equal(kept_files_ending(folder, ".damaged", NULL), 0);
    kept = kept_must_open(folder, &rebuilding);
    kept_close(&kept);
    kept = kept_must_open(folder, &plain);
    uint64_t end = 400;
    assert_null(kept_compare(doppel_store_index_get(kept.index), 500, alive_below, &end, &error));
    kept_close(&kept);
}

static void test_changed_entry(void **state)
{
    static const char *const changes[] = {
        "UPDATE doppel_index SET bits=128",
        "UPDATE doppel_index SET flushed=flushed-1",
        "UPDATE doppel_index SET flushed=9223372036854775807",
        "UPDATE doppel_index SET generation=9223372036854775807",
        "UPDATE doppel_index SET id=9223372036854775807",
        "UPDATE doppel_index SET id=-9223372036854775807",
        "UPDATE doppel_index SET next_payload=1",
        "UPDATE doppel_index SET whole=0",
        "UPDATE doppel_index SET checksum=checksum+1",
        "DELETE FROM doppel_index_segment",
        "DELETE FROM doppel_index_segment WHERE position=1",
        "UPDATE doppel_index_segment SET owner=2 WHERE position=0",
        "UPDATE doppel_index_segment SET position=9 WHERE position=0",
        "UPDATE doppel_index_segment SET stamp=stamp+1 WHERE position=0",
        "UPDATE doppel_index_segment SET least=least+1 WHERE position=0",
    };
    char name[256];
    make_segments(*state, name);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        assert_entry_refused(*state, changes[i]);
}

/* A recording segment of the same make, but of another index. */
static void test_swapped_segment(void **state)
{
    const struct kept_options plain = {0}, salvage = {.salvage = true};
    char name[256], other_name[256], path[600], from[600];
    char *other = folder_make();
    make_segments(*state, name);
    struct kept kept = kept_must_open(other, &plain);
    kept_must_transact(&kept, 50, 80); /* other codes: none of its segments is one of ours */
    kept_close(&kept);
    assert_true(kept_files_ending(other, ".segment", other_name) > 0);
    snprintf(from, sizeof from, "%s/codes/%s", other, other_name);
    snprintf(path, sizeof path, "%s/codes/%s", (char *)*state, name);
    assert_int_equal(rename(from, path), 0);
    folder_remove(other);
    assert_refused(*state, name);
    kept = kept_must_open(*state, &salvage);
    struct damage damage = {0};
    assert_int_equal(doppel_store_index_verify(kept.index, note_damage, &damage, NULL), DOPPEL_OK);
    assert_int_equal(damage.count, 1);
    assert_string_equal(damage.name, name);
    kept_close(&kept);
}

/* A record of the log that is gone, or is another index's: refused, and repaired. */
static void test_lost_record(void **state)
{
    static const char *const changes[] = {
        "DELETE FROM doppel_index_log WHERE record & 1023 = 3",
        "UPDATE doppel_index_log SET record=record + (2 << 40) WHERE record & 1023 = 6",
        "UPDATE doppel_index_log SET record=9223372036854775807 WHERE record & 1023 = 8",
        "UPDATE doppel_index_log SET record=record & ~1023"
        " WHERE record=(SELECT max(record) FROM doppel_index_log)",
    };
    const struct kept_options plain = {0}, salvage = {.salvage = true};
    struct kept kept = kept_must_open(*state, &plain);
    kept_must_transact(&kept, 0, 4);
    kept_close(&kept);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct doppel_store_index_info info;
        run_raw(folder_path(*state, "index.db"), changes[i]);
        assert_refused(*state, "of the log");
        kept = kept_must_open(*state, &salvage);
        doppel_store_index_info(kept.index, &info);
        assert_true(info.damaged > 0);
        assert_int_equal(doppel_store_index_repair(kept.index, NULL, NULL, NULL), DOPPEL_OK);
        kept_close(&kept);
        kept = kept_must_open(*state, &plain);
        kept_must_transact(&kept, 10 + i, 11 + i); /* and it goes on */
        kept_close(&kept);
    }
}

static uint8_t *read_all(const char *path, size_t *out_size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *out_size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*out_size);
    assert_int_equal(fread(bytes, 1, *out_size, file), *out_size);
    fclose(file);
    return bytes;
}

static void write_all(const char *path, const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

/* A bit of the database is wrong: an error, or the right answer. */
static void test_flipped_bits(void **state)
{
    enum { FLIPS = 3000 };
    const struct kept_options reading = {.read_only = true};
    uint64_t random = 7, transactions, refused = 0;
    char name[256];
    size_t size;
    make_segments(*state, name);
    char *path = strdup(folder_path(*state, "index.db"));
    uint8_t *bytes = read_all(path, &size);
    for (int i = 0; i < FLIPS; i++) {
        size_t bit = kept_random(&random) % (size * 8);
        struct kept kept;
        struct doppel_error error;
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        write_all(path, bytes, size);
        if (kept_open(*state, &reading, &kept, &error)) {
            refused++;
        } else {
            const char *wrong =
                kept_check(doppel_store_index_get(kept.index), &transactions, &error);
            if (!wrong && transactions != 40)
                wrong = "transactions are missing";
            if (wrong)
                fail_msg("bit %zu: %s", bit, wrong);
            kept_close(&kept);
        }
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_true(refused > 0 && refused < FLIPS);
    free(bytes);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_lost_segment),        IN_FOLDER(test_repaired),
        IN_FOLDER(test_damaged_log),         IN_FOLDER(test_half_rebuilt),
        IN_FOLDER(test_orphans_are_removed), IN_FOLDER(test_changed_entry),
        IN_FOLDER(test_cut_off_commit),      IN_FOLDER(test_swapped_segment),
        IN_FOLDER(test_lost_record),         IN_FOLDER(test_flipped_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
