/* The pages of a TIFF to luma, one by one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "media/images/tiff.h"
#include "media/images/tiff_pages.h"
#include "media/thumbnail/thumbnail.h"

struct doppel_pages {
    struct doppel_luma_options options;
    struct tiff_file file;
    uint32_t count;
    uint64_t directories[];
};

static enum doppel_status load_pages(int fd, struct doppel_pages *pages, struct doppel_error *error)
{
    struct input *input = calloc(1, sizeof *input);
    if (!input)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a file");
    enum doppel_status status;
    TRY(input_open(input, fd, &pages->options.limits, error));
    TRY(tiff_open(input, &pages->options.limits, &pages->file, error));
done:
    if (input->error)
        status = doppel_fail(error, DOPPEL_E_IO, "cannot be read: %s", strerror(input->error));
    free(input);
    return status;
}

enum doppel_status doppel_media_open_pages(int fd, const struct doppel_media_limits *limits,
                                           uint32_t most, struct doppel_pages **out,
                                           uint32_t *out_count, struct doppel_error *error)
{
    struct doppel_pages *pages =
        calloc(1, sizeof *pages + (size_t)most * sizeof *pages->directories);
    enum doppel_status status;
    if (!pages)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %u pages", most);
    pages->options = doppel_luma_options_default();
    pages->options.min_side = 0;
    if (limits)
        pages->options.limits = *limits;
    TRY(load_pages(fd, pages, error));
    pages->count = (uint32_t)tiff_find_pages(fd, pages->directories, most);
    *out = pages;
    *out_count = pages->count;
    pages = NULL;
done:
    doppel_media_close_pages(pages);
    return status;
}

void doppel_media_close_pages(struct doppel_pages *pages)
{
    if (pages)
        tiff_close(&pages->file);
    free(pages);
}

/* Facsimiles have half as many dots an inch from top to bottom as across. */
static uint32_t rows_a_row(TIFF *tiff)
{
    float across = 0, down = 0;
    if (!TIFFGetField(tiff, TIFFTAG_XRESOLUTION, &across) ||
        !TIFFGetField(tiff, TIFFTAG_YRESOLUTION, &down) || !(across > 0) || !(down > 0))
        return 1;
    float ratio = across / down;
    return ratio > 1.5F && ratio < 4.5F ? (uint32_t)lrintf(ratio) : 1;
}

/* Square its pixels, and bring its longer side to `side`. */
static enum doppel_status scale_page(struct image *image, uint32_t stretch, uint32_t side,
                                     const struct doppel_media_limits *limits,
                                     struct doppel_error *error)
{
    uint64_t height = (uint64_t)image->height * stretch;
    uint64_t longest = height > image->width ? height : image->width;
    double scale = side ? (double)side / (double)longest : 1;
    struct doppel_plane to = {.width = (uint32_t)fmax(1, round(image->width * scale)),
                              .height = (uint32_t)fmax(1, round((double)height * scale))};
    if (to.width == image->width && to.height == image->height)
        return DOPPEL_OK;
    uint64_t bytes = (uint64_t)to.width * to.height;
    enum doppel_status status = check_memory(limits, bytes, error);
    uint8_t *pixels = status ? NULL : malloc((size_t)bytes);
    if (!status && !pixels)
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a page");
    if (status)
        return status;
    const struct thumbnail from = {image->pixels, image->width, image->height, 1};
    shrink_samples(&from, 0, &to, pixels);
    free(image->pixels);
    image->pixels = pixels;
    image->width = to.width;
    image->height = to.height;
    return DOPPEL_OK;
}

enum doppel_status doppel_media_read_page(struct doppel_pages *pages, uint32_t index, uint32_t side,
                                          struct doppel_luma *out, struct doppel_error *error)
{
    struct tiff_file *file = &pages->file;
    const struct doppel_media_limits *limits = &pages->options.limits;
    struct image image = {0};
    enum doppel_status status;
    if (index >= pages->count)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "the TIFF has no page %u", index + 1);
    *file->reason = '\0';
    if (!TIFFSetSubDirectory(file->tiff, pages->directories[index]))
        return tiff_fail(file, error);
    TRY(tiff_decode(file, &pages->options, false, &image, error));
    TRY(scale_page(&image, rows_a_row(file->tiff), side, limits, error));
    TRY(orientation_apply(&image, limits, error));
    *out = (struct doppel_luma){.plane = {image.pixels, image.width, image.height, image.width},
                                .pixels = image.pixels,
                                .width = image.width,
                                .height = image.height,
                                .there_width = image.width,
                                .there_height = image.height,
                                .format = DOPPEL_FORMAT_TIFF_PAGES};
    image.pixels = NULL;
done:
    free(image.pixels);
    return status;
}
