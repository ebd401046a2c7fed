/* What the decoders share: the input file, the picture they hand over, limits, orientation. */
#ifndef DOPPEL_MEDIA_DECODE_H
#define DOPPEL_MEDIA_DECODE_H

#include <doppel/media.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- input ---- */

/** A file and a window on it. Read by offset, so that a file that shrinks is a short read and not a
 * SIGBUS. */
struct input {
    int fd;
    uint64_t base;   /**< where it begins in the file; 0 but of what lies within another */
    uint64_t size;   /**< of the file as it was opened */
    uint64_t offset; /**< of the next byte that input_fill reads */
    int error;       /**< errno of the first failed read, else 0 */
    size_t at, filled;
    uint8_t window[65536];
};

/** Look whether `fd` is a regular file within the limits; all but the window is set. */
enum doppel_status input_open(struct input *input, int fd, const struct doppel_media_limits *limits,
                              struct doppel_error *error);

/** Read the next bytes into the window; 0 = the end, or an error. */
size_t input_fill(struct input *input);

/** Read `size` bytes through the window; the number of those that were there. */
size_t input_read(struct input *input, uint8_t *out, size_t size);

/** Read from `offset`, past the window; the number of bytes that were there. */
size_t input_read_at(struct input *input, uint64_t offset, uint8_t *out, size_t size);

/**
 * Read the first `size` bytes of the file into memory, `padding` zeros after them.
 * @param out      given (free)
 * @param out_size bytes that were there
 */
enum doppel_status input_load(struct input *input, uint64_t size, size_t padding, uint8_t **out,
                              size_t *out_size, struct doppel_error *error);

/* ---- output ---- */

/** What a decoder hands over: a grey picture as it lies in the file, not yet turned. */
struct image {
    uint8_t *pixels;                  /**< given (free); rows follow each other without a gap */
    uint32_t width, height;           /**< of `pixels` */
    uint32_t full_width, full_height; /**< as the file declares them */
    uint32_t there;                   /**< of the full rows; 0 = all */
    bool coarse;                      /**< broken off before the finer details */
    bool damaged;                     /**< what is inside is not as it was written */
    unsigned orientation;             /**< EXIF 1..8; 0 = not told */
    struct doppel_digest digest;      /**< of a lossless picture's pixels; else zero */
    struct doppel_image_origin origin;
};

typedef enum doppel_status decoder(struct input *input, const struct doppel_luma_options *options,
                                   struct image *out, struct doppel_error *error);

/** With three samples a pixel, RGB, for people: what is transparent over white. */
decoder decode_jpeg_rgb, decode_heif_rgb, decode_raw_rgb, decode_tiff_rgb;

decoder decode_jpeg, decode_png, decode_webp, decode_heif;
decoder decode_gif, decode_bmp, decode_tga, decode_jxl;
decoder decode_raw, decode_tiff;

/** A plane that is made row by row, and made smaller on the way where the options allow. */
struct rows {
    uint32_t full_width, full_height, taken; /**< rows taken */
    uint32_t width, height, factor;          /**< of what is made */
    uint8_t *pixels;
    uint32_t *sums;              /**< of a row of cells; NULL when the factor is 1 */
    uint8_t *luma;               /**< of a row of samples */
    struct pixel_digest *digest; /**< NULL: not wanted */
    struct origin_meter *meter;  /**< NULL: not wanted */
    uint8_t *strip;              /**< the last rows, to be measured */
};

/** By how much rows_begin will reduce in each direction. */
uint32_t rows_factor(const struct doppel_luma_options *options, uint32_t width, uint32_t height);

enum doppel_status rows_begin(struct rows *rows, const struct doppel_luma_options *options,
                              uint32_t width, uint32_t height, struct doppel_error *error);

/** The digest of what is taken from here on is wanted, if all of it comes (rows_take_samples). */
enum doppel_status rows_want_digest(struct rows *rows, struct doppel_error *error);

