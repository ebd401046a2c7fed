/* Fuzz target: telling what a file is, and reading EXIF. */
#include <stdlib.h>

#include "fuzz.h"
#include "media/decode.h"

const enum doppel_format fuzz_formats[] = {
    DOPPEL_FORMAT_JPEG, DOPPEL_FORMAT_PNG, DOPPEL_FORMAT_TIFF, DOPPEL_FORMAT_TGA,
    DOPPEL_FORMAT_BMP,  DOPPEL_FORMAT_GIF, DOPPEL_FORMAT_WEBP, DOPPEL_FORMAT_UNKNOWN};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum doppel_format format = DOPPEL_FORMAT_UNKNOWN;
    enum doppel_kind kind = doppel_media_probe(data, size, &format);
    if ((kind == DOPPEL_KIND_IMAGE) != (format != DOPPEL_FORMAT_UNKNOWN))
        abort();
    if (orientation_read(data, size) > 8)
        abort();
    return 0;
}
