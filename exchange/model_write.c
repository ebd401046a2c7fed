/* What is carried, written as JSON. */
#include "exchange/model_write.h"

#include <stdlib.h>
#include <string.h>

#include "core/base64.h"
#include "tools/output/item_row.h"
#include "tools/memory.h"
#include "tools/output/output.h"

static void put_signed(json_t *object, const char *key, int64_t value)
{
    json_object_set_new_nocheck(object, key, json_integer(value));
}

static void put_hex(json_t *object, const char *key, const void *bytes, size_t size)
{
    char hex[2 * 32 + 1];
    doppel_hex_encode(bytes, size, hex);
    json_object_set_new_nocheck(object, key, json_string_nocheck(hex));
}

static void put_digest(json_t *object, const char *key, const struct doppel_digest *digest)
{
    put_hex(object, key, digest->bytes, sizeof digest->bytes);
}

/* Any bytes: beside what is not UTF-8 stands KEY_base64. */
static void put_bytes(json_t *object, const char *key, const char *text)
{
    if (text)
        put_path(object, key, text);
}

json_t *export_head(void)
{
    json_t *object = json_object();
    put_signed(object, "doppel_export", EXPORT_FORMAT);
    put_text(object, "program", doppel_version());
    return object;
}

/* ---- what is said of an item ---- */

static void put_names(json_t *object, const char *key, char *const *names, size_t count)
{
    if (!count)
        return;
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_string(names[i]));
    put_value(object, key, list);
}

static void put_said(json_t *object, const struct doppel_metadata *about)
{
    put_bytes(object, "external_id", about->external_id);
    json_t *meta = about->meta ? json_loads(about->meta, 0, NULL) : NULL;
    if (meta)
        put_value(object, "meta", meta);
    else /* numbers that are too large, say */
        put_bytes(object, "meta_text", about->meta);
    put_names(object, "labels", about->labels, about->label_count);
    put_names(object, "lists", about->lists, about->list_count);
}

/* ---- items ---- */

static void put_codes(json_t *object, const struct doppel_fingerprint *fingerprint)
{
    json_t *sequence = json_array();
    for (uint32_t i = 0; i < fingerprint->count; i++) {
        char hex[65];
        doppel_code_to_hex(&fingerprint->codes[i], fingerprint->code_bits, hex);
        json_t *pair = json_array();
        json_array_append_new(pair, json_string_nocheck(hex));
        json_array_append_new(pair, json_integer(fingerprint->positions[i]));
        json_array_append_new(sequence, pair);
    }
    put_signed(object, "bits", fingerprint->code_bits);
    put_value(object, "sequence", sequence);
}

static void put_attachment(json_t *object, const struct doppel_record *record)
{
    if (!record->attachment_size)
        return;
    char *text = base64_encode(record->attachment, record->attachment_size);
    json_object_set_new_nocheck(object, "attachment", json_string_nocheck(text));
    free(text);
}

static void put_record(json_t *object, const struct doppel_record *record)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(record->scheme);
    put_digest(object, "digest", &record->digest);
    put_text(object, "kind", doppel_kind_name(record->kind));
    put_text(object, "scheme", scheme ? scheme->name : "unknown");
    put_signed(object, "version", record->version);
    if (record->width || record->height) {
        put_signed(object, "width", record->width);
        put_signed(object, "height", record->height);
    }
    if (record->quality)
        put_signed(object, "quality", record->quality);
    put_codes(object, &record->fingerprint);
    put_attachment(object, record);
}

static void put_stamp(json_t *object, const struct doppel_file_stamp *stamp)
{
    put_signed(object, "size", stamp->size);
    put_signed(object, "mtime_ns", stamp->mtime_ns);
    put_signed(object, "device", (int64_t)stamp->device);
    put_signed(object, "inode", (int64_t)stamp->inode);
}

json_t *json_of_item(const struct carried_item *carried)
{
    const struct doppel_item *item = &carried->item;
    json_t *object = json_object();
    put_signed(object, "item", (int64_t)item->id);
    bool named = *item->path && item->path[0] != '/'; /* by a digest */
    if (named)
        put_text(object, "exact", item->path);
    if (item->path[0] == '/') {
        put_bytes(object, "path", item->path);
        put_stamp(object, &item->stamp);
    }
    if (item->record.scheme != DOPPEL_SCHEME_NONE)
        put_record(object, &item->record);
    else if (!named)
        put_digest(object, "digest", &item->record.digest);
    put_signed(object, "added_ns", item->added_ns);
    put_bytes(object, "source", carried->about.source);
    put_bytes(object, "date", carried->about.date);
    put_said(object, &carried->about);
    if (carried->leader)
        put_signed(object, "leader", (int64_t)carried->leader);
    if (carried->canonical)
        put_signed(object, "canonical", (int64_t)carried->canonical);
    return object;
}

/* ---- texts ---- */

static void put_shingles(json_t *object, const struct doppel_library_text *text)
{
    if (!text->shingles)
        return;
    json_t *list = json_array();
    for (uint64_t i = 0; i < text->shingle_total; i++)
        json_array_append_new(list, json_integer(text->shingles[i]));
    put_value(object, "shingles", list);
}

static void put_simhash(json_t *object, uint64_t simhash)
{
    char hex[17];
    doppel_code_to_hex(&(struct doppel_code){{simhash}}, 64, hex);
    if (simhash)
        put_text(object, "simhash", hex);
}

