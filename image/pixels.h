/* Inside the pixel check: how near the codes of two pictures are once these are laid over each
 * other. For image_recall too. */
#ifndef DOPPEL_IMAGE_PIXELS_H
#define DOPPEL_IMAGE_PIXELS_H

#include "image/judge.h"

/** The codes of what two pictures share, laid over each other. */
struct registered {
    uint16_t score; /**< d256 + 3·d64; UINT16_MAX: no fit */
    uint16_t distance64, distance256;
    double grain; /**< grain_surprise; 0: no fit */
};

/** The best score and the best grain of the starts, both ways. */
struct registered pixels_register(const struct doppel_image_features *query,
                                  const struct doppel_image_features *item,
                                  const struct doppel_image_verify_options *options);

/** The share of unrelated pairs that come so near, by their codes or by this. Laid over each other,
 * pictures of less structure come nearer, but not by as much as by their codes. Codes that are
 * near without any grain in common count less.
 * @param by_codes the share by their codes @param quality of the poorer of the two */
double pixels_rate(const struct calibration *calibration, const struct registered *nearest,
                   double by_codes, uint8_t quality);

#endif
