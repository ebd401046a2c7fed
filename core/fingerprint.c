/* A sequence of codes with positions; to bytes and back. */
#include <doppel/core.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"

/* scheme u16, version u16, code_bits u16, reserved u16, count u32, then positions u32, then codes.
 */
enum { HEADER_BYTES = 12, MAX_CODES = 1 << 24 };

/* Without an instruction that counts bits, which not every machine has: sums of two bits, of four,
 * of each byte, of all. Of 256 bits it takes less than half of the time of a call for each word. */
uint32_t doppel_code_distance(const struct doppel_code *a, const struct doppel_code *b,
                              uint32_t bits)
{
    uint64_t bytes = 0;
    uint32_t words = bits / 64;
    if (bits == 32)
        return (uint32_t)__builtin_popcount((uint32_t)(a->word[0] ^ b->word[0]));
    for (uint32_t i = 0; i < words; i++) {
        uint64_t sums = a->word[i] ^ b->word[i];
        sums -= sums >> 1 & UINT64_C(0x5555555555555555);
        sums = (sums & UINT64_C(0x3333333333333333)) + (sums >> 2 & UINT64_C(0x3333333333333333));
        bytes += (sums + (sums >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    }
    bytes = (bytes & UINT64_C(0x00ff00ff00ff00ff)) + (bytes >> 8 & UINT64_C(0x00ff00ff00ff00ff));
    return (uint32_t)(bytes * UINT64_C(0x0001000100010001) >> 48);
}

static bool is_width(uint32_t bits)
{
    return bits == 32 || (bits && bits % 64 == 0 && bits <= 256);
}

void doppel_fingerprint_free(struct doppel_fingerprint *fingerprint)
{
    if (!fingerprint)
        return;
    free(fingerprint->codes);
    free(fingerprint->positions);
    *fingerprint = (struct doppel_fingerprint){0};
}

enum doppel_status doppel_fingerprint_make(const struct doppel_scheme *scheme, uint16_t code_bits,
                                           uint32_t count, struct doppel_fingerprint *out,
                                           struct doppel_error *error)
{
    if (!is_width(code_bits) || count > MAX_CODES)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "a fingerprint of %u codes of %u bits cannot be", count, code_bits);
    struct doppel_code *codes = calloc(count ? count : 1, sizeof *codes);
    uint32_t *positions = calloc(count ? count : 1, sizeof *positions);
    if (!codes || !positions) {
        free(codes);
        free(positions);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a fingerprint of %u codes",
                           count);
    }
    *out = (struct doppel_fingerprint){scheme->id, scheme->version, code_bits,
                                       count,      codes,           positions};
    return DOPPEL_OK;
}

size_t doppel_fingerprint_size(const struct doppel_fingerprint *fingerprint)
{
    return HEADER_BYTES + (size_t)fingerprint->count * (4u + fingerprint->code_bits / 8u);
}

static uint8_t *put_code_bytes(uint8_t *out, const struct doppel_code *code, uint32_t bits)
{
    if (bits == 32)
        put_u32(out, (uint32_t)code->word[0]);
    for (size_t word = 0; word < bits / 64; word++)
        put_u64(out + 8 * word, code->word[word]);
    return out + bits / 8;
}

void doppel_fingerprint_write(const struct doppel_fingerprint *fingerprint, uint8_t *out)
{
    put_u16(out, (uint16_t)fingerprint->scheme);
    put_u16(out + 2, fingerprint->version);
    put_u16(out + 4, fingerprint->code_bits);
    put_u16(out + 6, 0);
    put_u32(out + 8, fingerprint->count);
    out += HEADER_BYTES;
    for (uint32_t i = 0; i < fingerprint->count; i++, out += 4)
        put_u32(out, fingerprint->positions[i]);
    for (uint32_t i = 0; i < fingerprint->count; i++)
        out = put_code_bytes(out, &fingerprint->codes[i], fingerprint->code_bits);
}

static const uint8_t *get_code_bytes(const uint8_t *data, uint32_t bits, struct doppel_code *out)
{
    if (bits == 32)
        out->word[0] = get_u32(data);
    for (size_t word = 0; word < bits / 64; word++)
        out->word[word] = get_u64(data + 8 * word);
    return data + bits / 8;
}

static bool ascend(const uint32_t *positions, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (positions[i] < positions[i - 1])
            return false;
    return true;
}

enum doppel_status doppel_fingerprint_read(const uint8_t *data, size_t size,
                                           struct doppel_fingerprint *out,
                                           struct doppel_error *error)
{
    if (size < HEADER_BYTES)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "a fingerprint of %zu bytes is too short",
                           size);
    struct doppel_scheme scheme = {.id = (enum doppel_scheme_id)get_u16(data),
                                   .version = get_u16(data + 2)};
    uint16_t code_bits = get_u16(data + 4);
    uint32_t count = get_u32(data + 8);
    bool known = is_width(code_bits) && count <= MAX_CODES && get_u16(data + 6) == 0;
    if (!known || size != HEADER_BYTES + (size_t)count * (4u + code_bits / 8u))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "a fingerprint of %zu bytes is damaged", size);
    struct doppel_fingerprint read;
    enum doppel_status status = doppel_fingerprint_make(&scheme, code_bits, count, &read, error);
    if (status)
        return status;
    data += HEADER_BYTES;
    for (uint32_t i = 0; i < count; i++, data += 4)
        read.positions[i] = get_u32(data);
    for (uint32_t i = 0; i < count; i++)
        data = get_code_bytes(data, code_bits, &read.codes[i]);
    if (!ascend(read.positions, count)) {
        doppel_fingerprint_free(&read);
        return doppel_fail(error, DOPPEL_E_CORRUPT, "a fingerprint's positions are out of order");
    }
    *out = read;
    return DOPPEL_OK;
}
