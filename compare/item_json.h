/* What a library says of an item, as members of the JSON object that was begun last. */
#ifndef DOPPEL_COMPARE_ITEM_JSON_H
#define DOPPEL_COMPARE_ITEM_JSON_H

#include <stdbool.h>

#include <doppel/json_writer.h>
#include <doppel/library.h>

/* "path", or "name" of what has no file. */
void write_item_name(struct doppel_json *json, bool has_file, const char *name);

/* source, date, external_id, labels, lists, list_state, meta: what is known. */
void write_metadata(struct doppel_json *json, const struct doppel_metadata *metadata);

/* labels, lists and list_state alone. */
void write_memberships(struct doppel_json *json, const struct doppel_metadata *metadata);

/* Its kind, scheme, sizes, times and digest. */
void write_item_facts(struct doppel_json *json, const struct doppel_item *item);

#endif
