/* A store from the inside: shared by the files of this room. */
#ifndef DOPPEL_STORE_HANDLE_H
#define DOPPEL_STORE_HANDLE_H

#include <doppel/store.h>
#include <sqlite3.h>

#include "core/array.h"

struct prepared {
    const char *sql;
    sqlite3_stmt *statement;
};

struct doppel_store {
    sqlite3 *database;
    char *path;
    ARRAY(struct prepared) prepared;
};

/** The status and the sentence for an SQLite result code; `store->database` is where it came from.
 */
enum doppel_status store_fail(const struct doppel_store *store, int code,
                              struct doppel_error *error);

/** Finalize all prepared statements. */
void store_forget_statements(struct doppel_store *store);

#endif
