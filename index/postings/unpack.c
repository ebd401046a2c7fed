/* Blocks of bit-packed deltas: packing, unpacking in portable C, the choice among unpackers. */
#include "core/cpu.h"
#include "index/postings/postings_internal.h"

void postings_pack(const uint32_t *deltas, uint32_t count, uint32_t width, uint32_t *packed)
{
    for (uint32_t i = 0; i < count && width; i++) {
        uint32_t bit = i / POSTINGS_COLUMNS * width;
        uint32_t *word = packed + bit / 32 * POSTINGS_COLUMNS + i % POSTINGS_COLUMNS;
        uint64_t shifted = (uint64_t)deltas[i] << bit % 32;
        *word |= (uint32_t)shifted;
        if (bit % 32 + width > 32)
            word[POSTINGS_COLUMNS] |= (uint32_t)(shifted >> 32);
    }
}

void postings_unpack_portable(const uint32_t *packed, uint32_t width, uint32_t rows,
                              uint32_t before, uint32_t *out)
{
    uint64_t mask = (1ull << width) - 1;
    for (uint32_t row = 0, bit = 0; row < rows; row++, bit += width) {
        const uint32_t *words = packed + bit / 32 * POSTINGS_COLUMNS;
        for (uint32_t column = 0; column < POSTINGS_COLUMNS; column++) {
            uint64_t pair = words[column] | (uint64_t)words[column + POSTINGS_COLUMNS] << 32;
            before += (uint32_t)(pair >> bit % 32 & mask);
            *out++ = before;
        }
    }
}

postings_unpacker *postings_unpack_choose(void)
{
#if defined(__x86_64__)
    if (cpu_flags() & CPU_AVX2)
        return postings_unpack_avx2;
#endif
    return postings_unpack_portable;
}
