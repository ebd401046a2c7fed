/* Databases that are not what they should be: rows that make no sense, bytes changed at random. */
#include "tests/library/fixture.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ITEMS = 12, DAMAGED_ID = 5, MUTANTS = 100, MAX_BYTES = 1 << 20 };

static const struct doppel_library_options create = {.create = true};

static void make_library(const char *folder)
{
    struct doppel_library *library;
    assert_int_equal(doppel_library_open(folder, &create, &library, NULL), DOPPEL_OK);
    for (uint64_t number = 1; number <= ITEMS; number++) {
        char path[32];
        snprintf(path, sizeof path, "/pictures/%d", (int)number);
        struct doppel_record record = record_make(number);
        const struct doppel_file_stamp stamp = {.inode = number};
        enum doppel_added added;
        uint64_t id;
        assert_int_equal(doppel_library_add(library, path, &stamp, &record, &added, &id, NULL),
                         DOPPEL_OK);
        doppel_record_free(&record);
    }
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
    doppel_library_close(library);
}

/* ---- one row ---- */

struct tally {
    uint64_t whole, damaged, damaged_id;
    char message[512];
};

static bool tally(void *context, const struct doppel_item *item)
{
    struct tally *seen = context;
    assert_non_null(item->path);
    if (!item->record.error.status) {
        assert_true(item->record.fingerprint.count > 0);
        seen->whole++;
        return true;
    }
    assert_int_equal(item->record.error.status, DOPPEL_E_CORRUPT);
    assert_int_equal(item->record.fingerprint.count, 0);
    seen->damaged++;
    seen->damaged_id = item->id;
    memcpy(seen->message, item->record.error.message, sizeof seen->message);
    return true;
}

