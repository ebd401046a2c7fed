/* Which items a command line is about: --where, --list, --label. */
#ifndef DOPPEL_LIBRARY_ITEMS_WANTED_ITEMS_H
#define DOPPEL_LIBRARY_ITEMS_WANTED_ITEMS_H

#include <doppel/library.h>

#include "core/array.h"
#include "tools/args/options.h"

/* Zero-initialised it is every item. */
struct wanted_items {
    bool some;           /* only these */
    ARRAY(uint64_t) ids; /* ascending */
};

/* Whether the command line asks for some items. */
bool wanted_are_named(const struct settings *settings);

/* Ask the library: an item is wanted that is on one of the --lists, has one of the --labels, and
 * for which --where holds; what is not given holds for all. @param out given (wanted_items_free) */
enum doppel_status wanted_items_find(const struct settings *settings,
                                     struct doppel_library *library, struct wanted_items *out,
                                     struct doppel_error *error);
bool wanted_items_has(const struct wanted_items *wanted, uint64_t id);
void wanted_items_free(struct wanted_items *wanted);

#endif
