/* What was found, as JSON. */
#include <doppel/search.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "compare/item_json.h"

struct named_text {
    struct doppel_json *json;
    bool written;
};

static bool write_found_text(void *context, const struct doppel_library_text *text)
{
    struct named_text *named = context;
    if (text->error.status)
        return true;
    doppel_json_integer(named->json, "id", text->id);
    if (text->path)
        doppel_json_path(named->json, "path", text->path);
    doppel_json_text(named->json, "record", text->record_id);
    named->written = true;
    return true;
}

/* What is no item is a text. */
static enum doppel_status write_text_name(struct doppel_json *json, struct doppel_library *library,
                                          uint64_t id, struct doppel_error *error)
{
    const struct doppel_text_query one = {.first = id, .last = id};
    struct named_text named = {json, false};
    enum doppel_status status =
        doppel_library_each_text(library, &one, write_found_text, &named, error);
    if (!status && !named.written)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "item %" PRIu64 " is gone", id);
    return status;
}

/* "id", and what it is called. */
static enum doppel_status write_found(struct doppel_json *json, struct doppel_library *library,
                                      uint64_t id, struct doppel_error *error)
{
    struct doppel_item item;
    enum doppel_status status = doppel_library_get(library, id, false, &item, error);
    if (status)
        return status == DOPPEL_E_NOT_FOUND ? write_text_name(json, library, id, error) : status;
    char *name = doppel_library_item_name(library, &item);
    doppel_json_integer(json, "id", id);
    write_item_name(json, doppel_item_has_file(&item), name);
    doppel_json_audio_tags(json, &item.tags);
    json->failed |= !name;
    free(name);
    doppel_item_free(&item);
    return DOPPEL_OK;
}

static void write_item_lists(struct doppel_json *json, struct doppel_library *library, uint64_t id)
{
    struct doppel_metadata metadata;
    if (doppel_library_get_memberships(library, id, &metadata, NULL))
        return;
    write_memberships(json, &metadata);
    doppel_metadata_free(&metadata);
}

/* What a match below the threshold would have needed. */
static void write_lack(struct doppel_json *json, const struct doppel_compare_options *options,
                       const struct doppel_match *match)
{
    double limit =
        doppel_compare_thresholds(options, DOPPEL_SCHEME_PEAKS32).max_false_positive_rate;
    char text[128];
    doppel_json_boolean(json, "match", false);
    doppel_json_boolean(json, "near_miss", true);
    doppel_json_object_begin(json, "limit");
    doppel_json_rate(json, "max_false_positive_rate", limit);
    doppel_json_object_end(json);
    snprintf(text, sizeof text, "a rate of false positives of %.2g or less; its is %.2g", limit,
             match->false_positive_rate);
    doppel_json_text(json, "lacks", text);
}

enum doppel_status doppel_search_result_to_json(struct doppel_json *json,
                                                struct doppel_library *library,
                                                const struct doppel_compare_options *options,
                                                const struct doppel_search_result *result,
                                                struct doppel_error *error)
{
    const struct doppel_compare_options usual = doppel_compare_options_default();
    enum doppel_status status = write_found(json, library, result->id, error);
    if (status)
        return status;
    write_item_lists(json, library, result->id);
    if (result->suppressed_by)
        doppel_json_integer(json, "suppressed_by", result->suppressed_by);
    if (result->below_threshold)
        write_lack(json, options ? options : &usual, &result->comparison.match);
    doppel_match_to_json(json, &result->comparison.match);
    doppel_evidence_to_json(json, &result->comparison);
    return DOPPEL_OK;
}
