/* Vectors as JSON Lines, and ids one a line. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/files/line_reader.h"
#include "core/try.h"
#include "embed/brought/brought.h"
#include "embed/brought/line_values.h"

enum { MOST_LINE = 16 << 20, MOST_ID_LINE = 1 << 20, STEP_LINES = 256 };

static const char byte_order_mark[] = "\xEF\xBB\xBF";

/* What the last line_reader_next means: the end of the file is none. */
static enum doppel_status end_lines(enum doppel_status status, const struct line_reader *reader,
                                    const char *path, struct doppel_error *error)
{
    if (status == DOPPEL_E_NOT_FOUND)
        return DOPPEL_OK;
    if (status == DOPPEL_E_LIMIT)
        return doppel_fail(error, status, "%s: line %" PRIu64 ": %s", path, reader->line,
                           error->message);
    return status == DOPPEL_E_IO ? doppel_fail(error, status, "%s: %s", path, error->message)
                                 : status;
}

/* ---- vectors ---- */

struct line_vectors {
    const struct vector_input *input;
    struct line_reader reader;
    struct vector_spool rows;
    struct id_spool ids;
    bool with_ids;
    size_t count, dimension;
    struct line_parser *parser;
};

static enum doppel_status fail_line(const struct line_vectors *lines, struct doppel_error *error,
                                    const char *reason)
{
    return doppel_fail(error, DOPPEL_E_FORMAT, "%s: line %" PRIu64 ": %s", lines->input->path,
                       lines->reader.line, reason);
}

/* The first one says what all are like. */
static enum doppel_status begin_line_rows(struct line_vectors *lines, size_t dimension,
                                          bool with_ids, struct doppel_error *error)
{
    enum doppel_status status;
    TRY(check_vector_counts(lines->input->path, 1, dimension, error));
    lines->dimension = dimension;
    lines->with_ids = with_ids;
    TRY(vector_spool_open(lines->input->run, &lines->rows, error));
    if (with_ids)
        TRY(id_spool_open(lines->input->run, &lines->ids, error));
done:
    return status;
}

static enum doppel_status put_id(struct line_vectors *lines, const struct line_values *values,
                                 struct doppel_error *error)
{
    char number[24];
    if ((values->id != LINE_ID_NONE) != lines->with_ids)
        return fail_line(lines, error,
                         lines->with_ids ? "has no \"id\", which others have"
                                         : "has an \"id\", which others have not");
    switch (values->id) {
    case LINE_ID_NONE:
        return DOPPEL_OK;
    case LINE_ID_TEXT:
        return memchr(values->text, 0, values->text_size)
                   ? fail_line(lines, error, "its \"id\" holds a NUL")
                   : id_spool_put(&lines->ids, values->text, values->text_size, error);
    case LINE_ID_NUMBER:
        snprintf(number, sizeof number, "%" PRId64, values->number);
        return id_spool_put(&lines->ids, number, strlen(number), error);
    default:
        return fail_line(lines, error, "its \"id\" is neither a text nor a whole number");
    }
}

static enum doppel_status take_record(struct line_vectors *lines, const struct line_values *values,
                                      struct doppel_error *error)
{
    const size_t dimension = values->dimension;
    char name[32];
    enum doppel_status status = DOPPEL_OK;
    if (!lines->count)
        TRY(begin_line_rows(lines, dimension, values->id != LINE_ID_NONE, error));
    if (dimension != lines->dimension)
        TRY(doppel_fail(error, DOPPEL_E_FORMAT,
                        "%s: line %" PRIu64 ": has %zu dimensions, where others have %zu",
                        lines->input->path, lines->reader.line, dimension, lines->dimension));
    snprintf(name, sizeof name, "line %" PRIu64, lines->reader.line);
    TRY(check_largest(lines->input->path, name, values->largest, error));
    TRY(put_id(lines, values, error));
    TRY(vector_spool_put(&lines->rows, values->vector, dimension * sizeof *values->vector, error));
    lines->count++;
done:
    return status;
}

static enum doppel_status take_json_line(struct line_vectors *lines, const char *line, size_t size,
                                         struct doppel_error *error)
{
    struct line_values values;
    if (strspn(line, " \t\r") == size)
        return DOPPEL_OK;
    const char *problem = line_parser_parse(lines->parser, line, size, &values);
    if (problem)
        return *problem ? fail_line(lines, error, problem)
                        : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a line");
    return take_record(lines, &values, error);
}

