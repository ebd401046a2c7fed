/* What the files of the room video share. */
#ifndef DOPPEL_VIDEO_ROOM_H
#define DOPPEL_VIDEO_ROOM_H

#include <doppel/video.h>

/** Sampled planes are reduced to this many cells each way before anything is known of them. */
enum { GRID_SIDE = 64, GRID_BYTES = GRID_SIDE * GRID_SIDE };

/** What is known of the picture in its frame, in cells of the grid. */
struct grid_box {
    uint32_t left, top, right, bottom;
};

/** The part of the frame that does not stay black over all grids. */
struct grid_box grid_picture(const uint8_t *grids, size_t count);

/** 32×32 area averages of a part of a grid. */
void grid_cells(const uint8_t *grid, struct grid_box box, uint8_t *out);

/** Whether cells are too flat to be told from others. */
bool cells_flat(const uint8_t *cells);

struct doppel_code cells_code(const uint8_t *cells);

#endif
