/* The frames of a listener: written, and read with nothing believed. */
#include "worker/listening.h"

#include <string.h>

#include "core/bytes.h"
#include "worker/frame.h"

/* Header (value: 1 of a gap, else 0), from u64, until u64, then the track. */
enum { STRETCH_BYTES = FRAME_HEADER_BYTES + 16 };

/* No stream gets so far: a million years of samples. Sums of two times do not overflow. */
static const uint64_t latest_sample = 1ull << 58;

void listen_write(const struct listen_order *order, uint8_t out[PROTOCOL_HELLO_BYTES])
{
    frame_header_write(out, FRAME_LISTEN, PROTOCOL_VERSION);
    put_u64(out + 8, order->max_memory);
    put_u32(out + 16, order->pcm);
    put_u32(out + 20, order->pcm_rate);
    put_u32(out + 24, order->pcm_channels);
    put_u32(out + 28, order->sandbox);
    memset(out + 32, 0, PROTOCOL_HELLO_BYTES - 32);
}

bool listen_read(const uint8_t *data, size_t size, struct listen_order *out)
{
    if (size != PROTOCOL_HELLO_BYTES || !frame_is(data, size, FRAME_LISTEN) ||
        frame_value(data) != PROTOCOL_VERSION)
        return false;
    *out = (struct listen_order){get_u64(data + 8), get_u32(data + 16), get_u32(data + 20),
                                 get_u32(data + 24), get_u32(data + 28)};
    return true;
}

size_t stretch_write(const struct stretch *stretch, uint8_t *out, size_t capacity)
{
    if (capacity < STRETCH_BYTES || stretch->track_size > capacity - STRETCH_BYTES)
        return 0;
    frame_header_write(out, FRAME_HEARD, stretch->gap);
    put_u64(out + 8, stretch->from);
    put_u64(out + 16, stretch->until);
    if (stretch->track_size)
        memcpy(out + STRETCH_BYTES, stretch->track, stretch->track_size);
    return STRETCH_BYTES + stretch->track_size;
}

bool stretch_read(const uint8_t *data, size_t size, uint64_t told, struct stretch *out)
{
    if (size < STRETCH_BYTES || !frame_is(data, size, FRAME_HEARD) || frame_value(data) > 1)
        return false;
    struct stretch stretch = {.gap = frame_value(data),
                              .from = get_u64(data + 8),
                              .until = get_u64(data + 16),
                              .track = data + STRETCH_BYTES,
                              .track_size = size - STRETCH_BYTES};
    if (stretch.from > stretch.until || stretch.until < told || stretch.until > latest_sample ||
        stretch.gap != (stretch.track_size == 0))
        return false;
    *out = stretch;
    return true;
}

size_t end_write(const struct doppel_error *error, uint8_t *out, size_t capacity)
{
    size_t message = error->status ? strlen(error->message) : 0;
    if (capacity < FRAME_HEADER_BYTES + message)
        return 0;
    frame_header_write(out, FRAME_END, (uint16_t)error->status);
    memcpy(out + FRAME_HEADER_BYTES, error->message, message);
    return FRAME_HEADER_BYTES + message;
}

bool end_read(const uint8_t *data, size_t size, struct doppel_error *out)
{
    if (!frame_is(data, size, FRAME_END) || frame_value(data) > DOPPEL_E_CANCELLED ||
        (frame_value(data) == DOPPEL_OK) != (size == FRAME_HEADER_BYTES))
        return false;
    out->status = (enum doppel_status)frame_value(data);
    sentence_copy(data + FRAME_HEADER_BYTES, size - FRAME_HEADER_BYTES, out->message);
    return true;
}
