/**
 * doppel/image.h: pictures to perceptual hashes, and judging two of them. Takes grey planes, not
 * files; needs no decoder.
 *
 * A picture's fingerprint is a 256-bit DCT pHash of each of its *views*: the full frame, the frame
 * without its borders, without a screenshot's interface elements, and nine crops. Word 0 of a code,
 * alone, is the 64-bit hash `phash64`. Each bit is the sign of a DCT coefficient, so that mirroring
 * is an XOR with a mask and transposing a permutation of bits, exactly.
 */
#ifndef DOPPEL_IMAGE_H
#define DOPPEL_IMAGE_H

#include <stdbool.h>

#include <doppel/core.h>
#include <doppel/image_pages.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- one code ---- */

/**
 * The 256-bit DCT perceptual hash of a plane; word 0 is its 64-bit hash.
 *
 * @param plane at least 1×1; borrowed
 * @return the code of a flat plane too: see doppel_image_quality
 *
 * Thread-safe, deterministic on every CPU. Source and test vectors: docs/methods.md.
 */
DOPPEL_API struct doppel_code doppel_image_phash(const struct doppel_plane *plane);

/** The same of a plane that is reduced to 32×32 cells already, row after row, in 1/256 of a level.
 * Thread-safe. */
DOPPEL_API struct doppel_code doppel_image_phash_cells(const uint16_t *cells);

/**
 * A plane reduced to side × side samples by exact area averages, rounded; smaller planes are
 * enlarged.
 * @param side 1 to 128
 * @param out side × side, row after row. Thread-safe.
 */
DOPPEL_API void doppel_image_reduce(const struct doppel_plane *plane, uint32_t side, uint8_t *out);

/** How much structure of its own there is to tell a picture by, 0 (flat, or a plain disc) to 100
 * (most photos); under DOPPEL_IMAGE_MIN_QUALITY it matches no other picture by hash alone, and
 * under 100 it has to come nearer (doppel_image_weigh). Thread-safe. */
DOPPEL_API uint8_t doppel_image_quality(const struct doppel_plane *plane);

enum { DOPPEL_IMAGE_MIN_QUALITY = 40 };

/** From here on up to DOPPEL_IMAGE_MIN_QUALITY a picture as a whole is told by next to equal codes
 * (doppel_image_weigh); below, nothing tells. */
enum { DOPPEL_IMAGE_STRICT_QUALITY = 3 };

/** Most of the 256 bits of their full frames that differ then. */
enum { DOPPEL_IMAGE_STRICT_RADIUS = 24 };

/** Other people's hashes. Both take the luma that doppel_luma_options.from_rgb gives, decoded in
 * full. */
DOPPEL_API enum doppel_status doppel_image_imagehash(const struct doppel_plane *plane,
                                                     struct doppel_code *out,
                                                     struct doppel_error *error);
DOPPEL_API enum doppel_status doppel_image_pdq(const struct doppel_plane *plane,
                                               struct doppel_code *out, uint8_t *out_quality,
                                               struct doppel_error *error);

/* ---- orientations ---- */

/** Bit 0: mirrored left to right; bit 1: mirrored top to bottom; bit 2: transposed, *before* the
 * mirrorings. */
enum { DOPPEL_IMAGE_ORIENTATIONS = 8 };

/** The code of the same picture after `orientation` (0..7) is applied to it. Exact: equal to
 * hashing the turned plane. */
DOPPEL_API struct doppel_code doppel_image_orient(const struct doppel_code *code,
                                                  unsigned orientation);

/* ---- fingerprints ---- */

/** Positions of the codes of a phash fingerprint. */
enum doppel_image_view {
    DOPPEL_VIEW_FULL = 0,
    DOPPEL_VIEW_TRIMMED = 1,   /**< without uniform borders, letterbox, caption bars; absent when
                                  equal to the full frame */
    DOPPEL_VIEW_INTERFACE = 2, /**< without a screenshot's interface elements either; a query view;
                                  absent when equal to another */
    DOPPEL_VIEW_CENTRE = 3,    /**< the middle .87 × .87 */
    DOPPEL_VIEW_CORNER = 4, /**< 4..7: top left, top right, bottom left, bottom right, .82 × .82 */
    DOPPEL_VIEW_EDGE = 8,   /**< 8..11: the middle of the top, left, right, bottom, .85 × .85 */
    DOPPEL_VIEW_COUNT = 12
};

/** The picture at 64×64, area-averaged, for the pixel check; not kept in memory by the tools. */
enum { DOPPEL_IMAGE_THUMB_SIDE = 64, DOPPEL_IMAGE_THUMB_BYTES = 64 * 64 };

