/* A checksum in each row, so that changed bytes are not taken for what was computed. SQLite itself
 * notices only what breaks its own structures. */
#ifndef DOPPEL_LIBRARY_CHECKSUM_H
#define DOPPEL_LIBRARY_CHECKSUM_H

#include <doppel/store.h>
#include <sqlite3.h>

/** SQL for the checksum of values: of columns that are read, or of parameters that are bound. */
#define CHECKSUM_OF(values) "row_checksum(" values ")"

/** SQL for whether a row with a column `checksum` is as it was written. */
#define IS_WHOLE(columns) "checksum = " CHECKSUM_OF(columns)

/** Define row_checksum() for a connection: XXH3-64 of, for each value, its SQLite type (1 byte) and
 * the XXH3-64 of its bytes (8), numbers being 8 bytes. */
enum doppel_status checksum_install(struct doppel_store *store, struct doppel_error *error);

/** Of a value that is bound, what goes into that. */
enum { CHECKSUM_PART_BYTES = 9, CHECKSUM_MAX_VALUES = 24 };
void checksum_put(uint8_t *part, int type, const void *bytes, size_t size);
void checksum_put_number(uint8_t *part, int type, uint64_t bits);

/** The same for a bare connection. @return an SQLite result code */
int checksum_define(sqlite3 *database);

#endif
