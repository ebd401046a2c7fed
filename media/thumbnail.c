/* From an open file to a small picture of a film, or of a picture. */
#include <stdlib.h>
#include <string.h>

#include "media/readers.h"
#include "media/thumbnail.h"

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
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "is a film, which this build cannot decode");
#endif
}

/* ---- stills ---- */

static enum doppel_status read_in_colour(int fd, const struct doppel_luma_options *options,
                                         uint32_t longest, uint8_t **out, size_t *out_size)
{
#ifdef HAVE_FFMPEG
    enum { HEAD_BYTES = 4096 };
    struct input *input = calloc(1, sizeof *input);
    enum doppel_status status =
        input ? input_open(input, fd, &options->limits, NULL) : DOPPEL_E_MEMORY;
    if (status == DOPPEL_OK) {
        uint8_t head[HEAD_BYTES];
        enum doppel_format format = DOPPEL_FORMAT_UNKNOWN;
        (void)doppel_media_probe(head, input_read_at(input, 0, head, sizeof head), &format);
        status = lavc_still(input, options, format, longest, out, out_size, NULL);
    }
    free(input);
    return status;
#else
    (void)fd, (void)options, (void)longest, (void)out, (void)out_size;
    return DOPPEL_E_UNSUPPORTED;
#endif
}

/* Means of the source's samples that fall on one of the thumbnail's. */
static void shrink(const struct doppel_plane *plane, uint32_t width, uint32_t height, uint8_t *out)
{
    for (uint32_t y = 0; y < height; y++) {
        uint32_t top = (uint32_t)((uint64_t)y * plane->height / height);
        uint32_t bottom = (uint32_t)((uint64_t)(y + 1) * plane->height / height);
        for (uint32_t x = 0; x < width; x++) {
            uint32_t left = (uint32_t)((uint64_t)x * plane->width / width);
            uint32_t right = (uint32_t)((uint64_t)(x + 1) * plane->width / width);
            uint64_t sum = 0, count = (uint64_t)(right - left) * (bottom - top);
            for (uint32_t v = top; v < bottom; v++)
                for (uint32_t u = left; u < right; u++)
                    sum += plane->data[v * plane->stride + u];
            *out++ = (uint8_t)((sum + count / 2) / count);
        }
    }
}

/* What libavcodec has no decoder for, or will not take, has its luma. */
static enum doppel_status read_in_grey(int fd, const struct doppel_luma_options *options,
                                       uint32_t longest, uint8_t **out, size_t *out_size,
                                       struct doppel_error *error)
{
    struct doppel_luma luma;
    enum doppel_status status = doppel_media_read_luma(fd, options, &luma, error);
    if (status)
        return status;
    uint32_t side = luma.plane.width > luma.plane.height ? luma.plane.width : luma.plane.height;
    double scale = side > longest ? (double)longest / side : 1;
    uint32_t width = (uint32_t)(luma.plane.width * scale + .5);
    uint32_t height = (uint32_t)(luma.plane.height * scale + .5);
    width += !width;
    height += !height;
    uint8_t *samples = malloc((size_t)width * height);
    if (samples) {
        shrink(&luma.plane, width, height, samples);
        status =
            thumbnail_write(&(struct thumbnail){samples, width, height, 1}, out, out_size, error);
    } else {
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a thumbnail");
    }
    free(samples);
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
    enum doppel_status status = check_longest(longest, error);
    if (status || read_in_colour(fd, &options, longest, out, out_size) == DOPPEL_OK)
        return status;
    return read_in_grey(fd, &options, longest, out, out_size, error);
}