/** Take the next row of `full_width` samples; rows beyond the last are ignored. */
void rows_take(struct rows *rows, const uint8_t *luma);

/** The same of interleaved samples; as luma_row. */
void rows_take_samples(struct rows *rows, const uint8_t *samples, unsigned channels,
                       bool ignore_alpha);

/** What comes is not all, or not right: no digest. */
void rows_drop_digest(struct rows *rows);

/** Hand over what was made of the rows so far, or say that there are too few; then rows is empty.
 */
enum doppel_status rows_finish(struct rows *rows, const char *format_name, struct image *out,
                               struct doppel_error *error);

void rows_free(struct rows *rows);

/* ---- limits ---- */

enum doppel_status check_pixels(const struct doppel_media_limits *limits, uint64_t width,
                                uint64_t height, struct doppel_error *error);

/** Refuse what would make the decoder hold more than the limit. */
enum doppel_status check_memory(const struct doppel_media_limits *limits, uint64_t bytes,
                                struct doppel_error *error);

/** Are `rows` of `height` enough to know the picture by? At least a tenth. */
enum doppel_status check_rows(const char *format_name, uint32_t rows, uint32_t height,
                              struct doppel_error *error);

/* ---- orientation ---- */

enum tiff_tag {
    TIFF_NEW_SUBFILE_TYPE = 0x00fe,
    TIFF_WIDTH = 0x0100,
    TIFF_HEIGHT = 0x0101,
    TIFF_COMPRESSION = 0x0103,
    TIFF_PHOTOMETRIC = 0x0106,
    TIFF_MAKE = 0x010f,
    TIFF_MODEL = 0x0110,
    TIFF_ORIENTATION = 0x0112,
    TIFF_TILE_WIDTH = 0x0142,
    TIFF_DIRECTORIES_BELOW = 0x014a,
    TIFF_EXTRA_SAMPLES = 0x0152,
    TIFF_EXIF_DIRECTORY = 0x8769,
    TIFF_PLACE_DIRECTORY = 0x8825,
    TIFF_DNG_VERSION = 0xc612,
    TIFF_DATE_TAKEN = 0x9003,    /**< of the EXIF directory */
    TIFF_DATE_FRACTION = 0x9291, /**< the same */
    TIFF_LATITUDE_SIDE = 1,      /**< of the directory of the place */
    TIFF_LATITUDE = 2,
    TIFF_LONGITUDE_SIDE = 3,
    TIFF_LONGITUDE = 4
};

/** The number that a tag of the first directory of a TIFF holds; 0 when it is not there. */
uint32_t tiff_number(const uint8_t *data, size_t size, enum tiff_tag tag);

/** Whether the first directory of a TIFF has a tag, of whatever type. */
bool tiff_has(const uint8_t *data, size_t size, enum tiff_tag tag);

/** The orientation (1..8) that an EXIF or TIFF block tells, or 0. `data` may begin with "Exif\0\0".
 */
unsigned orientation_read(const uint8_t *data, size_t size);

/** Fill in the orientation, and when, with what and where it was taken, as an EXIF or TIFF block
 * tells. */
void exif_read(const uint8_t *data, size_t size, struct image *out);

/** The same without the orientation, of containers that have their own. */
void exif_read_origin(const uint8_t *data, size_t size, struct doppel_image_origin *out);

/** The same orientation of a whole PNG, WebP or TIFF in memory; 0 of others. */
unsigned orientation_of_file(enum doppel_format format, const uint8_t *data, size_t size);

/** Write a plane as it is shown, rows without a gap; of an orientation >= 5 its sides change
 * places.
 * @param orientation 1..8 */
void orientation_turn(const struct doppel_plane *plane, unsigned orientation, uint8_t *out);

/** Turn a picture upright; its orientation is then 1 and its sides are those shown. */
enum doppel_status orientation_apply(struct image *image, const struct doppel_media_limits *limits,
                                     struct doppel_error *error);

#ifdef __cplusplus
}
#endif

#endif
