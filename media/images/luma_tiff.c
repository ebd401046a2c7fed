/* TIFF to luma through libtiff: rows of samples where they lie there as they are wanted, else as
 * libtiff paints them. */
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "media/images/rgb.h"
#include "media/images/tiff.h"

enum { BAND_ROWS = 64, ONE_BIT = 1, EIGHT_BITS = 8, COLOURS = 3 };

/* How its samples lie there. */
struct tiff_layout {
    uint32_t width, height;
    uint16_t bits, samples, photometric, planar, compression, extra;
    bool tiled, has_extra;
};

static struct tiff_layout layout_of_tiff(TIFF *tiff)
{
    struct tiff_layout layout = {.tiled = TIFFIsTiled(tiff)};
    uint16_t count = 0, *kinds = NULL;
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &layout.width);
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &layout.height);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &layout.bits);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &layout.samples);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &layout.planar);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &layout.compression);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds);
    if (!TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &layout.photometric))
        layout.photometric = layout.samples > 2 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
    layout.has_extra = count > 0;
    layout.extra = count ? kinds[0] : EXTRASAMPLE_UNSPECIFIED;
    return layout;
}

static bool is_grey_layout(const struct tiff_layout *layout)
{
    return layout->photometric == PHOTOMETRIC_MINISBLACK ||
           layout->photometric == PHOTOMETRIC_MINISWHITE;
}

/* Grey or RGB, with alpha or without, interleaved, of a byte each; or of a bit each. */
static bool has_plain_rows(const struct tiff_layout *layout)
{
    unsigned colours = is_grey_layout(layout) ? 1 : layout->photometric == PHOTOMETRIC_RGB ? 3 : 0;
    bool alpha = layout->samples == colours + 1u && layout->has_extra &&
                 layout->extra == EXTRASAMPLE_UNASSALPHA &&
                 layout->photometric != PHOTOMETRIC_MINISWHITE;
    bool plain = colours && (layout->samples == colours || alpha) && !layout->tiled &&
                 (layout->samples == 1 || layout->planar == PLANARCONFIG_CONTIG);
    return plain &&
           (layout->bits == EIGHT_BITS || (layout->bits == ONE_BIT && colours == 1 && !alpha));
}

/* None, the facsimile's, LZW, Deflate in both its numbers, PackBits. Inks and colour differences
 * are converted with loss; colours that alpha is multiplied into are not those of before.
 * Source: TIFF 6.0, and its Technical Notes of 2002. */
static bool is_lossless_layout(const struct tiff_layout *layout)
{
    uint16_t way = layout->compression;
    return (way <= COMPRESSION_LZW || way == COMPRESSION_ADOBE_DEFLATE ||
            way == COMPRESSION_PACKBITS || way == COMPRESSION_DEFLATE) &&
           layout->photometric <= PHOTOMETRIC_PALETTE && layout->bits <= EIGHT_BITS &&
           (!layout->has_extra || has_plain_rows(layout));
}

/* Where the rows go: to luma, or as RGB for people. */
struct tiff_rows {
    bool colour;
    struct rows luma;
    uint8_t *rgb;
    size_t used;
};

static void take_tiff_row(struct tiff_rows *out, const uint8_t *samples, uint32_t width,
                          unsigned channels)
{
    if (!out->colour) {
        rows_take_samples(&out->luma, samples, channels, false);
        return;
    }
    for (uint32_t x = 0; x < width; x++, samples += channels)
        for (unsigned i = 0; i < COLOURS; i++) {
            uint8_t sample = samples[channels > 2 ? i : 0];
            out->rgb[out->used++] =
                channels % 2 ? sample : over_white(sample, samples[channels - 1]);
        }
}

/* ---- rows as they lie there ---- */

static void spread_bits(const uint8_t *bits, uint32_t width, uint8_t flip, uint8_t *out)
{
    for (uint32_t x = 0; x < width; x++)
        out[x] = (uint8_t)(bits[x / 8] >> (7 - x % 8) & 1 ? ~flip : flip);
}

static enum doppel_status take_plain_rows(struct tiff_file *file, const struct tiff_layout *layout,
                                          struct tiff_rows *out, struct doppel_error *error)
{
    uint8_t flip = layout->photometric == PHOTOMETRIC_MINISWHITE ? 0xff : 0;
    size_t wanted = (size_t)layout->width * layout->samples,
           size = (size_t)TIFFScanlineSize(file->tiff);
    if (size < (layout->bits == ONE_BIT ? (layout->width + 7u) / 8 : wanted))
        return tiff_fail(file, error);
    uint8_t *row = malloc(size), *spread = malloc(wanted);
    enum doppel_status status = DOPPEL_OK;
    if (!row || !spread)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decode the TIFF"));
    for (uint32_t y = 0; y < layout->height; y++) {
        if (TIFFReadScanline(file->tiff, row, y, 0) != 1)
            TRY(tiff_fail(file, error));
        if (layout->bits == ONE_BIT)
            spread_bits(row, layout->width, flip, spread);
        for (size_t i = 0; flip && layout->bits == EIGHT_BITS && i < wanted; i++)
            row[i] = (uint8_t)~row[i];
        take_tiff_row(out, layout->bits == ONE_BIT ? spread : row, layout->width, layout->samples);
    }
done:
    free(row);
    free(spread);
    return status;
}

/* ---- as libtiff paints it: tiles, JPEG, palettes, inks, 16 bits ---- */

/* Whole strips or rows of tiles, as one is decoded at a time. */
static uint32_t rows_of_band(TIFF *tiff, const struct tiff_layout *layout)
{
    uint32_t unit = 0;
    if (layout->tiled)
        TIFFGetField(tiff, TIFFTAG_TILELENGTH, &unit);
    else
        TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &unit);
    if (unit < 1 || unit > layout->height)
        return layout->height;
    uint64_t band = unit * (uint64_t)((BAND_ROWS + unit - 1) / unit);
    return band < layout->height ? (uint32_t)band : layout->height;
}

