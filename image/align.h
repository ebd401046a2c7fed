/* Fitting one small plane onto another: robust affine Gauss–Newton with gain and offset. */
#ifndef DOPPEL_IMAGE_ALIGN_H
#define DOPPEL_IMAGE_ALIGN_H

#include <stdbool.h>

enum { ALIGN_SIDE = 32, ALIGN_TARGET_SIDE = 64 };

/** What is fitted: ALIGN_SIDE² samples. */
struct align_template {
    float sample[ALIGN_SIDE * ALIGN_SIDE];
};

/** What it is fitted onto, with its slopes. */
struct align_target {
    float sample[ALIGN_TARGET_SIDE * ALIGN_TARGET_SIDE];
    float slope_x[ALIGN_TARGET_SIDE * ALIGN_TARGET_SIDE];
    float slope_y[ALIGN_TARGET_SIDE * ALIGN_TARGET_SIDE];
};

/** Where a template lies on the target: x = map[0] + map[1]·u + map[2]·v, y = map[3] + map[4]·u +
 * map[5]·v in target pixels, for u, v from -1 to 1 across and down the template. */
struct align_map {
    double map[6];
};

/** Improve `map` in place. False when the fit ran away: far from where it began, or off the target.
 */
bool align_fit(const struct align_template *template, const struct align_target *target,
               struct align_map *map);

/** Agreement of the template with what lies under it, block by block: 0 to 1. */
double align_agreement(const struct align_template *template, const struct align_target *target,
                       const struct align_map *map);

#endif
