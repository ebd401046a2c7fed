/**
 * doppel/compare.h: two records of any kind, and what one is to the other. Uses core, text,
 * image, audio, video, index, match and library.
 */
#ifndef DOPPEL_COMPARE_H
#define DOPPEL_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include <doppel/core.h>
#include <doppel/image.h>
#include <doppel/json_writer.h>
#include <doppel/library.h>
#include <doppel/match.h>
#include <doppel/run.h>
#include <doppel/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A fingerprint of one code, from hex as `hash` prints it: of MinHash its lanes in order, four
 * digits each.
 *
 * @param out given (doppel_fingerprint_free)
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT: it is no code of the scheme; DOPPEL_E_MEMORY. Thread-safe.
 */
DOPPEL_API enum doppel_status doppel_fingerprint_from_hex(const struct doppel_scheme *scheme,
                                                          const char *hex,
                                                          struct doppel_fingerprint *out,
                                                          struct doppel_error *error);

/** When records match. Each kind has thresholds of its own where none is given. */
struct doppel_compare_options {
    /** By kind, what is compared: records of another scheme or version are not. Its id is
     * DOPPEL_SCHEME_NONE where the kind is not wanted. */
    struct doppel_scheme schemes[DOPPEL_KIND_VIDEO + 1];

    int32_t max_distance;   /**< bits, of MinHash lanes; of phash64 no rate is wanted the less for
                               it; -1: the default threshold of the scheme */
    double min_similarity;  /**< 0 to 1, of images instead of a rate; -1: likewise */
    double text_similarity; /**< 0 to 1, of texts, whatever `min_similarity`; -1: that one counts */
    double max_false_positives; /**< of images (phash64), audio and videos: of queries that are like
                                   nothing, the share that may have a match; -1: the default,
                                   1e-3 */
    uint32_t near_misses;       /**< of images (phash64, by their rate), audio and videos: the best
                                   that many below the threshold are found, too; default 0 */

    enum doppel_image_views views; /**< parts of images that are compared; default all */
    bool orientations;             /**< images turned and mirrored; default true */
    uint64_t images_compared;      /**< with how many images one is compared, for the rate; 0, the
                                      default: those of the library or set; of a cluster 8192 */
    bool check_pixels; /**< where codes leave a doubt, images are aligned, unless a similarity is
                          wanted; default true */

    bool same_speed; /**< of audio and videos: no other speeds; default false */
    bool thorough;   /**< of videos: more crops of them, slower; default false */

    struct doppel_text_options text; /**< how the texts were read */
    const struct doppel_text_preset
        *preset; /**< thresholds of texts; borrowed; NULL: the defaults */
};

/** Every kind by its default scheme and thresholds. Thread-safe. */
DOPPEL_API struct doppel_compare_options doppel_compare_options_default(void);

/** The scheme by which a kind is compared, borrowed from the options; NULL: it is not wanted.
 * Thread-safe. */
DOPPEL_API const struct doppel_scheme *doppel_compare_scheme(
    const struct doppel_compare_options *options, enum doppel_kind kind);

/** What a pair matches by, as bits. */
enum doppel_evidence { DOPPEL_EVIDENCE_IMAGE = 1, DOPPEL_EVIDENCE_AUDIO = 2 };

/** What came of a comparison. */
struct doppel_comparison {
    bool matches;
    struct doppel_match match; /**< what `a`, the query, is to `b`, the item; filled also when they
                                  do not match. Segments are given (doppel_comparison_free) */

    bool of_video;     /**< one of them is a video: then the rest is filled, and `match` is the
                          image's, unless the audio alone matches */
    unsigned compared; /**< DOPPEL_EVIDENCE_…, or-ed: what both have */
    unsigned evidence; /**< what matches; AUDIO too where the bytes are the same */
    struct doppel_match by_image, by_audio; /**< of what was compared; their segments are given */
};

/**
 * Compare two records: images by their codes, or pixels; texts by words, shingles and passages;
 * audio and videos by what they share in time. A video is also compared with a recording, and with
 * an image.
 *
 * @param run     NULL: it cannot be cancelled
 * @param a,b     with their attachments; borrowed
 * @param options borrowed; NULL: the defaults
 * @param out     given (doppel_comparison_free); filled also when they do not match; untouched on
 *                failure
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT: they are of kinds that are not compared; DOPPEL_E_MEMORY;
 *         DOPPEL_E_CANCELLED before it begins
 *
 * What is damaged matches nothing. Thread-safe.
 */
DOPPEL_API enum doppel_status doppel_compare(struct doppel_run *run, const struct doppel_record *a,
                                             const struct doppel_record *b,
                                             const struct doppel_compare_options *options,
                                             struct doppel_comparison *out,
                                             struct doppel_error *error);
/** Free what it holds and empty it; an empty one is fine. */
DOPPEL_API void doppel_comparison_free(struct doppel_comparison *comparison);

