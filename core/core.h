/**
 * doppel/core.h: what every room shares: status and error text, kinds and schemes, digests, luma
 * planes and the fingerprint type. Needs libc and xxHash only.
 *
 * Ownership, in every docstring of doppel: *borrowed* = the callee only looks, during the call;
 * *given* = the caller owns what it receives and frees it; *taken* = the callee owns it from now
 * on, also when it fails.
 */
#ifndef DOPPEL_CORE_H
#define DOPPEL_CORE_H

#include <stddef.h>
#include <stdint.h>

#include <doppel/version.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DOPPEL_API __attribute__((visibility("default")))
#define DOPPEL_PRINTF(format_index, first_index)                                                   \
    __attribute__((format(printf, format_index, first_index)))
#else
#define DOPPEL_API
#define DOPPEL_PRINTF(format_index, first_index)
#endif

/** The version of the library, "MAJOR.MINOR.PATCH"; static storage. Thread-safe. */
DOPPEL_API const char *doppel_version(void);

/* ---- status and errors ---- */

/** Every way a call can fail. Numbers are written to disk: new ones go to the end. */
enum doppel_status {
    DOPPEL_OK = 0,
    DOPPEL_E_ARGUMENT,    /**< the caller asked for something that has no meaning */
    DOPPEL_E_MEMORY,      /**< no memory, or the memory limit of a worker is reached */
    DOPPEL_E_IO,          /**< the system refused to read or write */
    DOPPEL_E_NOT_FOUND,   /**< no such file, item or library */
    DOPPEL_E_EMPTY,       /**< the file has no bytes */
    DOPPEL_E_FORMAT,      /**< not a format that doppel knows */
    DOPPEL_E_CORRUPT,     /**< a known format, but damaged or cut short beyond use */
    DOPPEL_E_LIMIT,       /**< over a limit on input: bytes, pixels, memory */
    DOPPEL_E_UNSUPPORTED, /**< a known format whose decoder, or variant, is missing here */
    DOPPEL_E_FLAT,        /**< too little structure to be distinguished from others */
    DOPPEL_E_TIMEOUT,     /**< took longer than allowed */
    DOPPEL_E_CRASH,       /**< the decoder died on this input */
    DOPPEL_E_CHANGED,     /**< the file changed while it was being read */
    DOPPEL_E_VERSION,     /**< written by another, incompatible version */
    DOPPEL_E_BUSY,        /**< another process holds the lock */
    DOPPEL_E_CANCELLED,   /**< the caller's visitor, or a signal, ended it early */
    DOPPEL_E_KILLED,      /**< the decoder was killed, or its answer lost: not the input's fault */
    DOPPEL_E_NO_SPACE,    /**< the disk, or the user's share of it, is full; then in place of
                             DOPPEL_E_IO from all that writes */
    DOPPEL_E_TOO_SHORT    /**< a text with too little in it to be told from others by a model */
};

/** A sentence for the user: what, where, why, what to do. Without a trailing full stop or newline.
 */
struct doppel_error {
    enum doppel_status status;
    char message[512];
};

/** Write a sentence into `error` (may be NULL) and return `status`, so that a failing line is one
 * line; cut when it is too long. The old sentence may be among the arguments. Thread-safe. */
DOPPEL_API enum doppel_status doppel_fail(struct doppel_error *error, enum doppel_status status,
                                          const char *format, ...) DOPPEL_PRINTF(3, 4);

/** A short name of a status ("corrupt", "timeout"); static storage; "unknown" for others.
 * Thread-safe. */
DOPPEL_API const char *doppel_status_name(enum doppel_status status);

/* ---- kinds and schemes ---- */

enum doppel_kind {
    DOPPEL_KIND_UNKNOWN = 0,
    DOPPEL_KIND_TEXT,
    DOPPEL_KIND_IMAGE,
    DOPPEL_KIND_AUDIO,
    DOPPEL_KIND_VIDEO
};

/** "text", "image", "audio", "video" or "unknown"; static storage. Thread-safe. */
DOPPEL_API const char *doppel_kind_name(enum doppel_kind kind);

/** The kind of that name; DOPPEL_KIND_UNKNOWN if there is none. Thread-safe. */
DOPPEL_API enum doppel_kind doppel_kind_from_name(const char *name);

