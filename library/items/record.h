/* Records between memory and database rows; used by the cache and by the library. */
#ifndef DOPPEL_LIBRARY_ITEMS_RECORD_H
#define DOPPEL_LIBRARY_ITEMS_RECORD_H

#include <doppel/library.h>
#include <doppel/store.h>
#include <sqlite3.h>

/** The columns that record_bind and record_read take, in this order. */
#define RECORD_COLUMNS "digest, kind, scheme, version, width, height, quality"
enum { RECORD_COLUMN_COUNT = 7 };

/** The columns of a stamp, in this order. */
#define STAMP_COLUMNS "device, inode, size, mtime_ns"
enum { STAMP_COLUMN_COUNT = 4 };

/** False when there is none. */
bool digest_read(sqlite3_stmt *statement, int column, struct doppel_digest *out);

/** Bind RECORD_COLUMNS from parameter `first` on; `record` lives until the statement is reset. */
void record_bind(sqlite3_stmt *statement, int first, const struct doppel_record *record);

/** Read RECORD_COLUMNS from column `first` on; false when they cannot be. */
bool record_read(sqlite3_stmt *statement, int first, struct doppel_record *out);

/** Bind the portable form; SQLite owns the bytes. DOPPEL_E_MEMORY. */
enum doppel_status fingerprint_bind(sqlite3_stmt *statement, int parameter,
                                    const struct doppel_fingerprint *fingerprint,
                                    struct doppel_error *error);

/** As large as what a worker may send. */
enum { MAX_ATTACHMENT_BYTES = 64 << 20 };

/** Whether a fingerprint is such as the rest of the record says: of its kind, scheme, version. */
bool fingerprint_fits(const struct doppel_fingerprint *fingerprint,
                      const struct doppel_record *record);

/** The digest of a lossless picture's pixels that its attachment has; zero: none. */
struct doppel_digest record_pixels(const struct doppel_record *record);

/** Read a fingerprint that fits the rest of `record` into it; false when the bytes are damaged or
 * of another picture's make, or, as its error says then, DOPPEL_E_MEMORY. */
bool fingerprint_read(sqlite3_stmt *statement, int column, struct doppel_record *record);

/** Copy a blob; given (free); and set `pixels` by it. DOPPEL_E_CORRUPT when it is empty or too
 * large, DOPPEL_E_MEMORY. */
enum doppel_status attachment_read(sqlite3_stmt *statement, int column,
                                   struct doppel_record *record);

void stamp_bind(sqlite3_stmt *statement, int first, const struct doppel_file_stamp *stamp);
void stamp_read(sqlite3_stmt *statement, int first, struct doppel_file_stamp *out);
bool stamp_equal(const struct doppel_file_stamp *a, const struct doppel_file_stamp *b);

/** Whether a later change of the file must show in its mtime: false when it was last changed less
 * than two seconds (FAT's step of mtime) before `since_ns`, or after. */
bool stamp_is_settled(const struct doppel_file_stamp *stamp, int64_t since_ns);

/** Now, in nanoseconds since 1970. */
int64_t now_ns(void);

/** A moment that somebody tells, if it lies between 1970 and now; else now. */
int64_t past_ns(int64_t stated_ns);

/** Make a directory and those above it, for this user only; with `durable` their names survive
 * power loss. DOPPEL_E_IO. */
enum doppel_status make_directories(const char *path, bool durable, struct doppel_error *error);

#endif
