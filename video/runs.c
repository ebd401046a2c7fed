/* Runs of near-identical frames, and the cells of each. */
#include "video/video_internal.h"

#include <stdlib.h>
#include <string.h>

enum { RECTANGLE_LIMIT = 16 /* bits of 64; more are another scene */ };

void runs_free(struct runs *runs)
{
    free(runs->frames);
    for (unsigned i = 0; i < PARTS; i++)
        free(runs->cells[i]);
    *runs = (struct runs){0};
}

/* A query of very many runs is looked up as it is, not as what it could be a part of. */
static void shed_cells(struct runs *runs)
{
    size_t parts = runs->parts;
    if (runs->count >= RUNS_MAX_WITH_RECTANGLES && parts > 1)
        parts = 1;
    if (runs->count >= RUNS_MAX_WITH_CELLS)
        parts = 0;
    for (; runs->parts > parts; runs->parts--) {
        free(runs->cells[runs->parts - 1]);
        runs->cells[runs->parts - 1] = NULL;
    }
}

static bool make_room_for_run(struct runs *runs)
{
    shed_cells(runs);
    if (runs->count < runs->capacity)
        return true;
    size_t capacity = runs->capacity ? runs->capacity * 2 : 64;
    struct doppel_video_frame *frames = realloc(runs->frames, capacity * sizeof *frames);
    if (!frames)
        return false;
    runs->frames = frames;
    for (size_t i = 0; i < runs->parts; i++) {
        uint8_t *cells = realloc(runs->cells[i], capacity * DOPPEL_VIDEO_CELL_BYTES);
        if (!cells)
            return false;
        runs->cells[i] = cells;
    }
    runs->capacity = capacity;
    return true;
}

/* Whether the likeliest rectangle shows something else than when the run began: before a wall that
 * does not move a picture in the picture may. */
static bool rectangle_moved(const struct runs *runs, const uint8_t *cells)
{
    if (runs->parts < 2 || doppel_video_cells_flat(cells))
        return false;
    const uint8_t *first = runs->cells[1] + (runs->count - 1) * DOPPEL_VIDEO_CELL_BYTES;
    struct doppel_code now = cells_code(cells), then = cells_code(first);
    return doppel_code_distance(&now, &then, 64) > RECTANGLE_LIMIT;
}

static bool run_goes_on(const struct runs *runs, const struct doppel_code *code, uint32_t time_ms)
{
    if (!runs->open || runs->every)
        return false;
    const struct doppel_video_frame *last = &runs->frames[runs->count - 1];
    return time_ms - last->end_ms <= RUN_GAP_MS &&
           doppel_code_distance(&last->code, code, 64) <= RUN_LIMIT;
}

enum doppel_status runs_take(struct runs *runs,
                             const uint8_t cells[ALL_PARTS][DOPPEL_VIDEO_CELL_BYTES],
                             uint32_t time_ms, struct doppel_error *error)
{
    if (!runs->every && doppel_video_cells_flat(cells[0])) {
        runs->open = false;
        return DOPPEL_OK;
    }
    struct doppel_code code = cells_code(cells[0]);
    if (run_goes_on(runs, &code, time_ms) && !rectangle_moved(runs, cells[1])) {
        runs->frames[runs->count - 1].end_ms = time_ms;
        return DOPPEL_OK;
    }
    if (runs->count == RUNS_MAX)
        return doppel_fail(error, DOPPEL_E_LIMIT, "more than %d different frames", RUNS_MAX);
    if (!make_room_for_run(runs))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the frames of a video after %zu",
                           runs->count);
    for (size_t i = 0; i < runs->parts; i++)
        memcpy(runs->cells[i] + runs->count * DOPPEL_VIDEO_CELL_BYTES, cells[i],
               DOPPEL_VIDEO_CELL_BYTES);
    struct doppel_video_frame *frame = &runs->frames[runs->count++];
    *frame = (struct doppel_video_frame){.code = code, .start_ms = time_ms, .end_ms = time_ms};
    if (runs->middle && !doppel_video_cells_flat(cells[MIDDLE]))
        frame->middle = cells_code(cells[MIDDLE]);
    if (runs->whole && !doppel_video_cells_flat(cells[WHOLE]))
        frame->whole = cells_code(cells[WHOLE]);
    runs->open = true;
    return DOPPEL_OK;
}
