/* Fitting one small plane onto another: robust affine Gauss–Newton with gain and offset, first at a
 * quarter of the samples. */
#ifndef DOPPEL_IMAGE_ALIGN_H
#define DOPPEL_IMAGE_ALIGN_H

#include <stdbool.h>
#include <stdint.h>

enum { ALIGN_SIDE = 64, ALIGN_COARSE_SIDE = ALIGN_SIDE / 2 };

/** A small plane, smoothed, and the same with half the samples each way. */
struct align_plane {
    float fine[ALIGN_SIDE * ALIGN_SIDE];
    float coarse[ALIGN_COARSE_SIDE * ALIGN_COARSE_SIDE];
};

/** Where the square -1 to 1, u across and v down, lies on a plane: x = map[0] + map[1]·u +
 * map[2]·v, y = map[3] + map[4]·u + map[5]·v in samples of ALIGN_SIDE. */
struct align_map {
    double map[6];
};

/** @param samples ALIGN_SIDE², row after row */
void align_plane_make(const uint8_t *samples, struct align_plane *out);

/** The value between samples, clamped at the edges. */
double align_sample(const float *plane, double x, double y);

/**
 * Improve the place of the square on `item` so that it shows there what it shows on `query`, where
 * its place is `from`.
 * @return false: the fit ran away, far from where it began or off the item, or what it found is
 * too unlike; `map` is then of no use
 */
bool align_fit(const struct align_plane *query, const struct align_map *from,
               const struct align_plane *item, struct align_map *map);

#endif
