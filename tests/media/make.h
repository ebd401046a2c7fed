/* Pictures that the tests make themselves, and files of them in every format. */
#ifndef DOPPEL_TESTS_MEDIA_MAKE_H
#define DOPPEL_TESTS_MEDIA_MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/media.h>

/** RGBA, rows without gaps. */
struct scene {
    uint32_t width, height;
    uint8_t *rgba;
};

enum scene_kind {
    SCENE_SMOOTH, /**< soft colours without a symmetry, kind to lossy coders */
    SCENE_GREY,   /**< the same without colour */
    SCENE_ALPHA,  /**< smooth, ever more transparent to the right */
    SCENE_TWO     /**< black and white blocks */
};

struct scene scene_make(enum scene_kind kind, uint32_t width, uint32_t height);
void scene_free(struct scene *scene);

/** Luma of a sample over white, from the definition: 0.299 R + 0.587 G + 0.114 B. */
double scene_luma(const struct scene *scene, uint32_t x, uint32_t y);

/** A file in memory; given (file_free). `data` is NULL when this machine has no such encoder. */
struct file {
    uint8_t *data;
    size_t size;
};

void file_free(struct file *file);
void file_append(struct file *file, const void *data, size_t size);

/** A file of these bytes, or of a string's. */
struct file file_of(const void *data, size_t size);
#define FILE_OF(text) file_of(text, sizeof(text) - 1)

/** A descriptor of a file with these bytes; the caller closes it. */
int file_open(const void *data, size_t size);

/** An EXIF block with an orientation, without the "Exif\0\0" before it. */
enum { EXIF_BYTES = 26 };
void exif_make(unsigned orientation, bool big_endian, uint8_t out[EXIF_BYTES]);

enum jpeg_colours { JPEG_YCC, JPEG_GREY, JPEG_RGB, JPEG_CMYK, JPEG_YCCK };

struct jpeg_how {
    enum jpeg_colours colours;
    int quality;          /**< 0 = 90 */
    bool progressive;     /**< spectral selection and successive approximation */
    bool separate_scans;  /**< sequential, a scan a component */
    unsigned orientation; /**< 0 = no EXIF */
};

struct file make_jpeg(const struct scene *scene, const struct jpeg_how *how);

struct png_how {
    int colour_type; /**< PNG_COLOR_TYPE_… */
    int depth;       /**< 0 = 8 */
    bool interlaced, transparent_colour;
    unsigned orientation;
};

struct file make_png(const struct scene *scene, const struct png_how *how);

/** A PNG of `height` rows that are all as the first of `scene`; not interlaced. */
struct file make_png_of_rows(const struct scene *scene, uint32_t height, const struct png_how *how);

struct webp_how {
    bool lossless, animated;
    unsigned orientation;
};

struct file make_webp(const struct scene *scene, const struct webp_how *how);

/** @param orientation 1..8, kept as irot and imir */
struct file make_heif(const struct scene *scene, enum doppel_format format, unsigned orientation);
/** The same with an EXIF block, with nothing before its TIFF head; NULL: none. */
struct file make_heif_with_exif(const struct scene *scene, enum doppel_format format,
                                unsigned orientation, const struct file *exif);

/** GIF, BMP, TIFF (by FFmpeg), TGA, JPEG XL. @param pixel_format a name of FFmpeg's; NULL = a usual
 * one */
struct file make_lavc(const struct scene *scene, enum doppel_format format,
                      const char *pixel_format);

enum tiff_alpha { TIFF_MULTIPLIED = 1, TIFF_BESIDE };

/** As the tags of TIFF 6.0 have it; zeros: 8 bits, none, strips, interleaved. */
struct tiff_how {
    unsigned photometric, bits, compression;
    enum tiff_alpha alpha; /**< of RGB; 0: none */
    bool tiled, separate;
    bool big;                        /**< of the first page: a BigTIFF */
    unsigned subfile;                /**< 1: a reduced picture, 2: a page, 4: a mask */
    unsigned orientation;            /**< 0 = not told */
    unsigned dots_across, dots_down; /**< an inch; 0 = not told */
};

/** A TIFF of so many pictures. Palettes are of greys, whose scene is grey; so is that of bits. */
struct file make_tiff(const struct scene *scenes, const struct tiff_how *hows, size_t count);

struct raw_how {
    struct file preview; /**< a JPEG; borrowed; without bytes: there is none */
    uint32_t preview_width, preview_height;
    unsigned orientation; /**< 0 = 1 */
};

/** A DNG: the sensor's data, not compressed. */
struct file make_raw(const struct scene *scene, const struct raw_how *how);

/** A usual file of a format. */
struct file make_any(enum doppel_format format, const struct scene *scene);

#endif
