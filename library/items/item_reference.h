/* What a command line calls an item or a text: a number, a path, or an id that it was given. */
#ifndef DOPPEL_LIBRARY_ITEMS_ITEM_REFERENCE_H
#define DOPPEL_LIBRARY_ITEMS_ITEM_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include <doppel/library.h>

#include "tools/output/messages.h"

enum called_by {
    CALLED_BY_NUMBER, /* 42, where there is such an item, or item:42 */
    CALLED_BY_PATH,
    CALLED_BY_EXTERNAL_ID, /* its, or with id: before it */
    CALLED_BY_RECORD_ID    /* likewise; the last record of it */
};

struct called {
    uint64_t id;
    enum called_by by;
    uint64_t other; /* what is called so, too, in a way that comes later here; 0: nothing */
};

/* The number of an item, be there such an item or not. */
bool called_number(const char *name, uint64_t *out);

/* The id in id:ID; NULL: it is none. Borrowed. */
const char *called_id(const char *name);

/* DOPPEL_E_NOT_FOUND; a number may be that of an item that is gone */
enum doppel_status called_find(struct doppel_library *library, const char *name, struct called *out,
                               struct doppel_error *error);

/* The same for those who change or remove it, with called_say_other: a number is that of an item
 * alone, lest it become something else when the item is gone: DOPPEL_E_ARGUMENT. */
enum doppel_status called_to_change(struct doppel_library *library, const char *name,
                                    struct report *report, struct called *out,
                                    struct doppel_error *error);

/* Say of a name that it stands for something else, too. */
void called_say_other(struct doppel_library *library, const char *name, struct report *report);

#endif
