/* Codes and digests of a list for tests, and the two ways in which they come into a library: one by
 * one, and in batches. */
#ifndef TESTS_LIBRARY_LIST_CODES_H
#define TESTS_LIBRARY_LIST_CODES_H

#include "tests/library/fixture.h"

struct list_code {
    struct doppel_code code;
    enum doppel_exact algorithm; /* 0: it is a code; else its bytes are a digest's */
    enum doppel_scheme_id scheme;
    uint8_t quality;
    char name[24]; /* "": none */
};

/** What random codes come from; they come in runs of codes, and of digests of one make. */
struct code_source {
    uint64_t random;
    enum doppel_exact algorithm; /* of the last one */
};
uint64_t draw_below(struct code_source *source, uint64_t below);

/** Some are codes that others have, some names; qualities, also those that no index has; and
 * digests of all makes. */
struct list_code random_code(struct code_source *source);

/** The item that a code is. @return borrows the code, and `position` */
struct doppel_item item_of_code(struct list_code *code, uint32_t *position);

/** @param counts by enum doppel_added; what happened is added to them */
void import_one_by_one(struct doppel_library *library, struct list_code *codes, size_t count,
                       const struct doppel_metadata *about, uint64_t *counts);

/** @param step so many are written at once */
void import_batches(struct doppel_library *library, struct list_code *codes, size_t count,
                    size_t step, const struct doppel_metadata *about, uint64_t *counts);

/** Verify finds nothing. */
void assert_whole(struct doppel_library *library);

#endif
