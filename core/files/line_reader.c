/* Lines of a stream. */
#include "core/files/line_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_BYTES = 1 << 18 };

void line_reader_begin(struct line_reader *reader, int fd, size_t max_line,
                       const struct doppel_run *run)
{
    *reader = (struct line_reader){.fd = fd, .run = run, .max_line = max_line};
}

void line_reader_end(struct line_reader *reader)
{
    free(reader->buffer);
    *reader = (struct line_reader){0};
}

/* @return false without memory */
static bool make_room_for_line(struct line_reader *reader)
{
    if (reader->buffer && reader->begin) {
        memmove(reader->buffer, reader->buffer + reader->begin, reader->end - reader->begin);
        reader->end -= reader->begin;
        reader->begin = 0;
    }
    if (reader->buffer && reader->end < reader->capacity)
        return true;
    size_t capacity = reader->capacity ? 2 * reader->capacity : FIRST_BYTES;
    char *buffer = realloc(reader->buffer, capacity + 1);
    if (!buffer)
        return false;
    reader->buffer = buffer;
    reader->capacity = capacity;
    return true;
}

/* More bytes at the end of the buffer. */
static enum doppel_status refill_lines(struct line_reader *reader, struct doppel_error *error)
{
    ssize_t got;
    if (!make_room_for_line(reader))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a line of %zu MB",
                           reader->capacity >> 20);
    do
        got = read(reader->fd, reader->buffer + reader->end, reader->capacity - reader->end);
    while (got < 0 && errno == EINTR && !(reader->run && doppel_run_cancelled(reader->run)));
    if (got < 0 && errno == EINTR)
        return doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted");
    if (got < 0)
        return doppel_fail(error, DOPPEL_E_IO, "cannot be read: %s", strerror(errno));
    reader->ended = got == 0;
    reader->end += (size_t)got;
    reader->offset += (size_t)got;
    return DOPPEL_OK;
}

static enum doppel_status pass_over(struct line_reader *reader, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    char *newline = NULL;
    while (!status && !newline && !reader->ended) {
        reader->begin = reader->end = 0;
        status = refill_lines(reader, error);
        newline = reader->end ? memchr(reader->buffer, '\n', reader->end) : NULL;
    }
    reader->begin = newline ? (size_t)(newline - reader->buffer) + 1 : reader->end;
    return status ? status
                  : doppel_fail(error, DOPPEL_E_LIMIT, "the line is longer than %zu MB",
                                reader->max_line >> 20);
}

enum doppel_status line_reader_next(struct line_reader *reader, char **out, size_t *out_size,
                                    struct doppel_error *error)
{
    size_t looked = 0;
    enum doppel_status status = reader->buffer ? DOPPEL_OK : refill_lines(reader, error);
    while (!status) {
        char *line = reader->buffer + reader->begin;
        size_t have = reader->end - reader->begin;
        char *newline = have > looked ? memchr(line + looked, '\n', have - looked) : NULL;
        if (!newline && reader->ended && !have)
            return DOPPEL_E_NOT_FOUND;
        if (newline || reader->ended) {
            size_t size = newline ? (size_t)(newline - line) : have;
            reader->begin += size + (newline != NULL);
            reader->line++;
            size -= size && line[size - 1] == '\r';
            line[size] = '\0';
            *out = line;
            *out_size = size;
            return DOPPEL_OK;
        }
        looked = have;
        if (have > reader->max_line) {
            reader->line++;
            return pass_over(reader, error);
        }
        status = refill_lines(reader, error);
    }
    return status;
}

size_t line_reader_peek(struct line_reader *reader, const char **out)
{
    if (reader->begin == reader->end && !reader->ended)
        (void)refill_lines(reader, NULL);
    *out = reader->buffer + reader->begin;
    return reader->end - reader->begin;
}
