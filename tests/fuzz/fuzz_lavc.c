/* Fuzz target: GIF, BMP, TGA and JPEG XL through libavcodec. */
#include "fuzz.h"

const enum doppel_format fuzz_formats[] = {DOPPEL_FORMAT_GIF, DOPPEL_FORMAT_BMP,
                                           DOPPEL_FORMAT_TGA, DOPPEL_FORMAT_JXL,
                                           DOPPEL_FORMAT_UNKNOWN};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_read(data, size);
    return 0;
}
