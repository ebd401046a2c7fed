/* Lists from the inside. */
#ifndef DOPPEL_LIBRARY_LEDGER_LISTS_H
#define DOPPEL_LIBRARY_LEDGER_LISTS_H

#include "library/ledger/ledger.h"

/** Put an item on a list, which is made when it is not there; the log tells. */
enum doppel_status list_put_item(struct doppel_library *library, uint64_t id, const char *list,
                                 struct doppel_error *error);

/** The same of new items, with ids in a row. */
enum doppel_status list_put_many(struct doppel_library *library, uint64_t first, uint64_t count,
                                 const char *list, struct doppel_error *error);

#endif
