/* What is said of an item, and how it stands in its group, as fields of a row. */
#ifndef DOPPEL_TOOLS_OUTPUT_ITEM_METADATA_H
#define DOPPEL_TOOLS_OUTPUT_ITEM_METADATA_H

#include <jansson.h>

#include <doppel/library.h>

/* source, date, external_id, labels, lists, list_state, meta, leader, canonical: what is known.
 * Damage is told: DOPPEL_E_CORRUPT, with a sentence, and the row has the rest. */
enum doppel_status put_about(json_t *row, struct doppel_library *library, uint64_t id,
                             struct doppel_error *error);

/* What is said: the same but for leader and canonical. */
void put_said_of(json_t *row, const struct doppel_metadata *about);

/* labels, lists and list_state alone. */
enum doppel_status put_lists(json_t *row, struct doppel_library *library, uint64_t id,
                             struct doppel_error *error);

#endif
