/* Filling a row: numbers of sensible length, paths that are not UTF-8, matches. */
#include "tools/output/output.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base64.h"
#include "core/printable.h"
#include "tools/memory.h"

void put_value(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

void put_text(json_t *object, const char *key, const char *text)
{
    char *repaired = must_have(utf8_repaired(text));
    put_value(object, key, json_string(repaired));
    free(repaired);
}

void put_integer(json_t *object, const char *key, uint64_t value)
{
    put_value(object, key, json_integer((json_int_t)value));
}

void put_bool(json_t *object, const char *key, bool value)
{
    put_value(object, key, json_boolean(value));
}

/* JSON has no infinity: such a number is left out. */
static void put_real(json_t *object, const char *key, const char *format, int digits, double value)
{
    char text[64];
    if (!isfinite(value))
        return;
    snprintf(text, sizeof text, format, digits, value);
    put_value(object, key, json_real(strtod(text, NULL) + 0.0)); /* -0 becomes 0 */
}

void put_number(json_t *object, const char *key, double value, int decimals)
{
    put_real(object, key, "%.*f", decimals, value);
}

void put_rate(json_t *object, const char *key, double rate)
{
    put_real(object, key, "%.*g", 3, rate);
}

void put_path(json_t *object, const char *key, const char *path)
{
    char name[64];
    put_text(object, key, path);
    if (utf8_valid(path))
        return;
    char *encoded = base64_encode(path, strlen(path));
    snprintf(name, sizeof name, "%s_base64", key);
    put_value(object, name, json_string(encoded));
    free(encoded);
}

/* 15 digits give back every rounded decimal as it was written. */
enum { FLAGS = JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15) };

void put_written(json_t *object, const struct doppel_json *written)
{
    json_t *members = json_loadb(written->bytes, written->size, 0, NULL);
    json_object_update(object, members);
    json_decref(members);
}

static void write_value(struct doppel_json *json, const char *key, const json_t *value)
{
    char *text = json_dumps(value, FLAGS);
    if (text)
        doppel_json_raw(json, key, text, strlen(text));
    free(text);
}

void write_members(struct doppel_json *json, json_t *object)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) write_value(json, key, value);
    json_decref(object);
}

void write_kept_json(struct doppel_json *json, const char *key, const char *text)
{
    json_t *value = text ? json_loads(text, 0, NULL) : NULL;
    if (value)
        write_value(json, key, value);
    json_decref(value);
}

static double usual_as_1(double factor)
{
    return factor > 0 ? factor : 1;
}

static json_t *transform_of(const struct doppel_match *match)
{
    json_t *transform = json_object();
    if (match->transform.mirrored)
        put_bool(transform, "mirrored", true);
    if (match->transform.rotated)
        put_integer(transform, "rotated", match->transform.rotated);
    if (match->transform.cropped)
        put_bool(transform, "cropped", true);
    if (match->transform.trimmed)
        put_bool(transform, "trimmed", true);
    bool recording = match->scheme == DOPPEL_SCHEME_PEAKS32 || match->kind == DOPPEL_KIND_AUDIO;
    if (match->segment_count && (recording || match->scheme == DOPPEL_SCHEME_FRAMES64))
        put_number(transform, "speed", usual_as_1(match->transform.speed), 4);
    if (match->segment_count && recording)
        put_number(transform, "pitch", usual_as_1(match->transform.pitch), 4);
    return transform;
}

/* Of texts in characters, which are whole; else in seconds. */
static void put_place(json_t *segment, const char *key, enum doppel_kind kind, double place)
{
    if (kind == DOPPEL_KIND_TEXT)
        put_integer(segment, key, (uint64_t)place);
    else
        put_number(segment, key, place, 3);
}

static json_t *segments_of(const struct doppel_match *match)
{
    json_t *segments = json_array();
    for (size_t i = 0; i < match->segment_count; i++) {
        const struct doppel_segment *from = &match->segments[i];
        json_t *segment = json_object();
        put_place(segment, "a_start", match->kind, from->a_start);
        put_place(segment, "a_end", match->kind, from->a_end);
        put_place(segment, "b_start", match->kind, from->b_start);
        put_place(segment, "b_end", match->kind, from->b_end);
        if (match->kind != DOPPEL_KIND_TEXT)
            put_number(segment, "speed", from->speed, 4);
        json_array_append_new(segments, segment);
    }
    return segments;
}

void put_match(json_t *object, const struct doppel_match *match)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(match->scheme);
    if (match->kind)
        put_text(object, "kind", doppel_kind_name(match->kind));
    if (scheme)
        put_text(object, "scheme", scheme->name);
    put_text(object, "relation", doppel_relation_name(match->relation));
    if (match->bits) { /* of passages there is none */
        put_integer(object, "distance", match->distance);
        put_integer(object, "bits", match->bits);
    }
    put_number(object, "similarity", match->similarity, 4);
    if (match->false_positive_rate > 0)
        put_number(object, "score", match->score, 2);
    if (match->false_positive_rate >= 0) /* below: not known, as of codes judged by distance */
        put_rate(object, "false_positive_rate", match->false_positive_rate);
    put_text(object, "verified", doppel_verified_name(match->verified));
    if (match->has_coverage) {
        put_number(object, "query_coverage", match->query_coverage, 4);
        put_number(object, "item_coverage", match->item_coverage, 4);
    }
    if (match->time_uncertain)
        put_bool(object, "time_uncertain", true);
    if (match->segment_count)
        put_value(object, "segments", segments_of(match));
    json_t *transform = transform_of(match);
    if (json_object_size(transform))
        put_value(object, "transform", transform);
    else
        json_decref(transform);
}
