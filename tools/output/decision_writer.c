/* Decisions about records as JSON. */
#include "tools/output/decision_writer.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/base64.h"
#include "tools/memory.h"
#include "core/printable.h"

void decision_text_free(struct decision_text *text)
{
    free(text->bytes);
    *text = (struct decision_text){0};
}

static char *make_room(struct decision_text *text, size_t size)
{
    if (text->capacity - text->size < size) {
        text->capacity = 2 * (text->size + size);
        text->bytes = must_resize(text->bytes, text->capacity);
    }
    return text->bytes + text->size;
}

static void append(struct decision_text *text, const char *bytes, size_t size)
{
    memcpy(make_room(text, size), bytes, size);
    text->size += size;
}

DOPPEL_PRINTF(2, 3)
static void append_format(struct decision_text *text, const char *format, ...)
{
    enum { ENOUGH = 128 };
    va_list arguments;
    va_start(arguments, format);
    text->size += (size_t)vsnprintf(make_room(text, ENOUGH), ENOUGH, format, arguments);
    va_end(arguments);
}

/* ---- values ---- */

static void append_escaped(struct decision_text *text, unsigned char byte)
{
    if (byte == '"' || byte == '\\') {
        char *to = make_room(text, 2);
        to[0] = '\\';
        to[1] = (char)byte;
        text->size += 2;
    } else {
        append_format(text, "\\u%04x", byte);
    }
}

/* A string of valid UTF-8. */
static void append_string(struct decision_text *text, const char *string)
{
    append(text, "\"", 1);
    for (const char *from = string; *from;) {
        const char *to = from;
        while ((unsigned char)*to >= 0x20 && *to != '"' && *to != '\\' && *to != 0x7f)
            to++;
        append(text, from, (size_t)(to - from));
        if (*to)
            append_escaped(text, (unsigned char)*to++);
        from = to;
    }
    append(text, "\"", 1);
}

static void append_key(struct decision_text *text, const char *key)
{
    bool first = text->bytes[text->size - 1] == '{';
    append(text, ",\"", 2);
    if (first) {
        text->size -= 2;
        append(text, "\"", 1);
    }
    append(text, key, strlen(key));
    append(text, "\":", 2);
}

static void put_string(struct decision_text *text, const char *key, const char *string)
{
    if (!string)
        return;
    append_key(text, key);
    if (utf8_valid(string)) {
        append_string(text, string);
        return;
    }
    char *repaired = must_have(utf8_repaired(string));
    append_string(text, repaired);
    free(repaired);
}

static void put_count(struct decision_text *text, const char *key, uint64_t value)
{
    append_key(text, key);
    append_format(text, "%llu", (unsigned long long)value);
}

/* With at most 4 decimals, and without zeros at the end. */
static void put_share(struct decision_text *text, const char *key, double value)
{
    unsigned thousandths = (unsigned)lround(value * 10000), digits = 4;
    append_key(text, key);
    append_format(text, "%u.%04u", thousandths / 10000, thousandths % 10000);
    while (--digits && text->bytes[text->size - 1] == '0')
        text->size--;
}

static void put_file(struct decision_text *text, const char *key, const char *path)
{
    char name[32];
    put_string(text, key, path);
    if (utf8_valid(path))
        return;
    char *encoded = base64_encode(path, strlen(path));
    snprintf(name, sizeof name, "%s_base64", key);
    put_string(text, name, encoded);
    free(encoded);
}

/* ---- decisions ---- */

static void put_leader(struct decision_text *text, const struct doppel_dedup_decision *decision)
{
    put_string(text, "of", decision->of);
    if (!decision->of && decision->of_item) /* a file, or a record without an id */
        put_count(text, "of", decision->of_item);
    if (decision->of_item)
        put_count(text, "of_item", decision->of_item);
    if (decision->of_path && strcmp(decision->of_path, decision->path) != 0)
        put_file(text, "of_path", decision->of_path);
    if (decision->of_line)
        put_count(text, "of_line", decision->of_line);
    put_string(text, "replaces", decision->replaces);
}

