/* Tables of a JPEG's Huffman codes. Source: ITU-T T.81, section C.2. */
#include "media/images/jpeg_tables.h"

#include <string.h>

const uint8_t jpeg_natural_order[DCTSIZE2] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

/* Codes are numbered in order of their length, and none is all ones; C.2. */
static bool number_codes(const JHUFF_TBL *table, struct huffman *out)
{
    int32_t code = 0, index = 0;
    for (int length = 1; length <= 16; length++, code <<= 1) {
        int32_t count = table->bits[length];
        out->offset[length] = index - code;
        if (index + count > 256 || code + count >= 1 << length)
            return false;
        index += count;
        code += count;
        out->last[length] = count ? code - 1 : -1;
    }
    return true;
}

/* A difference has at most 15 bits. */
static bool are_sizes(const JHUFF_TBL *table)
{
    int count = 0;
    for (int length = 1; length <= 16; length++)
        count += table->bits[length];
    for (int i = 0; i < count; i++)
        if (table->huffval[i] > 15)
            return false;
    return true;
}

static void fill_codes(const JHUFF_TBL *table, struct huffman *out)
{
    uint32_t at = 0;
    int index = 0;
    for (int length = 1; length <= PEEK; length++)
        for (int i = 0; i < table->bits[length]; i++, index++)
            for (int j = 0; j < 1 << (PEEK - length); j++)
                out->codes[at++] = (struct code){(uint8_t)length, table->huffval[index]};
    memset(out->codes + at, 0, ((1 << PEEK) - at) * sizeof *out->codes);
}

/* As many symbols as the bits show whole codes of. */
static void fill_steps(struct huffman *table)
{
    for (uint32_t bits = 0; bits < 1 << PEEK; bits++) {
        struct step sum = {0, 0};
        while (sum.bits < PEEK && sum.skips < 64) {
            struct code code = table->codes[bits << sum.bits & ((1 << PEEK) - 1)];
            if (code.length == 0 || sum.bits + code.length > PEEK)
                break;
            struct step step = jpeg_step_of(code);
            sum.bits = (uint8_t)(sum.bits + step.bits);
            sum.skips = (uint8_t)(sum.skips + step.skips);
        }
        table->steps[bits] = sum;
    }
}

bool jpeg_table_make(const JHUFF_TBL *table, bool is_ac, struct huffman *out)
{
    if (!table || !number_codes(table, out) || (!is_ac && !are_sizes(table)))
        return false;
    fill_codes(table, out);
    if (is_ac)
        fill_steps(out);
    out->symbols = table->huffval;
    return true;
}
