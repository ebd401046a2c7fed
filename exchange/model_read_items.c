/* Items and texts, read from JSON: it may come from an unrelated item. */
#include "exchange/model_read.h"

#include <stdlib.h>
#include <string.h>

#include "compare/record_fields.h"

/* ---- words ---- */

static const char *decision_word(int number)
{
    return doppel_decision_name((enum doppel_decision)number);
}

/* ---- what is said of an item ---- */

static void read_json_metadata(struct fields *fields, struct doppel_metadata *about)
{
    const json_t *meta = json_object_get(fields->object, "meta");
    field_bytes(fields, "external_id", &about->external_id);
    field_bytes(fields, "meta_text", &about->meta);
    if (json_is_object(meta) && !about->meta)
        about->meta = json_dumps(meta, JSON_COMPACT);
    else if (meta && !json_is_null(meta))
        field_is_wrong(fields, "meta", "an object");
    field_names(fields, "labels", &about->labels, &about->label_count);
    field_names(fields, "lists", &about->lists, &about->list_count);
}

/* ---- items ---- */

static void read_stamp(struct fields *fields, struct doppel_file_stamp *stamp)
{
    int64_t device = 0, inode = 0;
    field_number(fields, "size", 0, INT64_MAX, &stamp->size);
    field_number(fields, "mtime_ns", INT64_MIN, INT64_MAX, &stamp->mtime_ns);
    field_number(fields, "device", INT64_MIN, INT64_MAX, &device);
    field_number(fields, "inode", INT64_MIN, INT64_MAX, &inode);
    stamp->device = (uint64_t)device;
    stamp->inode = (uint64_t)inode;
}

static void read_group_fields(struct fields *fields, uint64_t *leader, uint64_t *canonical)
{
    int64_t first = 0, kept = 0;
    field_number(fields, "leader", 1, INT64_MAX, &first);
    field_number(fields, "canonical", 1, INT64_MAX, &kept);
    *leader = (uint64_t)first;
    *canonical = (uint64_t)kept;
}

/* Whose bytes are not known is no file, but may be called like one. */
static void name_by_path(struct exchange_item *carried)
{
    if (carried->about.external_id)
        free(carried->item.path);
    else
        carried->about.external_id = carried->item.path;
    carried->item.path = NULL;
    carried->item.stamp = (struct doppel_file_stamp){0};
}

enum doppel_status read_item(struct fields *fields, const struct exchange_sink *sink)
{
    struct exchange_item carried = {0};
    struct doppel_item *item = &carried.item;
    int64_t id = 0;
    field_number(fields, "item", 0, INT64_MAX, &id);
    item->id = (uint64_t)id;
    field_number(fields, "added_ns", INT64_MIN, INT64_MAX, &item->added_ns);
    if (json_object_get(fields->object, "exact")) {
        field_bytes(fields, "exact", &item->path);
    } else {
        field_bytes(fields, "path", &item->path);
        if (item->path)
            read_stamp(fields, &item->stamp);
        if (item->path && !json_object_get(fields->object, "scheme"))
            field_digest(fields, "digest", &item->record.digest);
        else
            read_record_fields(fields, &item->record);
    }
    field_bytes(fields, "source", &carried.about.source);
    field_bytes(fields, "date", &carried.about.date);
    read_json_metadata(fields, &carried.about);
    list_says_read(fields, &carried.says);
    if (item->path && !json_object_get(fields->object, "digest") &&
        !json_object_get(fields->object, "exact"))
        name_by_path(&carried);
    if (!item->path)
        item->path = strdup("");
    if (!item->path && !fields->status)
        fields->status = doppel_fail(fields->error, DOPPEL_E_MEMORY, "no memory for an item");
    read_group_fields(fields, &carried.leader, &carried.canonical);
    enum doppel_status status =
        fields->status ? fields->status : sink->item(sink->context, &carried, fields->error);
    exchange_item_free(&carried);
    return status;
}

/* ---- texts ---- */

/* What a text needs to live while it is given on. */
struct text_parts {
    char *record_id, *path, *source, *date;
    uint16_t lanes[DOPPEL_TEXT_MAX_LANES];
    uint32_t *shingles;
};

static void read_json_shingles(struct fields *fields, struct doppel_library_text *text,
                               struct text_parts *parts)
{
    const json_t *list = json_object_get(fields->object, "shingles"), *one;
    size_t i, count = json_array_size(list);
    if (!list)
        return;
    if (!json_is_array(list) || count != text->shingle_total) {
        field_is_wrong(fields, "shingles", "a list of as many as \"shingle_total\" says");
        return;
    }
    parts->shingles = calloc(count + 1, sizeof *parts->shingles);
    if (!parts->shingles) {
        fields->status = doppel_fail(fields->error, DOPPEL_E_MEMORY, "no memory for a text");
        return;
    }
    json_array_foreach(list, i, one)
    {
        int64_t shingle = json_integer_value(one);
        if (!json_is_integer(one) || shingle < 0 || shingle > UINT32_MAX ||
            (i && (uint32_t)shingle <= parts->shingles[i - 1])) {
            field_is_wrong(fields, "shingles", "a list of ascending numbers of 32 bits");
            return;
        }
        parts->shingles[i] = (uint32_t)shingle;
    }
    text->shingles = parts->shingles;
}

static void read_text_numbers(struct fields *fields, struct doppel_library_text *text)
{
    int64_t id = 0, line = 0, offset = 0, size = 0, shingles = 0;
    int decision = DOPPEL_DECISION_NEW;
    field_number(fields, "text", 0, INT64_MAX, &id);
    field_number(fields, "line", 0, INT64_MAX, &line);
    field_number(fields, "offset", 0, INT64_MAX, &offset);
    field_number(fields, "size", 0, INT64_MAX, &size);
    field_number(fields, "shingle_total", 0, INT64_MAX, &shingles);
    field_number(fields, "added_ns", INT64_MIN, INT64_MAX, &text->added_ns);
    field_word(fields, "decision", decision_word, DOPPEL_DECISION_IGNORED, &decision);
    field_bool(fields, "leads", &text->leads);
    text->id = (uint64_t)id;
    text->line = (uint64_t)line;
    text->offset = (uint64_t)offset;
    text->size = (uint64_t)size;
    text->shingle_total = (uint64_t)shingles;
    text->decision = (enum doppel_decision)decision;
}

enum doppel_status read_text(struct fields *fields, const struct exchange_sink *sink)
{
    struct doppel_library_text text = {0};
    struct exchange_text carried = {.text = &text};
    struct text_parts parts = {0};
    read_text_numbers(fields, &text);
    field_bytes(fields, "record_id", &parts.record_id);
    field_bytes(fields, "path", &parts.path);
    field_bytes(fields, "source", &parts.source);
    field_bytes(fields, "date", &parts.date);
    read_signature_fields(fields, &text, parts.lanes);
    read_json_shingles(fields, &text, &parts);
    read_json_metadata(fields, &carried.about);
    read_group_fields(fields, &text.leader, &carried.canonical);
    text.record_id = parts.record_id;
    text.path = parts.path;
    text.origin = (struct doppel_origin){parts.source, parts.date};
    enum doppel_status status =
        fields->status ? fields->status : sink->text(sink->context, &carried, fields->error);
    doppel_metadata_free(&carried.about);
    free(parts.record_id);
    free(parts.path);
    free(parts.source);
    free(parts.date);
    free(parts.shingles);
    return status;
}
