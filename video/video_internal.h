/* What the files of the room video share. */
#ifndef DOPPEL_VIDEO_INTERNAL_H
#define DOPPEL_VIDEO_INTERNAL_H

#include <doppel/video.h>

/* ---- grids: sampled planes, reduced before anything is known of them ---- */

enum {
    GRID_SIDE = 96,
    GRID_BYTES = GRID_SIDE * GRID_SIDE,
    GRID_UNIT = 256 /* of a cell's side, in which edges are measured */
};

/** A part of a grid, edges in 1/GRID_UNIT of a cell: left, top, right, bottom. */
struct grid_box {
    int32_t edge[4];
};

static const struct grid_box grid_box_full = {{0, 0, GRID_SIDE *GRID_UNIT, GRID_SIDE *GRID_UNIT}};

struct grid_box grid_box_of(struct doppel_video_box box);
struct doppel_video_box grid_box_shares(struct grid_box box);

/** 32×32 area averages of a part. Of a cell that an edge cuts, what lies within is known

 * from what lies without by the cell before it. */
void grid_cells(const uint8_t *grid, struct grid_box box, uint8_t *out);

struct doppel_code cells_code(const uint8_t *cells);

/* ---- bars ---- */

/** The part of the frames that no lasting bars cover. @return false: no memory */
bool find_image(const uint8_t *grids, size_t count, struct grid_box *out);

/** Bars on two sides that are a larger, blurred copy of the picture between them. @param out
 * untouched where there are none. @return whether there are */
bool find_blurred_bars(const uint8_t *grids, size_t count, struct grid_box *out);

/** The upright middle of a picture: 9:16 of it as it is shown. @param width,height of the frame.
 * @return false: it is not much wider than that, or so wide that little is left of it */
bool upright_middle(struct grid_box image, uint32_t width, uint32_t height, struct grid_box *out);

/* ---- pictures in the picture ---- */

/** Rectangles of persistent straight edges within a part of the frame, the likeliest first.
 * @param grids `count` of them. @param out DOPPEL_VIDEO_RECTANGLES. @return how many there are */
size_t find_rectangles(const uint8_t *grids, size_t count, struct grid_box within,
                       struct grid_box *out);

/* ---- runs ---- */

enum {
    PARTS = 1 + DOPPEL_VIDEO_RECTANGLES,
    MIDDLE = PARTS, /* the number of the cells of the upright middle */
    WHOLE,          /* and of those of the full frame */
    ALL_PARTS,
    RUN_LIMIT = 10,    /* of 64 bits: what has moved by more is a new run */
    RUN_GAP_MS = 1000, /* without a frame: what comes then is a new run */
    RUNS_MAX = 1 << 22,
    RUNS_MAX_WITH_CELLS = 1 << 17,
    RUNS_MAX_WITH_RECTANGLES = 1 << 15
};

/** Runs as they are found. Zero-initialised but for `parts`. */
struct runs {
    struct doppel_video_frame *frames;
    uint8_t *cells[PARTS]; /* of the picture and of each rectangle; NULL when there are too many */
    size_t parts;       /* whose cells are kept: 1 and the rectangles, 0 when none are any more */
    bool middle, whole; /* frames have a code of it */
    size_t count, capacity;
    bool open;  /* the last one may go on */
    bool every; /* each frame is one, flat ones, too */
};

/** Take the frame of that time. @param cells of each of `parts`, of MIDDLE and WHOLE; borrowed.
 * DOPPEL_OK; DOPPEL_E_MEMORY; DOPPEL_E_LIMIT: more than RUNS_MAX. */
enum doppel_status runs_take(struct runs *runs,
                             const uint8_t cells[ALL_PARTS][DOPPEL_VIDEO_CELL_BYTES],
                             uint32_t time_ms, struct doppel_error *error);

void runs_free(struct runs *runs);

#endif
