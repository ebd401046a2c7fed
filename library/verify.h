/* A check of a library from the inside: shared by its files. */
#ifndef DOPPEL_LIBRARY_VERIFY_H
#define DOPPEL_LIBRARY_VERIFY_H

#include <stdio.h>

#include "library/items/rows.h"

/** Where rows go that leave the catalogue: a file that is only appended to. */
struct aside {
    char *path;
    FILE *file; /* NULL: not open yet */
};

/** Write a row of a table: columns of the statement from `first` on. DOPPEL_E_IO, _MEMORY */
enum doppel_status aside_write(struct aside *aside, const char *directory, const char *table,
                               sqlite3_stmt *statement, int first, struct doppel_error *error);

/** Make it lasting, before the rows are deleted. */
enum doppel_status aside_sync(struct aside *aside, struct doppel_error *error);
void aside_close(struct aside *aside);

struct verification {
    struct doppel_library *library;
    bool repair;
    doppel_problem_visitor *visitor;
    void *context;
    struct aside aside;
    uint64_t repaired;
};

/** DOPPEL_E_CANCELLED */
enum doppel_status verify_tell(struct verification *verification,
                               const struct doppel_problem *problem, struct doppel_error *error);

/** The checksums of rows, and what rows say of each other; within a transaction. */
enum doppel_status verify_rows(struct verification *verification, struct doppel_error *error);

/** The indexes of recordings and videos; outside of a transaction. */
enum doppel_status verify_indexes(struct verification *verification, struct doppel_error *error);

/** Those of codes. */
enum doppel_status verify_codes(struct verification *verification, struct doppel_error *error);

#endif
