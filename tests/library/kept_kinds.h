/* Kinds of items that are found by indexes which are kept, each to be put in and asked for by a
 * number: what is made of a number is near to nothing else. One table for all tests of indexes. */
#ifndef TESTS_LIBRARY_KEPT_KINDS_H
#define TESTS_LIBRARY_KEPT_KINDS_H

#include <doppel/library.h>

#include "library/derived/codes.h"

enum { KEPT_TABLES = 3 };

struct kept_kind {
    const char *name;
    enum doppel_scheme_id scheme;
    enum code_table tables[KEPT_TABLES]; /* that a question of this kind looks into */
    size_t table_count;
    bool follows; /* of the numbers every other one follows KEPT_LEADER */
    enum doppel_status (*put)(const struct kept_kind *kind, struct doppel_library *library,
                              uint64_t number, uint64_t *out_id, struct doppel_error *error);
    /** @param out_count how many were found. @param out_id the last of them */
    enum doppel_status (*find)(const struct kept_kind *kind, struct doppel_library *library,
                               uint64_t number, size_t *out_count, uint64_t *out_id,
                               struct doppel_error *error);
    /** What a library needs before; NULL: nothing */
    enum doppel_status (*prepare)(struct doppel_library *library, struct doppel_error *error);
};

/** An empty library made ready for a kind, with KEPT_LEADER where it has followers. Fails the test.
 */
void kept_prepare(const struct kept_kind *kind, struct doppel_library *library);

/** A number that leads: it is put in first, and stays. */
#define KEPT_LEADER UINT64_C(1000000)

extern const struct kept_kind kept_kinds[];
extern const size_t kept_kind_count;

/** By its name; NULL: there is none. */
const struct kept_kind *kept_kind_called(const char *name);

/** Where the segments of an index are; given (free). */
char *kept_folder(const char *library, enum code_table table);

#endif
