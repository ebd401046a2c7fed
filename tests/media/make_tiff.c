/* TIFF files, through libtiff. */
#include "make.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tiffio.h>

enum { BLOCK = 32, SAMPLES_MOST = 4 };

static unsigned samples_of(const struct tiff_how *how)
{
    switch (how->photometric) {
    case PHOTOMETRIC_RGB:
        return how->alpha ? 4 : 3;
    case PHOTOMETRIC_YCBCR:
        return 3;
    case PHOTOMETRIC_SEPARATED:
        return 4;
    default:
        return 1;
    }
}

/* The samples of a pixel, of 8 bits. */
static void take_pixel(const struct scene *scene, const struct tiff_how *how, uint32_t x,
                       uint32_t y, uint8_t out[SAMPLES_MOST])
{
    x = x < scene->width ? x : scene->width - 1; /* tiles reach beyond it */
    y = y < scene->height ? y : scene->height - 1;
    const uint8_t *rgba = scene->rgba + 4 * ((size_t)y * scene->width + x);
    memcpy(out, rgba, 4);
    if (how->alpha == TIFF_MULTIPLIED)
        for (int i = 0; i < 3; i++)
            out[i] = (uint8_t)(rgba[i] * rgba[3] / 255);
    if (how->photometric == PHOTOMETRIC_MINISWHITE)
        out[0] = (uint8_t)~rgba[0];
    if (how->photometric == PHOTOMETRIC_SEPARATED) {
        for (int i = 0; i < 3; i++)
            out[i] = (uint8_t)~rgba[i];
        out[3] = 0;
    }
}

/* A row of `width` pixels from `x` on, of one plane or of all.
 * @param plane -1: interleaved */
static void fill_row(const struct scene *scene, const struct tiff_how *how, int plane,
                     const uint32_t at[3], uint8_t *out)
{
    unsigned samples = samples_of(how);
    size_t place = 0;
    for (uint32_t i = 0; i < at[2]; i++) {
        uint8_t pixel[SAMPLES_MOST];
        take_pixel(scene, how, at[0] + i, at[1], pixel);
        for (unsigned s = 0; s < samples; s++) {
            if (plane >= 0 && (unsigned)plane != s)
                continue;
            if (how->bits == 1)
                out[place / 8] = (uint8_t)(out[place / 8] | (pixel[s] >> 7) << (7 - place % 8));
            else if (how->bits == 16)
                memcpy(out + 2 * place, &(uint16_t){(uint16_t)(pixel[s] * 257)}, 2);
            else
                out[place] = pixel[s];
            place++;
        }
    }
}

static void write_strips(TIFF *tiff, const struct scene *scene, const struct tiff_how *how)
{
    uint8_t *row = malloc((size_t)TIFFScanlineSize(tiff) + 8);
    unsigned planes = how->separate ? samples_of(how) : 1;
    for (unsigned plane = 0; plane < planes; plane++)
        for (uint32_t y = 0; y < scene->height; y++) {
            memset(row, 0, (size_t)TIFFScanlineSize(tiff));
            fill_row(scene, how, how->separate ? (int)plane : -1,
                     (const uint32_t[3]){0, y, scene->width}, row);
            int written = TIFFWriteScanline(tiff, row, y, (uint16_t)plane);
            assert(written == 1);
            (void)written;
        }
    free(row);
}

static void write_tiles(TIFF *tiff, const struct scene *scene, const struct tiff_how *how)
{
    uint8_t *tile = malloc((size_t)TIFFTileSize(tiff));
    size_t row = (size_t)TIFFTileRowSize(tiff);
    for (uint32_t y = 0; y < scene->height; y += BLOCK)
        for (uint32_t x = 0; x < scene->width; x += BLOCK) {
            memset(tile, 0, (size_t)TIFFTileSize(tiff));
            for (uint32_t i = 0; i < BLOCK; i++)
                fill_row(scene, how, -1, (const uint32_t[3]){x, y + i, BLOCK}, tile + i * row);
            tmsize_t written = TIFFWriteTile(tiff, tile, x, y, 0, 0);
            assert(written > 0);
            (void)written;
        }
    free(tile);
}

static void set_fields(TIFF *tiff, const struct scene *scene, const struct tiff_how *how)
{
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, scene->width);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, scene->height);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, how->bits ? how->bits : 8);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, samples_of(how));
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, how->photometric);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, how->compression ? how->compression : COMPRESSION_NONE);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG,
                 how->separate ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
    if (how->compression == COMPRESSION_JPEG)
        TIFFSetField(tiff, TIFFTAG_JPEGQUALITY, 95);
    if (how->photometric == PHOTOMETRIC_YCBCR)
        TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    if (how->tiled) {
        TIFFSetField(tiff, TIFFTAG_TILEWIDTH, BLOCK);
        TIFFSetField(tiff, TIFFTAG_TILELENGTH, BLOCK);
    } else {
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, BLOCK);
    }
    if (how->alpha)
        TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &(uint16_t){(uint16_t)how->alpha});
    if (how->subfile)
        TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, how->subfile);
    if (how->orientation)
        TIFFSetField(tiff, TIFFTAG_ORIENTATION, how->orientation);
    if (how->dots_across) {
        TIFFSetField(tiff, TIFFTAG_XRESOLUTION, (double)how->dots_across);
        TIFFSetField(tiff, TIFFTAG_YRESOLUTION, (double)how->dots_down);
    }
    if (how->photometric == PHOTOMETRIC_PALETTE) {
        static uint16_t ramp[256];
        for (int i = 0; i < 256; i++)
            ramp[i] = (uint16_t)(i * 257);
        TIFFSetField(tiff, TIFFTAG_COLORMAP, ramp, ramp, ramp);
    }
}

struct file make_tiff(const struct scene *scenes, const struct tiff_how *hows, size_t count)
{
    struct file file = {0};
    uint8_t bytes[4096];
    ssize_t size;
    int fd = memfd_create("tiff", MFD_CLOEXEC);
    TIFF *tiff = TIFFFdOpen(fd, "made", hows[0].big ? "w8" : "w");
    assert(tiff);
    for (size_t i = 0; i < count; i++) {
        set_fields(tiff, &scenes[i], &hows[i]);
        (hows[i].tiled ? write_tiles : write_strips)(tiff, &scenes[i], &hows[i]);
        TIFFWriteDirectory(tiff);
    }
    int kept = dup(fd);
    TIFFClose(tiff);
    lseek(kept, 0, SEEK_SET);
    while ((size = read(kept, bytes, sizeof bytes)) > 0)
        file_append(&file, bytes, (size_t)size);
    close(kept);
    return file;
}
