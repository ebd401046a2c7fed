/* The bytes of a descriptor for libavformat: by offset of a file, in order of a stream. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "media/sound.h"

/* Small enough that little is read in vain between the chunks of a film's sound. */
enum { BUFFER_BYTES = 32768 };

/* ---- reading ---- */

/* Whatever is there of a stream, as soon as something is. */
static size_t read_stream(struct sound_input *input, uint8_t *out, size_t size)
{
    for (;;) {
        ssize_t got = read(input->fd, out, size);
        if (got > 0)
            return (size_t)got;
        if (got == 0)
            break;
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            poll(&(struct pollfd){.fd = input->fd, .events = POLLIN}, 1, -1);
        else if (errno != EINTR) {
            input->error = errno;
            break;
        }
    }
    input->ended = true;
    return 0;
}

static size_t read_some(struct sound_input *input, uint8_t *out, size_t size)
{
    if (input->end && input->at >= input->end)
        return 0;
    if (input->end && size > input->end - input->at)
        size = (size_t)(input->end - input->at);
    if (input->at < input->head_size) {
        size_t there = input->head_size - (size_t)input->at;
        size = size < there ? size : there;
        memcpy(out, input->head + input->at, size);
    } else if (input->file) {
        size = input_read_at(input->file, input->base + input->at, out, size);
    } else {
        size = input->ended ? 0 : read_stream(input, out, size);
    }
    input->at += size;
    return size;
}

/* ---- the head, and what comes before it ---- */

static enum doppel_status grow_head(struct sound_input *input, size_t size,
                                    struct doppel_error *error)
{
    if (size > input->head_room) {
        uint8_t *grown = realloc(input->head, size + AVPROBE_PADDING_SIZE);
        if (!grown)
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to look into the file");
        input->head = grown;
        input->head_room = size;
    }
    while (input->head_size < size) {
        size_t got = 0, want = size - input->head_size;
        uint8_t *out = input->head + input->head_size;
        if (input->file)
            got = input_read_at(input->file, input->base + input->head_size, out, want);
        else if (!input->ended)
            got = read_stream(input, out, want);
        if (!got)
            break;
        input->head_size += got;
    }
    memset(input->head + input->head_size, 0, AVPROBE_PADDING_SIZE);
    int code = input->file ? input->file->error : input->error;
    if (code)
        return doppel_fail(error, DOPPEL_E_IO, "cannot be read: %s", strerror(code));
    return DOPPEL_OK;
}

/* Bytes of the tag that the head begins with, or 0. Source: ID3v2.4, 3.1: seven bits a byte. */
static uint64_t tag_bytes(const struct sound_input *input)
{
    const uint8_t *h = input->head;
    if (input->head_size < 10 || memcmp(h, "ID3", 3) != 0 || h[3] == 0xff || h[4] == 0xff ||
        ((h[6] | h[7] | h[8] | h[9]) & 0x80))
        return 0;
    uint64_t size = (uint64_t)h[6] << 21 | (uint64_t)h[7] << 14 | (uint64_t)h[8] << 7 | h[9];
    return 10 + size + (h[5] & 0x10 ? 10 : 0);
}

void sound_input_skip(struct sound_input *input, uint64_t bytes)
{
    input->base += bytes;
    if (bytes < input->head_size && !input->file) {
        input->head_size -= (size_t)bytes;
        memmove(input->head, input->head + bytes, input->head_size);
        return;
    }
    uint64_t left = bytes - (input->file ? 0 : input->head_size);
    input->head_size = 0;
    while (!input->file && left && !input->ended) {
        uint8_t waste[4096];
        left -= read_stream(input, waste, left < sizeof waste ? (size_t)left : sizeof waste);
    }
}

enum doppel_status sound_input_look(struct sound_input *input, size_t size,
                                    struct doppel_error *error)
{
    enum doppel_status status = grow_head(input, size, error);
    for (uint64_t tag = 0; status == DOPPEL_OK && (tag = tag_bytes(input));) {
        sound_input_skip(input, tag);
        status = grow_head(input, size, error);
    }
    return status;
}

/* ---- libavformat's view ---- */

static int read_packet(void *opaque, uint8_t *out, int size)
{
    size_t got = read_some(opaque, out, (size_t)size);
    return got ? (int)got : AVERROR_EOF;
}

static int64_t seek(void *opaque, int64_t offset, int whence)
{
    struct sound_input *input = opaque;
    uint64_t end = input->file->size > input->base ? input->file->size - input->base : 0;
    whence &= ~AVSEEK_FORCE;
    if (whence == AVSEEK_SIZE)
        return (int64_t)end;
    if (whence == SEEK_CUR)
        offset += (int64_t)input->at;
    else if (whence == SEEK_END)
        offset += (int64_t)end;
    if (offset < 0)
        return AVERROR(EINVAL);
    input->at = (uint64_t)offset;
    return offset;
}

AVIOContext *sound_input_open(struct sound_input *input)
{
    uint8_t *buffer = av_malloc(BUFFER_BYTES);
    AVIOContext *io = buffer ? avio_alloc_context(buffer, BUFFER_BYTES, 0, input, read_packet, NULL,
                                                  input->file ? seek : NULL)
                             : NULL;
    if (!io)
        av_free(buffer);
    return io;
}

void sound_input_close(AVIOContext *io)
{
    if (io)
        av_freep(&io->buffer);
    avio_context_free(&io);
}
