/* What a library says of an item, as JSON. */
#include "compare/item_json.h"

void write_item_name(struct doppel_json *json, bool has_file, const char *name)
{
    if (has_file)
        doppel_json_path(json, "path", name);
    else
        doppel_json_text(json, "name", name);
}

void write_memberships(struct doppel_json *json, const struct doppel_metadata *metadata)
{
    doppel_json_texts(json, "labels", (const char *const *)metadata->labels, metadata->label_count);
    doppel_json_texts(json, "lists", (const char *const *)metadata->lists, metadata->list_count);
    if (metadata->state != DOPPEL_LIST_ACTIVE)
        doppel_json_text(json, "list_state", doppel_list_state_name(metadata->state));
}
