/**
 * doppel/media.h: from an open file to a grey plane. Everything that touches FFmpeg, libjpeg-turbo,
 * libpng, libheif and libwebp is behind this face, and so are all limits on input.
 *
 * The decoders run in the caller's process and thread. Hostile files are their daily bread, but
 * they are other people's code: programs that read files from strangers call this in a worker
 * process (doppel/worker.h does). FFmpeg's log is switched off, for the whole process; libjxl may
 * still complain on standard error.
 */
#ifndef DOPPEL_MEDIA_H
#define DOPPEL_MEDIA_H

#include <stdbool.h>

#include <doppel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Container or codec, as told from the bytes. */
enum doppel_format {
    DOPPEL_FORMAT_UNKNOWN = 0,
    DOPPEL_FORMAT_JPEG,
    DOPPEL_FORMAT_PNG,
    DOPPEL_FORMAT_GIF,
    DOPPEL_FORMAT_WEBP,
    DOPPEL_FORMAT_BMP,
    DOPPEL_FORMAT_TIFF,
    DOPPEL_FORMAT_TGA,
    DOPPEL_FORMAT_HEIC,
    DOPPEL_FORMAT_AVIF,
    DOPPEL_FORMAT_JXL
};

/** "JPEG", "PNG", … or "unknown"; static storage. Thread-safe. */
DOPPEL_API const char *doppel_format_name(enum doppel_format format);

/** How much one input may cost. */
struct doppel_media_limits {
    uint64_t max_bytes;  /**< of the file; default 1 GiB */
    uint64_t max_pixels; /**< declared by the file; default 500 million */
    uint64_t max_memory; /**< bytes that a decoder may hold at once, all buffers counted; default
                            448 MiB */
};

DOPPEL_API struct doppel_media_limits doppel_media_limits_default(void);

struct doppel_luma_options {
    struct doppel_media_limits limits;
    /** A decoder that can reduce while decoding does so while the shorter side stays >= this; 0 =
     * decode in full. Default 192. */
    uint32_t min_side;
    /** Luma from decoded RGB by (19595 R + 38470 G + 7471 B + 32768) >> 16 also where the file
     * holds luma itself, alpha ignored, EXIF orientation not applied: equal to Pillow's
     * convert("L"). Default false. For schemes that must equal other people's. */
    bool from_rgb;
};

DOPPEL_API struct doppel_luma_options doppel_luma_options_default(void);

/** A decoded grey picture, upright: EXIF (but see `from_rgb`) and container orientation are
 * applied. */
struct doppel_luma {
    struct doppel_plane plane; /**< `plane.data` is `pixels` */
    uint8_t *pixels;           /**< given (doppel_luma_free) */
    uint32_t width, height;    /**< of the picture as shown, before any reduction */
    enum doppel_format format;
};

DOPPEL_API void doppel_luma_free(struct doppel_luma *luma);

/**
 * Tell what a file is from its first bytes.
 *
 * @param data  the first bytes of the file, up to 4096 of them; borrowed
 * @param size  how many there are
 * @param out_format  the picture format, or DOPPEL_FORMAT_UNKNOWN
 * @return the kind: also TEXT, AUDIO and VIDEO where the bytes tell; DOPPEL_KIND_UNKNOWN otherwise
 *
 * Thread-safe.
 */
DOPPEL_API enum doppel_kind doppel_media_probe(const uint8_t *data, size_t size,
                                               enum doppel_format *out_format);

/**
 * Decode the (first) picture of a file to luma.
 *
 * Alpha is laid over white. Of an animation the first frame counts, of a TIFF the first
 * page. A JPEG, PNG, WebP, GIF or uncompressed BMP or TGA that breaks off is decoded as far as it
 * goes when at least a tenth of its rows are there; the plane then has these rows only, while width
 * and height are still those declared. Others that break off are refused, as the libraries do.
 *
 * @param fd      an open regular file, readable from offset 0; borrowed; its offset is not used
 * @param options NULL for the defaults
 * @param out     given (doppel_luma_free); untouched on failure
 * @param error   a sentence without the path ("the PNG is cut short after 12 of 600 rows")
 * @return DOPPEL_OK; DOPPEL_E_EMPTY, _FORMAT, _CORRUPT, _LIMIT, _UNSUPPORTED, _MEMORY, _IO
 *
 * Thread-safe (different calls may run at once).
 */
DOPPEL_API enum doppel_status doppel_media_read_luma(int fd,
                                                     const struct doppel_luma_options *options,
                                                     struct doppel_luma *out,
                                                     struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
