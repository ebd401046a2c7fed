/* What is said of an item, and how it stands in its group. */
#include "tools/output/item_metadata.h"

#include "tools/output/output.h"

static void put_names(json_t *row, const char *key, char *const *names, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_string(names[i]));
    if (count)
        put_value(row, key, list);
    else
        json_decref(list);
}

static void put_known(json_t *row, const char *key, const char *text)
{
    if (text)
        put_text(row, key, text);
}

static void put_memberships(json_t *row, const struct doppel_metadata *about)
{
    put_names(row, "labels", about->labels, about->label_count);
    put_names(row, "lists", about->lists, about->list_count);
    if (about->state != DOPPEL_LIST_ACTIVE)
        put_text(row, "list_state", doppel_list_state_name(about->state));
}

void put_said_of(json_t *row, const struct doppel_metadata *about)
{
    put_known(row, "source", about->source);
    put_known(row, "date", about->date);
    put_known(row, "external_id", about->external_id);
    put_memberships(row, about);
    json_t *meta = about->meta ? json_loads(about->meta, 0, NULL) : NULL;
    if (meta)
        put_value(row, "meta", meta);
}

enum doppel_status put_lists(json_t *row, struct doppel_library *library, uint64_t id,
                             struct doppel_error *error)
{
    struct doppel_metadata about;
    enum doppel_status status = doppel_library_get_metadata(library, id, &about, error);
    if (status)
        return status;
    put_memberships(row, &about);
    doppel_metadata_free(&about);
    return DOPPEL_OK;
}

static enum doppel_status put_said(json_t *row, struct doppel_library *library, uint64_t id,
                                   struct doppel_error *error)
{
    struct doppel_metadata about;
    enum doppel_status status = doppel_library_get_metadata(library, id, &about, error);
    if (status)
        return status;
    put_said_of(row, &about);
    doppel_metadata_free(&about);
    return DOPPEL_OK;
}

static enum doppel_status put_group(json_t *row, struct doppel_library *library, uint64_t id,
                                    struct doppel_error *error)
{
    uint64_t leader = id, canonical = id;
    enum doppel_status status = doppel_library_leader(library, id, &leader, error);
    if (!status)
        status = doppel_library_canonical(library, leader, &canonical, error);
    if (!status && leader != id)
        put_integer(row, "leader", leader);
    if (!status && (leader != id || canonical != id))
        put_integer(row, "canonical", canonical);
    return status;
}

enum doppel_status put_about(json_t *row, struct doppel_library *library, uint64_t id,
                             struct doppel_error *error)
{
    enum doppel_status said = put_said(row, library, id, error);
    enum doppel_status grouped = put_group(row, library, id, said ? NULL : error);
    return said ? said : grouped;
}
