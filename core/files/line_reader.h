/* Lines of a stream, of any length but the memory they are given. */
#ifndef DOPPEL_CORE_FILES_LINE_READER_H
#define DOPPEL_CORE_FILES_LINE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/core.h>
#include <doppel/run.h>

struct line_reader {
    int fd;                       /* borrowed */
    const struct doppel_run *run; /* borrowed */
    char *buffer;                 /* capacity + 1 bytes; NULL: nothing was read yet */
    size_t capacity;              /* grows up to max_line */
    size_t begin, end;            /* what is read and not given out yet */
    size_t max_line;              /* bytes of the longest line that is taken */
    uint64_t line, offset; /* of the line given out last: its number from 1; bytes read so far */
    bool ended;
};

/* @param run asked when a signal interrupts reading; NULL: then it goes on */
void line_reader_begin(struct line_reader *reader, int fd, size_t max_line,
                       const struct doppel_run *run);

/**
 * The next line, without its LF or CR LF, and with a NUL after it.
 * @param out borrowed until the next call. @return DOPPEL_OK; DOPPEL_E_NOT_FOUND at the end;
 * DOPPEL_E_LIMIT: the line is too long, and is passed over; DOPPEL_E_IO; DOPPEL_E_MEMORY;
 * DOPPEL_E_CANCELLED
 */
enum doppel_status line_reader_next(struct line_reader *reader, char **out, size_t *out_size,
                                    struct doppel_error *error);

/* The bytes that come next, as many as fit, without giving them out. */
size_t line_reader_peek(struct line_reader *reader, const char **out);

void line_reader_end(struct line_reader *reader);

#endif
