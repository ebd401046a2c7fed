/* A catalogue with damaged pages, read row by row: shared by the files of the salvage. */
#ifndef DOPPEL_LIBRARY_SALVAGE_H
#define DOPPEL_LIBRARY_SALVAGE_H

#include "library/verify.h"

/** A table of the catalogue. */
struct salvage_table {
    const char *name;
    const char *key; /* of one without row ids: the columns of its key; NULL: it has some */
};

struct salvage {
    const char *directory;
    doppel_problem_visitor *visitor;
    void *context;
    sqlite3 *old;
    struct doppel_store *fresh;
    struct aside aside;
    uint64_t uncommitted;
};

/** Copy what can be read of a table; what cannot is told. DOPPEL_E_CANCELLED, _IO, _MEMORY */
enum doppel_status salvage_copy(struct salvage *salvage, const struct salvage_table *table,
                                struct doppel_error *error);

#endif
