/**
 * doppel/compare.h: two records of any kind, and what one is to the other. Uses core, image, text,
 * match and library.
 */
#ifndef DOPPEL_COMPARE_H
#define DOPPEL_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include <doppel/core.h>
#include <doppel/image.h>
#include <doppel/match.h>
#include <doppel/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** When records match. Each kind has thresholds of its own where none is given. */
struct doppel_compare_options {
    /** By kind, what is compared: records of another scheme or version are not. Its id is
     * DOPPEL_SCHEME_NONE where the kind is not wanted. */
    struct doppel_scheme schemes[DOPPEL_KIND_VIDEO + 1];

    int32_t max_distance;   /**< bits, of MinHash lanes; -1: the default threshold of the scheme */
    double min_similarity;  /**< 0 to 1; -1: likewise */
    double text_similarity; /**< 0 to 1, of texts, whatever `min_similarity`; -1: that one counts */
    double max_false_positives; /**< of audio and videos: the rate that a match may have; -1: the
                                   default */
    uint32_t near_misses;       /**< of audio and videos: the best that many below the threshold are
                                   found, too; default 0 */

    enum doppel_image_views views; /**< parts of images that are compared; default all */
    bool orientations;             /**< images turned and mirrored; default true */
    bool check_pixels; /**< where codes leave a doubt, images are aligned; default false */

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

#ifdef __cplusplus
}
#endif
#endif
