/* Codes of a file or of standard input, a piece at a time: hex, one a line, or raw. */
#include "exchange/code_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/bytes.h"
#include "core/files/nameless_file.h"
#include "core/files/write_all.h"

enum { BUFFER_BYTES = 256 * 1024, SETTLE_CODES = 4096, MOST_WORDS = 4 };

struct code_reader {
    const struct doppel_run *run;
    int fd;
    const char *name;
    uint32_t bits;
    size_t words;
    enum code_layout layout;
    uint8_t *buffer;
    size_t begin, end; /* of what is in the buffer and not used */
    bool ended;
    uint64_t line; /* hex: lines read */
    uint64_t size; /* of a regular file; else 0 */
    bool regular;
};

/* Bytes of a code in the file; of hex, without the end of its line. */
static size_t unit_bytes(const struct code_reader *reader)
{
    switch (reader->layout) {
    case LAYOUT_HEX:
        return reader->bits / 4;
    case LAYOUT_RAW:
        return reader->bits / 8;
    default:
        return reader->words * 8;
    }
}

/* ---- opening ---- */

static enum doppel_status odd_size(const struct code_reader *reader, uint64_t over,
                                   struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_FORMAT,
                       "%s: not a whole number of codes of %zu bytes: %" PRIu64
                       " bytes are left over",
                       reader->name, unit_bytes(reader), over);
}

/* On a descriptor, which is taken; `name` stands in messages. */
static enum doppel_status code_reader_on(const struct doppel_run *run, int fd, const char *name,
                                         uint32_t bits, enum code_layout layout,
                                         struct code_reader **out, struct doppel_error *error)
{
    struct stat status;
    struct code_reader *reader = malloc(sizeof *reader);
    uint8_t *buffer = malloc(BUFFER_BYTES);
    if (!reader || !buffer) {
        free(reader);
        free(buffer);
        close(fd);
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory to read codes", name);
    }
    *reader = (struct code_reader){.run = run,
                                   .fd = fd,
                                   .name = name,
                                   .bits = bits,
                                   .words = words_of_bits(bits),
                                   .layout = layout,
                                   .buffer = buffer};
    enum doppel_status result = DOPPEL_OK;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
        off_t at = lseek(fd, 0, SEEK_CUR);
        reader->regular = at == 0;
        reader->size = (uint64_t)status.st_size;
        uint64_t over = (reader->size - (uint64_t)at) % unit_bytes(reader);
        if (layout != LAYOUT_HEX && over)
            result = odd_size(reader, over, error);
    }
    if (result)
        code_reader_close(reader);
    else
        *out = reader;
    return result;
}

enum doppel_status code_reader_open(const struct doppel_run *run, const char *path, uint32_t bits,
                                    enum code_layout layout, struct code_reader **out,
                                    struct doppel_error *error)
{
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC);
    const char *name = standard ? "standard input" : path;
    if (fd < 0)
        return doppel_fail(error, errno == ENOENT ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO, "%s: %s",
                           name, strerror(errno));
    return code_reader_on(run, fd, name, bits, layout, out, error);
}

void code_reader_close(struct code_reader *reader)
{
    if (!reader)
        return;
    close(reader->fd);
    free(reader->buffer);
    free(reader);
}

/* ---- bytes ---- */