struct doppel_image_features {
    struct doppel_fingerprint
        fingerprint; /**< scheme phash64, 256 bits stored a code, positions are views */
    uint8_t quality; /**< doppel_image_quality of the view with the least around the picture, and
                        at most 105 - 75 times the share of places there that are even, but
                        for DOPPEL_IMAGE_MIN_QUALITY */
    uint8_t thumb[DOPPEL_IMAGE_THUMB_BYTES];
    /** Of each view present in `fingerprint`, in its order: left, top, right, bottom as shares of
     * the full frame × 65535. */
    uint16_t boxes[DOPPEL_VIEW_COUNT][4];
    struct doppel_digest pixels; /**< of a lossless picture (doppel/media.h: struct doppel_luma);
                                    zero: not known, which it is to doppel_image_features */
    struct doppel_image_origin origin; /**< the same */
};

/**
 * All views of a picture.
 * @param plane a grey picture, upright; borrowed
 * @param out   `fingerprint` given (doppel_fingerprint_free); untouched on failure
 * @return DOPPEL_OK, DOPPEL_E_ARGUMENT (empty plane), DOPPEL_E_MEMORY. Thread-safe.
 */
DOPPEL_API enum doppel_status doppel_image_features(const struct doppel_plane *plane,
                                                    struct doppel_image_features *out,
                                                    struct doppel_error *error);

/** Whether two images are of one burst, as EXIF has it: of the same camera and at most two seconds
 * apart. Not where the parts of the second are known and the same: that is one shot, saved twice.
 * Thread-safe. */
DOPPEL_API bool doppel_image_is_burst(const struct doppel_image_origin *a,
                                      const struct doppel_image_origin *b);

/** What a store keeps beside the codes: the pixels' digest, if it is known; thumb, then boxes,
 * little-endian; then the origin, but for those of earlier versions. */
enum {
    DOPPEL_IMAGE_ATTACHMENT_BYTES = DOPPEL_IMAGE_THUMB_BYTES + DOPPEL_VIEW_COUNT * 4 * 2,
    DOPPEL_IMAGE_ORIGIN_BYTES = 58,
    DOPPEL_IMAGE_ATTACHMENT_MOST =
        DOPPEL_IMAGE_ATTACHMENT_BYTES + DOPPEL_IMAGE_ORIGIN_BYTES + 16 /**< with the digest */
};

/** @return bytes written */
DOPPEL_API size_t doppel_image_attachment_write(const struct doppel_image_features *features,
                                                uint8_t out[DOPPEL_IMAGE_ATTACHMENT_MOST]);

/** The digest of the pixels in an attachment, or zero. Thread-safe. */
DOPPEL_API struct doppel_digest doppel_image_attachment_pixels(const uint8_t *data, size_t size);

/** The inverse: fills thumb, boxes, pixels and origin only. DOPPEL_E_CORRUPT unless `size` is that
 * of an attachment. */
DOPPEL_API enum doppel_status doppel_image_attachment_read(const uint8_t *data, size_t size,
                                                           struct doppel_image_features *features);

/** The share of a picture that a view takes, 0 to 1; 1 where it has none such. Thread-safe. */
DOPPEL_API double doppel_image_view_share(const struct doppel_image_features *features,
                                          enum doppel_image_view view);

/** Which of two pictures that show the same, both whole and upright, has something laid over it, as
 * a logo or words: along the outline of where their small planes differ, that one
 * has steps that the other one lacks. < 0: `a`, > 0: `b`; -1 or 1: something lies over one of them,
 * which is not clear; 0: neither. Reads `thumb` alone. Thread-safe. */
DOPPEL_API int doppel_image_overlay(const struct doppel_image_features *a,
                                    const struct doppel_image_features *b);

/** Whether a picture shows all of another one within a frame, both upright: their small planes are
 * nearer without the frame than with it. Reads `thumb`, and the box of the trimmed view.
 * @param box what is within the frame: left, top, right, bottom as shares × 65535; what is outside
 * must be even. NULL: the trimmed view, if there is one. Thread-safe. */
DOPPEL_API bool doppel_image_is_framed(const struct doppel_image_features *image,
                                       const uint16_t *box,
                                       const struct doppel_image_features *other);

/* ---- searching and judging ---- */

/** Which views meet which. */
enum doppel_image_views { DOPPEL_VIEWS_FULL, DOPPEL_VIEWS_TRIM, DOPPEL_VIEWS_ALL };

struct doppel_image_verify_options {
    enum doppel_image_views views; /**< default ALL */
    bool orientations;             /**< also the mirrored and turned ones; default true */
};

DOPPEL_API struct doppel_image_verify_options doppel_image_verify_options_default(void);

/** Widest 64-bit distance at which a pair of views is a candidate. Beyond
 * DOPPEL_IMAGE_NEAR_RADIUS it is one for the pixel check alone: its score is
 * DOPPEL_IMAGE_FAR_SCORE at least, with which no rate is under 2e-7. */
