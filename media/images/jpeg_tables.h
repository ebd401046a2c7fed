/* Tables of a JPEG's Huffman codes, which say of the next bits what they pass over. */
#ifndef DOPPEL_MEDIA_JPEG_TABLES_H
#define DOPPEL_MEDIA_JPEG_TABLES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jpeglib.h>

enum {
    PEEK = 12,       /**< bits looked up at once */
    BLOCK_ENDS = 128 /**< in `skips`: the block ends after these */
};

/* What one look-up passes over. `bits` 0: the code is longer than PEEK. */
struct step {
    uint8_t bits, skips;
};

struct code {
    uint8_t length, symbol; /* length 0: longer than PEEK, or none */
};

struct huffman {
    struct code codes[1 << PEEK];
    struct step steps[1 << PEEK]; /* of AC tables */
    int32_t last[17];             /* largest code of each length, -1 if there is none */
    int32_t offset[17];           /* from a code to the place of its symbol */
    const uint8_t *symbols;       /* by place */
};

/* What a coefficient's symbol passes over: its code, its value's bits, zeros before it. Zero values
 * other than a run of 16 end the block, as libjpeg has it. */
static inline struct step jpeg_step_of(struct code code)
{
    int zeros = code.symbol >> 4, size = code.symbol & 15;
    if (size == 0 && zeros != 15)
        return (struct step){code.length, BLOCK_ENDS};
    return (struct step){(uint8_t)(code.length + size), (uint8_t)(zeros + 1)};
}

/** Where the coefficients lie that follow each other in a file; T.81, figure A.6. */
extern const uint8_t jpeg_natural_order[DCTSIZE2];

/** @param out made of a table of a file. @return false when that is none */
bool jpeg_table_make(const JHUFF_TBL *table, bool is_ac, struct huffman *out);

#endif
