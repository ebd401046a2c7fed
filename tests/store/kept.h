/* An index in a folder, and a history of transactions of which each state can be told from its
 * number: for the tests of what survives what. */
#ifndef TESTS_STORE_KEPT_H
#define TESTS_STORE_KEPT_H

#include <doppel/store.h>
#include <stdbool.h>
#include <stdint.h>

enum { KEPT_CODES = 10, KEPT_HEAD = 64 }; /* codes a transaction; codes in a full head */

struct kept {
    struct doppel_store *store;
    struct doppel_store_index *index;
};

struct kept_options {
    bool read_only, durable, merge, salvage, hasty; /* hasty: does not wait for another writer */
    doppel_store_index_rebuilder *rebuild;
    void *context;
};

/** FOLDER/index.db and segments in FOLDER/codes; made by a writer. */
enum doppel_status kept_open(const char *folder, const struct kept_options *options,
                             struct kept *out, struct doppel_error *error);
void kept_close(struct kept *kept);

/** The code of a payload. */
uint64_t kept_code(uint64_t payload);

/** Transaction `number`, from 0: inserts the codes of the payloads number × KEPT_CODES and on, and
 * removes one from an older transaction. */
enum doppel_status kept_transact(struct kept *kept, uint64_t number, struct doppel_error *error);

/**
 * What the index holds must be the state after some number of transactions.
 * @param out_count that number
 * @return NULL, or what is wrong
 */
const char *kept_check(struct doppel_index *index, uint64_t *out_count, struct doppel_error *error);

/** Whether exactly the payloads for which `alive` says so are there, of 0 to end - 1, with their
 * codes. */
const char *kept_compare(struct doppel_index *index, uint64_t end,
                         bool (*alive)(void *context, uint64_t payload), void *context,
                         struct doppel_error *error);

/** A number that looks random, for tests that want the same every time. */
uint64_t kept_random(uint64_t *state);

#endif
