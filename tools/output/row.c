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

static void write_json_value(struct doppel_json *json, const char *key, const json_t *value)
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
    json_object_foreach(object, key, value) write_json_value(json, key, value);
    json_decref(object);
}

void write_kept_json(struct doppel_json *json, const char *key, const char *text)
{
    json_t *value = text ? json_loads(text, 0, NULL) : NULL;
    if (value)
        write_json_value(json, key, value);
    json_decref(value);
}

void put_match(json_t *object, const struct doppel_match *match)
{
    struct doppel_json written = {0};
    doppel_json_object_begin(&written, NULL);
    doppel_match_to_json(&written, match);
    doppel_json_object_end(&written);
    put_written(object, &written);
    doppel_json_free(&written);
}

void put_comparison(json_t *object, const struct doppel_comparison *comparison)
{
    struct doppel_json written = {0};
    doppel_json_object_begin(&written, NULL);
    doppel_match_to_json(&written, &comparison->match);
    doppel_evidence_to_json(&written, comparison);
    doppel_json_object_end(&written);
    put_written(object, &written);
    doppel_json_free(&written);
}