/* Read on, behind what is left over. */
static enum doppel_status fill_code_buffer(struct code_reader *reader, struct doppel_error *error)
{
    memmove(reader->buffer, reader->buffer + reader->begin, reader->end - reader->begin);
    reader->end -= reader->begin;
    reader->begin = 0;
    ssize_t got;
    do {
        if (doppel_run_cancelled(reader->run))
            return doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted");
        got = read(reader->fd, reader->buffer + reader->end, BUFFER_BYTES - reader->end);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return doppel_fail(error, DOPPEL_E_IO, "%s: %s", reader->name, strerror(errno));
    reader->end += (size_t)got;
    reader->ended = got == 0;
    return DOPPEL_OK;
}

/* ---- hex ---- */

/* The value of a digit, or 255. */
static uint8_t digit_value(uint8_t digit)
{
    if (digit >= '0' && digit <= '9')
        return (uint8_t)(digit - '0');
    digit |= 0x20;
    return digit >= 'a' && digit <= 'f' ? (uint8_t)(digit - 'a' + 10) : 255;
}

static enum doppel_status bad_line(const struct code_reader *reader, const uint8_t *line,
                                   size_t length, struct doppel_error *error)
{
    size_t digits = unit_bytes(reader);
    for (size_t i = 0; i < length && i < digits; i++)
        if (digit_value(line[i]) > 15 && line[i] > ' ' && line[i] <= '~')
            return doppel_fail(error, DOPPEL_E_FORMAT, "%s: line %" PRIu64 ": '%c' is no hex digit",
                               reader->name, reader->line, line[i]);
        else if (digit_value(line[i]) > 15)
            return doppel_fail(error, DOPPEL_E_FORMAT,
                               "%s: line %" PRIu64 ": a byte that is no hex digit (0x%02x)",
                               reader->name, reader->line, line[i]);
    return doppel_fail(error, DOPPEL_E_FORMAT,
                       "%s: line %" PRIu64 ": %zu%s digits where a code of %u bits has %zu",
                       reader->name, reader->line, length, length > 999 ? " or more" : "",
                       reader->bits, digits);
}

/* @return false when it is no code */
static bool parse_line(const struct code_reader *reader, const uint8_t *line, size_t length,
                       uint64_t *out)
{
    if (length != unit_bytes(reader))
        return false;
    size_t step = length < 16 ? length : 16;
    unsigned worst = 0;
    for (size_t word = 0; word < reader->words; word++) {
        uint64_t value = 0;
        for (size_t i = 0; i < step; i++) {
            unsigned digit = digit_value(*line++);
            worst |= digit;
            value = value << 4 | (digit & 15);
        }
        out[word] = value;
    }
    return worst < 16;
}

/* A line of the buffer, without its end; "\r\n" is one too. @return false: read on */
static bool next_line(struct code_reader *reader, const uint8_t **out_line, size_t *out_length)
{
    uint8_t *line = reader->buffer + reader->begin;
    size_t left = reader->end - reader->begin;
    uint8_t *end = left ? memchr(line, '\n', left) : NULL;
    if (!end && !(reader->ended && left) && left < BUFFER_BYTES)
        return false;
    size_t length = end ? (size_t)(end - line) : left;
    reader->begin += length + (end != NULL);
    reader->line++;
    *out_line = line;
    *out_length = length && line[length - 1] == '\r' ? length - 1 : length;
    return true;
}

static enum doppel_status next_hex(struct code_reader *reader, uint64_t *codes, size_t max,
                                   size_t *out_count, struct doppel_error *error)
{
    const uint8_t *line;
    size_t length, count = 0;
    while (count < max && next_line(reader, &line, &length)) {
        if (!parse_line(reader, line, length, codes + count * reader->words))
            return bad_line(reader, line, length, error);
        count++;
    }
    *out_count = count;
    return DOPPEL_OK;
}

/* ---- raw ---- */

static void get_raw(const struct code_reader *reader, const uint8_t *in, uint64_t *out)
{
    if (reader->bits == 32) {
        out[0] = get_u32(in);
        return;
    }
    bool words = reader->layout == LAYOUT_WORDS; /* else word 0 is the most significant */
    for (size_t i = 0; i < reader->words; i++)
        out[words ? i : reader->words - 1 - i] = get_u64(in + 8 * i);
}

static enum doppel_status next_raw(struct code_reader *reader, uint64_t *codes, size_t max,
                                   size_t *out_count, struct doppel_error *error)
{
    size_t unit = unit_bytes(reader);
    /* Codes have bits: index_folder_open looks. */
    size_t there = (reader->end - reader->begin) / unit; // NOLINT(clang-analyzer-core.*)
    size_t count = there < max ? there : max;
    for (size_t i = 0; i < count; i++, reader->begin += unit)
        get_raw(reader, reader->buffer + reader->begin, codes + i * reader->words);
    *out_count = count;
    if (reader->ended && there == 0 && reader->end > reader->begin)
        return odd_size(reader, reader->end - reader->begin, error);
    return DOPPEL_OK;
}

/* ---- reading ---- */

enum doppel_status code_reader_next(struct code_reader *reader, uint64_t *codes, size_t max,
                                    size_t *out_count, struct doppel_error *error)
{
    for (;;) {
        size_t count = 0;
        enum doppel_status status = reader->layout == LAYOUT_HEX
                                        ? next_hex(reader, codes, max, &count, error)
                                        : next_raw(reader, codes, max, &count, error);
        if (status)
            return status;
        *out_count = count;
        if (count || reader->ended)
            return DOPPEL_OK;
        status = fill_code_buffer(reader, error);
        if (status)
            return status;
    }
}

bool code_reader_count(const struct code_reader *reader, uint64_t *out)
{
    if (!reader->regular || reader->layout == LAYOUT_HEX)
        return false;
    *out = reader->size / unit_bytes(reader);
    return true;
}

void code_reader_rewind(struct code_reader *reader)
{
    lseek(reader->fd, 0, SEEK_SET);
    reader->begin = reader->end = 0;
    reader->ended = false;
    reader->line = 0;
}

/* ---- settling ---- */

static bool write_words(int fd, const uint64_t *words, size_t count)
{
    uint8_t bytes[SETTLE_CODES * MOST_WORDS * 8];
    for (size_t i = 0; i < count; i++)
        put_u64(bytes + 8 * i, words[i]);
    return write_all(fd, bytes, 8 * count);
}

static enum doppel_status copy_codes(struct code_reader *reader, int fd, struct doppel_error *error)
{
    uint64_t codes[SETTLE_CODES * MOST_WORDS];
    size_t count;
    enum doppel_status status;
    while (!(status = code_reader_next(reader, codes, SETTLE_CODES, &count, error)) && count)
        if (!write_words(fd, codes, count * reader->words))
            return doppel_fail(error, write_failure(errno), "temporary file: %s", strerror(errno));
    return status;
}

enum doppel_status code_reader_settle(struct code_reader *reader, const char *folder,
                                      struct code_reader **out, struct doppel_error *error)
{
    uint64_t count;
    if (code_reader_count(reader, &count)) {
        *out = reader;
        return DOPPEL_OK;
    }
    enum doppel_status status;
    /* Beside what is being made: what lies in /tmp may lie in memory. */
    int fd = nameless_file(folder);
    if (fd < 0) {
        status = doppel_fail(error, write_failure(errno), "%s: temporary file: %s", folder,
                             strerror(errno));
    } else {
        status = copy_codes(reader, fd, error);
        if (status || lseek(fd, 0, SEEK_SET) < 0)
            close(fd);
        else
            status = code_reader_on(reader->run, fd, reader->name, reader->bits, LAYOUT_WORDS, out,
                                    error);
    }
    code_reader_close(reader);
    return status;
}
