/* From an open file to a small picture of a video, or of a picture. */
#include <stdlib.h>
#include <string.h>

#include "media/readers.h"
#include "media/thumbnail/thumbnail.h"

enum { SHORTEST = 16, LONGEST = 1024 };

static enum doppel_status check_longest(uint32_t longest, struct doppel_error *error)
{
    if (longest >= SHORTEST && longest <= LONGEST)
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_ARGUMENT, "a thumbnail of %u pixels: only %d to %d", longest,
                       SHORTEST, LONGEST);
}

enum doppel_status doppel_media_read_thumbnail(int fd, uint32_t time_ms, uint32_t longest,
                                               uint8_t **out, size_t *out_size,
                                               struct doppel_error *error)
{
    enum doppel_status status = check_longest(longest, error);
    if (status)
        return status;
#ifdef HAVE_FFMPEG
    return read_thumbnail(fd, time_ms, longest, out, out_size, error);
#else
    (void)fd, (void)time_ms, (void)out, (void)out_size;
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                       "this doppel reads no videos: it was built without FFmpeg");
#endif
}

/* ---- stills ---- */

struct still_wish {
    const struct doppel_luma_options *options;
    uint32_t longest;
};

static enum doppel_status read_rgb(decoder *decode, struct input *input,
                                   const struct still_wish *wish, uint8_t **out, size_t *out_size)
{
    struct image image = {0};
    enum doppel_status status = decode(input, wish->options, &image, NULL);
    if (status)
        return status;
    struct thumbnail whole = {image.pixels, image.width, image.height, 3};
    unsigned orientation = image.orientation ? image.orientation : 1;
    status = thumbnail_shrink(&whole, orientation, wish->longest, out, out_size, NULL);
    free(image.pixels);
    return status;
}

static enum doppel_status read_input(struct input *input, const struct still_wish *wish,
                                     uint8_t **out, size_t *out_size)
{
    enum { HEAD_BYTES = 4096 };
    uint8_t head[HEAD_BYTES];
    enum doppel_format format = DOPPEL_FORMAT_UNKNOWN;
    (void)doppel_media_probe(head, input_read_at(input, 0, head, sizeof head), &format);
    if (format == DOPPEL_FORMAT_JPEG) /* libjpeg makes it small while it decodes */
        return read_rgb(decode_jpeg_rgb, input, wish, out, out_size);
#ifdef HAVE_HEIF
    if (format == DOPPEL_FORMAT_HEIC || format == DOPPEL_FORMAT_AVIF)
        return read_rgb(decode_heif_rgb, input, wish, out, out_size);
#endif
#ifdef HAVE_RAW
    if (format == DOPPEL_FORMAT_RAW)
        return read_rgb(decode_raw_rgb, input, wish, out, out_size);
#endif
#ifdef HAVE_TIFF
    if (format == DOPPEL_FORMAT_TIFF)
        return read_rgb(decode_tiff_rgb, input, wish, out, out_size);
#endif
#ifdef HAVE_FFMPEG
    return lavc_still(input, wish->options, format, wish->longest, out, out_size, NULL);
#else
    return DOPPEL_E_UNSUPPORTED;
#endif
}

static enum doppel_status read_in_colour(int fd, const struct still_wish *wish, uint8_t **out,
                                         size_t *out_size)
{
    struct input *input = calloc(1, sizeof *input);
    if (!input)
        return DOPPEL_E_MEMORY;
    enum doppel_status status = input_open(input, fd, &wish->options->limits, NULL);
    if (status == DOPPEL_OK)
        status = read_input(input, wish, out, out_size);
    free(input);
    return status;
}

/* What no decoder of colours takes has its luma. */
static enum doppel_status read_in_grey(int fd, const struct doppel_luma_options *options,
                                       uint32_t longest, uint8_t **out, size_t *out_size,
                                       struct doppel_error *error)
{
    struct doppel_luma luma;
    enum doppel_status status = doppel_media_read_luma(fd, options, &luma, error);
    if (status)
        return status;
    struct thumbnail whole = {luma.pixels, luma.plane.width, luma.plane.height, 1};
    status = thumbnail_shrink(&whole, 1, longest, out, out_size, error);
    doppel_luma_free(&luma);
    return status;
}

enum doppel_status doppel_media_read_still(int fd, const struct doppel_media_limits *limits,
                                           uint32_t longest, uint8_t **out, size_t *out_size,
                                           struct doppel_error *error)
{
    struct doppel_luma_options options = doppel_luma_options_default();
    options.min_side = longest;
    if (limits)
        options.limits = *limits;
    const struct still_wish wish = {&options, longest};
    enum doppel_status status = check_longest(longest, error);
    if (status || read_in_colour(fd, &wish, out, out_size) == DOPPEL_OK)
        return status;
    return read_in_grey(fd, &options, longest, out, out_size, error);
}
