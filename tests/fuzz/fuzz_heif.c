/* Fuzz target: HEIC and AVIF through libheif. */
#include "fuzz.h"

const enum doppel_format fuzz_formats[] = {DOPPEL_FORMAT_HEIC, DOPPEL_FORMAT_AVIF,
                                           DOPPEL_FORMAT_UNKNOWN};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_read(data, size);
    return 0;
}
