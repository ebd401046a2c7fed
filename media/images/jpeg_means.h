/* The means of a JPEG's blocks, which are the picture at 1/8, without what is between. */
#ifndef DOPPEL_MEDIA_JPEG_MEANS_H
#define DOPPEL_MEDIA_JPEG_MEANS_H

#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h>

#include "media/decode.h"
#include "media/images/origin.h"

/** So many bytes after a scan are no padding: codes were lost before. */
enum { JPEG_LEFT_OVER = 64 };

/** Can jpeg_means_read do this file, at the scale and in the colours that `cinfo` is set to? After
 * jpeg_read_header and jpeg_calc_output_dimensions. */
bool jpeg_means_apply(const struct jpeg_decompress_struct *cinfo);

/**
 * Read the scan that `cinfo` is at.
 *
 * @param input  at the first byte of the scan's data
 * @param pixels output_width×output_height samples, the same as libjpeg would make
 * @param meter  begun: measures the blocks of the first component
 * @param out_damaged codes that no encoder writes were met, which libjpeg need not notice, or
 * JPEG_LEFT_OVER bytes are left over; also where it returns true
 * @return false when anything is out of the ordinary: then libjpeg has to judge the file, from the
 * same byte on
 */
bool jpeg_means_read(const struct jpeg_decompress_struct *cinfo, struct input *input,
                     uint8_t *pixels, struct origin_meter *meter, bool *out_damaged);

#endif
