/* Labelled pairs from a CSV file. The parser gets a line at a time, so that a broken row is told by
 * its line and costs no other. */
#include "exchange/labelled_pairs.h"

#include <csv.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/memory.h"
#include "tools/signals.h"

enum { FIELDS = 3, MAX_ROW_BYTES = 1 << 20, BLOCK_BYTES = 1 << 16 };

struct reader {
    const char *path;
    struct report *report;
    struct labels *labels;
    char *folder; /* with a slash at its end; "" for standard input and the working directory */

    struct csv_parser parser;
    uint64_t line, row_line; /* being read, from 1; that the row under way begins in */
    size_t row_bytes;        /* of the row under way; 0: there is none */
    uint64_t rows;
    bool skip_line; /* the rest of it belongs to a broken row */

    char *fields[FIELDS];
    size_t field_count;
    bool has_nul;
};

/* ---- a row ---- */

static void report_row(struct reader *reader, const char *reason)
{
    size_t size = strlen(reader->path) + 32;
    char *place = must_allocate(size);
    snprintf(place, size, "%s:%llu", strcmp(reader->path, "-") == 0 ? "<stdin>" : reader->path,
             (unsigned long long)reader->row_line);
    report_input(reader->report, place, reason);
    free(place);
}

static bool label_of(const char *word, bool *out)
{
    static const struct {
        const char *word;
        bool same;
    } words[] = {{"1", true}, {"0", false}, {"yes", true},  {"no", false},
                 {"y", true}, {"n", false}, {"true", true}, {"false", false}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(word, words[i].word) == 0) {
            *out = words[i].same;
            return true;
        }
    return false;
}

static char *resolved(const struct reader *reader, const char *path)
{
    const char *folder = path[0] == '/' ? "" : reader->folder;
    char *whole = must_allocate(strlen(folder) + strlen(path) + 1);
    strcat(strcpy(whole, folder), path);
    return whole;
}

static void add_label(struct reader *reader, bool same)
{
    struct labels *labels = reader->labels;
    if (labels->count == labels->capacity) {
        labels->capacity = 2 * labels->capacity + 64;
        labels->items = must_resize(labels->items, labels->capacity * sizeof *labels->items);
    }
    labels->items[labels->count++] = (struct label){.a = resolved(reader, reader->fields[0]),
                                                    .b = resolved(reader, reader->fields[1]),
                                                    .same = same,
                                                    .line = reader->row_line};
}

static void take_row(struct reader *reader)
{
    bool same, first = reader->rows++ == 0;
    if (reader->has_nul)
        report_row(reader, "a NUL in the row");
    else if (reader->field_count < FIELDS)
        report_row(reader, "fewer than the three fields a, b and whether they are the same");
    else if (!label_of(reader->fields[2], &same))
        first ? report_detail(reader->report, reader->path, "the first line is taken for a header")
              : report_row(reader, "the third field is not 1 or 0, yes or no, true or false");
    else if (!*reader->fields[0] || !*reader->fields[1])
        report_row(reader, "an empty path");
    else
        add_label(reader, same);
}

static void forget_row(struct reader *reader)
{
    for (size_t i = 0; i < FIELDS; i++) {
        free(reader->fields[i]);
        reader->fields[i] = NULL;
    }
    reader->field_count = reader->row_bytes = 0;
    reader->has_nul = false;
}

/* ---- what the parser calls ---- */

static void on_field(void *bytes, size_t size, void *context)
{
    struct reader *reader = context;
    if (reader->field_count < FIELDS) {
        reader->fields[reader->field_count] = must_copy(bytes);
        reader->has_nul |= strlen(bytes) != size;
    }
    reader->field_count++;
}

static void on_row(int terminator, void *context)
{
    struct reader *reader = context;
    (void)terminator;
    take_row(reader);
    forget_row(reader);
}

/* ---- lines ---- */

static void parser_start(struct reader *reader)
{
    if (csv_init(&reader->parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL))
        abort(); /* it fails for NULL only */
}

static void give_up_row(struct reader *reader, const char *reason)
{
    report_row(reader, reason);
    forget_row(reader);
    csv_free(&reader->parser);
    parser_start(reader);
    reader->skip_line = true;
}

static void parse(struct reader *reader, const char *bytes, size_t size)
{
    if (!reader->row_bytes)
        reader->row_line = reader->line;
    reader->row_bytes += size;
    if (csv_parse(&reader->parser, bytes, size, on_field, on_row, reader) != size)
        give_up_row(reader, csv_error(&reader->parser) == CSV_EPARSE
                                ? "a quote in the middle of a field (in a quoted field it is "
                                  "doubled)"
                                : "out of memory");
    else if (reader->row_bytes > MAX_ROW_BYTES)
        give_up_row(reader, "a row of more than 1 MiB: is a quote not closed?");
}

/* A line, or a part of one. */
static void take_piece(struct reader *reader, const char *bytes, size_t size)
{
    bool ends = bytes[size - 1] == '\n';
    if (!reader->skip_line)
        parse(reader, bytes, size);
    if (!ends)
        return;
    reader->line++;
    reader->skip_line = false;
    if (!reader->field_count && !reader->parser.quoted)
        reader->row_bytes = 0; /* it was empty */
}

static enum doppel_status parse_stream(struct reader *reader, FILE *stream,
                                       struct doppel_error *error)
{
    static const char mark[] = "\xEF\xBB\xBF"; /* UTF-8's byte order mark */
    char *block = must_allocate(BLOCK_BYTES);
    bool begun = false;
    for (size_t size; !signals_stopped() && (size = fread(block, 1, BLOCK_BYTES, stream));) {
        size_t at = !begun && size >= 3 && memcmp(block, mark, 3) == 0 ? 3 : 0;
        begun = true;
        while (at < size) {
            const char *end = memchr(block + at, '\n', size - at);
            size_t length = end ? (size_t)(end - block) + 1 - at : size - at;
            take_piece(reader, block + at, length);
            at += length;
        }
    }
    free(block);
    if (signals_stopped())
        return doppel_fail(error, DOPPEL_E_CANCELLED, "stopped");
    if (ferror(stream))
        return doppel_fail(error, DOPPEL_E_IO, "%s: cannot be read (%s)", reader->path,
                           strerror(errno));
    if (csv_fini(&reader->parser, on_field, on_row, reader))
        give_up_row(reader, "a quote that is never closed");
    return DOPPEL_OK;
}

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (strcmp(path, "-") == 0 || !slash)
        return must_copy("");
    char *folder = must_copy(path);
    folder[slash - path + 1] = 0;
    return folder;
}

enum doppel_status labels_read(const char *path, struct report *report, struct labels *out,
                               struct doppel_error *error)
{
    FILE *stream = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (!stream)
        return doppel_fail(error, DOPPEL_E_IO, "%s: cannot be opened (%s)", path, strerror(errno));
    *out = (struct labels){0};
    struct reader reader = {
        .path = path, .report = report, .labels = out, .folder = folder_of(path), .line = 1};
    parser_start(&reader);
    enum doppel_status status = parse_stream(&reader, stream, error);
    forget_row(&reader);
    csv_free(&reader.parser);
    free(reader.folder);
    if (stream != stdin)
        fclose(stream);
    if (status)
        labels_free(out);
    return status;
}

void labels_free(struct labels *labels)
{
    for (size_t i = 0; i < labels->count; i++) {
        free(labels->items[i].a);
        free(labels->items[i].b);
    }
    free(labels->items);
    *labels = (struct labels){0};
}
