/* The bytes of one corpus file, as decompressed. */
#include "corpus/read/source.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { INPUT_BYTES = 1 << 18, MAGIC_BYTES = 8, LOOK_MS = 100 };

struct corpus_source {
    int fd;
    const atomic_bool *stop; /* may be NULL */
    enum doppel_packing packing;
    uint64_t bytes_read;
    uint64_t most; /* bytes that are read of it */

    uint8_t *input; /* read, and from `at` on not yet used */
    size_t at, end;
    bool ended; /* of the file */

    z_stream gzip;
    ZSTD_DStream *zstd;
    bool in_member; /* of gzip, or frame of zstd */
};

/* '?' is any byte. Each has one that no text has, or is longer than a name is likely to be. */
static const struct {
    enum doppel_packing packing;
    const char *bytes;
    size_t size;
    const char *name, *command; /* of one that is not read here */
} magics[] = {
    {DOPPEL_PACKING_GZIP, "\x1F\x8B", 2, "gzip", NULL},
    {DOPPEL_PACKING_ZSTD, "\x28\xB5\x2F\xFD", 4, "zstd", NULL},
    {DOPPEL_PACKING_ZSTD, "\x50\x2A\x4D\x18", 4, "zstd",
     NULL}, /* pzstd begins with a frame to be skipped */
    {DOPPEL_PACKING_NONE,
     "\xFD"
     "7zXZ",
     5, "xz", "xz -dc"},
    {DOPPEL_PACKING_NONE, "BZh?1A", 6, "bzip2", "bzip2 -dc"},
    {DOPPEL_PACKING_NONE, "\x04\x22\x4D\x18", 4, "lz4", "lz4 -dc"},
    {DOPPEL_PACKING_NONE, "PK\x03\x04", 4, "zip", "unzip -p"},
};

/* ---- the file itself ---- */

/* False when it is to stop before there are any. Files are always ready. */
static bool wait_for_bytes(const struct corpus_source *source)
{
    struct pollfd poll_for = {.fd = source->fd, .events = POLLIN};
    if (!source->stop)
        return true;
    while (!atomic_load(source->stop))
        if (poll(&poll_for, 1, LOOK_MS) > 0)
            return true;
    return false;
}

static enum doppel_status read_source_file(struct corpus_source *source, void *buffer, size_t size,
                                           size_t *out_size, struct doppel_error *error)
{
    if (!wait_for_bytes(source))
        return doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
    ssize_t got;
    if (size > source->most - source->bytes_read)
        size = (size_t)(source->most - source->bytes_read);
    do
        got = read(source->fd, buffer, size);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return doppel_fail(error, DOPPEL_E_IO, "cannot be read: %s", strerror(errno));
    source->bytes_read += (uint64_t)got;
    *out_size = (size_t)got;
    return DOPPEL_OK;
}

/* Read more input where all is used. */
static enum doppel_status fill_from_source(struct corpus_source *source, struct doppel_error *error)
{
    if (source->at < source->end || source->ended)
        return DOPPEL_OK;
    size_t got = 0;
    enum doppel_status status = read_source_file(source, source->input, INPUT_BYTES, &got, error);
    if (status)
        return status;
    source->at = 0;
    source->end = got;
    source->ended = got == 0;
    return DOPPEL_OK;
}

/* ---- beginning ---- */

static enum doppel_status begin_packing(struct corpus_source *source, struct doppel_error *error)
{
    if (source->packing == DOPPEL_PACKING_GZIP) {
        if (inflateInit2(&source->gzip, 15 + 16) != Z_OK)
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decompress");
        source->in_member = true;
    } else if (source->packing == DOPPEL_PACKING_ZSTD) {
        source->zstd = ZSTD_createDStream();
        if (!source->zstd)
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decompress");
        source->in_member = true;
    }
    return DOPPEL_OK;
}

static bool begins_with(const uint8_t *input, const char *mark, size_t size)
{
    size_t same = 0;
    while (same < size && (mark[same] == '?' || input[same] == (uint8_t)mark[same]))
        same++;
    return same == size;
}

/* No more bytes are waited for than tell: behind a newline comes no mark, but maybe nothing for
 * long. */
static enum doppel_status recognise(struct corpus_source *source, struct doppel_error *error)
{
    while (source->end < MAGIC_BYTES && !source->ended &&
           !memchr(source->input, '\n', source->end)) {
        size_t got = 0;
        enum doppel_status status = read_source_file(source, source->input + source->end,
                                                     MAGIC_BYTES - source->end, &got, error);
        if (status)
            return status;
        source->end += got;
        source->ended = got == 0;
    }
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        if (source->end < magics[i].size ||
            !begins_with(source->input, magics[i].bytes, magics[i].size))
            continue;
        source->packing = magics[i].packing;
        if (source->packing == DOPPEL_PACKING_NONE)
            return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                               "is %s; pipe it in: %s FILE | doppel ... -", magics[i].name,
                               magics[i].command);
    }
    return begin_packing(source, error);
}

/* @param fd taken. NULL: no memory */
static struct corpus_source *allocate_source(int fd, struct doppel_error *error)
{
    struct corpus_source *source = calloc(1, sizeof *source);
    if (source)
        source->input = malloc(INPUT_BYTES);
    if (!source || !source->input) {
        free(source);
        close(fd);
        doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a corpus");
        return NULL;
    }
    source->fd = fd;
    source->most = UINT64_MAX;
    return source;
}

