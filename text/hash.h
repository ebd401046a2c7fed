/* Hashes of words, of code points and of shingles: the same on every machine. */
#ifndef DOPPEL_TEXT_HASH_H
#define DOPPEL_TEXT_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The first 64 bits behind the point of the square roots of 2, 3, 5 and 7. */
static const uint64_t ROOT_2 = 0x6a09e667f3bcc908;
static const uint64_t ROOT_3 = 0xbb67ae8584caa73b;
static const uint64_t ROOT_5 = 0x3c6ef372fe94f82b;
static const uint64_t ROOT_7 = 0xa54ff53a5f1d36f1;

/* What keeps the first n of 16 bytes: those from 16 - n on. */
static const uint8_t keep_first[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                       255, 255, 255, 255, 255, 255, 255, 255};

static inline uint64_t little_endian64(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

static inline uint64_t mix(uint64_t hash, uint64_t factor)
{
    hash *= factor;
    return hash ^ hash >> 32;
}

/* 16 bytes more. Of one to eight bytes the hashes are all different. */
static inline uint64_t absorb(uint64_t hash, uint64_t low, uint64_t high)
{
    return mix(mix(hash ^ low, ROOT_3) ^ high, ROOT_5);
}

static inline uint64_t hash_word(const uint8_t *word, size_t size)
{
    uint64_t hash = ROOT_2;
    for (; __builtin_expect(size > 16, 0); size -= 16, word += 16)
        hash = absorb(hash, little_endian64(word), little_endian64(word + 8));
    const uint8_t *keep = keep_first + 16 - size;
    uint64_t low = little_endian64(word) & little_endian64(keep);
    uint64_t high = little_endian64(word + 8) & little_endian64(keep + 8);
    return absorb(hash, low, high);
}

static inline uint64_t hash_code_point(uint32_t code_point)
{
    return absorb(ROOT_2, code_point, 0);
}

/* Where an empty bin looks for a value: eight bins, a byte each, in the order of `turn`. */
static inline uint64_t other_bins(uint32_t bin, uint32_t turn)
{
    return absorb(ROOT_2, (uint64_t)bin << 16 | turn, 0);
}

/* How far the unit at `place` of a shingle is turned left: 11 is prime to 64, so all differ. */
static inline unsigned shingle_turn(uint32_t place)
{
    return 11 * place % 64;
}

static inline uint64_t rotate_left(uint64_t value, unsigned bits)
{
    return value << bits | value >> (-bits & 63);
}

/* Of the exclusive or of its turned units. */
static inline uint64_t mix_shingle(uint64_t hash)
{
    return mix(hash, ROOT_7);
}

#endif
