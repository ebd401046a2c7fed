/* What libraw tells of a camera's raw file, and a picture it makes of the sensor's data. In C, with
 * libraw's C++ and its exceptions behind it. */
#ifndef DOPPEL_MEDIA_RAW_FILE_H
#define DOPPEL_MEDIA_RAW_FILE_H

#include "media/decode.h"

#ifdef __cplusplus
extern "C" {
#endif

struct raw_file;

struct raw_head {
    uint32_t width, height; /* as developed, before it is turned */
    uint64_t sensor_bytes;  /* what libraw holds to develop it at half its size */
    unsigned orientation;   /* EXIF's, 1 to 8 */
    struct doppel_image_origin origin;
    uint64_t preview_at, preview_bytes; /* in the file; 0: it has none */
    uint32_t preview_width, preview_height;
};

/** Read what stands before the pixels. @param input borrowed until raw_close. @param out given
 * (raw_close). DOPPEL_E_CORRUPT, _UNSUPPORTED, _MEMORY. */
enum doppel_status raw_open(struct input *input, struct raw_file **out, struct raw_head *out_head,
                            struct doppel_error *error);

/** Develop the sensor's data, at half their size. @param out_pixels RGB of 8 bits, rows without a
 * gap, borrowed until raw_close. As raw_open. */
enum doppel_status raw_develop(struct raw_file *file, const uint8_t **out_pixels,
                               uint32_t *out_width, uint32_t *out_height,
                               struct doppel_error *error);

void raw_close(struct raw_file *file);

#ifdef __cplusplus
}
#endif

#endif
