/* How often unrelated pictures come out this near, for each class of view pair. */
#ifndef DOPPEL_IMAGE_CALIBRATION_H
#define DOPPEL_IMAGE_CALIBRATION_H

#include <stdint.h>

/** Classes of view pair; each has its own curve. */
enum judge_class {
    JUDGE_FULL,        /**< full frame against full frame */
    JUDGE_TRIMMED,     /**< a frame was trimmed, none was cropped */
    JUDGE_CROP,        /**< against a crop of the item */
    JUDGE_FULL_TURNED, /**< the same three, the query mirrored or turned */
    JUDGE_TRIMMED_TURNED,
    JUDGE_CROP_TURNED,
    JUDGE_PARTS, /**< full frames, and with them the crop of both in which they differ least */
    JUDGE_CLASSES
};

/** Scores are d256 + 3·d64, 0 to 448, or d256 + d64 of two full frames
 * and of their crops. Curves hold a point every
 * CALIBRATION_STEP. */
enum { JUDGE_WEIGHT = 3, JUDGE_FULL_WEIGHT = 1 };
enum { JUDGE_SCORE_MAX = 448, CALIBRATION_STEP = 8, CALIBRATION_POINTS = 448 / 8 + 1 };

struct calibration {
    /** log10 of the share of unrelated pairs of pictures whose best view pair of the class scores
     * this low or lower, at score = index × CALIBRATION_STEP; rising. */
    float log_rate[JUDGE_CLASSES][CALIBRATION_POINTS];
    /** The same of those that are borderline by their codes and that score this low or lower once
     * they are laid over each other. */
    float pixels_log_rate[CALIBRATION_POINTS];
};

extern const struct calibration calibration_builtin;

/** log10 of the rate at which unrelated items come this near in this class or as rarely in another.
 */
double calibration_log_rate(const struct calibration *calibration, enum judge_class class,
                            uint32_t score);

/** log10 of the rate at which unrelated items are borderline by their codes and come this near when
 * they are laid over each other. */
double calibration_pixels_log_rate(const struct calibration *calibration, uint32_t score);

#endif
