/* The bytes of a descriptor for libavformat: by offset of a file, in order of a stream. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "media/source.h"

/* Small enough that little is read in vain between the chunks of a video's audio. */
enum { BUFFER_BYTES = 32768 };

/* ---- reading ---- */

/* Whatever is there of a stream, as soon as something is. */
static size_t read_stream(struct source *source, uint8_t *out, size_t size)
{
    for (;;) {
        ssize_t got = read(source->fd, out, size);
        if (got > 0)
            return (size_t)got;
        if (got == 0)
            break;
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            poll(&(struct pollfd){.fd = source->fd, .events = POLLIN}, 1, -1);
        else if (errno != EINTR) {
            source->error = errno;
            break;
        }
    }
    source->ended = true;
    return 0;
}

static size_t read_some(struct source *source, uint8_t *out, size_t size)
{
    if (source->end && source->at >= source->end)
        return 0;
    if (source->end && size > source->end - source->at)
        size = (size_t)(source->end - source->at);
    if (source->at < source->head_size) {
        size_t there = source->head_size - (size_t)source->at;
        size = size < there ? size : there;
        memcpy(out, source->head + source->at, size);
    } else if (source->file) {
        size = input_read_at(source->file, source->base + source->at, out, size);
    } else {
        size = source->ended ? 0 : read_stream(source, out, size);
    }
    source->at += size;
    return size;
}

/* ---- the head, and what comes before it ---- */

static enum doppel_status grow_head(struct source *source, size_t size, struct doppel_error *error)
{
    if (size > source->head_room) {
        uint8_t *grown = realloc(source->head, size + AVPROBE_PADDING_SIZE);
        if (!grown)
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to look into the file");
        source->head = grown;
        source->head_room = size;
    }
    while (source->head_size < size) {
        size_t got = 0, want = size - source->head_size;
        uint8_t *out = source->head + source->head_size;
        if (source->file)
            got = input_read_at(source->file, source->base + source->head_size, out, want);
        else if (!source->ended)
            got = read_stream(source, out, want);
        if (!got)
            break;
        source->head_size += got;
    }
    memset(source->head + source->head_size, 0, AVPROBE_PADDING_SIZE);
    int code = source->file ? source->file->error : source->error;
    if (code)
        return doppel_fail(error, DOPPEL_E_IO, "cannot be read: %s", strerror(code));
    return DOPPEL_OK;
}

/* Bytes of the tag that the head begins with, or 0. Source: ID3v2.4, 3.1: seven bits a byte. */
static uint64_t tag_bytes(const struct source *source)
{
    const uint8_t *h = source->head;
    if (source->head_size < 10 || memcmp(h, "ID3", 3) != 0 || h[3] == 0xff || h[4] == 0xff ||
        ((h[6] | h[7] | h[8] | h[9]) & 0x80))
        return 0;
    uint64_t size = (uint64_t)h[6] << 21 | (uint64_t)h[7] << 14 | (uint64_t)h[8] << 7 | h[9];
    return 10 + size + (h[5] & 0x10 ? 10 : 0);
}

void source_skip(struct source *source, uint64_t bytes)
{
    source->base += bytes;
    if (bytes < source->head_size && !source->file) {
        source->head_size -= (size_t)bytes;
        memmove(source->head, source->head + bytes, source->head_size);
        return;
    }
    uint64_t left = bytes - (source->file ? 0 : source->head_size);
    source->head_size = 0;
    while (!source->file && left && !source->ended) {
        uint8_t waste[4096];
        left -= read_stream(source, waste, left < sizeof waste ? (size_t)left : sizeof waste);
    }
}

enum doppel_status source_look(struct source *source, size_t size, struct doppel_error *error)
{
    enum doppel_status status = grow_head(source, size, error);
    for (uint64_t tag = 0; status == DOPPEL_OK && (tag = tag_bytes(source));) {
        source_skip(source, tag);
        status = grow_head(source, size, error);
    }
    return status;
}

/* ---- libavformat's view ---- */

static int read_packet(void *opaque, uint8_t *out, int size)
{
    size_t got = read_some(opaque, out, (size_t)size);
    return got ? (int)got : AVERROR_EOF;
}

static int64_t seek_source(void *opaque, int64_t offset, int whence)
{
    struct source *source = opaque;
    uint64_t end = source->file->size > source->base ? source->file->size - source->base : 0;
    whence &= ~AVSEEK_FORCE;
    if (whence == AVSEEK_SIZE)
        return (int64_t)end;
    if (whence == SEEK_CUR)
        offset += (int64_t)source->at;
    else if (whence == SEEK_END)
        offset += (int64_t)end;
    if (offset < 0)
        return AVERROR(EINVAL);
    source->at = (uint64_t)offset;
    return offset;
}

AVIOContext *source_open(struct source *source)
{
    uint8_t *buffer = av_malloc(BUFFER_BYTES);
    AVIOContext *io = buffer ? avio_alloc_context(buffer, BUFFER_BYTES, 0, source, read_packet,
                                                  NULL, source->file ? seek_source : NULL)
                             : NULL;
    if (!io)
        av_free(buffer);
    return io;
}

void source_close(AVIOContext *io)
{
    if (io)
        av_freep(&io->buffer);
    avio_context_free(&io);
}
