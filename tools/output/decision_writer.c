/* Decisions about records as JSON. */
#include "tools/output/decision_writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

/* With at most 4 decimals; ties away from zero. */
static void write_share(struct doppel_json *json, const char *key, double value)
{
    doppel_json_number(json, key, (double)lround(value * 10000) / 10000, 4);
}

static void write_primary(struct doppel_json *json, const struct doppel_dedup_decision *decision)
{
    doppel_json_text(json, "of", decision->of);
    if (!decision->of && decision->of_item) /* a file, or a record without an id */
        doppel_json_integer(json, "of", decision->of_item);
    if (decision->of_item)
        doppel_json_integer(json, "of_item", decision->of_item);
    if (decision->of_path && strcmp(decision->of_path, decision->path) != 0)
        doppel_json_path(json, "of_path", decision->of_path);
    if (decision->of_line)
        doppel_json_integer(json, "of_line", decision->of_line);
    doppel_json_text(json, "replaces", decision->replaces);
}

static void write_text_match(struct doppel_json *json, enum doppel_decision decision,
                             const struct doppel_match *match)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(match->scheme);
    doppel_json_text(json, "kind", doppel_kind_name(match->kind));
    doppel_json_text(json, "scheme", scheme ? scheme->name : NULL);
    doppel_json_text(json, "relation", doppel_relation_name(match->relation));
    doppel_json_integer(json, "distance", match->distance);
    doppel_json_integer(json, "bits", match->bits);
    write_share(json, "similarity", match->similarity);
    doppel_json_text(json, "verified", doppel_verified_name(match->verified));
    if (!match->has_coverage)
        return;
    write_share(json, "query_coverage", match->query_coverage);
    write_share(json, "item_coverage", match->item_coverage);
    if (decision == DOPPEL_DECISION_REVISION) {
        write_share(json, "added", 1 - match->query_coverage);
        write_share(json, "removed", 1 - match->item_coverage);
    }
}

void decision_write(struct doppel_json *json, const struct doppel_dedup_decision *decision)
{
    doppel_json_object_begin(json, NULL);
    doppel_json_text(json, "id", decision->id);
    doppel_json_path(json, "path", decision->path);
    if (decision->line)
        doppel_json_integer(json, "line", decision->line);
    doppel_json_text(json, "decision", doppel_decision_name(decision->decision));
    write_primary(json, decision);
    doppel_json_text(json, "reason", decision->reason);
    if (decision->has_match)
        write_text_match(json, decision->decision, &decision->match);
    if (decision->item)
        doppel_json_integer(json, "item", decision->item);
    if (decision->same_id)
        doppel_json_integer(json, "same_id", decision->same_id);
    doppel_json_object_end(json);
}

/* A line that was annotated before, perhaps: its field is replaced. Lines that say "doppel" are
 * rare, so it may take its time. @return false when it is no object that can be read */
static bool write_reannotated(struct doppel_json *json,
                              const struct doppel_dedup_decision *decision)
{
    struct doppel_json own = {0};
    json_t *record = json_loadb(decision->line_text, decision->line_size, 0, NULL);
    decision_write(&own, decision);
    json_t *value = json_loadb(own.bytes, own.size, 0, NULL);
    doppel_json_free(&own);
    char *line = NULL;
    if (value && json_object_get(record, "doppel") &&
        !json_object_set(record, "doppel", value)) /* at the same place */
        line = json_dumps(record, JSON_COMPACT);
    json_decref(value);
    json_decref(record);
    if (line)
        doppel_json_append(json, line, strlen(line));
    free(line);
    return line;
}

void decision_write_annotated(struct doppel_json *json,
                              const struct doppel_dedup_decision *decision)
{
    size_t size = decision->line_size;
    if (memmem(decision->line_text, size, "\"doppel\"", 8) && write_reannotated(json, decision))
        return;
    while (size && decision->line_text[size - 1] != '}')
        size--;
    size -= size > 0;
    doppel_json_append(json, decision->line_text, size);
    while (size && strchr(" \t\r", decision->line_text[size - 1]))
        size--;
    if (size && decision->line_text[size - 1] != '{')
        doppel_json_append(json, ",", 1);
    doppel_json_append(json, "\"doppel\":", 9);
    decision_write(json, decision);
    doppel_json_object_end(json);
}