/** Numbers are written to disk: never reuse one. */
enum doppel_scheme_id {
    DOPPEL_SCHEME_NONE = 0,
    DOPPEL_SCHEME_PHASH64 = 1,    /**< 64-bit prefix of phash256; the stored fingerprint holds the
                                     256-bit codes of all views */
    DOPPEL_SCHEME_PHASH256 = 2,   /**< the same code at 256 bits, of the full frame alone: strict */
    DOPPEL_SCHEME_IMAGEHASH = 3,  /**< equal to Python imagehash's phash() */
    DOPPEL_SCHEME_PDQ = 4,        /**< Facebook's PDQ */
    DOPPEL_SCHEME_MINHASH128 = 5, /**< one-permutation MinHash, 128 lanes of 16 bits */
    DOPPEL_SCHEME_MINHASH256 = 6, /**< the same with 256 lanes */
    DOPPEL_SCHEME_SIMHASH64 = 7,  /**< SimHash of the same shingles */
    DOPPEL_SCHEME_WINNOW32 = 8,   /**< winnowed keys of four words, for passages */
    DOPPEL_SCHEME_DATASKETCH = 9, /**< k-permutation MinHash, equal to datasketch's */
    DOPPEL_SCHEME_PEAKS32 = 10, /**< pairs of spectrogram peaks; the stored fingerprint has no codes
                                  but, as its attachment, the peaks (doppel/audio.h) */
    DOPPEL_SCHEME_CHROMAPRINT = 11, /**< AcoustID's: equal to those of `fpcalc -raw` */
    DOPPEL_SCHEME_FRAMES64 = 12, /**< pHash of sampled frames; the stored fingerprint has no codes
                                    but, as its attachment, the frames (doppel/video.h), and of the
                                    audio of the video the peaks */
    DOPPEL_SCHEME_VPDQ = 13,  /**< PDQ of a frame a second, as vPDQ's lists have it; the attachment
                                 is the list */
    DOPPEL_SCHEME_LOCAL = 14, /**< neighbourhoods of keypoints: parts of pictures in pictures
                                 (doppel/local.h); positions are places, scales and angles. The
                                 fingerprint of a record has no codes but, as its attachment, one
                                 that has */
    DOPPEL_SCHEME_FRAMES128 = 15 /**< the same of frames of a video, which are the attachment */
};

/** One way of making fingerprints. Codes of different schemes or versions never meet in a
 * comparison. */
struct doppel_scheme {
    enum doppel_scheme_id id;
    enum doppel_kind kind;
    uint16_t version;
    uint16_t code_bits; /**< width of a code as printed and compared; of MinHash, of all lanes */
    const char *name;
    uint32_t max_distance; /**< default limit in bits, of MinHash in lanes; of phash64, which is
                              judged by the rate of false matches, the farthest that is looked at */
    const char *summary;   /**< one line for `doppel schemes` */
};

/** All schemes, default of its kind first; `*out_count` of them; static storage. Thread-safe. */
DOPPEL_API const struct doppel_scheme *doppel_schemes(size_t *out_count);

/** The scheme with this id, or NULL. Thread-safe. */
DOPPEL_API const struct doppel_scheme *doppel_scheme_by_id(enum doppel_scheme_id id);

/** The scheme of this name, or NULL. Thread-safe. */
DOPPEL_API const struct doppel_scheme *doppel_scheme_by_name(const char *name);

/* ---- digests ---- */

/** XXH3-128 of a file's bytes, in canonical (big-endian) order. It tells files apart; it is no
 * proof against forgers. */
struct doppel_digest {
    uint8_t bytes[16];
};

/**
 * Digest what can be read from `fd`, from its beginning to its end.
 *
 * @param fd        an open regular file; borrowed; its offset is not used and not moved
 * @param out_size  bytes read; may be NULL
 * @return DOPPEL_OK, DOPPEL_E_IO, DOPPEL_E_MEMORY
 *
 * Thread-safe. Source: xxHash, XXH3 128 bits, seed 0.
 */
DOPPEL_API enum doppel_status doppel_digest_fd(int fd, struct doppel_digest *out_digest,
                                               uint64_t *out_size, struct doppel_error *error);

/** Digest `size` bytes at `data`; borrowed. Thread-safe. */
DOPPEL_API struct doppel_digest doppel_digest_bytes(const void *data, size_t size);

/** Lower-case hex of `size` bytes into `out`, which has room for 2*size+1 characters. Thread-safe.
 */
DOPPEL_API void doppel_hex_encode(const void *data, size_t size, char *out);

/** Parse exactly `size` bytes from the 2*size hex digits of `text`; DOPPEL_E_ARGUMENT if it is
 * anything else. Thread-safe. */
DOPPEL_API enum doppel_status doppel_hex_decode(const char *text, void *out, size_t size);

/* ---- luma planes ---- */

/** A grey picture: `width`×`height` samples 0..255, row y at `data + y*stride`. Whether `data` is
 * owned, the holder says. */
