/* From a frame of libavcodec, of whatever pixel format, to luma. */
#include "media/images/frame.h"

#include <stdlib.h>
#include <string.h>

#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>

enum { MAX_COMPONENTS = 4 };

struct conversion {
    const AVFrame *frame;
    const AVPixFmtDescriptor *format;
    unsigned components; /* 1 = luma, 2 = luma and alpha, 3 = RGB, 4 = RGBA */
    bool paletted, narrow, ignore_alpha;
    uint16_t *wide;   /* a component of a row, as it lies in the frame */
    uint8_t *samples; /* a row, `components` interleaved */
};

/* Which components make luma, and in which order: of YUV formats the first is enough. */
static bool choose_components(struct conversion *c)
{
    uint64_t flags = c->format->flags;
    if (flags & (AV_PIX_FMT_FLAG_FLOAT | AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BAYER))
        return false;
    c->paletted = flags & AV_PIX_FMT_FLAG_PAL;
    bool alpha = flags & AV_PIX_FMT_FLAG_ALPHA, rgb = flags & AV_PIX_FMT_FLAG_RGB;
    unsigned colours = c->paletted || rgb ? 3 : 1;
    c->components = colours + (c->paletted || alpha);
    c->narrow = !c->paletted && !rgb && c->format->nb_components > 2 &&
                c->frame->color_range != AVCOL_RANGE_JPEG && !strncmp(c->format->name, "yuv", 3) &&
                strncmp(c->format->name, "yuvj", 4) != 0;
    return c->paletted || c->format->nb_components >= c->components;
}

static uint8_t to_8_bits(const struct conversion *c, unsigned value, int depth)
{
    unsigned limit = (1u << depth) - 1;
    if (!c->narrow)
        return depth == 8 ? (uint8_t)value : (uint8_t)((value * 255 + limit / 2) / limit);
    int low = 16 << (depth - 8), span = 219 << (depth - 8);
    int wide = (((int)value - low) * 255 + span / 2) / span;
    return (uint8_t)(wide < 0 ? 0 : wide > 255 ? 255 : wide);
}

/* The last component is alpha also where the format has components that are not wanted (YUVA). */
static int index_of(const struct conversion *c, unsigned component)
{
    bool is_alpha = component + 1 == c->components && c->components % 2 == 0;
    return is_alpha ? c->format->nb_components - 1 : (int)component;
}

static void read_wide(const struct conversion *c, int y, int index)
{
    av_read_image_line2(c->wide, (const uint8_t **)c->frame->data, c->frame->linesize, c->format, 0,
                        y, index, c->frame->width, 0, sizeof *c->wide);
}

static void read_component_conversion(const struct conversion *c, int y, unsigned component)
{
    int index = index_of(c, component), depth = c->format->comp[index].depth;
    read_wide(c, y, index);
    uint8_t *out = c->samples + component;
    for (int x = 0; x < c->frame->width; x++, out += c->components)
        *out = to_8_bits(c, c->wide[x], depth);
}

/* A palette is of 32-bit numbers 0xAARRGGBB. */
static void read_palette_row(const struct conversion *c, int y)
{
    const uint32_t *palette = (const uint32_t *)(const void *)c->frame->data[1];
    read_wide(c, y, 0);
    uint8_t *out = c->samples;
    for (int x = 0; x < c->frame->width; x++) {
        uint32_t colour = palette[c->wide[x] & 255];
        *out++ = (uint8_t)(colour >> 16);
        *out++ = (uint8_t)(colour >> 8);
        *out++ = (uint8_t)colour;
        *out++ = (uint8_t)(colour >> 24);
    }
}

static void read_row_conversion(const struct conversion *c, int y)
{
    if (c->paletted)
        read_palette_row(c, y);
    for (unsigned i = 0; !c->paletted && i < c->components; i++)
        read_component_conversion(c, y, i);
}

/* Whether the samples taken are all that there is of a pixel. */
static bool is_complete(const struct conversion *c)
{
    bool whole = c->paletted || c->format->nb_components == c->components;
    for (int i = 0; i < c->format->nb_components; i++)
        whole &= c->format->comp[i].depth <= 8;
    return whole && !c->narrow;
}

static enum doppel_status convert_conversion(struct conversion *c,
                                             const struct doppel_luma_options *options, bool digest,
                                             struct image *out, struct doppel_error *error)
{
    size_t width = (size_t)c->frame->width;
    c->wide = malloc(width * sizeof *c->wide);
    c->samples = malloc(width * c->components);
    if (!c->wide || !c->samples)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a row of %zu pixels", width);
    struct rows rows;
    enum doppel_status status =
        rows_begin(&rows, options, (uint32_t)width, (uint32_t)c->frame->height, error);
    if (status == DOPPEL_OK && digest && is_complete(c))
        status = rows_want_digest(&rows, error);
    if (status != DOPPEL_OK) {
        rows_free(&rows);
        return status;
    }
    for (int y = 0; y < c->frame->height; y++) {
        read_row_conversion(c, y);
        rows_take_samples(&rows, c->samples, c->components, c->ignore_alpha);
    }
    return rows_finish(&rows, "picture", out, error);
}

enum doppel_status frame_to_image(const AVFrame *frame, const struct doppel_luma_options *options,
                                  const struct frame_facts *facts, struct image *out,
                                  struct doppel_error *error)
{
    struct conversion c = {.frame = frame,
                           .format = av_pix_fmt_desc_get(frame->format),
                           .ignore_alpha = facts->ignore_alpha || options->from_rgb};
    if (!c.format || frame->width <= 0 || frame->height <= 0 || !choose_components(&c))
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "holds pixels of a kind not known here (%s)",
                           c.format ? c.format->name : "none");
    bool digest = facts->lossless && !options->from_rgb;
    enum doppel_status status = convert_conversion(&c, options, digest, out, error);
    free(c.wide);
    free(c.samples);
    return status;
}
