/* Single records in JSON, pushed to a decider. */
#include "decide/record_line.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/try.h"
#include "corpus/read/reader.h"
#include "corpus/read/record_metadata.h"
#include "corpus/read/record_path.h"

struct record_lines {
    const struct doppel_decide_options *options;
    struct parser *parser;
    char *buffer; /* a line, and PARSE_SLACK bytes that the parser may read behind it */
    size_t capacity;
};

enum doppel_status record_lines_new(const struct doppel_decide_options *options,
                                    struct record_lines **out, struct doppel_error *error)
{
    struct record_lines *lines = calloc(1, sizeof *lines);
    if (lines)
        lines->parser = parser_new(&options->fields);
    if (!lines || !lines->parser ||
        (!options->ignore_metadata && !parser_take_metadata(lines->parser))) {
        record_lines_free(lines);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a parser");
    }
    lines->options = options;
    *out = lines;
    return DOPPEL_OK;
}

void record_lines_free(struct record_lines *lines)
{
    if (!lines)
        return;
    parser_free(lines->parser);
    free(lines->buffer);
    free(lines);
}

static enum doppel_status copy_line(struct record_lines *lines, const char *line, size_t size,
                                    struct doppel_error *error)
{
    const uint64_t most = lines->options->records.max_line_bytes;
    if (most && size > most)
        return doppel_fail(error, DOPPEL_E_FORMAT, "it has more than %llu bytes (--max-record)",
                           (unsigned long long)most);
    if (lines->capacity < size + PARSE_SLACK) {
        char *grown = realloc(lines->buffer, size + PARSE_SLACK);
        if (!grown)
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a record");
        lines->buffer = grown;
        lines->capacity = size + PARSE_SLACK;
    }
    if (size)
        memcpy(lines->buffer, line, size);
    memset(lines->buffer + size, 0, PARSE_SLACK);
    return DOPPEL_OK;
}

/* ---- codes ---- */

/* The code of an object that has neither text nor path. @param out given
 * (doppel_fingerprint_free) */
static enum doppel_status read_code_record(const char *line, size_t size,
                                           struct doppel_fingerprint *out,
                                           struct doppel_error *error)
{
    json_t *object = json_loadb(line, size, 0, NULL);
    const char *code = json_string_value(json_object_get(object, "code"));
    const json_t *named = json_object_get(object, "scheme");
    const char *name = named ? json_string_value(named) : "phash64";
    const struct doppel_scheme *scheme = name ? doppel_scheme_by_name(name) : NULL;
    enum doppel_status status;
    if (!code)
        status = doppel_fail(error, DOPPEL_E_FORMAT, "it has neither text, path nor code");
    else if (!scheme)
        status = doppel_fail(error, DOPPEL_E_FORMAT, "there is no scheme '%s'", name ? name : "");
    else
        status = doppel_fingerprint_from_hex(scheme, code, out, error);
    json_decref(object);
    return status == DOPPEL_E_ARGUMENT ? DOPPEL_E_FORMAT : status;
}

/* Whether an object that has a text or a path has a code, too, of which nothing would be said.
 * Another field may be named "code", of a country, say. */
static bool has_code_also(const char *line, size_t size)
{
    struct doppel_fingerprint code = {0};
    const bool has =
        memmem(line, size, "\"code\"", 6) && !read_code_record(line, size, &code, NULL);
    doppel_fingerprint_free(&code);
    return has;
}

static enum doppel_status push_code(struct doppel_decider *decider,
                                    const struct doppel_fingerprint *code,
                                    struct doppel_decide_input *input, struct doppel_error *error)
{
    const struct doppel_record record = {.kind = doppel_scheme_by_id(code->scheme)->kind,
                                         .scheme = code->scheme,
                                         .version = code->version,
                                         .fingerprint = *code};
    input->record = &record;
    enum doppel_status status = doppel_decider_push(decider, input, error);
    return status == DOPPEL_E_ARGUMENT ? DOPPEL_E_FORMAT : status;
}

/* ---- a record ---- */

/* Id, source, date and metadata of a record. @param metadata of the parser; may be NULL */
static struct doppel_decide_input describe_input(const struct doppel_corpus_record *record,
                                                 const struct doppel_metadata *metadata,
                                                 const char *id)
{
    return (struct doppel_decide_input){
        .id = record->id && *record->id       ? record->id
              : record->path && !record->text ? NULL
                                              : id,
        .source = record->source,
        .date = record->date,
        .metadata = metadata,
    };
}

enum doppel_status record_lines_push(struct record_lines *lines, struct doppel_decider *decider,
                                     const char *line, size_t size, const char *id,
                                     struct doppel_error *error)
{
    struct doppel_corpus_record record = {0};
    struct doppel_fingerprint code = {0};
    struct doppel_metadata *metadata = NULL;
    char path[PATH_MAX];
    enum doppel_status status;
    TRY(copy_line(lines, line, size, error));
    parser_line(lines->parser, lines->buffer, size, &record);
    metadata = parser_give_metadata(lines->parser);
    if (record.error.status == DOPPEL_E_MEMORY)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a record"));
    if (record.error.status && !record.lacks_text)
        TRY(doppel_fail(error, DOPPEL_E_FORMAT, "%s", record.error.message));
    struct doppel_decide_input input = describe_input(&record, metadata, id);
    if (record.lacks_text) {
        TRY(read_code_record(lines->buffer, size, &code, error));
        TRY(push_code(decider, &code, &input, error));
        goto done;
    }
    if (has_code_also(lines->buffer, size))
        TRY(doppel_fail(error, DOPPEL_E_FORMAT,
                        "it has a code beside its %s: send a message for each",
                        record.text ? "text" : "path"));
    input.text = record.text;
    input.text_size = record.text_size;
    if (!record.text && !*record.path)
        TRY(doppel_fail(error, DOPPEL_E_FORMAT, "the path is empty"));
    if (!record.text) {
        status = record_path(&record, &lines->options->fields, "-", path, error);
        if (status)
            TRY(DOPPEL_E_FORMAT);
        input.path = path;
    }
    TRY(doppel_decider_push(decider, &input, error));
done:
    record_metadata_free(metadata);
    doppel_fingerprint_free(&code);
    return status;
}
