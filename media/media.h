/**
 * doppel/media.h: from an open file to a grey plane, sampled grey frames, or mono samples.
 * Everything that touches FFmpeg, libjpeg-turbo, libpng, libtiff, libheif, libwebp and libraw is
 * behind this face, and so are all limits on input.
 *
 * The decoders run in the caller's process and thread. Hostile files are their daily bread, but
 * they are other people's code: programs that read untrusted files call this in a worker
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
    DOPPEL_FORMAT_JXL,
    DOPPEL_FORMAT_RAW, /**< of a camera: DNG, CR2, CR3, NEF, ARW, … */
    /* Documents: of kind TEXT. What is plain text, HTML or Markdown has no format. */
    DOPPEL_FORMAT_PDF,
    DOPPEL_FORMAT_DOCX,
    DOPPEL_FORMAT_PPTX,
    DOPPEL_FORMAT_XLSX,
    DOPPEL_FORMAT_ODT,
    DOPPEL_FORMAT_ODP,
    DOPPEL_FORMAT_ODS,
    DOPPEL_FORMAT_EPUB,
    DOPPEL_FORMAT_RTF,
    DOPPEL_FORMAT_MAIL,       /**< a message, or many in one file (mbox) */
    DOPPEL_FORMAT_TIFF_PAGES, /**< a TIFF of several pages */
    DOPPEL_FORMAT_LAST = DOPPEL_FORMAT_TIFF_PAGES
};

/** "JPEG", "DOCX", … or "unknown"; static storage. Thread-safe. */
DOPPEL_API const char *doppel_format_name(enum doppel_format format);

/** How much one input may cost. */
struct doppel_media_limits {
    uint64_t max_bytes;  /**< of the file; default 1 GiB */
    uint64_t max_pixels; /**< declared by the file; default 500 million */
    uint64_t max_memory; /**< bytes that a decoder may hold at once, all buffers counted; default
                            448 MiB */
};

DOPPEL_API struct doppel_media_limits doppel_media_limits_default(void);

/**
 * Load all that the libraries which decode load when they are first used, so that nothing need be
 * opened later but the files that are read; and list the versions of these libraries.
 *
 * @param out lines of name, blank and version; as many as `size` bytes hold, at least 1
 * Before there are threads.
 */
DOPPEL_API void doppel_media_prepare(char *out, size_t size);

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
    uint32_t width, height;    /**< of the picture as shown and declared, before any reduction */
    uint32_t there_width, there_height; /**< the same of what is there, where the file breaks off */
    bool coarse;  /**< all of it is there, but the file breaks off before its finer details */
    bool damaged; /**< of a JPEG: there are codes in it that no encoder writes, and from there on,
                     as far as the next restart, it may be anything */
    enum doppel_format format;
    /** Of the pixels themselves, in full size and with their colours, where the file is lossless,
     * whole, of one picture and of 8 bits a sample at most (PNG, BMP, TGA, GIF, TIFF, WebP): the
     * same of all files that hold the same pixels. Else zero. Its making: docs/methods.md. */
    struct doppel_digest digest;
    struct doppel_image_origin origin; /**< not measured with `from_rgb` */
};

DOPPEL_API void doppel_luma_free(struct doppel_luma *luma);

/**
 * Tell what a file is from its first bytes.
 *
 * @param data  the first bytes of the file, up to 4096 of them; borrowed
 * @param size  how many there are
 * @param out_format  of a picture or a document; else DOPPEL_FORMAT_UNKNOWN
 * @return the kind: also TEXT, AUDIO and VIDEO where the bytes tell; DOPPEL_KIND_UNKNOWN otherwise
 *
 * Thread-safe.
 */
DOPPEL_API enum doppel_kind doppel_media_probe(const uint8_t *data, size_t size,
                                               enum doppel_format *out_format);

/**
 * The same of an open file: of a zip, the list of members at its end is looked at as well, which
 * says of what kind of document they are the parts; of a TIFF, whether it has several pages, which
 * make it a document.
 *
 * @param fd   readable from offset 0; borrowed; its offset is not used
 * @param data its first bytes, as in doppel_media_probe
 */
DOPPEL_API enum doppel_kind doppel_media_probe_file(int fd, const uint8_t *data, size_t size,
                                                    enum doppel_format *out_format);

/**
 * Whether a picture moves, as far as its first bytes tell: a GIF that is repeated, a PNG or WebP of
 * several frames. doppel_media_read_frames reads it as a short video.
 *
 * @param data as of doppel_media_probe
 * Thread-safe.
 */
DOPPEL_API bool doppel_media_is_animated(const uint8_t *data, size_t size);

/**
 * Decode the (first) picture of a file to luma.
 *
 * Alpha is laid over white. Of an animation the first frame counts, of a TIFF the first
 * page (doppel_media_open_pages reads all). A JPEG, PNG, WebP, GIF or uncompressed BMP or TGA that
 * breaks off is decoded as far as it goes when at least a tenth of its rows are there (of an
 * interlaced GIF, all); the plane then has these rows only, which there_width and there_height
 * tell, as shown. A progressive JPEG or an interlaced PNG may be `coarse`. Others that break off
 * are refused, as the libraries do.
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

/** The pages of an open TIFF. Belongs to one thread. */
struct doppel_pages;