bool begins_as_vector_lines(const char *bytes, size_t size)
{
    size_t at = size > 3 && memcmp(bytes, byte_order_mark, 3) == 0 ? 3 : 0;
    while (at < size && bytes[at] && strchr(" \t\r\n", bytes[at]))
        at++;
    return at < size && bytes[at] == '{';
}

/* What lies in a file was looked at; of a pipe only this can be read. */
static enum doppel_status check_begin(struct line_vectors *lines, struct doppel_error *error)
{
    const char *bytes;
    size_t size = line_reader_peek(&lines->reader, &bytes);
    if (!size || begins_as_vector_lines(bytes, size))
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_FORMAT,
                       "%s: no JSON Lines, which alone are read of a pipe; give other files by "
                       "their name",
                       lines->input->path);
}

static enum doppel_status read_all_lines(struct line_vectors *lines, struct doppel_error *error)
{
    char *line;
    size_t size;
    enum doppel_status status;
    TRY(check_begin(lines, error));
    while (!(status = line_reader_next(&lines->reader, &line, &size, error))) {
        const size_t skipped =
            lines->reader.line == 1 && !strncmp(line, byte_order_mark, 3) ? 3 : 0;
        TRY(take_json_line(lines, line + skipped, size - skipped, error));
        if (lines->count % STEP_LINES == 0) {
            doppel_run_advance(lines->input->run, lines->count);
            if (doppel_run_cancelled(lines->input->run))
                TRY(doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted"));
        }
    }
    status = end_lines(status, &lines->reader, lines->input->path, error);
done:
    return status;
}

static enum doppel_status keep_rows(struct line_vectors *lines, struct doppel_vector_file *file,
                                    struct doppel_error *error)
{
    enum doppel_status status;
    TRY(check_vector_counts(lines->input->path, lines->count, lines->dimension, error));
    TRY(vector_spool_map(&lines->rows, &file->rows, error));
    if (lines->with_ids)
        TRY(take_ids(&lines->ids, file, error));
    file->vectors.rows = (const float *)(const void *)file->rows.bytes;
    file->vectors.count = lines->count;
    file->vectors.dimension = (uint32_t)lines->dimension;
done:
    return status;
}

enum doppel_status read_vector_lines(const struct vector_input *input,
                                     struct doppel_vector_file *file, struct doppel_error *error)
{
    struct line_vectors lines = {.input = input, .parser = line_parser_new()};
    enum doppel_status status;
    line_reader_begin(&lines.reader, input->fd, MOST_LINE, input->run);
    doppel_run_begin(input->run, "vectors", 0);
    if (!lines.parser)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read lines"));
    TRY(read_all_lines(&lines, error));
    TRY(keep_rows(&lines, file, error));
done:
    doppel_run_end(input->run);
    line_reader_end(&lines.reader);
    vector_spool_close(&lines.rows);
    id_spool_close(&lines.ids);
    line_parser_free(lines.parser);
    return status;
}

/* ---- ids ---- */

static enum doppel_status put_id_lines(struct line_reader *reader, const char *path,
                                       struct id_spool *ids, size_t *out_count,
                                       struct doppel_error *error)
{
    char *line;
    size_t size;
    enum doppel_status status;
    while (!(status = line_reader_next(reader, &line, &size, error))) {
        if (strlen(line) != size)
            TRY(doppel_fail(error, DOPPEL_E_FORMAT, "%s: line %" PRIu64 ": holds a NUL", path,
                            reader->line));
        TRY(id_spool_put(ids, line, size, error));
        (*out_count)++;
        if (*out_count % STEP_LINES == 0 && doppel_run_cancelled(reader->run))
            TRY(doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted"));
    }
    status = end_lines(status, reader, path, error);
done:
    return status;
}

enum doppel_status read_id_lines(const char *path, struct doppel_run *run,
                                 struct doppel_vector_file *file, struct doppel_error *error)
{
    struct line_reader reader = {0};
    struct id_spool ids = {0};
    size_t count = 0;
    int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    enum doppel_status status = DOPPEL_OK;
    if (fd < 0)
        return doppel_fail(error, errno == ENOENT ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO, "%s: %s",
                           path, strerror(errno));
    line_reader_begin(&reader, fd, MOST_ID_LINE, run);
    TRY(id_spool_open(run, &ids, error));
    TRY(put_id_lines(&reader, path, &ids, &count, error));
    if (count != file->vectors.count)
        TRY(doppel_fail(error, DOPPEL_E_CORRUPT, "%s: has %zu ids, where there are %zu vectors",
                        path, count, file->vectors.count));
    TRY(take_ids(&ids, file, error));
done:
    id_spool_close(&ids);
    line_reader_end(&reader);
    close(fd);
    return status;
}