enum {
    DOPPEL_IMAGE_NEAR_RADIUS = 16,
    DOPPEL_IMAGE_CANDIDATE_RADIUS = 19,
    DOPPEL_IMAGE_FAR_SCORE = 120
};

/** Two full frames in the same orientation are candidates by their 256-bit codes as well: stickers
 * and logos move the low bits more than the high ones. */
enum { DOPPEL_IMAGE_FULL_RADIUS = 112 };

/** One look-up in the index. */
struct doppel_image_query {
    uint64_t code;       /**< 64-bit code, oriented */
    uint8_t view;        /**< enum doppel_image_view of the query */
    uint8_t orientation; /**< applied to the query's code */
};

enum { DOPPEL_IMAGE_MAX_QUERIES = 3 * DOPPEL_IMAGE_ORIENTATIONS };

/**
 * The look-ups that find a picture: full, trimmed and interface-trimmed, each transposed or not, in
 * the mirror images in which bits 0 and 1 of the code (the lowest coefficients) are set, as they
 * are in all codes of doppel_image_index_codes; in both where the views of the picture do not agree
 * on such a bit. Measured: 4.4 look-ups a view instead of 8, for 0.4 % of the candidates.
 * @return how many of `out` were written (1 to 24). Thread-safe.
 */
DOPPEL_API size_t doppel_image_queries(const struct doppel_fingerprint *fingerprint,
                                       const struct doppel_image_verify_options *options,
                                       struct doppel_image_query out[DOPPEL_IMAGE_MAX_QUERIES]);

/** The codes under which a picture is put into the index (with their views), for queries made by
 * doppel_image_queries to meet: each index view, mirrored so that bits 0 and 1 are set. Without
 * `orientations` the codes as they are. @return how many were written (1 to 11). Thread-safe. */
DOPPEL_API size_t doppel_image_index_codes(const struct doppel_fingerprint *fingerprint,
                                           const struct doppel_image_verify_options *options,
                                           uint64_t out[DOPPEL_VIEW_COUNT]);

/** What is to be said of two pictures. */
struct doppel_image_verdict {
    uint32_t distance64, distance256; /**< of the deciding pair of views */
    uint8_t query_view, item_view;    /**< enum doppel_image_view */
    uint8_t orientation;              /**< that makes the query look like the item */
    uint32_t whole_distance; /**< in 256 bits of the full frames, as they are; 256: too far apart to
                                be looked at */
    double false_positive_rate; /**< share of unrelated pairs of pictures that come out this near or
                                   nearer */
    double similarity; /**< of the most similar pair of views: 1 = same codes, 0 = half of the bits
                          differ */
};

/**
 * Judge two pictures by all their view pairs and orientations: d256 + 3·d64 of each pair of views
 * (d256 + d64 of full frames, also with the crop of both in which they differ least), turned into a
 * false-positive rate by the calibration of its class; the best class decides. Symmetric in the
 * rate it reports up to the roles of query and item views; callers that need symmetry judge both
 * ways and keep the lower rate.
 *
 * Thread-safe. Source: own calibration, docs/methods.md.
 */
DOPPEL_API struct doppel_image_verdict doppel_image_verify(
    const struct doppel_fingerprint *query, const struct doppel_fingerprint *item,
    const struct doppel_image_verify_options *options);

/** The codes of a picture, packed. */
struct doppel_image_codes {
    const struct doppel_code *codes; /**< in order of view; borrowed */
    uint32_t views;                  /**< bit v: there is a code of view v */
};

/** What a pair has to reach: made by doppel_image_gate_make, its fields are image/gate.c's. */
struct doppel_image_gate {
    struct doppel_image_verify_options options;
    int32_t most[7]; /**< highest score of each class; < 0: none will do */
    uint32_t query_views, item_views;
    uint64_t mirrored[4], flipped[4];          /**< bits that the mirrorings negate */
    uint64_t turns[DOPPEL_IMAGE_ORIENTATIONS]; /**< of word 0, by both */
    uint64_t moved_up, moved_down, kept;       /**< of word 0, by transposing */
    bool (*passes)(const struct doppel_image_gate *gate, const struct doppel_image_codes *a,
                   const struct doppel_image_codes *b);
};

/** A gate for pairs whose verdict has a rate of at most `max_rate`, or a similarity of at least
 * `min_similarity` (over 1: by rate only). */
DOPPEL_API struct doppel_image_gate doppel_image_gate_make(
    const struct doppel_image_verify_options *options, double max_rate, double min_similarity);