static void put_text_match(struct decision_text *text, enum doppel_decision decision,
                           const struct doppel_match *match)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(match->scheme);
    put_string(text, "kind", doppel_kind_name(match->kind));
    put_string(text, "scheme", scheme ? scheme->name : NULL);
    put_string(text, "relation", doppel_relation_name(match->relation));
    put_count(text, "distance", match->distance);
    put_count(text, "bits", match->bits);
    put_share(text, "similarity", match->similarity);
    put_string(text, "verified", doppel_verified_name(match->verified));
    if (!match->has_coverage)
        return;
    put_share(text, "query_coverage", match->query_coverage);
    put_share(text, "item_coverage", match->item_coverage);
    if (decision == DOPPEL_DECISION_REVISION) {
        put_share(text, "added", 1 - match->query_coverage);
        put_share(text, "removed", 1 - match->item_coverage);
    }
}

void decision_append(struct decision_text *text, const struct doppel_dedup_decision *decision)
{
    append(text, "{", 1);
    put_string(text, "id", decision->id);
    put_file(text, "path", decision->path);
    if (decision->line)
        put_count(text, "line", decision->line);
    put_string(text, "decision", doppel_decision_name(decision->decision));
    put_leader(text, decision);
    put_string(text, "reason", decision->reason);
    if (decision->has_match)
        put_text_match(text, decision->decision, &decision->match);
    if (decision->item)
        put_count(text, "item", decision->item);
    if (decision->same_id)
        put_count(text, "same_id", decision->same_id);
    append(text, "}", 1);
}

/* A line that was annotated before, perhaps: its field is replaced. Lines that say "doppel" are
 * rare, so it may take its time. @return false when it is no object that can be read */
static bool append_reannotated(struct decision_text *text,
                               const struct doppel_dedup_decision *decision)
{
    struct decision_text own = {0};
    json_t *record = json_loadb(decision->line_text, decision->line_size, 0, NULL);
    decision_append(&own, decision);
    json_t *value = json_loadb(own.bytes, own.size, 0, NULL);
    free(own.bytes);
    char *line = NULL;
    if (value && json_object_get(record, "doppel") &&
        !json_object_set(record, "doppel", value)) /* at the same place */
        line = json_dumps(record, JSON_COMPACT);
    json_decref(value);
    json_decref(record);
    if (line)
        append(text, line, strlen(line));
    free(line);
    return line;
}

void decision_append_annotated(struct decision_text *text,
                               const struct doppel_dedup_decision *decision)
{
    size_t size = decision->line_size;
    if (memmem(decision->line_text, size, "\"doppel\"", 8) && append_reannotated(text, decision))
        return;
    while (size && decision->line_text[size - 1] != '}')
        size--;
    size -= size > 0;
    append(text, decision->line_text, size);
    while (size && strchr(" \t\r", decision->line_text[size - 1]))
        size--;
    if (size && decision->line_text[size - 1] != '{')
        append(text, ",", 1);
    append(text, "\"doppel\":", 9);
    decision_append(text, decision);
    append(text, "}", 1);
}

void decision_append_line(struct decision_text *text, const struct doppel_dedup_decision *decision)
{
    append(text, decision->line_text, decision->line_size);
}

void decision_append_bytes(struct decision_text *text, const char *bytes, size_t size)
{
    append(text, bytes, size);
}

static int take_json(const char *bytes, size_t size, void *context)
{
    append(context, bytes, size);
    return 0;
}

void decision_append_json(struct decision_text *text, const json_t *value)
{
    json_dump_callback(value, take_json, text, JSON_COMPACT | JSON_REAL_PRECISION(15));
}

void decision_end_line(struct decision_text *text)
{
    append(text, "\n", 1);
}
