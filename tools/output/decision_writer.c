/* Inputs with what was decided about them. */
#include "tools/output/decision_writer.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "compare/item_json.h"
#include "tools/memory.h"

/* A line that was annotated before, perhaps: its field is replaced. Lines that say "doppel" are
 * rare, so it may take its time. @return false when it is no object that can be read */
static bool write_reannotated(struct doppel_json *json, const struct doppel_decided *decided)
{
    struct doppel_json own = {0};
    json_t *record = json_loadb(decided->text, decided->text_size, 0, NULL);
    doppel_decision_to_json(&own, decided);
    json_t *value = json_loadb(own.bytes, own.size, 0, NULL);
    doppel_json_free(&own);
    char *line = NULL;
    bool written = false;
    if (value && json_object_get(record, "doppel") &&
        !json_object_set(record, "doppel", value)) /* at the same place */
        line = json_dumps(record, JSON_COMPACT);
    json_decref(value);
    json_decref(record);
    if (line) {
        doppel_json_append(json, line, strlen(line));
        written = true;
    }
    free(line);
    return written;
}

static void annotate_line(struct doppel_json *json, const struct doppel_decided *decided)
{
    size_t size = decided->text_size;
    if (memmem(decided->text, size, "\"doppel\"", 8) && write_reannotated(json, decided))
        return;
    while (size && decided->text[size - 1] != '}')
        size--;
    size -= size > 0;
    doppel_json_append(json, decided->text, size);
    while (size && strchr(" \t\r", decided->text[size - 1]))
        size--;
    if (size && decided->text[size - 1] != '{')
        doppel_json_append(json, ",", 1);
    doppel_json_append(json, "\"doppel\":", 9);
    doppel_decision_to_json(json, decided);
    doppel_json_object_end(json);
}

static void write_own_decision(struct doppel_json *json, const struct doppel_decided *decided)
{
    struct doppel_json own = {0};
    doppel_decision_to_json(&own, decided);
    doppel_json_raw(json, "doppel", own.bytes, own.size);
    json->failed |= own.failed;
    doppel_json_free(&own);
}

/* A line that is no JSON, as a string; its bytes where it is no string either. */
static void annotate_broken_line(struct doppel_json *json, const struct doppel_decided *decided)
{
    doppel_json_object_begin(json, NULL);
    if (memchr(decided->text, '\0', decided->text_size)) {
        doppel_json_base64(json, "line_base64", decided->text, decided->text_size);
    } else {
        char *line = must_have(strndup(decided->text, decided->text_size));
        doppel_json_path(json, "line", line);
        free(line);
    }
    write_own_decision(json, decided);
    doppel_json_object_end(json);
}

static bool is_json_object(const char *text, size_t size)
{
    json_t *value = json_loadb(text, size, 0, NULL);
    bool is_object = json_is_object(value);
    json_decref(value);
    return is_object;
}

/* The record of a file without the decision, or with it. */
static void write_file(struct doppel_json *json, const struct doppel_decided *decided,
                       bool annotated)
{
    struct doppel_metadata metadata =
        decided->metadata ? *decided->metadata : (struct doppel_metadata){0};
    metadata.source = (char *)decided->source;
    metadata.date = (char *)decided->date;
    doppel_json_object_begin(json, NULL);
    doppel_json_text(json, "id", decided->id);
    doppel_json_path(json, "path", decided->path);
    write_metadata(json, &metadata);
    if (annotated)
        write_own_decision(json, decided);
    doppel_json_object_end(json);
}

void decision_write_annotated(struct doppel_json *json, const struct doppel_decided *decided)
{
    if (decided->is_file)
        write_file(json, decided, true);
    else if (decided->decision == DOPPEL_DECISION_UNREADABLE &&
             !is_json_object(decided->text, decided->text_size))
        annotate_broken_line(json, decided);
    else
        annotate_line(json, decided);
}

/* ---- rows of CSV and TSV ---- */

static const char *const more_columns[] = {"doppel_decision", "doppel_of", "doppel_reason",
                                           "doppel_similarity"};

/* Its bytes without the newline, of either kind, which `out_end` is then. */
static size_t row_size(const char *row, size_t size, const char **out_end)
{
    bool newline = size && row[size - 1] == '\n';
    size -= newline;
    bool carriage = size && row[size - 1] == '\r';
    *out_end = carriage && newline ? "\r\n" : carriage ? "\r" : newline ? "\n" : "";
    return size - carriage;
}

static void append_cell(struct doppel_json *json, const char *text, char separator)
{
    const char odd[] = {separator, '"', '\r', '\n', '\0'};
    doppel_json_append(json, &separator, 1);
    if (!text || !text[strcspn(text, odd)]) {
        doppel_json_append(json, text ? text : "", text ? strlen(text) : 0);
        return;
    }
    doppel_json_append(json, "\"", 1);
    for (; *text; text++)
        doppel_json_append(json, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    doppel_json_append(json, "\"", 1);
}

void decision_write_annotated_row(struct doppel_json *json, const struct doppel_decided *decided,
                                  char separator)
{
    const char *end;
    char similarity[32] = "";
    size_t size = row_size(decided->text, decided->text_size, &end);
    doppel_json_append(json, decided->text, size);
    if (decided->decision != DOPPEL_DECISION_UNREADABLE) {
        if (decided->has_match)
            snprintf(similarity, sizeof similarity, "%.4f", decided->match.match.similarity);
        append_cell(json, doppel_decision_name(decided->decision), separator);
        append_cell(json, decided->of_id, separator);
        append_cell(json, decided->why, separator);
        append_cell(json, similarity, separator);
    }
    doppel_json_append(json, end, strlen(end));
}

void decision_write_row_names(struct doppel_json *json, const struct doppel_corpus_input *input)
{
    const char *end, separator = input->format == DOPPEL_CORPUS_TSV ? '\t' : ',';
    size_t size = row_size(input->head, input->head_size, &end);
    doppel_json_append(json, input->head, size);
    for (size_t i = 0; i < sizeof more_columns / sizeof *more_columns; i++)
        append_cell(json, more_columns[i], separator);
    doppel_json_append(json, end, strlen(end));
}

void decision_write_input(struct doppel_json *json, const struct doppel_decided *decided)
{
    if (!decided->is_file)
        doppel_json_append(json, decided->text, decided->text_size);
    else if (!decided->id)
        doppel_json_append(json, decided->path, strlen(decided->path));
    else
        write_file(json, decided, false);
}
