/* The second pass: words of cleaned bytes, with single spaces between. */
#include "text/normaliser.h"

void split_portable(struct split *split, const uint8_t table[256], const uint8_t *bytes,
                    size_t size)
{
    uint8_t *out = split->bytes;
    uint32_t *ends = split->ends;
    size_t at = split->size, words = split->words;
    bool after_space = split->after_space;
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = table[bytes[i]];
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
}

split_kernel *split_choose(void)
{
    return split_portable;
}
