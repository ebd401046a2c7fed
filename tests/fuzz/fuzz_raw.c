/* Fuzz target: raw files of cameras through libraw. */
#include "fuzz.h"

const enum doppel_format fuzz_formats[] = {DOPPEL_FORMAT_RAW, DOPPEL_FORMAT_UNKNOWN};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_read(data, size);
    return 0;
}
