/* Taking an item in that comes from elsewhere, in steps: one at a time, or many. */
#ifndef DOPPEL_LIBRARY_ITEMS_IMPORT_INTERNAL_H
#define DOPPEL_LIBRARY_ITEMS_IMPORT_INTERNAL_H

#include "library/ledger/change.h"

struct import {
    struct addition addition;
    const struct doppel_metadata *about; /* never NULL */
    struct present present;              /* what is in the library of it */
};

/** Whether it may come in, with what is said of it. DOPPEL_E_ARGUMENT, with a sentence. */
enum doppel_status import_check(struct doppel_library *library, const struct doppel_item *item,
                                const struct doppel_metadata *about, struct doppel_error *error);

/** The digest of what comes without a file, from its codes and its name. */
enum doppel_status import_make_digest(struct doppel_record *record, const char *name,
                                 struct doppel_error *error);

/** What is there of what has no path: under its name, or its digest. */
enum doppel_status import_find_known(struct doppel_library *library, struct import *import,
                                     struct doppel_error *error);

/** Take it in, or what is new of it. Within library_end(). */
enum doppel_status import_one(struct doppel_library *library, struct import *import,
                              struct doppel_error *error);

#endif