/** Whether two records can be compared: they are of one kind, or one is of a video and the other of
 * a recording or an image. Thread-safe. */
DOPPEL_API bool doppel_comparable(const struct doppel_record *a, const struct doppel_record *b);

/** A record, and another one of the same bytes or pixels. @param out as of doppel_compare.
 * DOPPEL_OK; DOPPEL_E_MEMORY. Thread-safe. */
DOPPEL_API enum doppel_status doppel_compare_same(const struct doppel_record *record,
                                                  struct doppel_comparison *out,
                                                  struct doppel_error *error);

/** Why near codes of a record may be no match, as the rest of a sentence: an image without
 * structure is like every other such, and so is a text of few words. NULL: nothing stands against
 * it. Static storage. Thread-safe. */
DOPPEL_API const char *doppel_compare_obstacle(const struct doppel_record *record,
                                               const struct doppel_compare_options *options);

/** The thresholds by which pairs of a scheme match; those that do not count are below 0. */
struct doppel_thresholds {
    int64_t max_distance;
    double min_similarity, max_false_positive_rate;
    int64_t min_words; /**< of passages */
};

/** In the unit in which they were, or could have been, given. Thread-safe. */
DOPPEL_API struct doppel_thresholds doppel_compare_thresholds(
    const struct doppel_compare_options *options, enum doppel_scheme_id scheme);

/**
 * Append what a record is and has to the object that was begun last: kind, scheme, version, how
 * many codes, and the one that stands for it; of an image its size and quality, of a text its
 * words, of recordings and videos their duration and tags; a remark.
 *
 * @param record with its attachment
 * @param text   how a text was read; NULL: the defaults
 * @param codes  all codes with their positions, too, as "sequence"
 */
DOPPEL_API void doppel_record_to_json(struct doppel_json *json, const struct doppel_record *record,
                                      const struct doppel_text_options *text, bool codes);

/** Append the fields of a match to the object that was begun last; transform only where something
 * was transformed. */
DOPPEL_API void doppel_match_to_json(struct doppel_json *json, const struct doppel_match *match);

/** The same without what the log of a library has columns for: kind, scheme, distance and rates. */
DOPPEL_API void doppel_match_detail_to_json(struct doppel_json *json,
                                            const struct doppel_match *match);
/** Append the fields of a comparison: those of its match, and of a video which streams matched. Of
 * what does not match neither relation nor transform, and of texts alone how it was verified. */
DOPPEL_API void doppel_comparison_to_json(struct doppel_json *json,
                                          const struct doppel_comparison *comparison);

/**
 * Append what came of comparing two records to the object that was begun last: whether they match,
 * the limit that decided, the fields of their comparison; what stands against a match.
 *
 * @param options    by which they were compared; NULL: the defaults
 * @param comparison NULL: they cannot be compared (doppel_comparable)
 *
 * Thread-safe for different `json`.
 */
DOPPEL_API void doppel_compare_result_to_json(struct doppel_json *json,
                                              const struct doppel_record *a,
                                              const struct doppel_record *b,
                                              const struct doppel_compare_options *options,
                                              const struct doppel_comparison *comparison);

/** Append "evidence" and what its streams have in common, of a comparison of a video, to the object
 * that was begun last; of others nothing. */
DOPPEL_API void doppel_evidence_to_json(struct doppel_json *json,
                                        const struct doppel_comparison *comparison);

/** How much is written of an item or a text of a corpus. Zero-initialised: what it is called, its
 * kind and scheme, its size and times, its digest. */
struct doppel_item_json_options {
    bool details; /**< what is said of it, and whom it follows, too */
    bool content; /**< its codes, and what else is kept of its content, too */
    const struct doppel_text_options *text; /**< how a file of text was read; NULL: the defaults */
};

/**
 * Append an item to the object that was begun last.
 *
 * @param item    with its attachment, if `content` is wanted
 * @param options borrowed
 * @return DOPPEL_OK; else what reading the details returned: the rest was written all the same
 */
DOPPEL_API enum doppel_status doppel_item_to_json(struct doppel_json *json,
                                                  struct doppel_library *library,
                                                  const struct doppel_item *item,
                                                  const struct doppel_item_json_options *options,
                                                  struct doppel_error *error);
/** The same of a text of a corpus. @param text with its shingles, if `content` is wanted; not one
 * that is damaged */
DOPPEL_API enum doppel_status doppel_library_text_to_json(
    struct doppel_json *json, struct doppel_library *library,
    const struct doppel_library_text *text, const struct doppel_item_json_options *options,
    struct doppel_error *error);
/** The same of the item or text of an id. DOPPEL_E_NOT_FOUND, or what is wrong with a damaged one:
 * then nothing was written. */
DOPPEL_API enum doppel_status doppel_item_by_id_to_json(
    struct doppel_json *json, struct doppel_library *library, uint64_t id,
    const struct doppel_item_json_options *options, struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
