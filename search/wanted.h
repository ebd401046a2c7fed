/* Which items of a library are searched. */
#ifndef DOPPEL_SEARCH_WANTED_H
#define DOPPEL_SEARCH_WANTED_H

#include <doppel/search.h>

/* Whether a record is of a scheme, and version, that is searched. */
bool search_wants(const struct doppel_search_options *options, const struct doppel_record *record);

/* Whether an item may be found: any, or representatives alone. */
bool search_may_find(const struct doppel_search_options *options, struct doppel_library *library,
                     uint64_t id);

/* The kind of an item that is searched; UNKNOWN of others. */
enum doppel_kind search_kind_of(const struct doppel_search_options *options,
                                struct doppel_library *library, uint64_t id);

/* Whether one with the same bytes is found: also one of which nothing else is known. */
enum doppel_status search_finds_bytes_of(const struct doppel_search_options *options,
                                         struct doppel_library *library, uint64_t id, bool *out,
                                         struct doppel_error *error);

#endif
