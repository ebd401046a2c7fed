/* The second pass: words of cleaned bytes, with single spaces between. */
#include "core/cpu.h"
#include "text/normaliser.h"

bool split_portable(struct split *split, const struct mapping *mapping, const uint8_t *bytes,
                    size_t size)
{
    uint8_t *out = split->bytes;
    uint32_t *ends = split->ends;
    size_t at = split->size, words = split->words;
    bool after_space = split->after_space;
    uint8_t all = 0;
    for (size_t i = 0; i < size; i++) {
        all |= bytes[i];
        uint8_t byte = mapping->ascii[bytes[i]];
        bool space = byte == ' ', keep = !(space && after_space);
        out[at] = byte;
        ends[words] = (uint32_t)at;
        at += keep;
        words += space && keep;
        after_space = space;
    }
    split->size = at;
    split->words = words;
    split->after_space = after_space;
    split->long_word = true;
    return all < 0x80;
}

split_kernel *split_choose(void)
{
#if defined(__x86_64__)
    if (cpu_flags() & CPU_AVX512_VBMI2)
        return split_avx512;
    if (cpu_flags() & CPU_AVX2)
        return split_avx2;
#endif
    return split_portable;
}