/**
 * Open a TIFF for its pages: its directories, but for those of small pictures and masks.
 *
 * @param fd     an open regular file; borrowed until doppel_media_close_pages
 * @param limits NULL for the defaults; the file is loaded whole
 * @param most   how many pages are wanted at most
 * @param out    given (doppel_media_close_pages); untouched on failure
 * @param out_count how many there are, up to `most`
 * @return as doppel_media_read_luma
 */
DOPPEL_API enum doppel_status doppel_media_open_pages(int fd,
                                                      const struct doppel_media_limits *limits,
                                                      uint32_t most, struct doppel_pages **out,
                                                      uint32_t *out_count,
                                                      struct doppel_error *error);
DOPPEL_API void doppel_media_close_pages(struct doppel_pages *pages);

/**
 * Decode a page to luma, upright, in square pixels.
 *
 * @param index from 0
 * @param side  of the longer one of its sides; 0: as it is
 * @param out   given (doppel_luma_free); no digest and no origin; untouched on failure
 * @return as doppel_media_read_luma; DOPPEL_E_NOT_FOUND: there is no such page
 */
DOPPEL_API enum doppel_status doppel_media_read_page(struct doppel_pages *pages, uint32_t index,
                                                     uint32_t side, struct doppel_luma *out,
                                                     struct doppel_error *error);

/**
 * A small JPEG of the (first) picture of a file, upright, what is transparent over white; in colour
 * of a JPEG, HEIC and AVIF, and of what libavcodec has a decoder for that takes it, else grey.
 *
 * @param limits  NULL for the defaults
 * @param longest of its sides, in pixels: 16 to 1024; a smaller picture stays as it is
 * @param out     given (free). As doppel_media_read_luma; DOPPEL_E_ARGUMENT. Thread-safe.
 */
DOPPEL_API enum doppel_status doppel_media_read_still(int fd,
                                                      const struct doppel_media_limits *limits,
                                                      uint32_t longest, uint8_t **out,
                                                      size_t *out_size, struct doppel_error *error);

/**
 * Write a grey picture, whose rows lie without a gap, as a JPEG.
 *
 * @param out given (free). DOPPEL_OK, DOPPEL_E_MEMORY. Thread-safe.
 */
DOPPEL_API enum doppel_status doppel_media_write_jpeg(const struct doppel_plane *plane,
                                                      uint8_t **out, size_t *out_size,
                                                      struct doppel_error *error);

/* ---- audio ---- */

/** How samples lie in raw PCM: little-endian, channels interleaved. */
enum doppel_pcm_format {
    DOPPEL_PCM_NONE = 0, /**< not raw: a container, which is recognised by its bytes */
    DOPPEL_PCM_U8,
    DOPPEL_PCM_S16LE,
    DOPPEL_PCM_S24LE,
    DOPPEL_PCM_S32LE,
    DOPPEL_PCM_F32LE
};

struct doppel_samples_options {
    struct doppel_media_limits limits;
    double max_seconds; /**< of audio that is decoded; what is longer is DOPPEL_E_LIMIT; 0 = no
                           limit; default 0 */
    bool stream; /**< `fd` is a pipe, FIFO or a file that grows: it is read from where it stands, to
                    its end, never sought in; max_bytes and max_seconds are not heeded, memory stays
                    constant */
    enum doppel_pcm_format pcm; /**< default NONE */
    uint32_t pcm_rate;          /**< of raw PCM; default 44100 */
    uint32_t pcm_channels;      /**< default 2 */
};

DOPPEL_API struct doppel_samples_options doppel_samples_options_default(void);

/** Some samples, mono at 11025 Hz, finite, -1 to 1 as a rule. */
struct doppel_samples {
    const float
        *data; /**< borrowed during the visit; NULL: `count` samples of silence stand for a
                  gap (the container's times jump, or what was there could not be decoded) */
    size_t count;
};

/** Return false to end the decoding (DOPPEL_E_CANCELLED). */
typedef bool doppel_samples_visitor(void *context, const struct doppel_samples *samples);

struct doppel_samples_info {
    uint32_t rate, channels; /**< of the source, as its first frame has them */
    uint64_t duration_ms;    /**< of what was visited */
    uint64_t damaged_ms; /**< where the source broke off or the first damage was met; 0: nowhere */
    bool has_images;     /**< a video track that is no attached picture */
    struct doppel_audio_tags tags; /**< of the container, else of the track */
};

/**
 * Decode the audio of a file: the default audio stream of any container that FFmpeg reads, or raw
 * PCM; resampled to mono at 11025 Hz. Channels that cancel each other when they are mixed are
 * represented by the strongest of them. Gaps in the presentation times (up to an hour in all) are
 * filled with silence; formats may change midway.
 *
 * What breaks off, or is damaged, after a second of audio or more counts as far as it goes.
 *
 * @param fd       an open regular file, or with `stream` anything readable; borrowed
 * @param out_info filled on success; may be NULL
 * @return DOPPEL_OK; DOPPEL_E_EMPTY, _FORMAT (no audio in it), _CORRUPT, _LIMIT, _UNSUPPORTED,
 * _MEMORY, _IO, _CANCELLED. Thread-safe.
 */
