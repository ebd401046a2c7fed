/* The shared part of the tests of the library and of its cache. */
#include "tests/library/fixture.h"

#include <sqlite3.h>
#include <stdio.h>

#include "library/cache/cache.h"
#include "library/catalogue.h"

struct doppel_cache *open_cache(const char *folder, bool renewed_expected)
{
    struct doppel_cache *cache = NULL;
    struct doppel_error error = {0};
    bool renewed = !renewed_expected;
    if (doppel_cache_open(folder_path(folder, "cache/cache.db"), &cache, &renewed, &error))
        fail_msg("%s", error.message);
    assert_int_equal(renewed, renewed_expected);
    return cache;
}

void put_record(struct doppel_cache *cache, uint64_t seed)
{
    struct doppel_record record = record_make(seed);
    struct doppel_error error = {0};
    if (doppel_cache_put_record(cache, &record, &error))
        fail_msg("%s", error.message);
    doppel_record_free(&record);
}

enum doppel_status recall(struct doppel_cache *cache, const struct doppel_record *record,
                          enum doppel_scheme_id scheme, bool with_attachment,
                          struct doppel_record *out)
{
    struct doppel_record_key key = {&record->digest, scheme, doppel_scheme_by_id(scheme)->version,
                                    0};
    return doppel_cache_record(cache, &key, with_attachment, out);
}

void assert_knows_record(struct doppel_cache *cache, uint64_t seed, bool with_attachment)
{
    struct doppel_record expected = record_make(seed), record;
    assert_int_equal(recall(cache, &expected, DOPPEL_SCHEME_PHASH64, with_attachment, &record),
                     DOPPEL_OK);
    record_assert_equal(&record, &expected);
    assert_int_equal(record.attachment != NULL, with_attachment);
    doppel_record_free(&record);
    doppel_record_free(&expected);
}

const char *directory_of(const char *folder)
{
    return folder_path(folder, "a/library");
}

struct doppel_library *open_library(const char *folder)
{
    const struct doppel_library_options options = {.create = true};
    struct doppel_library *library = NULL;
    struct doppel_error error = {0};
    if (doppel_library_open(directory_of(folder), &options, &library, &error))
        fail_msg("%s", error.message);
    return library;
}

void commit(struct doppel_library *library)
{
    struct doppel_error error = {0};
    if (doppel_library_commit(library, &error))
        fail_msg("%s", error.message);
}

uint64_t add_file(struct doppel_library *library, const char *path, uint64_t seed,
                  enum doppel_added expected)
{
    struct doppel_record record = record_make(seed);
    struct doppel_file_stamp stamp = stamp_of(path);
    struct doppel_error error = {0};
    enum doppel_added added;
    uint64_t id = 0;
    if (doppel_library_add(library, path, &stamp, &record, &added, &id, &error))
        fail_msg("%s", error.message);
    assert_int_equal(added, expected);
    doppel_record_free(&record);
    return id;
}

enum doppel_status add_numbered(struct doppel_library *library, uint64_t number,
                                struct doppel_record record, struct doppel_error *error)
{
    const struct doppel_file_stamp stamp = {.inode = number};
    enum doppel_added added;
    uint64_t id;
    char path[64];
    snprintf(path, sizeof path, "/files/%llu", (unsigned long long)number);
    enum doppel_status status =
        doppel_library_add(library, path, &stamp, &record, &added, &id, error);
    doppel_record_free(&record);
    return status;
}

void run_raw(const char *path, const char *sql)
{
    sqlite3 *database;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(checksum_define(database), SQLITE_OK);
    if (sqlite3_exec(database, sql, NULL, NULL, &message))
        fail_msg("%s: %s", sql, message);
    sqlite3_close(database);
}

void seal_cache(const char *path)
{
    run_raw(path, "UPDATE file SET checksum = " CHECKSUM_OF(
                      FILE_COLUMNS) ";"
                                    "UPDATE record SET attachment_checksum "
                                    "= " CHECKSUM_OF("digest, scheme, version, reading, "
                                                     "attachment") ";"
                                                                   "UPDATE record SET "
                                                                   "checksum "
                                                                   "= " CHECKSUM_OF(DETAIL_COLUMNS
                                                                                    ", "
                                                                                    "attachment_"
                                                                                    "checksum"));
}

void seal_catalogue(const char *path)
{
    run_raw(path,
            "UPDATE item SET checksum = " CHECKSUM_OF(
                ITEM_COLUMNS) ";"
                              "UPDATE fingerprint SET checksum = " CHECKSUM_OF(
                                  "item, data") ";"
                                                "UPDATE attachment SET checksum = " CHECKSUM_OF(
                                                    "item, data"));
}
