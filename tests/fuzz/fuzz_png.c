/* Fuzz target: PNG through libpng. Checksums are mended first, or no mutation would pass them. */
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "fuzz.h"

const enum doppel_format fuzz_formats[] = {DOPPEL_FORMAT_PNG, DOPPEL_FORMAT_UNKNOWN};

static uint32_t big_u32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* A chunk is a length, a name, the data, and the CRC of name and data. */
static void mend_checksums(uint8_t *data, size_t size)
{
    size_t at = 8;
    while (at + 12 <= size && big_u32(data + at) <= size - at - 12) {
        uint32_t length = big_u32(data + at);
        uLong sum = crc32(0, data + at + 4, length + 4);
        for (int i = 0; i < 4; i++)
            data[at + 8 + length + (size_t)i] = (uint8_t)(sum >> (24 - 8 * i));
        at += 12 + (size_t)length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *mended = malloc(size ? size : 1);
    if (!mended)
        abort();
    memcpy(mended, data, size);
    mend_checksums(mended, size);
    fuzz_read(mended, size);
    free(mended);
    return 0;
}
