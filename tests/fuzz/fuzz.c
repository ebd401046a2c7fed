/* The bytes as a file in memory, read within small limits. */
#include "fuzz.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* dav1d 1.0 leaks 40 bytes on damaged streams. See make_heif.c. */
__attribute__((weak)) const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
    return "leak:libx265\nleak:libdav1d\n";
}

static bool is_wanted(const uint8_t *data, size_t size)
{
    enum doppel_format format;
    doppel_media_probe(data, size < 4096 ? size : 4096, &format);
    for (const enum doppel_format *wanted = fuzz_formats; *wanted; wanted++)
        if (*wanted == format)
            return true;
    return false;
}

/* The reader's options depend on the input too. */
static struct doppel_luma_options options_for(const uint8_t *data, size_t size)
{
    struct doppel_luma_options options = doppel_luma_options_default();
    options.limits.max_pixels = 1 << 20;
    options.limits.max_memory = 32 << 20;
    options.min_side = size % 3 ? 16 * (uint32_t)(size % 3) : 0;
    options.from_rgb = data[size / 2] & 1;
    return options;
}

/* What a person would see of it, too. */
static void read_still(int fd, const struct doppel_luma_options *options)
{
    uint8_t *jpeg = NULL;
    size_t size = 0;
    if (doppel_media_read_still(fd, &options->limits, 16 + options->min_side, &jpeg, &size, NULL))
        return;
    if (size < 4 || jpeg[0] != 0xff || jpeg[1] != 0xd8)
        abort();
    free(jpeg);
}

void fuzz_read(const uint8_t *data, size_t size)
{
    if (!size || !is_wanted(data, size))
        return;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    struct doppel_luma_options options = options_for(data, size);
    struct doppel_luma luma = {0};
    struct doppel_error error;
    unsigned sum = 0;
    if (doppel_media_read_luma(fd, &options, &luma, &error) == DOPPEL_OK)
        for (uint32_t y = 0; y < luma.plane.height; y++)
            for (uint32_t x = 0; x < luma.plane.width; x++)
                sum += luma.plane.data[y * luma.plane.stride + x];
    /* Every sample must be readable, and written: msan and valgrind look at this branch. */
    if (sum == 0xffffffffu)
        abort();
    doppel_luma_free(&luma);
    read_still(fd, &options);
    close(fd);
}