/* Its alpha is multiplied into the colours: over white what is missing of it is added. */
static void take_painted_row(const uint32_t *pixels, uint32_t width, uint8_t *row,
                             struct tiff_rows *out)
{
    for (uint32_t x = 0; x < width; x++) {
        unsigned white = 255 - TIFFGetA(pixels[x]);
        const unsigned colours[COLOURS] = {TIFFGetR(pixels[x]) + white, TIFFGetG(pixels[x]) + white,
                                           TIFFGetB(pixels[x]) + white};
        for (unsigned i = 0; i < COLOURS; i++)
            row[3 * x + i] = (uint8_t)(colours[i] < 255 ? colours[i] : 255);
    }
    take_tiff_row(out, row, width, 3);
}

static enum doppel_status take_painted_rows(struct tiff_file *file,
                                            const struct tiff_layout *layout,
                                            const struct doppel_media_limits *limits,
                                            struct tiff_rows *out, struct doppel_error *error)
{
    char refusal[1024] = "";
    TIFFRGBAImage image;
    const uint32_t width = layout->width, band = rows_of_band(file->tiff, layout);
    if (!TIFFRGBAImageOK(file->tiff, refusal) ||
        !TIFFRGBAImageBegin(&image, file->tiff, 1, refusal))
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "the TIFF is of a kind that is not read (%s)", refusal);
    image.orientation = image.req_orientation = ORIENTATION_TOPLEFT; /* turned later, as others */
    uint64_t bytes = (uint64_t)width * band * sizeof(uint32_t);
    uint32_t *raster = NULL;
    uint8_t *row = NULL;
    enum doppel_status status;
    TRY(check_memory(limits, file->size + 2 * bytes, error));
    raster = malloc((size_t)bytes);
    row = malloc((size_t)width * 3);
    if (!raster || !row)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decode the TIFF"));
    for (uint32_t y = 0; y < layout->height; y += band) {
        uint32_t count = layout->height - y < band ? layout->height - y : band;
        image.row_offset = (int)y;
        if (!TIFFRGBAImageGet(&image, raster, width, count))
            TRY(tiff_fail(file, error));
        for (uint32_t i = 0; i < count; i++)
            take_painted_row(raster + (size_t)i * width, width, row, out);
    }
done:
    TIFFRGBAImageEnd(&image);
    free(raster);
    free(row);
    return status;
}

/* ---- */

static enum doppel_status begin_tiff_rows(const struct tiff_file *file,
                                          const struct tiff_layout *layout,
                                          const struct doppel_luma_options *options,
                                          struct tiff_rows *out, struct doppel_error *error)
{
    uint64_t bytes = (uint64_t)layout->width * layout->height * COLOURS;
    enum doppel_status status =
        out->colour ? check_memory(&options->limits, file->size + bytes, error)
                    : rows_begin(&out->luma, options, layout->width, layout->height, error);
    if (status)
        return status;
    if (out->colour) {
        out->rgb = malloc((size_t)bytes);
        return out->rgb ? DOPPEL_OK
                        : doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decode the TIFF");
    }
    bool whole = !options->from_rgb && TIFFLastDirectory(file->tiff) && is_lossless_layout(layout);
    return whole ? rows_want_digest(&out->luma, error) : DOPPEL_OK;
}

enum doppel_status tiff_decode(struct tiff_file *file, const struct doppel_luma_options *options,
                               bool colour, struct image *out, struct doppel_error *error)
{
    const struct tiff_layout layout = layout_of_tiff(file->tiff);
    struct tiff_rows rows = {.colour = colour};
    uint16_t orientation = 0;
    enum doppel_status status;
    if (!layout.width || !layout.height)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "the TIFF has no picture in its directory");
    TRY(check_pixels(&options->limits, layout.width, layout.height, error));
    TRY(begin_tiff_rows(file, &layout, options, &rows, error));
    TRY(has_plain_rows(&layout) ? take_plain_rows(file, &layout, &rows, error)
                                : take_painted_rows(file, &layout, &options->limits, &rows, error));
    if (colour)
        *out = (struct image){.pixels = rows.rgb,
                              .width = layout.width,
                              .height = layout.height,
                              .full_width = layout.width,
                              .full_height = layout.height};
    else
        TRY(rows_finish(&rows.luma, "TIFF", out, error));
    rows.rgb = NULL;
    TIFFGetField(file->tiff, TIFFTAG_ORIENTATION, &orientation);
    out->orientation = orientation >= 1 && orientation <= 8 ? orientation : 0;
done:
    rows_free(&rows.luma);
    free(rows.rgb);
    return status;
}

static enum doppel_status decode_first(struct input *input,
                                       const struct doppel_luma_options *options, bool colour,
                                       struct image *out, struct doppel_error *error)
{
    struct tiff_file file;
    enum doppel_status status = tiff_open(input, &options->limits, &file, error);
    if (!status)
        status = tiff_decode(&file, options, colour, out, error);
    if (!status)
        exif_read_origin(file.data, file.size, &out->origin);
    tiff_close(&file);
    return status;
}

enum doppel_status decode_tiff(struct input *input, const struct doppel_luma_options *options,
                               struct image *out, struct doppel_error *error)
{
    return decode_first(input, options, false, out, error);
}

enum doppel_status decode_tiff_rgb(struct input *input, const struct doppel_luma_options *options,
                                   struct image *out, struct doppel_error *error)
{
    return decode_first(input, options, true, out, error);
}
