/* Inside the pixel check: how well two pictures agree once aligned. For image_recall too. */
#ifndef DOPPEL_IMAGE_PIXELS_H
#define DOPPEL_IMAGE_PIXELS_H

#include "image/judge.h"

/** Agreement of the aligned blocks, best of the starts: 0 (none) to 1 (the same picture). */
double pixels_agreement(const struct doppel_image_features *query,
                        const struct doppel_image_features *item,
                        const struct doppel_image_verify_options *options);

#endif
