/* What the sets of kernels share. */
#ifndef DOPPEL_TEXT_KERNELS_H
#define DOPPEL_TEXT_KERNELS_H

#include "text/sketch.h"

extern const struct sketch_kernels sketch_kernels_portable, sketch_kernels_avx512;

/* Of valid UTF-8; moves `*at` behind it. */
static inline uint32_t next_code_point(const uint8_t *bytes, size_t *at)
{
    const uint8_t *first = bytes + *at;
    unsigned length = *first < 0x80 ? 1 : *first < 0xe0 ? 2 : *first < 0xf0 ? 3 : 4;
    uint32_t code_point = length == 1 ? *first : *first & (0x7fu >> length);
    for (unsigned i = 1; i < length; i++)
        code_point = code_point << 6 | (first[i] & 0x3f);
    *at += length;
    return code_point;
}

static inline unsigned bin_shift(uint32_t lanes)
{
    return lanes == 128 ? 57 : 56;
}

/* A hash's bin is recognised by its highest bits, its value is its low half. */
static inline void lower_bin(uint32_t *bins, unsigned shift, uint64_t hash)
{
    uint32_t *bin = bins + (hash >> shift), value = (uint32_t)hash;
    *bin = value < *bin ? value : *bin;
}

static inline void lower_bins(uint32_t *bins, uint32_t lanes, const uint64_t *hashes, size_t count)
{
    unsigned shift = bin_shift(lanes);
    size_t i = 0;
    for (; i + MINHASH_COPIES <= count; i += MINHASH_COPIES)
        for (unsigned copy = 0; copy < MINHASH_COPIES; copy++)
            lower_bin(bins + copy * lanes, shift, hashes[i + copy]);
    for (; i < count; i++)
        lower_bin(bins, shift, hashes[i]);
}

#endif
