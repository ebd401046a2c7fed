/* Fuzz target: TIFF through libtiff, its first picture and all its pages. */
#include "fuzz.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

const enum doppel_format fuzz_formats[] = {DOPPEL_FORMAT_TIFF, DOPPEL_FORMAT_UNKNOWN};

enum { MOST_PAGES = 6 };

static void read_pages(int fd, uint32_t side)
{
    struct doppel_media_limits limits = doppel_media_limits_default();
    struct doppel_pages *pages;
    uint32_t count, sum = 0;
    limits.max_pixels = 1 << 20;
    limits.max_memory = 32 << 20;
    if (doppel_media_open_pages(fd, &limits, MOST_PAGES, &pages, &count, NULL))
        return;
    if (count > MOST_PAGES)
        abort();
    for (uint32_t i = 0; i < count; i++) {
        struct doppel_luma luma;
        if (doppel_media_read_page(pages, i, side, &luma, NULL))
            continue;
        for (size_t j = 0; j < (size_t)luma.plane.width * luma.plane.height; j++)
            sum += luma.pixels[j];
        doppel_luma_free(&luma);
    }
    /* Every sample must be readable, and written. */
    if (sum == 0xffffffffu)
        abort();
    doppel_media_close_pages(pages);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_read(data, size);
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    if (size)
        read_pages(fd, size % 3 ? 40 * (uint32_t)(size % 3) : 0);
    close(fd);
    return 0;
}
