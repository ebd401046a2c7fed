/* Fitting one small plane onto another: robust affine Gauss–Newton with gain and offset, first at a
 * quarter of the samples. */
#ifndef DOPPEL_IMAGE_ALIGN_H
#define DOPPEL_IMAGE_ALIGN_H

#include <stdbool.h>
#include <stdint.h>

enum { ALIGN_SIDE = 64, ALIGN_COARSE_SIDE = ALIGN_SIDE / 2 };

/** A small plane, smoothed, and the same with half the samples each way: of each place the sample
 * and those to the right, below, and below to the right, from the lowest byte on. */
struct align_plane {
    const uint8_t *samples; /**< borrowed */
    bool has_fine;          /**< `fine` is there: once a fit has come so far */
    uint32_t coarse[ALIGN_COARSE_SIDE * ALIGN_COARSE_SIDE], fine[ALIGN_SIDE * ALIGN_SIDE];
};

/** Where the square -1 to 1, u across and v down, lies on a plane: x = map[0] + map[1]·u +
 * map[2]·v, y = map[3] + map[4]·u + map[5]·v in samples of ALIGN_SIDE. */
struct align_map {
    double map[6];
};

/** Sums by 1-2-1 each way, 2^ALIGN_SMOOTH_SHIFT times as large; the ends count thrice. The grain of
 * a plane is not the same after a move by half a sample.
 * @param in side × side, at most ALIGN_SIDE each way */
void align_smooth(const uint16_t *in, int side, uint16_t *out);
enum { ALIGN_SMOOTH_SHIFT = 4 };

/** @param samples ALIGN_SIDE², row after row; borrowed for as long as the plane is used */
void align_plane_make(const uint8_t *samples, struct align_plane *out);

/**
 * Improve the place of the square on `item` so that it shows there what it shows on `query`, where
 * its place is `from`.
 * @return false: the fit ran away, far from where it began or off the item, or what it found, or
 * came by, is too unlike; `map` is then of no use
 */
bool align_fit(struct align_plane *query, const struct align_map *from, struct align_plane *item,
               struct align_map *map);

#endif