DOPPEL_API enum doppel_status doppel_media_read_samples(
    int fd, const struct doppel_samples_options *options, doppel_samples_visitor *visitor,
    void *context, struct doppel_samples_info *out_info, struct doppel_error *error);

/** AcoustID's fingerprint of a recording. */
struct doppel_chromaprint {
    uint32_t *codes;      /**< given (free) */
    size_t count;         /**< 0: the audio is too short for one */
    uint64_t duration_ms; /**< of the whole audio, as its container has it; 0: it does not say */
    struct doppel_audio_tags tags;
};

/**
 * The AcoustID fingerprint of the first two minutes of a file's audio: equal to that of `fpcalc
 * -raw`. Source: libchromaprint, algorithm 2, on samples that are resampled as fpcalc does.
 *
 * @param options `stream` and `max_seconds` are not heeded
 * @return as doppel_media_read_samples; DOPPEL_E_UNSUPPORTED when doppel was built without
 * libchromaprint. Thread-safe.
 */
DOPPEL_API enum doppel_status doppel_media_read_chromaprint(
    int fd, const struct doppel_samples_options *options, struct doppel_chromaprint *out,
    struct doppel_error *error);

/* ---- pictures of a video ---- */

struct doppel_frames_options {
    struct doppel_media_limits limits; /**< max_bytes: default none */
    double max_seconds; /**< of video that is decoded; what is longer is DOPPEL_E_LIMIT; 0 = no
                           limit; default 0 */
    uint32_t
        step_ms; /**< the first frame of each such step is visited; 0: every frame; default 250 */
    bool keyframes; /**< fast mode: keyframes alone; where two are further apart than 2 s, all
                       between them, as without it. Default false */
    /** Only frames presented from `from_ms` on and before `to_ms`; to_ms 0: to the end. What lies
     * before is passed over by seeking. Default 0, 0. */
    uint32_t from_ms, to_ms;
    /** Decode every frame, with all filters: slower. Default false: frames that no other refers to
     * are skipped, and so is the loop filter, where the codec allows. */
    bool exact;
    bool from_rgb; /**< luma from RGB, as in doppel_luma_options: for schemes that must equal other
                      people's; implies `exact`. Default false */
};

DOPPEL_API struct doppel_frames_options doppel_frames_options_default(void);

/** A decoded frame: luma, upright as its display matrix says, as large as it is shown. */
struct doppel_frame {
    struct doppel_plane plane; /**< borrowed during the visit */
    uint32_t time_ms;          /**< of presentation, from the video's first frame; ascending */
    uint64_t number;           /**< of the frame in the video, where all were decoded and none was
                                  passed over by seeking */
    uint64_t expected_ms; /**< of the whole video, as its container has it; 0: it does not say */
};

/** Return false to end the decoding (DOPPEL_E_CANCELLED). */
typedef bool doppel_frames_visitor(void *context, const struct doppel_frame *frame);

struct doppel_frames_info {
    uint32_t width, height; /**< as shown */
    uint64_t duration_ms;   /**< of the video; as far as it goes where it is cut short */
    uint64_t damaged_ms; /**< where the video broke off or the first damage was met; 0: nowhere */
    bool keyframes;      /**< keyframes alone were decoded */
    bool has_audio;      /**< there is a recording track, too */
};

/**
 * Decode the pictures of a video: the default video stream of any container that FFmpeg reads,
 * attached pictures not counted. Only `fd` is read: no other file, no protocol, no playlist.
 *
 * Frames are told by presentation time, whatever the rate; frames whose times go back are passed
 * over, jumps of more than an hour, or back by more than a second, are closed. What breaks off, or
 * is damaged, after 3 s or more counts as far as it goes.
 *
 * Without `exact` frames are decoded that others refer to, or all where these are more than a step
 * apart, without loop filter; of codecs whose pictures need no other, the samples alone.
 *
 * @param fd       an open regular file; borrowed; its offset is not used
 * @param out_info filled on success; may be NULL
 * @return DOPPEL_OK; DOPPEL_E_EMPTY, _FORMAT (no video: with audio alone `out_info->has_audio` is
 * set then, too), _CORRUPT, _LIMIT, _UNSUPPORTED (no decoder; encrypted), _MEMORY, _IO, _CANCELLED.
 * Thread-safe.
 */
DOPPEL_API enum doppel_status doppel_media_read_frames(
    int fd, const struct doppel_frames_options *options, doppel_frames_visitor *visitor,
    void *context, struct doppel_frames_info *out_info, struct doppel_error *error);

/**
 * A small picture of a video at a time, in colour and upright, as a JPEG.
 * @param longest of its sides, in pixels: 16 to 1024; a smaller video stays as it is
 * @param out given (free). As doppel_media_read_frames.
 */
DOPPEL_API enum doppel_status doppel_media_read_thumbnail(int fd, uint32_t time_ms,
                                                          uint32_t longest, uint8_t **out,
                                                          size_t *out_size,
                                                          struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
