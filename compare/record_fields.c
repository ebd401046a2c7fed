/* Records whole, as fields of a JSON object. What is read may come from anybody. */
#include "compare/record_fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/audio.h"
#include "compare/text.h"

enum { MAX_QUALITY = 100, MAX_SECONDS = 1000000000 };

/* ---- writing ---- */

void write_digest_field(struct doppel_json *json, const char *key,
                        const struct doppel_digest *digest)
{
    char hex[2 * sizeof digest->bytes + 1];
    doppel_hex_encode(digest->bytes, sizeof digest->bytes, hex);
    doppel_json_text(json, key, hex);
}

void write_record_fields(struct doppel_json *json, const struct doppel_record *record)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(record->scheme);
    write_digest_field(json, "digest", &record->digest);
    doppel_json_text(json, "kind", doppel_kind_name(record->kind));
    doppel_json_text(json, "scheme", scheme ? scheme->name : "unknown");
    doppel_json_signed(json, "version", record->version);
    if (record->width || record->height) {
        doppel_json_signed(json, "width", record->width);
        doppel_json_signed(json, "height", record->height);
    }
    if (record->kind == DOPPEL_KIND_IMAGE || record->quality)
        doppel_json_signed(json, "quality", record->quality);
    doppel_json_signed(json, "bits", record->fingerprint.code_bits);
    doppel_json_codes(json, "sequence", &record->fingerprint);
    if (record->attachment_size)
        doppel_json_base64(json, "attachment", record->attachment, record->attachment_size);
}

/* ---- reading ---- */

static const char *kind_word(int number)
{
    return doppel_kind_name((enum doppel_kind)number);
}

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

void read_record_fields(struct fields *fields, struct doppel_record *record)
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
    quality = kind == DOPPEL_KIND_IMAGE ? MAX_QUALITY : 0; /* who gives a code means it */
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

/* ---- signatures of texts ---- */

void write_signature_fields(struct doppel_json *json, const struct doppel_library_text *text)
{
    char *lanes = lanes_in_hex(text->lanes, text->lane_count), simhash[17];
    write_digest_field(json, "content", &text->content);
    doppel_json_signed(json, "words", (int64_t)text->words);
    if (text->too_short)
        doppel_json_boolean(json, "too_short", true);
    doppel_json_text(json, "lanes", lanes);
    json->failed |= !lanes;
    free(lanes);
    doppel_code_to_hex(&(struct doppel_code){{text->simhash}}, 64, simhash);
    if (text->simhash)
        doppel_json_text(json, "simhash", simhash);
}

static void read_lanes(struct fields *fields, uint16_t lanes[static DOPPEL_TEXT_MAX_LANES],
                       uint32_t *out_count)
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
        lanes[i] = (uint16_t)(bytes[2 * i] << 8 | bytes[2 * i + 1]);
    *out_count = (uint32_t)count;
}

void read_signature_fields(struct fields *fields, struct doppel_library_text *text,
                           uint16_t lanes[static DOPPEL_TEXT_MAX_LANES])
{
    const json_t *value = json_object_get(fields->object, "simhash");
    const char *hex = json_string_value(value);
    struct doppel_code code = {0};
    int64_t words = 0;
    if (!json_object_get(fields->object, "content"))
        field_is_wrong(fields, "content", "there");
    field_digest(fields, "content", &text->content);
    field_number(fields, "words", 0, INT64_MAX, &words);
    field_bool(fields, "too_short", &text->too_short);
    read_lanes(fields, lanes, &text->lane_count);
    if (value && (!hex || doppel_code_from_hex(hex, 64, &code)))
        field_is_wrong(fields, "simhash", "16 hex digits");
    text->words = (uint64_t)words;
    text->simhash = code.word[0];
    text->lanes = lanes;
}