/* A damaged item is told by its id, the others are whole, and it can be removed. */
static void assert_one_is_damaged(const char *folder, const char *sql)
{
    struct doppel_library *library;
    struct doppel_item item;
    struct doppel_error error;
    struct tally seen = {0};
    assert_int_equal(doppel_library_open(folder, &create, &library, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_each(library, tally, &seen, NULL), DOPPEL_OK);
    if (seen.damaged != 1 || seen.whole != ITEMS - 1)
        fail_msg("%s: %d damaged, %d whole", sql, (int)seen.damaged, (int)seen.whole);
    assert_int_equal(seen.damaged_id, DAMAGED_ID);
    assert_non_null(strstr(seen.message, "item 5 "));
    assert_int_equal(doppel_library_get(library, DAMAGED_ID, true, &item, &error),
                     DOPPEL_E_CORRUPT);
    assert_int_equal(doppel_library_remove(library, DAMAGED_ID, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
    doppel_library_close(library);
}

static void assert_damage_is_told(const char *parent, size_t number, const char *sql, bool seal)
{
    char name[32];
    snprintf(name, sizeof name, "%d", (int)number);
    char *folder = strdup(folder_path(parent, name));
    make_library(folder);
    run_raw(folder_path(folder, "catalogue.db"), sql);
    if (seal)
        seal_catalogue(folder_path(folder, "catalogue.db"));
    assert_one_is_damaged(folder, sql);
    free(folder);
}

#define PATCH(bytes) "UPDATE fingerprint SET data = CAST(" bytes " AS BLOB) WHERE item = 5"

static void test_a_damaged_row_is_told(void **state)
{
    static const char *const damages[] = {
        "UPDATE fingerprint SET data = x'' WHERE item = 5",
        "UPDATE fingerprint SET data = zeroblob(300) WHERE item = 5",
        "UPDATE fingerprint SET data = substr(data, 1, length(data) - 1) WHERE item = 5",
        PATCH("data || x'00'"),
        PATCH("x'0400' || substr(data, 3)"),                             /* the scheme */
        PATCH("substr(data, 1, 12) || x'63000000' || substr(data, 17)"), /* no such view */
        PATCH("substr(data, 1, 12) || x'01000000' || substr(data, 17)"), /* a view twice */
        PATCH("substr(data, 1, 8) || zeroblob(4)"),                      /* no codes */
        "DELETE FROM fingerprint WHERE item = 5",
        "UPDATE item SET digest = x'00' WHERE id = 5",
        "UPDATE item SET path = x'' WHERE id = 5",
        "UPDATE item SET path = x'2f0061' WHERE id = 5",
        "UPDATE item SET kind = 9 WHERE id = 5",
        "UPDATE item SET kind = -1 WHERE id = 5",
        "UPDATE item SET kind = 1 WHERE id = 5",
        "UPDATE item SET scheme = 999 WHERE id = 5",
        "UPDATE item SET scheme = -1 WHERE id = 5",
        "UPDATE item SET version = 70000 WHERE id = 5",
        "UPDATE item SET version = version + 1 WHERE id = 5",
        "UPDATE item SET width = -1 WHERE id = 5",
        "UPDATE item SET height = 9223372036854775807 WHERE id = 5",
        "UPDATE item SET quality = 101 WHERE id = 5",
    };
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++)
        assert_damage_is_told(*state, i, damages[i], true);
}

/* Changes that make sense: only the checksums tell. */
static void test_a_changed_row_is_told(void **state)
{
    static const char *const changes[] = {
        PATCH("substr(data, 1, length(data) - 1) || x'00'"), /* codes */
        "UPDATE fingerprint SET data = (SELECT data FROM fingerprint WHERE item = 6)"
        " WHERE item = 5",
        "UPDATE fingerprint SET checksum = checksum + 1 WHERE item = 5",
        "UPDATE item SET digest = randomblob(16) WHERE id = 5",
        "UPDATE item SET path = x'2f61' WHERE id = 5",
        "UPDATE item SET width = width + 1 WHERE id = 5",
        "UPDATE item SET quality = quality / 2 WHERE id = 5",
        "UPDATE item SET size = size + 1 WHERE id = 5",
        "UPDATE item SET mtime_ns = mtime_ns + 1, settled = 1 WHERE id = 5",
        "UPDATE item SET added_ns = 0 WHERE id = 5",
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        assert_damage_is_told(*state, i, changes[i], false);
}

/* Adding its file again mends an item, under its id. */
static void test_adding_mends(void **state)
{
    make_library(*state);
    run_raw(folder_path(*state, "catalogue.db"), "UPDATE item SET width = 1 WHERE id = 5;" PATCH(
                                                     "substr(data, 1, length(data) - 1) || x'00'"));
    struct doppel_library *library;
    struct doppel_item item;
    struct doppel_record record = record_make(DAMAGED_ID);
    const struct doppel_file_stamp stamp = {.inode = DAMAGED_ID};
    enum doppel_added added;
    uint64_t id;
    assert_int_equal(doppel_library_open(*state, &create, &library, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_get(library, DAMAGED_ID, true, &item, NULL), DOPPEL_E_CORRUPT);
    assert_int_equal(doppel_library_known(library, "/pictures/5", &stamp,
                                          doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64), &id),
                     DOPPEL_E_NOT_FOUND);
    assert_int_equal(doppel_library_add(library, "/pictures/5", &stamp, &record, &added, &id, NULL),
                     DOPPEL_OK);
    assert_int_equal(id, DAMAGED_ID);
    assert_int_equal(added, DOPPEL_ADDED_UPDATED);
    assert_int_equal(doppel_library_get(library, DAMAGED_ID, true, &item, NULL), DOPPEL_OK);
    record_assert_equal(&item.record, &record);
    doppel_item_free(&item);
    doppel_record_free(&record);
    doppel_library_close(library);
}

static void test_a_damaged_attachment_is_told(void **state)
{
    make_library(*state);
    run_raw(
        folder_path(*state, "catalogue.db"),
        "UPDATE attachment SET data = x'' WHERE item = 5; DELETE FROM attachment WHERE item = "
        "6; UPDATE attachment SET data = CAST(x'00' || substr(data, 2) AS BLOB) WHERE item = 7");
    run_raw(folder_path(*state, "catalogue.db"),
            "UPDATE attachment SET checksum = row_checksum(item, data) WHERE item = 5");
    struct doppel_library *library;
    struct doppel_item item;
    struct doppel_error error;
    assert_int_equal(doppel_library_open(*state, &create, &library, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_get(library, 5, true, &item, &error), DOPPEL_E_CORRUPT);
    assert_non_null(strstr(error.message, "item 5"));
    assert_int_equal(doppel_library_get(library, 5, false, &item, &error), DOPPEL_OK);
    doppel_item_free(&item);
    assert_int_equal(doppel_library_get(library, 7, true, &item, &error), DOPPEL_E_CORRUPT);
    assert_int_equal(doppel_library_get(library, 6, true, &item, &error), DOPPEL_OK);
    assert_null(item.record.attachment);
    doppel_item_free(&item);
    doppel_library_close(library);
}

/* An id beyond what the other rooms take. */
static void test_an_id_out_of_range_is_told(void **state)
{
    make_library(*state);
    run_raw(folder_path(*state, "catalogue.db"),
            "INSERT INTO item(id, path, device, inode, size, mtime_ns, settled, added_ns, digest,"
            " kind, scheme, version, width, height, quality, checksum) SELECT -3, x'2f61', device,"
            " inode, size, mtime_ns, settled, added_ns, digest, kind, scheme, version, width,"
            " height, quality, 0 FROM item WHERE id = 1;"
            "INSERT INTO fingerprint SELECT -3, data, 0 FROM fingerprint WHERE item = 1");
    seal_catalogue(folder_path(*state, "catalogue.db"));
    struct doppel_library *library;
    struct tally seen = {0};
    assert_int_equal(doppel_library_open(*state, &create, &library, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_each(library, tally, &seen, NULL), DOPPEL_OK);
    assert_int_equal(seen.whole, ITEMS);
    assert_int_equal(seen.damaged, 1);
    doppel_library_close(library);
}

/* A cache that knows a file and its content; then `change` is made, and one of the two is not known
 * any more. */
static void assert_one_is_not_known(const char *path, const char *change, bool seal)
{
    struct doppel_record record = record_make(1), known;
    const struct doppel_file_stamp stamp = {.inode = 1};
    const struct doppel_digest other = doppel_digest_bytes("other", 5);
    struct doppel_cache *cache;
    struct doppel_digest digest;
    assert_int_equal(doppel_cache_open(path, &cache, NULL, NULL), DOPPEL_OK);
    assert_int_equal(doppel_cache_put_record(cache, &record, NULL), DOPPEL_OK);
    assert_int_equal(doppel_cache_put_file(cache, "/a", &stamp, &other, NULL), DOPPEL_OK);
    doppel_cache_close(cache);
    run_raw(path, change);
    if (seal)
        seal_cache(path);
    assert_int_equal(doppel_cache_open(path, &cache, NULL, NULL), DOPPEL_OK);
    int found = 0;
    if (!recall(cache, &record, record.scheme, true, &known)) {
        found++;
        doppel_record_free(&known);
    }
    found += !doppel_cache_file(cache, "/a", &stamp, &digest);
    if (found != 1)
        fail_msg("%s: %d known", change, found);
    doppel_cache_close(cache);
    doppel_record_free(&record);
}

static void test_a_damaged_row_of_the_cache_is_not_known(void **state)
{
    static const char *const damages[] = {
        "UPDATE record SET fingerprint = NULL",
        "UPDATE record SET fingerprint = zeroblob(20)",
        "UPDATE record SET kind = 2, quality = 200",
        "UPDATE record SET status = 7",
        "UPDATE record SET status = 999, message = 'x'",
        "UPDATE record SET status = 2, message = 'a status that is not kept'",
        "UPDATE record SET attachment = x''",
        "UPDATE file SET digest = x'00'",
    };
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++)
        assert_one_is_not_known(folder_path(*state, "cache.db"), damages[i], true);
}

/* Changes that make sense: only the checksums tell. */
static void test_a_changed_row_of_the_cache_is_not_known(void **state)
{
    static const char *const changes[] = {
        "UPDATE record SET fingerprint ="
        " CAST(substr(fingerprint, 1, length(fingerprint) - 1) || x'00' AS BLOB)",
        "UPDATE record SET attachment = CAST(x'00' || substr(attachment, 2) AS BLOB)",
        "UPDATE record SET attachment = NULL",
        "UPDATE record SET attachment_checksum = attachment_checksum + 1",
        "UPDATE record SET width = width + 1",
        "UPDATE record SET quality = quality / 2",
        "UPDATE file SET digest = randomblob(16)",
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        assert_one_is_not_known(folder_path(*state, "cache.db"), changes[i], false);
}

/* ---- any bytes ---- */

static size_t read_file(const char *path, unsigned char *bytes)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, MAX_BYTES, file);
    fclose(file);
    return size;
}

static void write_file(const char *path, const unsigned char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

/* Change a few bytes somewhere, or cut the file short; more often near the start. */
static size_t mutate(unsigned char *bytes, size_t size)
{
    if (rand() % 10 == 0)
        return (size_t)rand() % size;
    size_t range = rand() % 2 ? size : 200;
    for (int changes = 1 + rand() % 20; changes > 0; changes--)
        bytes[(size_t)rand() % range] = (unsigned char)rand();
    return size;
}

static void use_library(const char *folder)
{
    struct doppel_library *library;
    struct doppel_error error = {0};
    struct tally seen = {0};
    if (doppel_library_open(folder, &create, &library, &error))
        return;
    doppel_library_each(library, tally, &seen, &error);
    for (uint64_t id = 1; id <= ITEMS; id++) {
        struct doppel_item item;
        if (!doppel_library_get(library, id, true, &item, &error))
            doppel_item_free(&item);
    }
    struct doppel_record record = record_make(100);
    const struct doppel_file_stamp stamp = {0};
    enum doppel_added added;
    uint64_t id;
    doppel_library_add(library, "/pictures/3", &stamp, &record, &added, &id, &error);
    doppel_library_add(library, "/pictures/new", &stamp, &record, &added, &id, &error);
    doppel_library_remove(library, 7, &error);
    doppel_library_commit(library, &error);
    doppel_record_free(&record);
    doppel_library_close(library);
}

/* Any outcome but a crash will do (the suite runs under sanitizers too). */
static void test_a_library_of_any_bytes(void **state)
{
    static unsigned char whole[MAX_BYTES], mutant[MAX_BYTES];
    make_library(*state);
    const char *path = folder_path(*state, "catalogue.db");
    size_t size = read_file(path, whole);
    for (int i = 0; i < MUTANTS; i++) {
        memcpy(mutant, whole, size);
        write_file(path, mutant, mutate(mutant, size));
        char *wal = sqlite3_mprintf("%s-wal", path);
        unlink(wal);
        sqlite3_free(wal);
        use_library(*state);
    }
}

/* A cache of any bytes can be used in the end, as it is or begun anew; what it knows is true. */
static void test_a_cache_of_any_bytes(void **state)
{
    static unsigned char whole[MAX_BYTES], mutant[MAX_BYTES];
    const char *path = folder_path(*state, "cache.db");
    struct doppel_cache *cache;
    assert_int_equal(doppel_cache_open(path, &cache, NULL, NULL), DOPPEL_OK);
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct doppel_record record = record_make(seed);
        assert_int_equal(doppel_cache_put_record(cache, &record, NULL), DOPPEL_OK);
        doppel_record_free(&record);
    }
    doppel_cache_close(cache);
    size_t size = read_file(path, whole);
    for (int i = 0; i < MUTANTS; i++) {
        memcpy(mutant, whole, size);
        write_file(path, mutant, mutate(mutant, size));
        struct doppel_error error;
        enum doppel_status status = doppel_cache_open(path, &cache, NULL, &error);
        if (status == DOPPEL_E_FORMAT) /* the mark that it is ours is gone */
            continue;
        if (status)
            fail_msg("%s", error.message);
        for (uint64_t seed = 0; seed < 31; seed++) {
            struct doppel_record record = record_make(seed), known;
            if (!recall(cache, &record, record.scheme, true, &known)) {
                record_assert_equal(&known, &record);
                doppel_record_free(&known);
            }
            doppel_cache_put_record(cache, &record, NULL);
            doppel_record_free(&record);
        }
        doppel_cache_close(cache);
    }
}

int main(void)
{
    srand(31337);
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_a_damaged_row_is_told),
        IN_FOLDER(test_a_damaged_attachment_is_told),
        IN_FOLDER(test_an_id_out_of_range_is_told),
        IN_FOLDER(test_a_damaged_row_of_the_cache_is_not_known),
        IN_FOLDER(test_a_changed_row_is_told),
        IN_FOLDER(test_adding_mends),
        IN_FOLDER(test_a_changed_row_of_the_cache_is_not_known),
        IN_FOLDER(test_a_library_of_any_bytes),
        IN_FOLDER(test_a_cache_of_any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
