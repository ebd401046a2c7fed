/* The cache from the inside: shared by its files. */
#ifndef DOPPEL_LIBRARY_CACHE_H
#define DOPPEL_LIBRARY_CACHE_H

#include <sys/stat.h>

#include "library/record.h"

/** Look-ups and writes are done in groups, each one transaction: an open read transaction makes a
 * look-up three times as fast. */
enum cache_group { GROUP_NONE, GROUP_READS, GROUP_WRITES };

struct doppel_cache {
    struct doppel_store *store;
    char *path;
    struct stat identity;   /* of the file, so that only this one is set aside */
    int64_t opened_ns;      /* stamps of files changed since then are not settled */
    int64_t group_began_ns; /* monotonic */
    int64_t retry_ns;       /* monotonic: another process was writing; not before then */
    unsigned pending;       /* writes in the open group */
    enum cache_group group;
    bool damaged; /* found while reading or writing: set aside when closed */
};

/** Look up with a bound statement: DOPPEL_OK and a row to read, or DOPPEL_E_NOT_FOUND. The caller
 * resets the statement. */
enum doppel_status cache_look_up(struct doppel_cache *cache, sqlite3_stmt *statement);

/** A statement to read with; NULL when the cache cannot be read. Ends a group that has been open
 * for too long. */
sqlite3_stmt *cache_reader(struct doppel_cache *cache, const char *sql);

/** A statement to write with, within the open group of writes. */
enum doppel_status cache_writer(struct doppel_cache *cache, const char *sql, sqlite3_stmt **out,
                                struct doppel_error *error);

/** Run a writing statement that may give one number. `out` may be NULL. */
enum doppel_status cache_run(struct doppel_cache *cache, sqlite3_stmt *statement, int64_t *out,
                             struct doppel_error *error);

/** End one write: flush when it is time; on failure take back all that is pending. */
enum doppel_status cache_end_write(struct doppel_cache *cache, enum doppel_status status,
                                   struct doppel_error *error);

#endif
