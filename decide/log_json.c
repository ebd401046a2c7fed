/* An entry of the log as JSON. */
#include <doppel/decide.h>

#include "compare/kept_json.h"

static void write_known_number(struct doppel_json *json, const char *key, uint64_t value)
{
    if (value)
        doppel_json_integer(json, key, value);
}

static void write_limit(struct doppel_json *json, const struct doppel_log_entry *entry)
{
    static const char *const keys[] = {NULL, "max_distance", "min_similarity",
                                       "max_false_positive_rate"};
    doppel_json_object_begin(json, "limit");
    if (entry->limit_kind == DOPPEL_LIMIT_DISTANCE)
        doppel_json_integer(json, keys[entry->limit_kind], (uint64_t)entry->limit);
    else
        doppel_json_rate(json, keys[entry->limit_kind], entry->limit);
    doppel_json_object_end(json);
}

static void write_logged_match(struct doppel_json *json, const struct doppel_log_entry *entry)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(entry->scheme);
    if (entry->scheme) { /* of bytes alone there is none */
        doppel_json_text(json, "scheme", scheme ? scheme->name : "unknown");
        doppel_json_integer(json, "version", entry->version);
    }
    if (entry->bits) {
        doppel_json_integer(json, "distance", entry->distance);
        doppel_json_integer(json, "bits", entry->bits);
    }
    if (entry->similarity >= 0)
        doppel_json_number(json, "similarity", entry->similarity, 4);
    if (entry->limit_kind)
        write_limit(json, entry);
    if (entry->false_positive_rate >= 0)
        doppel_json_rate(json, "false_positive_rate", entry->false_positive_rate);
}

static void write_logged_name(struct doppel_json *json, const char *name)
{
    if (name[0] == '/')
        doppel_json_path(json, "path", name);
    else if (name[0])
        doppel_json_text(json, "record", name);
}

void doppel_log_entry_to_json(struct doppel_json *json, const struct doppel_log_entry *entry)
{
    doppel_json_integer(json, "entry", entry->entry);
    doppel_json_number(json, "time", (double)entry->time_ns / 1e9, 3);
    doppel_json_text(json, "action", doppel_log_action_name(entry->action));
    write_known_number(json, "item", entry->item);
    write_logged_name(json, entry->name);
    doppel_json_text(json, "source", entry->source);
    if (entry->decided)
        doppel_json_text(json, "decision",
                         doppel_decision_name((enum doppel_decision)entry->decision));
    write_known_number(json, "of", entry->of);
    write_known_number(json, "former", entry->former);
    if (entry->former_name)
        doppel_json_path(json, "former_path", entry->former_name);
    doppel_json_text(json, "reason", entry->reason);
    if (entry->has_match)
        write_logged_match(json, entry);
    write_kept_json(json, "detail", entry->detail);
}
