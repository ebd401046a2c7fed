/* What is exchanged, written as JSON. */
#include "exchange/model_write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "compare/record_fields.h"

/* Any bytes: beside what is not UTF-8 stands KEY_base64. */
static void write_any_bytes(struct doppel_json *json, const char *key, const char *text)
{
    if (text)
        doppel_json_path(json, key, text);
}

/* With 17 digits, so that what reads it has the same double. */
static void write_exact(struct doppel_json *json, const char *key, double value)
{
    json_t *real = json_real(value);
    char *text = real ? json_dumps(real, JSON_ENCODE_ANY) : NULL;
    if (text)
        doppel_json_raw(json, key, text, strlen(text));
    json->failed |= real && !text;
    free(text);
    json_decref(real);
}

/* The same of what is rounded. */
static void write_rounded(struct doppel_json *json, const char *key, const char *format, int digits,
                          double value)
{
    char text[400];
    snprintf(text, sizeof text, format, digits, value);
    write_exact(json, key, strtod(text, NULL));
}

void write_export_head(struct doppel_json *json)
{
    doppel_json_object_begin(json, NULL);
    doppel_json_signed(json, "doppel_export", EXPORT_FORMAT);
    doppel_json_text(json, "program", doppel_version());
    doppel_json_object_end(json);
}

/* ---- what is said of an item ---- */

static void write_model_metadata(struct doppel_json *json, const struct doppel_metadata *about)
{
    write_any_bytes(json, "external_id", about->external_id);
    json_t *meta = about->meta ? json_loads(about->meta, 0, NULL) : NULL;
    char *text = meta ? json_dumps(meta, JSON_COMPACT) : NULL;
    if (text)
        doppel_json_raw(json, "meta", text, strlen(text));
    else /* numbers that are too large, say */
        write_any_bytes(json, "meta_text", about->meta);
    free(text);
    json_decref(meta);
    doppel_json_texts(json, "labels", (const char *const *)about->labels, about->label_count);
    doppel_json_texts(json, "lists", (const char *const *)about->lists, about->list_count);
}

/* ---- items ---- */

static void write_stamp(struct doppel_json *json, const struct doppel_file_stamp *stamp)
{
    doppel_json_signed(json, "size", stamp->size);
    doppel_json_signed(json, "mtime_ns", stamp->mtime_ns);
    doppel_json_signed(json, "device", (int64_t)stamp->device);
    doppel_json_signed(json, "inode", (int64_t)stamp->inode);
}

void write_item(struct doppel_json *json, const struct exchange_item *carried)
{
    const struct doppel_item *item = &carried->item;
    doppel_json_object_begin(json, NULL);
    doppel_json_signed(json, "item", (int64_t)item->id);
    bool named = *item->path && item->path[0] != '/'; /* by a digest */
    if (named)
        doppel_json_text(json, "exact", item->path);
    if (item->path[0] == '/') {
        write_any_bytes(json, "path", item->path);
        write_stamp(json, &item->stamp);
    }
    if (item->record.scheme != DOPPEL_SCHEME_NONE)
        write_record_fields(json, &item->record);
    else if (!named)
        write_digest_field(json, "digest", &item->record.digest);
    doppel_json_signed(json, "added_ns", item->added_ns);
    write_any_bytes(json, "source", carried->about.source);
    write_any_bytes(json, "date", carried->about.date);
    write_model_metadata(json, &carried->about);
    list_says_write(json, &carried->says);
    if (carried->leader)
        doppel_json_signed(json, "leader", (int64_t)carried->leader);
    if (carried->canonical)
        doppel_json_signed(json, "canonical", (int64_t)carried->canonical);
    doppel_json_object_end(json);
}

/* ---- texts ---- */

static void write_shingles(struct doppel_json *json, const struct doppel_library_text *text)
{
    if (!text->shingles)
        return;
    doppel_json_array_begin(json, "shingles");
    for (uint64_t i = 0; i < text->shingle_total; i++)
        doppel_json_integer(json, NULL, text->shingles[i]);
    doppel_json_array_end(json);
}

static void write_place(struct doppel_json *json, const struct doppel_library_text *text)
{
    write_any_bytes(json, "record_id", text->record_id);
    write_any_bytes(json, "path", text->path);
    doppel_json_signed(json, "line", (int64_t)text->line);
    doppel_json_signed(json, "offset", (int64_t)text->offset);
    doppel_json_signed(json, "size", (int64_t)text->size);
}

void write_text(struct doppel_json *json, const struct exchange_text *carried)
{
    const struct doppel_library_text *text = carried->text;
    doppel_json_object_begin(json, NULL);
    doppel_json_signed(json, "text", (int64_t)text->id);
    write_place(json, text);
    write_signature_fields(json, text);
    doppel_json_signed(json, "shingle_total", (int64_t)text->shingle_total);
    doppel_json_text(json, "decision", doppel_decision_name(text->decision));
    doppel_json_boolean(json, "leads", text->leads);
    write_shingles(json, text);
    doppel_json_signed(json, "added_ns", text->added_ns);
    write_any_bytes(json, "source", text->origin.source);
    write_any_bytes(json, "date", text->origin.date);
    write_model_metadata(json, &carried->about);
    if (text->leader)
        doppel_json_signed(json, "leader", (int64_t)text->leader);
    if (carried->canonical)
        doppel_json_signed(json, "canonical", (int64_t)carried->canonical);
    doppel_json_object_end(json);
}

