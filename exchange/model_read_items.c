/* Items and texts, read from JSON: it may come from an unrelated item. */
#include "exchange/model_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/audio.h"
#include "compare/text.h"

enum { MAX_QUALITY = 100, MAX_SECONDS = 1000000000 };

/* ---- words ---- */

static const char *kind_word(int number)
{
    return doppel_kind_name((enum doppel_kind)number);
}

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

static bool read_code_pair(const json_t *pair, struct doppel_fingerprint *fingerprint,
                           uint32_t number)
{
    const char *hex = json_string_value(json_array_get(pair, 0));
    const json_t *position = json_array_get(pair, 1);
    int64_t place = json_integer_value(position);
    if (!hex || !json_is_integer(position) || place < 0 || place > UINT32_MAX ||
        doppel_code_from_hex(hex, fingerprint->code_bits, &fingerprint->codes[number]) ||
        (number && (uint32_t)place < fingerprint->positions[number - 1]))
        return false;
    fingerprint->positions[number] = (uint32_t)place;
    return true;
}

static void read_code_fields(struct fields *fields, const struct doppel_scheme *scheme,
                             struct doppel_record *record)
{
    const json_t *sequence = json_object_get(fields->object, "sequence"), *pair;
    int64_t bits = 0;
    size_t i, count = json_array_size(sequence);
    field_number(fields, "bits", 32, 256, &bits);
    if (!bits && scheme->code_bits <= 256 && json_object_get(fields->object, "code"))
        bits = scheme->code_bits; /* as `hash --json --codes` prints it */
    if (!json_is_array(sequence) || !bits || count > UINT32_MAX)
        field_is_wrong(fields, "sequence", "a list of codes of a width that \"bits\" tells");
    if (fields->status)
        return;
    fields->status = doppel_fingerprint_make(scheme, (uint16_t)bits, (uint32_t)count,
                                             &record->fingerprint, fields->error);
    if (fields->status)
        return;
    record->fingerprint.version = record->version;
    json_array_foreach(sequence, i, pair)
    {
        if (!read_code_pair(pair, &record->fingerprint, (uint32_t)i)) {
            field_is_wrong(fields, "sequence", "pairs of a code in hex and an ascending position");
            return;
        }
    }
}

/* As `hash --json` prints it. */
static void read_one_code(struct fields *fields, const struct doppel_scheme *scheme,
                          struct doppel_record *record)
{
    const char *hex = json_string_value(json_object_get(fields->object, "code"));
    if (fields->status)
        return;
    fields->status =
        doppel_fingerprint_from_hex(scheme, hex ? hex : "", &record->fingerprint, fields->error);
    record->fingerprint.version = record->version;
}

static void read_json_record(struct fields *fields, struct doppel_record *record)
{
    const char *name = json_string_value(json_object_get(fields->object, "scheme"));
    const struct doppel_scheme *scheme = name ? doppel_scheme_by_name(name) : NULL;
    int64_t version = 0, width = 0, height = 0, quality = 0;
    int kind = DOPPEL_KIND_UNKNOWN;
    double seconds = 0;
    if (!scheme) {
        field_is_wrong(fields, "scheme", "a scheme that this version of doppel knows");
        return;
    }
    version = scheme->version;
    kind = scheme->kind;
    field_digest(fields, "digest", &record->digest);
    field_word(fields, "kind", kind_word, DOPPEL_KIND_VIDEO, &kind);
    field_number(fields, "version", 0, UINT16_MAX, &version);
    field_number(fields, "width", 0, UINT32_MAX, &width);
    field_number(fields, "height", 0, UINT32_MAX, &height);
    field_number(fields, "quality", 0, MAX_QUALITY, &quality);
    record->kind = (enum doppel_kind)kind;
    record->scheme = scheme->id;
    record->version = (uint16_t)version;
    record->width = (uint32_t)width;
    record->height = (uint32_t)height;
    record->quality = (uint8_t)quality;
    if (json_object_get(fields->object, "code") && !json_object_get(fields->object, "sequence"))
        read_one_code(fields, scheme, record);
    else
        read_code_fields(fields, scheme, record);
    field_base64(fields, "attachment", &record->attachment, &record->attachment_size);
    field_real(fields, "duration", 0, MAX_SECONDS, &seconds);
    if (!attach_audio_length(record, (uint64_t)llround(1000 * seconds)))
        fields->status = doppel_fail(fields->error, DOPPEL_E_MEMORY, "no memory for an item");
}

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
            read_json_record(fields, &item->record);
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

static void read_json_lanes(struct fields *fields, struct text_parts *parts, uint32_t *out_count)
{
    const char *hex = json_string_value(json_object_get(fields->object, "lanes"));
    uint8_t bytes[2 * DOPPEL_TEXT_MAX_LANES];
    size_t count = hex ? strlen(hex) / 4 : 0;
    if ((count != 128 && count != DOPPEL_TEXT_MAX_LANES) ||
        doppel_hex_decode(hex, bytes, 2 * count)) {
        field_is_wrong(fields, "lanes", "128 or 256 lanes of four hex digits");
        return;
    }
    for (size_t i = 0; i < count; i++)
        parts->lanes[i] = (uint16_t)(bytes[2 * i] << 8 | bytes[2 * i + 1]);
    *out_count = (uint32_t)count;
}

static void read_simhash_fields(struct fields *fields, uint64_t *out)
{
    const json_t *value = json_object_get(fields->object, "simhash");
    const char *hex = json_string_value(value);
    struct doppel_code code = {0};
    if (value && (!hex || doppel_code_from_hex(hex, 64, &code)))
        field_is_wrong(fields, "simhash", "16 hex digits");
    *out = code.word[0];
}

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
    int64_t id = 0, line = 0, offset = 0, size = 0, words = 0, shingles = 0;
    int decision = DOPPEL_DECISION_NEW;
    field_number(fields, "text", 0, INT64_MAX, &id);
    field_number(fields, "line", 0, INT64_MAX, &line);
    field_number(fields, "offset", 0, INT64_MAX, &offset);
    field_number(fields, "size", 0, INT64_MAX, &size);
    field_number(fields, "words", 0, INT64_MAX, &words);
    field_number(fields, "shingle_total", 0, INT64_MAX, &shingles);
    field_number(fields, "added_ns", INT64_MIN, INT64_MAX, &text->added_ns);
    field_word(fields, "decision", decision_word, DOPPEL_DECISION_CONFLICT, &decision);
    field_bool(fields, "too_short", &text->too_short);
    field_bool(fields, "leads", &text->leads);
    field_digest(fields, "content", &text->content);
    text->id = (uint64_t)id;
    text->line = (uint64_t)line;
    text->offset = (uint64_t)offset;
    text->size = (uint64_t)size;
    text->words = (uint64_t)words;
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
    read_json_lanes(fields, &parts, &text.lane_count);
    read_simhash_fields(fields, &text.simhash);
    read_json_shingles(fields, &text, &parts);
    read_json_metadata(fields, &carried.about);
    read_group_fields(fields, &text.leader, &carried.canonical);
    text.record_id = parts.record_id;
    text.path = parts.path;
    text.origin = (struct doppel_origin){parts.source, parts.date};
    text.lanes = parts.lanes;
    if (!json_object_get(fields->object, "content"))
        field_is_wrong(fields, "content", "there");
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
