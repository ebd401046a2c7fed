/* Labelled pairs from a CSV file. The parser gets a line at a time, so that a broken row is told by
 * its line and costs no other. */
#include "exchange/labelled_pairs.h"

#include <csv.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/array.h"

enum { FIELDS = 3, MAX_ROW_BYTES = 1 << 20, BLOCK_BYTES = 1 << 16 };

struct pair_reader {
    const char *path;
    struct doppel_run *run;
    bool no_memory;
    struct labels *labels;
    char *folder; /* with a slash at its end; "" for standard input and the working directory */

    struct csv_parser parser;
    uint64_t line, row_line; /* being read, from 1; that the row in progress begins in */
    size_t row_bytes;        /* of the row in progress; 0: there is none */
    uint64_t rows;
    bool skip_line; /* the rest of it belongs to a broken row */

    char *fields[FIELDS];
    size_t field_count;
    bool has_nul;
};

/* ---- a row ---- */

static void fail_row(struct pair_reader *reader, const char *reason)
{
    char *place = NULL;
    if (asprintf(&place, "%s:%llu", strcmp(reader->path, "-") == 0 ? "<stdin>" : reader->path,
                 (unsigned long long)reader->row_line) < 0) {
        reader->no_memory = true;
        return;
    }
    doppel_run_fail_input(reader->run, place, reason);
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

/* Given (free); NULL without memory. */
static char *path_of_pair(const struct pair_reader *reader, const char *path)
{
    char *whole = NULL;
    if (asprintf(&whole, "%s%s", path[0] == '/' ? "" : reader->folder, path) < 0)
        return NULL;
    return whole;
}

static void add_pair(struct pair_reader *reader, bool same)
{
    struct labels *labels = reader->labels;
    const struct label label = {.a = path_of_pair(reader, reader->fields[0]),
                                .b = path_of_pair(reader, reader->fields[1]),
                                .same = same,
                                .line = reader->row_line};
    if (label.a && label.b && array_push(labels, label))
        return;
    reader->no_memory = true;
    free(label.a);
    free(label.b);
}

static void take_pair_row(struct pair_reader *reader)
{
    bool same, first = reader->rows++ == 0;
    if (reader->has_nul)
        fail_row(reader, "a NUL in the row");
    else if (reader->field_count < FIELDS)
        fail_row(reader, "fewer than the three fields a, b and whether they are the same");
    else if (!label_of(reader->fields[2], &same))
        first ? doppel_run_detail(reader->run, reader->path, "the first line is taken for a header")
              : fail_row(reader, "the third field is not 1 or 0, yes or no, true or false");
    else if (!*reader->fields[0] || !*reader->fields[1])
        fail_row(reader, "an empty path");
    else
        add_pair(reader, same);
}

static void forget_row(struct pair_reader *reader)
{
    for (size_t i = 0; i < FIELDS; i++) {
        free(reader->fields[i]);
        reader->fields[i] = NULL;
    }
    reader->field_count = reader->row_bytes = 0;
    reader->has_nul = false;
}

/* ---- what the parser calls ---- */

static void on_pair_field(void *bytes, size_t size, void *context)
{
    struct pair_reader *reader = context;
    if (reader->field_count < FIELDS) {
        reader->fields[reader->field_count] = strdup(bytes);
        if (!reader->fields[reader->field_count]) {
            reader->no_memory = true;
            return;
        }
        reader->has_nul |= strlen(bytes) != size;
    }
    reader->field_count++;
}

static void on_pair_row(int terminator, void *context)
{
    struct pair_reader *reader = context;
    (void)terminator;
    take_pair_row(reader);
    forget_row(reader);
}

/* ---- lines ---- */

static void parser_start(struct pair_reader *reader)
{
    if (csv_init(&reader->parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL))
        abort(); /* it fails for NULL only */
}

static void give_up_row(struct pair_reader *reader, const char *reason)
{
    fail_row(reader, reason);
    forget_row(reader);
    csv_free(&reader->parser);
    parser_start(reader);
    reader->skip_line = true;
}

static void parse(struct pair_reader *reader, const char *bytes, size_t size)
{
    if (!reader->row_bytes)
        reader->row_line = reader->line;
    reader->row_bytes += size;
    if (csv_parse(&reader->parser, bytes, size, on_pair_field, on_pair_row, reader) != size)
        give_up_row(reader, csv_error(&reader->parser) == CSV_EPARSE
                                ? "a quote in the middle of a field (in a quoted field it is "
                                  "doubled)"
                                : "out of memory");
    else if (reader->row_bytes > MAX_ROW_BYTES)
        give_up_row(reader, "a row of more than 1 MiB: is a quote not closed?");
}

/* A line, or a part of one. */
static void take_piece(struct pair_reader *reader, const char *bytes, size_t size)
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

static enum doppel_status parse_stream(struct pair_reader *reader, FILE *stream,
                                       struct doppel_error *error)
{
    static const char mark[] = "\xEF\xBB\xBF"; /* UTF-8's byte order mark */
    char *block = malloc(BLOCK_BYTES);
    bool begun = false;
    if (!block)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for labelled pairs");
    for (size_t size; !doppel_run_cancelled(reader->run) && !reader->no_memory &&
                      (size = fread(block, 1, BLOCK_BYTES, stream));) {
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
    if (doppel_run_cancelled(reader->run))
        return doppel_fail(error, DOPPEL_E_CANCELLED, "stopped");
    if (ferror(stream))
        return doppel_fail(error, DOPPEL_E_IO, "%s: cannot be read (%s)", reader->path,
                           strerror(errno));
    if (csv_fini(&reader->parser, on_pair_field, on_pair_row, reader))
        give_up_row(reader, "a quote that is never closed");
    return reader->no_memory ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for labelled pairs")
                             : DOPPEL_OK;
}

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (strcmp(path, "-") == 0 || !slash)
        return strdup("");
    return strndup(path, (size_t)(slash - path) + 1);
}

enum doppel_status labels_read(struct doppel_run *run, const char *path, struct labels *out,
                               struct doppel_error *error)
{
    FILE *stream = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (!stream)
        return doppel_fail(error, errno == ENOENT ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO,
                           "%s: cannot be opened (%s)", path, strerror(errno));
    *out = (struct labels){0};
    struct pair_reader reader = {
        .path = path, .run = run, .labels = out, .folder = folder_of(path), .line = 1};
    enum doppel_status status = DOPPEL_E_MEMORY;
    if (reader.folder) {
        parser_start(&reader);
        status = parse_stream(&reader, stream, error);
        forget_row(&reader);
        csv_free(&reader.parser);
    } else {
        doppel_fail(error, status, "no memory for labelled pairs");
    }
    free(reader.folder);
    if (stream != stdin)
        (void)fclose(stream);
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
