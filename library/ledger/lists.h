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

/** Make it, active, unless it is there; and a line of the log on what was changed of it. */
enum doppel_status list_make(struct doppel_library *library, const char *list,
                             struct doppel_error *error);
enum doppel_status list_log_change(struct doppel_library *library, const char *name,
                                   const char *what, struct doppel_error *error);

/** Three columns of list_rule, from `at` on. */
void list_rule_read(sqlite3_stmt *row, int at, struct doppel_list_rule *out);

/** Whether all can be labels. DOPPEL_E_ARGUMENT. */
enum doppel_status list_tags_check(struct doppel_library *library,
                                   const struct doppel_list_tags *tags, struct doppel_error *error);

/** Take an item off; the log tells. DOPPEL_E_NOT_FOUND. */
enum doppel_status list_take_off(struct doppel_library *library, uint64_t id, const char *list,
                                 struct doppel_error *error);

/** doppel_library_list_says, within a transaction. */
enum doppel_status list_say(struct doppel_library *library, uint64_t id, const char *list,
                            const struct doppel_list_tags *tags, bool brought, bool *out_changed,
                            struct doppel_error *error);

/** Whether what has this digest is on the list with these tags: then it stays, and nothing is to be
 * done. */
bool list_sync_knows(struct doppel_list_sync *sync, const struct doppel_digest *digest,
                     const struct doppel_list_tags *tags);

#endif
