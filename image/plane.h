/* Area averages of grey planes: exact in integers, so that a mirrored or transposed plane gives the
 * mirrored or transposed averages to the last bit. */
#ifndef DOPPEL_IMAGE_PLANE_H
#define DOPPEL_IMAGE_PLANE_H

#include <doppel/core.h>

/** A rectangle in shares of the frame × 65535: left, top, right, bottom. */
struct share_box {
    uint16_t left, top, right, bottom;
};

enum { SHARE_ONE = 65535 };

static const struct share_box share_box_full = {0, 0, SHARE_ONE, SHARE_ONE};

/** Sides beyond this are reduced to half of it before the views are looked at. */
enum { PLANE_MAX_SIDE = 1024 };

/** The most cells each way that can be asked for. */
enum { PLANE_MAX_CELLS = 128 };

/**
 * The whole plane as `columns`×`rows` cells, row after row: floor(scale·average + 1/2).
 * Any plane of at least 1×1; fractional overlaps count with their exact share. Allocates nothing.
 */
void plane_average(const struct doppel_plane *plane, uint32_t columns, uint32_t rows,
                   uint32_t scale, uint16_t *out);

/** A plane of at most PLANE_MAX_SIDE each way, with the table of its sums. */
struct plane_sums {
    struct doppel_plane plane; /**< the plane given, or `shrunk` */
    uint8_t *shrunk;           /**< NULL unless the plane given was too large */
    uint32_t *sums;            /**< (width+1)×(height+1): sum of all samples above and left */
};

/** @param plane borrowed until plane_sums_free. DOPPEL_OK, DOPPEL_E_MEMORY. */
enum doppel_status plane_sums_make(const struct doppel_plane *plane, struct plane_sums *out,
                                   struct doppel_error *error);

void plane_sums_free(struct plane_sums *sums);

/** What plane_average gives for the part of the plane in `box` as `side`×`side` cells;
 * edges are rounded to 1/256 sample. The box is not empty. */
void plane_sums_average(const struct plane_sums *sums, struct share_box box, uint32_t side,
                        uint32_t scale, uint16_t *out);

#endif
