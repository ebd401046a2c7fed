/* Taking an item in that comes from elsewhere, in steps: one at a time, or many. */
#ifndef DOPPEL_LIBRARY_ITEMS_IMPORT_INTERNAL_H
#define DOPPEL_LIBRARY_ITEMS_IMPORT_INTERNAL_H

#include "library/items/rows.h"
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

/* ---- digests that stand for files: exact.c ---- */

/** What such an item has for a path, "md5:0123…"; its handle is the digest of that. */
enum { MAX_EXACT_BYTES = 32, EXACT_NAME_BYTES = 8 + 2 * MAX_EXACT_BYTES + 1 };
void exact_name(enum doppel_exact algorithm, const uint8_t *digest, char out[EXACT_NAME_BYTES]);
struct bound_value exact_value(enum doppel_exact algorithm, const uint8_t *digest);

/** doppel_library_add_exact, within library_end(). @param source for the log; NULL: none */
enum doppel_status exact_add(struct doppel_library *library,
                             const struct doppel_exact_digest *exact, const char *source,
                             uint64_t *out_id, bool *out_added, struct doppel_error *error);

#endif
