/* The eight bytes that every frame begins with: magic u32, type u16, value u16 (version or count).
 */
#ifndef DOPPEL_WORKER_FRAME_H
#define DOPPEL_WORKER_FRAME_H

#include "core/bytes.h"

enum { FRAME_HEADER_BYTES = 8, FRAME_MAGIC = 0x77706c64 /* "dlpw" */ };

enum frame_type {
    FRAME_HELLO = 1,
    FRAME_READY,
    FRAME_ORDERS,
    FRAME_ANSWER,
    FRAME_LONG,
    FRAME_LISTEN, /* this and what follows: listening.h */
    FRAME_HEARD,
    FRAME_END,
    FRAME_UNPACK, /* this and what follows: members.h */
    FRAME_NEXT,
    FRAME_MEMBER
};

static inline void frame_header_write(uint8_t *out, enum frame_type type, uint16_t value)
{
    put_u32(out, FRAME_MAGIC);
    put_u16(out + 4, (uint16_t)type);
    put_u16(out + 6, value);
}

static inline bool frame_is(const uint8_t *data, size_t size, enum frame_type type)
{
    return size >= FRAME_HEADER_BYTES && get_u32(data) == FRAME_MAGIC && get_u16(data + 4) == type;
}

static inline uint16_t frame_value(const uint8_t *data)
{
    return get_u16(data + 6);
}

#endif