/* ---- what was set by people ---- */

void write_policy(struct doppel_json *json, const struct doppel_keep_policy *policy)
{
    doppel_json_object_begin(json, NULL);
    doppel_json_array_begin(json, "policy");
    for (size_t i = 0; i < policy->count; i++)
        doppel_json_text(json, NULL, doppel_keep_name((enum doppel_keep)policy->criteria[i]));
    doppel_json_array_end(json);
    doppel_json_object_end(json);
}

void write_source(struct doppel_json *json, const char *pattern, int64_t authority)
{
    doppel_json_object_begin(json, NULL);
    doppel_json_text(json, "source_pattern", pattern);
    doppel_json_signed(json, "authority", authority);
    doppel_json_object_end(json);
}

void write_list(struct doppel_json *json, const struct doppel_list *list)
{
    const struct doppel_list_rule *rule = &list->rule;
    doppel_json_object_begin(json, NULL);
    doppel_json_text(json, "list", list->name);
    doppel_json_text(json, "state", doppel_list_state_name(list->state));
    if (rule->limit_kind == DOPPEL_LIMIT_DISTANCE)
        doppel_json_integer(json, "max_distance", (uint64_t)rule->limit);
    if (rule->limit_kind == DOPPEL_LIMIT_SIMILARITY)
        doppel_json_number(json, "min_similarity", rule->limit, 6);
    if (rule->flood)
        doppel_json_integer(json, "flood", rule->flood);
    doppel_json_object_end(json);
}

void write_text_options(struct doppel_json *json, const struct doppel_text_options *options,
                        const struct doppel_text_limits *limits)
{
    doppel_json_object_begin(json, NULL);
    doppel_json_object_begin(json, "text_options");
    doppel_json_signed(json, "format", options->format);
    doppel_json_boolean(json, "nfkc", options->nfkc);
    doppel_json_boolean(json, "fold_case", options->fold_case);
    doppel_json_boolean(json, "drop_punctuation", options->drop_punctuation);
    doppel_json_signed(json, "unit", options->unit);
    doppel_json_signed(json, "shingle", options->shingle);
    doppel_json_signed(json, "min_words", options->min_words);
    doppel_json_signed(json, "lanes", options->lanes);
    write_exact(json, "min_similarity", limits->min_similarity);
    write_exact(json, "min_containment", limits->min_containment);
    doppel_json_object_end(json);
    doppel_json_object_end(json);
}

void write_mark(struct doppel_json *json, const struct doppel_mark *mark)
{
    doppel_json_object_begin(json, NULL);
    doppel_json_text(json, "mark", mark->word == DOPPEL_LABEL_SAME ? "same" : "distinct");
    write_digest_field(json, "a", &mark->a);
    write_digest_field(json, "b", &mark->b);
    doppel_json_signed(json, "time_ns", mark->time_ns);
    write_any_bytes(json, "note", mark->note);
    doppel_json_object_end(json);
}

static void write_log_match(struct doppel_json *json, const struct doppel_log_entry *entry)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(entry->scheme);
    if (scheme)
        doppel_json_text(json, "scheme", scheme->name);
    doppel_json_signed(json, "version", entry->version);
    if (entry->bits) {
        doppel_json_signed(json, "distance", entry->distance);
        doppel_json_signed(json, "bits", entry->bits);
    }
    if (entry->similarity >= 0)
        write_rounded(json, "similarity", "%.*f", 6, entry->similarity);
    if (entry->limit_kind != DOPPEL_LIMIT_NONE) {
        doppel_json_signed(json, "limit_kind", entry->limit_kind);
        write_rounded(json, "limit", "%.*f", 6, entry->limit);
    }
    if (entry->false_positive_rate >= 0)
        write_rounded(json, "false_positive_rate", "%.*g", 3, entry->false_positive_rate);
}

void write_log(struct doppel_json *json, const struct doppel_log_entry *entry)
{
    doppel_json_object_begin(json, NULL);
    doppel_json_signed(json, "log", (int64_t)entry->entry);
    doppel_json_signed(json, "time_ns", entry->time_ns);
    doppel_json_text(json, "action", doppel_log_action_name(entry->action));
    if (entry->item)
        doppel_json_signed(json, "id", (int64_t)entry->item);
    write_any_bytes(json, "name", entry->name);
    write_any_bytes(json, "source", entry->source);
    if (entry->decided)
        doppel_json_text(json, "decision",
                         doppel_decision_name((enum doppel_decision)entry->decision));
    if (entry->of)
        doppel_json_signed(json, "of", (int64_t)entry->of);
    if (entry->former)
        doppel_json_signed(json, "former", (int64_t)entry->former);
    write_any_bytes(json, "former_name", entry->former_name);
    write_any_bytes(json, "reason", entry->reason);
    if (entry->has_match)
        write_log_match(json, entry);
    write_any_bytes(json, "detail", entry->detail);
    doppel_json_object_end(json);
}
