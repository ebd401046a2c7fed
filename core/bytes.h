/* Little-endian numbers in byte buffers, and sizes that cannot overflow. */
#ifndef DOPPEL_CORE_BYTES_H
#define DOPPEL_CORE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline void put_u16(uint8_t *out, uint16_t value)
{
    out[0] = (uint8_t)value;
    out[1] = (uint8_t)(value >> 8);
}

static inline void put_u32(uint8_t *out, uint32_t value)
{
    put_u16(out, (uint16_t)value);
    put_u16(out + 2, (uint16_t)(value >> 16));
}

static inline void put_u64(uint8_t *out, uint64_t value)
{
    put_u32(out, (uint32_t)value);
    put_u32(out + 4, (uint32_t)(value >> 32));
}

static inline uint16_t get_u16(const uint8_t *in)
{
    return (uint16_t)(in[0] | in[1] << 8);
}

static inline uint32_t get_u32(const uint8_t *in)
{
    return get_u16(in) | (uint32_t)get_u16(in + 2) << 16;
}

static inline uint64_t get_u64(const uint8_t *in)
{
    return get_u32(in) | (uint64_t)get_u32(in + 4) << 32;
}

static inline void put_f32(uint8_t *out, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_u32(out, bits);
}

static inline float get_f32(const uint8_t *in)
{
    uint32_t bits = get_u32(in);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/** False when a*b does not fit; then *out is not written. */
static inline bool size_multiply(size_t a, size_t b, size_t *out)
{
    size_t product;
    if (__builtin_mul_overflow(a, b, &product))
        return false;
    *out = product;
    return true;
}

#endif
