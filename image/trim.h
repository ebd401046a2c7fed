/* Where the picture is inside its frame: without borders, and without a screenshot's interface
 * elements. */
#ifndef DOPPEL_IMAGE_TRIM_H
#define DOPPEL_IMAGE_TRIM_H

#include <doppel/core.h>

#include "image/plane.h"

struct trimmed_boxes {
    struct share_box trimmed;   /**< without uniform borders */
    struct share_box interface; /**< without text and bars on a uniform ground either */
};

/** @param plane at most PLANE_MAX_SIDE each way. The full frame where nothing is to be cut. */
struct trimmed_boxes trim_boxes(const struct doppel_plane *plane);

#endif
