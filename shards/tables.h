/* The tables of a library: in which an item is found, and under which codes. */
#ifndef DOPPEL_SHARDS_TABLES_H
#define DOPPEL_SHARDS_TABLES_H

#include "shards/shards_internal.h"

/* The codes of all views of phash64, or the one code of another scheme; the full frames of phash64;
 * digests of bytes and of pixels. */
enum shards_table { TABLE_CODES, TABLE_FULL, TABLE_DIGESTS, SHARDS_TABLES };

/* "phash64.1", "phash64.1.full", "digests"; empty: the scheme has no such table. */
void table_suffix(enum doppel_scheme_id scheme, enum shards_table table, char out[static 64]);

/* What an item has in each table. */
struct table_codes {
    enum doppel_scheme_id scheme;
    struct {
        uint64_t words[DOPPEL_IMAGE_TABLE_WORDS], payloads[DOPPEL_IMAGE_MAX_QUERIES];
        size_t count, words_each;
    } tables[SHARDS_TABLES];
};

/* @param number of the item: its id without the shard */
void table_codes_make(const struct doppel_record *record, uint64_t number, struct table_codes *out);

/* Make the tables of a scheme in all shards, those that are not there. As commands_run_all. */
enum doppel_status shards_make_tables(struct doppel_shards *shards, enum doppel_scheme_id scheme,
                                      struct doppel_error *error);

#endif
