/* The pixels of a lossless picture as a digest. */
#include "media/images/pixel_digest.h"

#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"

struct pixel_digest {
    struct digest_stream *colours, *alphas;
    size_t width;
    bool seen_through;
    uint8_t row[]; /* RGB, then alpha */
};

struct pixel_digest *pixel_digest_new(uint32_t width, uint32_t height)
{
    uint8_t sides[8];
    struct pixel_digest *digest = calloc(1, sizeof *digest + 4 * (size_t)width);
    if (!digest)
        return NULL;
    digest->width = width;
    digest->colours = digest_stream_new();
    digest->alphas = digest_stream_new();
    if (!digest->colours || !digest->alphas) {
        pixel_digest_free(digest);
        return NULL;
    }
    put_u32(sides, width);
    put_u32(sides + 4, height);
    digest_stream_begin(digest->colours);
    digest_stream_begin(digest->alphas);
    digest_stream_add(digest->colours, sides, sizeof sides);
    return digest;
}

void pixel_digest_free(struct pixel_digest *digest)
{
    if (!digest)
        return;
    digest_stream_free(digest->colours);
    digest_stream_free(digest->alphas);
    free(digest);
}

static void expand_grey(const uint8_t *samples, size_t width, unsigned step, uint8_t *rgb)
{
    for (size_t x = 0; x < width; x++, samples += step, rgb += 3)
        rgb[0] = rgb[1] = rgb[2] = *samples;
}

static void drop_alpha(const uint8_t *samples, size_t width, uint8_t *rgb)
{
    for (size_t x = 0; x < width; x++, samples += 4, rgb += 3)
        memcpy(rgb, samples, 3);
}

/* @return whether a pixel is not opaque */
static bool take_alpha(const uint8_t *samples, size_t width, unsigned channels, uint8_t *rgb,
                       uint8_t *alpha)
{
    uint8_t least = 255;
    samples += channels - 1;
    for (size_t x = 0; x < width; x++, samples += channels) {
        alpha[x] = *samples;
        least = alpha[x] < least ? alpha[x] : least;
    }
    for (size_t x = 0; x < width && !least; x++)
        if (!alpha[x])
            memset(rgb + 3 * x, 0, 3);
    return least < 255;
}

void pixel_digest_take(struct pixel_digest *digest, const uint8_t *samples, unsigned channels,
                       bool ignore_alpha)
{
    const uint8_t *rgb = channels == 3 ? samples : digest->row;
    uint8_t *alpha = digest->row + 3 * digest->width;
    bool has_alpha = channels % 2 == 0;
    if (channels < 3)
        expand_grey(samples, digest->width, channels, digest->row);
    else if (channels == 4)
        drop_alpha(samples, digest->width, digest->row);
    if (has_alpha && !ignore_alpha)
        digest->seen_through |= take_alpha(samples, digest->width, channels, digest->row, alpha);
    else if (has_alpha)
        memset(alpha, 255, digest->width);
    digest_stream_add(digest->colours, rgb, 3 * digest->width);
    if (has_alpha)
        digest_stream_add(digest->alphas, alpha, digest->width);
}

struct doppel_digest pixel_digest_get(const struct pixel_digest *digest)
{
    struct doppel_digest both[2] = {digest_stream_get(digest->colours)};
    if (!digest->seen_through)
        return both[0];
    both[1] = digest_stream_get(digest->alphas);
    return doppel_digest_bytes(both, sizeof both);
}