enum doppel_status source_new_part(int fd, uint64_t from, uint64_t size, struct corpus_source **out,
                                   struct doppel_error *error)
{
    struct corpus_source *source = allocate_source(fd, error);
    if (!source)
        return DOPPEL_E_MEMORY;
    source->most = size;
    if (lseek(fd, (off_t)from, SEEK_SET) < 0) {
        enum doppel_status status =
            doppel_fail(error, DOPPEL_E_IO, "cannot be read: %s", strerror(errno));
        source_free(source);
        return status;
    }
    *out = source;
    return DOPPEL_OK;
}

enum doppel_status source_new(int fd, const atomic_bool *stop, struct corpus_source **out,
                              struct doppel_error *error)
{
    struct corpus_source *source = allocate_source(fd, error);
    if (!source)
        return DOPPEL_E_MEMORY;
    source->stop = stop;
    enum doppel_status status = recognise(source, error);
    if (status)
        source_free(source);
    else
        *out = source;
    return status;
}

void source_free(struct corpus_source *source)
{
    if (!source)
        return;
    if (source->packing == DOPPEL_PACKING_GZIP)
        inflateEnd(&source->gzip);
    ZSTD_freeDStream(source->zstd);
    close(source->fd);
    free(source->input);
    free(source);
}

enum doppel_packing source_packing(const struct corpus_source *source)
{
    return source->packing;
}

int source_descriptor(const struct corpus_source *source)
{
    return source->fd;
}

uint64_t source_bytes_read(const struct corpus_source *source)
{
    return source->bytes_read;
}

/* ---- decompressing ---- */

static enum doppel_status cut_short(const struct corpus_source *source, struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_CORRUPT,
                       "the %s data is cut short; fetch the file again (what was whole is read)",
                       source->packing == DOPPEL_PACKING_GZIP ? "gzip" : "zstd");
}

/* After a member: another, zeros that fill a block, or the end. */
static enum doppel_status next_member(struct corpus_source *source, struct doppel_error *error)
{
    while (source->at < source->end && source->input[source->at] == 0)
        source->at++;
    if (source->at == source->end)
        return DOPPEL_OK;
    if (source->input[source->at] != 0x1F)
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "after the gzip data there is something else; it is not read");
    inflateReset(&source->gzip);
    source->in_member = true;
    return DOPPEL_OK;
}

static enum doppel_status inflate_some(struct corpus_source *source, char *buffer, size_t size,
                                       size_t *out_size, struct doppel_error *error)
{
    z_stream *gzip = &source->gzip;
    gzip->next_in = source->input + source->at;
    gzip->avail_in = (uInt)(source->end - source->at);
    gzip->next_out = (Bytef *)buffer;
    gzip->avail_out = (uInt)size;
    int result = inflate(gzip, Z_NO_FLUSH);
    source->at = source->end - gzip->avail_in;
    *out_size = size - gzip->avail_out;
    if (result == Z_STREAM_END)
        source->in_member = false;
    else if (result == Z_MEM_ERROR)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decompress");
    else if (result != Z_OK && result != Z_BUF_ERROR && *out_size == 0)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "the gzip data is damaged (%s)",
                           gzip->msg ? gzip->msg : "no gzip");
    return DOPPEL_OK;
}

static enum doppel_status unzstd_some(struct corpus_source *source, char *buffer, size_t size,
                                      size_t *out_size, struct doppel_error *error)
{
    ZSTD_inBuffer in = {source->input, source->end, source->at};
    /* A block at a time: what a call wrote is lost when it ends in damage. */
    size_t most = ZSTD_DStreamOutSize();
    ZSTD_outBuffer out = {buffer, size < most ? size : most, 0};
    size_t result = ZSTD_decompressStream(source->zstd, &out, &in);
    source->at = in.pos;
    *out_size = out.pos;
    if (!ZSTD_isError(result)) {
        source->in_member = result != 0;
        return DOPPEL_OK;
    }
    if (ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge)
        return doppel_fail(error, DOPPEL_E_LIMIT,
                           "needs more memory than 128 MB to decompress; pipe it in: zstd -dc "
                           "--long=31 FILE | doppel ... -");
    return doppel_fail(error, DOPPEL_E_CORRUPT, "the zstd data is damaged (%s)",
                       ZSTD_getErrorName(result));
}

static enum doppel_status decompress(struct corpus_source *source, char *buffer, size_t size,
                                     size_t *out_size, struct doppel_error *error)
{
    for (;;) {
        enum doppel_status status = fill_from_source(source, error);
        if (!status && !source->in_member && source->packing == DOPPEL_PACKING_GZIP)
            status = next_member(source, error);
        if (status)
            return status;
        bool at_end = source->ended && source->at == source->end;
        *out_size = 0;
        if (at_end && !source->in_member)
            return DOPPEL_OK;
        if (source->packing == DOPPEL_PACKING_ZSTD)
            status = unzstd_some(source, buffer, size, out_size, error);
        else if (source->in_member)
            status = inflate_some(source, buffer, size, out_size, error);
        if (status || *out_size)
            return status;
        if (at_end)
            return source->in_member ? cut_short(source, error) : DOPPEL_OK;
    }
}

enum doppel_status source_read(struct corpus_source *source, char *buffer, size_t size,
                               size_t *out_size, struct doppel_error *error)
{
    enum { AT_ONCE = 1 << 30 }; /* zlib counts in 32 bits */
    if (size > AT_ONCE)
        size = AT_ONCE;
    if (source->packing != DOPPEL_PACKING_NONE)
        return decompress(source, buffer, size, out_size, error);
    size_t left = source->end - source->at;
    if (!left && source->ended)
        return *out_size = 0, DOPPEL_OK;
    if (!left)
        return read_source_file(source, buffer, size, out_size, error);
    *out_size = left < size ? left : size;
    memcpy(buffer, source->input + source->at, *out_size);
    source->at += *out_size;
    return DOPPEL_OK;
}
