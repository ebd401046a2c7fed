/* What the tests of the library and of its cache share: a folder for each test, the two opened in
 * it, and a way round them. */
#ifndef TESTS_LIBRARY_FIXTURE_H
#define TESTS_LIBRARY_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/library/records.h"
#include "tests/store/folder.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/** FOLDER/cache/cache.db; given (doppel_cache_close). */
struct doppel_cache *open_cache(const char *folder, bool renewed_expected);
void put_record(struct doppel_cache *cache, uint64_t seed);
/** What is known of a record's bytes under the present version of a scheme. */
enum doppel_status recall(struct doppel_cache *cache, const struct doppel_record *record,
                          enum doppel_scheme_id scheme, bool with_attachment,
                          struct doppel_record *out);
void assert_knows_record(struct doppel_cache *cache, uint64_t seed, bool with_attachment);

/** FOLDER/a/library, made if it is not there; given (doppel_library_close). */
struct doppel_library *open_library(const char *folder);
/** Where it is. */
const char *directory_of(const char *folder);
void commit(struct doppel_library *library);

/** Add what `seed` makes; the stamp is the file's. @return its id */
uint64_t add_file(struct doppel_library *library, const char *path, uint64_t seed,
                  enum doppel_added expected);

/** Add as file `number` in /files a record, which is freed: for processes that tell of failures by
 * their exit. */
enum doppel_status add_numbered(struct doppel_library *library, uint64_t number,
                                struct doppel_record record, struct doppel_error *error);

/** Run SQL past the rooms; row_checksum() is there. */
void run_raw(const char *path, const char *sql);

/** Checksums that fit the rows as they are: so one sees what else is checked of them. */
void seal_cache(const char *path);
void seal_catalogue(const char *path);

#endif