struct doppel_plane {
    const uint8_t *data;
    uint32_t width, height;
    size_t stride; /**< bytes, >= width */
};

/** What the file of an image tells of how it came about; zero: not known. */
struct doppel_image_origin {
    /** How strong the frequencies 1 to 7 of 8×8 blocks of the full size are, the highest last:
     * 16·log2(1 + 16·mean magnitude) of the coefficients (u, v) with max(u, v) = i + 1, of a sample
     * of the blocks. Of a JPEG those in the file. All zero: not measured. */
    uint8_t spectrum[7];
    uint8_t jpeg_quality;    /**< 1 to 100, by its quantisation table; 0: it is no JPEG */
    uint8_t earlier_quality; /**< of a JPEG that it was before, by what its coefficients keep of
                                that; 0: there is no sign of one */
    int64_t taken_s;         /**< EXIF's date taken as seconds since 1970, as if it were UTC */
    uint16_t taken_fraction; /**< 1 + thousandths of that second; 0: not known */
    char camera[32];         /**< EXIF's model: printable ASCII */
    int32_t latitude_e7, longitude_e7; /**< EXIF's place in 10^-7 degrees, north and east > 0; both
                                          0: not known */
};

/** How long a tag is at most, in bytes. */
enum { DOPPEL_TAG_BYTES = 256 };

/** What the file of a recording says of itself; each is UTF-8 on one line, without control
 * characters; "": nothing. */
struct doppel_audio_tags {
    char artist[DOPPEL_TAG_BYTES + 1], title[DOPPEL_TAG_BYTES + 1], album[DOPPEL_TAG_BYTES + 1];
};

/* ---- fingerprints ---- */

/** Widest code: 256 bits, word 0 first; bit i of a code is bit i%64 of word i/64. */
struct doppel_code {
    uint64_t word[4];
};

/** Bits in which the first `bits` (32, 64 or 256; any multiple of 64) of two codes differ.
 * Thread-safe.
 */
DOPPEL_API uint32_t doppel_code_distance(const struct doppel_code *a, const struct doppel_code *b,
                                         uint32_t bits);

/** Hex of a code, most significant first: byte order of a big-endian number per word, word 0 first.
 * `out` has bits/4+1. */
DOPPEL_API void doppel_code_to_hex(const struct doppel_code *code, uint32_t bits, char *out);

/** The inverse; DOPPEL_E_ARGUMENT unless `text` is exactly bits/4 hex digits, of 32 bits or a
 * multiple of 64. Bits beyond `bits`
 * are 0. */
DOPPEL_API enum doppel_status doppel_code_from_hex(const char *text, uint32_t bits,
                                                   struct doppel_code *out);

/** A sequence of binary codes, each with a position (of images: the view; see doppel/image.h). */
struct doppel_fingerprint {
    enum doppel_scheme_id scheme;
    uint16_t version;
    uint16_t code_bits; /**< bits stored a code: 32, 64 or 256 */
    uint32_t count;
    struct doppel_code *codes; /**< `count`; bits beyond code_bits are 0 */
    uint32_t *positions;       /**< `count`, ascending; equal ones are fine */
};

/** Release what a fingerprint holds and zero it; a zeroed one is fine. */
DOPPEL_API void doppel_fingerprint_free(struct doppel_fingerprint *fingerprint);

/** Make room for `count` codes, zeroed; given (doppel_fingerprint_free). DOPPEL_E_MEMORY,
 * DOPPEL_E_ARGUMENT. */
DOPPEL_API enum doppel_status doppel_fingerprint_make(const struct doppel_scheme *scheme,
                                                      uint16_t code_bits, uint32_t count,
                                                      struct doppel_fingerprint *out,
                                                      struct doppel_error *error);

/** Bytes that doppel_fingerprint_write needs. */
DOPPEL_API size_t doppel_fingerprint_size(const struct doppel_fingerprint *fingerprint);

/** Write the portable form (docs/formats.md) to `out`, which has room for doppel_fingerprint_size
 * bytes. */
DOPPEL_API void doppel_fingerprint_write(const struct doppel_fingerprint *fingerprint,
                                         uint8_t *out);

/**
 * Read the portable form; every length is checked against `size`, and that positions ascend.
 * @param out given (doppel_fingerprint_free); untouched on failure
 * @return DOPPEL_OK, DOPPEL_E_CORRUPT, DOPPEL_E_MEMORY
 */
DOPPEL_API enum doppel_status doppel_fingerprint_read(const uint8_t *data, size_t size,
                                                      struct doppel_fingerprint *out,
                                                      struct doppel_error *error);

#ifdef __cplusplus
}
#endif

#include <doppel/renamed.h>

#endif