/** Whether judging two pictures, either way, could give what the gate wants: a tenth of the time of
 * judging, and seldom true of unrelated items. Never false where doppel_image_verify gives it.
 * 256-bit codes. Thread-safe. */
DOPPEL_API bool doppel_image_gate_passes(const struct doppel_image_gate *gate,
                                         const struct doppel_image_codes *a,
                                         const struct doppel_image_codes *b);

/* ---- one code against many ----
 *
 * Mirroring negates bits by their parity. Words whose bits are sorted by it are compared in all
 * mirror images at once. */

/** Word 0 of a code with its bits sorted, and back. Thread-safe. */
DOPPEL_API uint64_t doppel_image_sort_bits(uint64_t word);
DOPPEL_API uint64_t doppel_image_unsort_bits(uint64_t word);

/** A code that is looked for: made by doppel_image_probe_make, its fields are image/near.c's. */
struct doppel_image_probe {
    struct doppel_code code;
    uint64_t turned[3][4]; /**< bits of each parity that mirroring negates */
    bool transposed, whole;
};
DOPPEL_API void doppel_image_probe_make(const struct doppel_code *code, bool transposed,
                                        struct doppel_image_probe *out);

/** Sorted words: number i is words[i / 8 × step + i % 8]; what follows the last in its 8 may be
 * read. Borrowed. */
struct doppel_image_words {
    const uint64_t *words;
    size_t step;
    uint32_t count; /**< at most DOPPEL_IMAGE_NEAR_WORDS */
};
enum { DOPPEL_IMAGE_NEAR_WORDS = 256 };

/** A word that is near to a code. */
struct doppel_image_near {
    uint16_t word, probe; /**< numbers */
};

/** Find the words that lie within `radius` of a code in some mirror image; where one of both lacks
 * a parity of bits, with any of the parities negated.
 * @param probe_count at most 65 536
 * @param out room for `probe_count` × `words->count`; ascending by probe, then word.
 * @return how many. Thread-safe. */
DOPPEL_API size_t doppel_image_probes_scan(const struct doppel_image_probe *probes,
                                           size_t probe_count,
                                           const struct doppel_image_words *words, uint32_t radius,
                                           struct doppel_image_near *out);

/** Whether doppel_image_probes_scan finds a word. Thread-safe. */
DOPPEL_API bool doppel_image_probe_is_near(const struct doppel_image_probe *probe, uint64_t word,
                                           uint32_t radius);

/** Whether a code (word 0 sorted) is so near, within the candidate radius in some mirror image,
 * that the pair of views might pass the gate. @param full both are of full frames, as they are.
 * Never false where the gate passes by that pair. Thread-safe. */
DOPPEL_API bool doppel_image_probe_reaches(const struct doppel_image_probe *probe,
                                           const uint64_t code[4],
                                           const struct doppel_image_gate *gate, bool full);

/**
 * Weigh a verdict by how much structure the poorer of the two pictures has: unrelated items among
 * pictures of quality q come as near as if q % of the bits were independent, so the rate becomes
 * rate^(q / 100). Under DOPPEL_IMAGE_MIN_QUALITY only the full frames count, and only if they are
 * next to equal: their rate hangs on `whole_distance`. Under DOPPEL_IMAGE_STRICT_QUALITY it is 1.
 * Thread-safe. Source: docs/methods.md.
 */
DOPPEL_API void doppel_image_weigh(uint8_t poorer_quality, struct doppel_image_verdict *verdict);

/** The false-positive rate under which `scan` and `find` call two pictures the same: no false pair
 * expected in 10⁷. */
#define DOPPEL_IMAGE_MAX_FPR 1e-7

/** Pairs up to this rate are worth a pixel check among 128 pictures or fewer: a crop by a tenth
 * comes no nearer by its codes. */
#define DOPPEL_IMAGE_BORDERLINE_FPR .125

/** What is left of the power of a pair's rate by its codes where the pixels of both have nothing in
 * common: codes alone prove what matches even so. */
#define DOPPEL_IMAGE_UNSEEN_POWER .7

/**
 * Lay the small planes of two pictures over each other by a robust affine fit, and hash again what
 * both show: a crop, a turn by a few degrees or a slant that no view has is found so. Codes of
 * unrelated pictures that came near by accident prove less where nothing fine agrees.
 *
 * @param query,item  features with thumbs, boxes and qualities
 * @param verdict     in: the judgement, weighed; out: false_positive_rate and similarity as the
 * pixels see it
 * @return true when the pixels confirm that the pictures are the same. Thread-safe.
 */
DOPPEL_API bool doppel_image_check_pixels(const struct doppel_image_features *query,
                                          const struct doppel_image_features *item,
                                          const struct doppel_image_verify_options *options,
                                          struct doppel_image_verdict *verdict);

#ifdef __cplusplus
}
#endif
#endif
