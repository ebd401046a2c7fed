/* Codes or digests of a list, taken in many at a time: what the parts of it share. */
#ifndef DOPPEL_LIBRARY_ITEMS_CODE_BATCH_INTERNAL_H
#define DOPPEL_LIBRARY_ITEMS_CODE_BATCH_INTERNAL_H

#include "core/array.h"
#include "library/items/import_internal.h"
#include "library/ledger/lists.h"

/* The first batch, and the largest; one is some 150 bytes a code. */
enum { BATCH_CODES = 1 << 17, MOST_CODES = 1 << 19 };

struct batch_code {
    struct doppel_digest digest;
    enum doppel_exact algorithm; /* 0: it is a code */
    union {
        struct doppel_code code;
        uint8_t exact[MAX_EXACT_BYTES]; /* of that algorithm */
    };
    uint32_t position;
    enum doppel_scheme_id scheme;
    uint16_t version, code_bits;
    uint8_t quality;
    bool known; /* it is there, or came before */
    int64_t added_ns;
    char *name; /* NULL: none */
    struct doppel_list_tags tags;
};

struct doppel_code_batch {
    struct doppel_library *library;
    const struct doppel_metadata *about;
    struct doppel_list_sync *sync; /* NULL: none */
    size_t full;                   /* so many codes are written */
    bool large_cache;
    bool first;              /* no item without a file, or digest, was there before it */
    int64_t version;         /* of the database, as this batch finds it */
    struct seen_codes *seen; /* NULL: none */
    ARRAY(struct batch_code) codes;
};

/** A code as a record, which borrows it. */
struct doppel_record batch_record(struct batch_code *code);

/** What is said of one of them. */
struct doppel_metadata batch_about(const struct doppel_code_batch *batch, const char *name);

/** What the lists say of a code, or, where it is on none, a label of its own. */
enum doppel_status batch_put_tags(struct doppel_code_batch *batch, uint64_t id, bool brought,
                                  const struct batch_code *code, bool *out_changed,
                                  struct doppel_error *error);

/** Mark those that are there already, or came before. @param out_fresh how many are not */
enum doppel_status batch_mark_known(struct doppel_code_batch *batch, size_t *out_fresh,
                                    struct doppel_error *error);

/** Put those in that are not known, as rows in order of id. @param fresh how many they are */
enum doppel_status batch_put_fresh(struct doppel_code_batch *batch, size_t fresh,
                                   struct doppel_error *error);

/** Each batch, within its transaction: forget what was seen unless nothing was written since but
 * this import's batches. */
enum doppel_status seen_codes_check(struct doppel_code_batch *batch, struct doppel_error *error);

/** The batch is written, and committed: what it brought needs no look-up in the next one. */
void seen_codes_add(struct doppel_code_batch *batch);
void seen_codes_free(struct seen_codes *seen);

#endif
