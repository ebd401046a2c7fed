/* What is known of items beside their codes: whom they follow, what people say; shared by the files
 * that keep it. */
#ifndef DOPPEL_LIBRARY_LEDGER_LEDGER_H
#define DOPPEL_LIBRARY_LEDGER_LEDGER_H

#include "library/items/rows.h"

/** The reason of a person's choice of the member to keep, in the log. */
#define CHOSEN_BY_HAND "said"

/** DOPPEL_E_NOT_FOUND, with a sentence, unless it is an item or a text. */
enum doppel_status item_exists(struct doppel_library *library, uint64_t id,
                               struct doppel_error *error);

/** DOPPEL_E_CORRUPT, with a sentence. @param what of the item is damaged, and what to do */
enum doppel_status item_damaged(const struct doppel_library *library, uint64_t id, const char *what,
                                struct doppel_error *error);

/** What the row of an item in `about` says; nothing where it has none. @param about zeroed before;
 * given (doppel_metadata_free), also on failure */
enum doppel_status metadata_row(struct doppel_library *library, uint64_t id,
                                struct doppel_metadata *about, struct doppel_error *error);

/** How an item is named in the log: path or record id, "" without; given (free). */
enum doppel_status item_name(struct doppel_library *library, uint64_t id, char **out,
                             struct doppel_error *error);

/** A code of 64 bits that stands for a picture or a text as a whole, and how many words a text
 * has; NULL where the record does not say. */
struct bound_value item_simhash(const struct doppel_record *record);
struct bound_value item_words(const struct doppel_record *record);

/** Write what SQL can ask for of codes and attachments: simhash, words, duration, pixels. */
enum doppel_status item_put_columns(struct doppel_library *library, uint64_t id,
                                    const struct doppel_record *record, bool fresh,
                                    struct doppel_error *error);

/** An item that goes follows nobody; and when it is gone, the first of those who follow it leads
 * the others. */
enum doppel_status links_leave(struct doppel_library *library, uint64_t id,
                               struct doppel_error *error);
enum doppel_status links_hand_on(struct doppel_library *library, uint64_t id,
                                 struct doppel_error *error);

/** The vectors of a text that goes are those of another one with its content, or of none. */
enum doppel_status text_vectors_hand_on(struct doppel_library *library, uint64_t id,
                                        struct doppel_error *error);

/** doppel_library_set_metadata of what was checked, and of an item that is there. */
enum doppel_status metadata_put(struct doppel_library *library, uint64_t id,
                                const struct doppel_metadata *about, struct doppel_error *error);

/** What people said of an item is said of another one, which takes its place; or of none (0). */
enum doppel_status about_move(struct doppel_library *library, uint64_t from, uint64_t to,
                              struct doppel_error *error);

/** Look up again what an item's lists make of it, when that is in memory. */
enum doppel_status state_changed(struct doppel_library *library, uint64_t id,
                                 struct doppel_error *error);

#endif