static void put_place(json_t *object, const struct doppel_library_text *text)
{
    put_bytes(object, "record_id", text->record_id);
    put_bytes(object, "path", text->path);
    put_signed(object, "line", (int64_t)text->line);
    put_signed(object, "offset", (int64_t)text->offset);
    put_signed(object, "size", (int64_t)text->size);
}

json_t *json_of_text(const struct carried_text *carried)
{
    const struct doppel_library_text *text = carried->text;
    json_t *object = json_object();
    put_signed(object, "text", (int64_t)text->id);
    put_place(object, text);
    put_digest(object, "content", &text->content);
    put_signed(object, "words", (int64_t)text->words);
    put_signed(object, "shingle_total", (int64_t)text->shingle_total);
    if (text->too_short)
        put_bool(object, "too_short", true);
    put_text(object, "decision", doppel_decision_name(text->decision));
    put_bool(object, "leads", text->leads);
    char *hex = text_code(text);
    json_object_set_new_nocheck(object, "lanes", json_string_nocheck(hex));
    free(hex);
    put_simhash(object, text->simhash);
    put_shingles(object, text);
    put_signed(object, "added_ns", text->added_ns);
    put_bytes(object, "source", text->origin.source);
    put_bytes(object, "date", text->origin.date);
    put_said(object, &carried->about);
    if (text->leader)
        put_signed(object, "leader", (int64_t)text->leader);
    if (carried->canonical)
        put_signed(object, "canonical", (int64_t)carried->canonical);
    return object;
}

/* ---- what the library was told ---- */

json_t *json_of_policy(const struct doppel_keep_policy *policy)
{
    json_t *object = json_object(), *list = json_array();
    for (size_t i = 0; i < policy->count; i++)
        json_array_append_new(list,
                              json_string(doppel_keep_name((enum doppel_keep)policy->criteria[i])));
    put_value(object, "policy", list);
    return object;
}

json_t *json_of_source(const char *pattern, int64_t authority)
{
    json_t *object = json_object();
    put_text(object, "source_pattern", pattern);
    put_signed(object, "authority", authority);
    return object;
}

json_t *json_of_list(const char *name, enum doppel_list_state state)
{
    json_t *object = json_object();
    put_text(object, "list", name);
    put_text(object, "state", doppel_list_state_name(state));
    return object;
}

json_t *json_of_text_options(const struct doppel_text_options *options,
                             const struct doppel_text_limits *limits)
{
    json_t *object = json_object(), *inner = json_object();
    put_signed(inner, "format", options->format);
    put_bool(inner, "nfkc", options->nfkc);
    put_bool(inner, "fold_case", options->fold_case);
    put_bool(inner, "drop_punctuation", options->drop_punctuation);
    put_signed(inner, "unit", options->unit);
    put_signed(inner, "shingle", options->shingle);
    put_signed(inner, "min_words", options->min_words);
    put_signed(inner, "lanes", options->lanes);
    put_value(inner, "min_similarity", json_real(limits->min_similarity));
    put_value(inner, "min_containment", json_real(limits->min_containment));
    put_value(object, "text_options", inner);
    return object;
}

json_t *json_of_mark(const struct doppel_mark *mark)
{
    json_t *object = json_object();
    put_text(object, "mark", mark->word == DOPPEL_LABEL_SAME ? "same" : "distinct");
    put_digest(object, "a", &mark->a);
    put_digest(object, "b", &mark->b);
    put_signed(object, "time_ns", mark->time_ns);
    put_bytes(object, "note", mark->note);
    return object;
}

static void put_log_match(json_t *object, const struct doppel_log_entry *entry)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(entry->scheme);
    if (scheme)
        put_text(object, "scheme", scheme->name);
    put_signed(object, "version", entry->version);
    if (entry->bits) {
        put_signed(object, "distance", entry->distance);
        put_signed(object, "bits", entry->bits);
    }
    if (entry->similarity >= 0)
        put_number(object, "similarity", entry->similarity, 6);
    if (entry->limit_kind != DOPPEL_LIMIT_NONE) {
        put_signed(object, "limit_kind", entry->limit_kind);
        put_number(object, "limit", entry->limit, 6);
    }
    if (entry->false_positive_rate >= 0)
        put_rate(object, "false_positive_rate", entry->false_positive_rate);
}

json_t *json_of_log(const struct doppel_log_entry *entry)
{
    json_t *object = json_object();
    put_signed(object, "log", (int64_t)entry->entry);
    put_signed(object, "time_ns", entry->time_ns);
    put_text(object, "action", doppel_log_action_name(entry->action));
    if (entry->item)
        put_signed(object, "id", (int64_t)entry->item);
    put_bytes(object, "name", entry->name);
    put_bytes(object, "source", entry->source);
    if (entry->decided)
        put_text(object, "decision", doppel_decision_name((enum doppel_decision)entry->decision));
    if (entry->of)
        put_signed(object, "of", (int64_t)entry->of);
    if (entry->former)
        put_signed(object, "former", (int64_t)entry->former);
    put_bytes(object, "former_name", entry->former_name);
    put_bytes(object, "reason", entry->reason);
    if (entry->has_match)
        put_log_match(object, entry);
    put_bytes(object, "detail", entry->detail);
    return object;
}
