/* A TIFF that is read by libtiff: opened in memory, and each of its pictures decoded. */
#ifndef DOPPEL_MEDIA_TIFF_H
#define DOPPEL_MEDIA_TIFF_H

#include <tiffio.h>

#include "media/decode.h"

struct tiff_file {
    TIFF *tiff;
    uint8_t *data;
    uint64_t size, at;
    char reason[160]; /* what libtiff said first; "": nothing yet */
};

/* Load the whole file. @param out given (tiff_close), also on failure; it stays where it is */
enum doppel_status tiff_open(struct input *input, const struct doppel_media_limits *limits,
                             struct tiff_file *out, struct doppel_error *error);
void tiff_close(struct tiff_file *file);

/* DOPPEL_E_CORRUPT, with what libtiff said. */
enum doppel_status tiff_fail(const struct tiff_file *file, struct doppel_error *error);

/* Decode the picture of the directory that libtiff is at.
 * @param colour three samples a pixel, RGB, for people; else luma
 * @param out    its pixels are given (free); untouched on failure */
enum doppel_status tiff_decode(struct tiff_file *file, const struct doppel_luma_options *options,
                               bool colour, struct image *out, struct doppel_error *error);

#endif
