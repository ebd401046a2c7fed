/* The cache from the inside: shared by its files. */
#ifndef DOPPEL_LIBRARY_CACHE_CACHE_H
#define DOPPEL_LIBRARY_CACHE_CACHE_H

#include <sys/stat.h>

#include "library/checksum.h"
#include "library/items/record.h"

/**
 * What is put goes into temporary tables of this process, and from there, now and then, into the
 * file: so the file is locked for moments only, and what cannot be written is known all the same
 * while the cache is open. Look-ups see both; they are done in groups, since within a transaction
 * they are three times as fast.
 */
struct doppel_cache {
    struct doppel_store *store;
    char *path;
    char *limits;           /* under which failures are found, after the version; NULL: none told */
    bool retry;             /* failures are not known */
    struct stat identity;   /* of the file, so that only this one is quarantined */
    int64_t opened_ns;      /* stamps of files changed since then are not settled */
    int64_t reads_began_ns; /* monotonic, as those below */
    int64_t pending_since_ns; /* the first put that is not in the file yet */
    int64_t retry_ns;         /* after a failure the file is left alone until then */
    unsigned pending;         /* puts that are not in the file yet */
    bool reading;             /* a group of look-ups is open */
    bool damaged;             /* found while reading or writing: quarantined when closed */
};

/** What is computed, and what is stored: with checksums. The attachment, which lies on a page of
 * its own, has one of its own, which that of its row covers. */
#define FILE_COLUMNS "path, digest, " STAMP_COLUMNS
#define FILE_STORED FILE_COLUMNS ", checksum"
#define DETAIL_COLUMNS RECORD_COLUMNS ", reading, status, message, program, fingerprint"
#define DETAIL_STORED DETAIL_COLUMNS ", attachment_checksum, checksum, attachment"
#define JOINED_STORED "collection, written_ns, checksum, data"

/** What is pending comes first, and one row is all that is wanted. */
#define SELECT_FROM_BOTH(columns, table, condition)                                                \
    "SELECT " columns " FROM temp." table " WHERE " condition " UNION ALL "                        \
    "SELECT " columns " FROM main." table " WHERE " condition " LIMIT 1"

/** A statement to look up with; NULL when there is none to be had. */
sqlite3_stmt *cache_reader(struct doppel_cache *cache, const char *sql);

/** Look up with a bound statement: DOPPEL_OK and a row to read, or DOPPEL_E_NOT_FOUND. The caller
 * resets the statement. */
enum doppel_status cache_look_up(struct doppel_cache *cache, sqlite3_stmt *statement);

/** Run a bound statement that puts something into a temporary table, and flush when it is time. */
enum doppel_status cache_put(struct doppel_cache *cache, sqlite3_stmt *statement,
                             struct doppel_error *error);

#endif
