/* How often each of many 64-bit keys comes, in bounded memory. */
#ifndef DOPPEL_CORPUS_DEDUP_KEY_COUNTER_H
#define DOPPEL_CORPUS_DEDUP_KEY_COUNTER_H

#include <doppel/core.h>

struct key_counter;

/** @param memory_bytes beyond, keys go to a file without a name in `folder`; 0: no limit.
 * DOPPEL_OK; DOPPEL_E_MEMORY */
enum doppel_status key_counter_new(uint64_t memory_bytes, const char *folder,
                                   struct key_counter **out, struct doppel_error *error);
void key_counter_free(struct key_counter *counter);

/** Let keys take up to so many bytes of memory from now on. */
void key_counter_limit(struct key_counter *counter, uint64_t bytes);

/** DOPPEL_OK; DOPPEL_E_MEMORY; DOPPEL_E_IO */
enum doppel_status key_counter_add(struct key_counter *counter, const uint64_t *keys, size_t count,
                                   struct doppel_error *error);

/* Keys that came more than `limit` times. */
struct key_table {
    uint64_t *keys; /* ascending */
    uint32_t *counts;
    size_t count;
    size_t *first;               /* of the keys with these upper 16 bits */
    uint64_t distinct, repeated; /* keys of any number; of two and more */
};

/** Count; the counter is empty then. @param limit from 1. @param out given (key_table_free).
 * DOPPEL_OK; DOPPEL_E_MEMORY; DOPPEL_E_IO; DOPPEL_E_LIMIT: more of them than the memory holds */
enum doppel_status key_counter_finish(struct key_counter *counter, uint64_t limit,
                                      struct key_table *out, struct doppel_error *error);
void key_table_free(struct key_table *table);

/** Place of a key in the table, or SIZE_MAX. Thread-safe. */
size_t key_table_find(const struct key_table *table, uint64_t key);

#endif
