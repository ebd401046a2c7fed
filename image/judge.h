/* Inside the judge: the best view pair of each class. For image_recall too, which calibrates. */
#ifndef DOPPEL_IMAGE_JUDGE_H
#define DOPPEL_IMAGE_JUDGE_H

#include <doppel/image.h>

#include "image/calibration.h"

/** A pair of views, oriented, and how far apart they are. */
struct view_pair {
    uint16_t score; /**< UINT16_MAX = none is a candidate */
    uint16_t distance64, distance256;
    uint8_t query_view, item_view, orientation;
    bool framed;       /**< both views show what is around the picture: it may be all they share */
    bool frames_alone; /**< framed, and what is inside is not alike: worth a look, no proof */
};

/** Most that the views without any frame may differ when views with frames are to count; about one
 * pair of unrelated items in a hundred is as near. */
enum { JUDGE_CORE_SCORE_MAX = 150 };

/** A score, by the 64-bit distance: of views that are far apart no less than
 * DOPPEL_IMAGE_FAR_SCORE. */
static inline int32_t judge_far_score(int32_t score, int32_t distance64)
{
    bool far = distance64 > DOPPEL_IMAGE_NEAR_RADIUS && score < DOPPEL_IMAGE_FAR_SCORE;
    return far ? DOPPEL_IMAGE_FAR_SCORE : score;
}

enum judge_class rate_class_of(uint32_t query_view, uint32_t item_view, unsigned orientation);

/** Whether a view is compared: interface elements are looked for in queries only, crops are made of
 * items only. */
bool rate_view_counts(uint32_t view, enum doppel_image_views views, bool query);

/** The view with the least around the picture. */
uint8_t judge_core_view(const struct doppel_fingerprint *fingerprint);

bool judge_is_framed(const struct doppel_fingerprint *fingerprint, uint32_t view);

/** So near are only copies, whatever is around them: of such a pair the views without any frame may
 * have been cut differently. */
enum { JUDGE_SAME_SCORE_MAX = 12 };

/** How much farther apart than two frames as a whole any crop of both may be. */
enum { JUDGE_PART_SLACK = 40 };

/** The nearest pair of each class that a search brings together: within
 * DOPPEL_IMAGE_CANDIDATE_RADIUS, or of full frames within DOPPEL_IMAGE_FULL_RADIUS. */
void verify_best_pairs(const struct doppel_fingerprint *query,
                       const struct doppel_fingerprint *item,
                       const struct doppel_image_verify_options *options,
                       struct view_pair best[JUDGE_CLASSES]);

/** The verdict that a calibration gives on them. */
struct doppel_image_verdict verify_by(const struct calibration *calibration,
                                      const struct view_pair best[JUDGE_CLASSES]);

#endif
