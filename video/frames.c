/* Sampled frames to a track of runs. */
#include <doppel/video.h>

#include <stdlib.h>
#include <string.h>

#include <doppel/image.h>

#include "video/room.h"

enum {
    PENDING_MAX = 64 * 1024 * 1024 / GRID_BYTES, /* frames by which bars are judged */
    RUN_LIMIT = 10,                              /* of 64 bits: what has moved by more is new */
    GAP_MS = 1000
};

struct doppel_video {
    struct doppel_video_options options;
    uint8_t *grids; /* of frames that wait for the box; NULL once it is known */
    uint32_t *times;
    size_t pending, pending_room;
    bool boxed;
    struct grid_box box;
    struct doppel_video_frame *frames;
    uint8_t *cells;
    size_t count, room;
    bool in_run;
    uint32_t sampled, last_ms;
};

struct doppel_video_options doppel_video_options_default(void)
{
    return (struct doppel_video_options){.box = {0, 0, 1, 1}};
}

enum doppel_status doppel_video_new(const struct doppel_video_options *options,
                                    struct doppel_video **out, struct doppel_error *error)
{
    struct doppel_video *video = calloc(1, sizeof *video);
    if (!video)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the frames of a film");
    video->options = options ? *options : doppel_video_options_default();
    *out = video;
    return DOPPEL_OK;
}

void doppel_video_free(struct doppel_video *video)
{
    if (!video)
        return;
    free(video->grids);
    free(video->times);
    free(video->frames);
    free(video->cells);
    free(video);
}

/* ---- runs ---- */

static enum doppel_status no_memory(const struct doppel_video *video, struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the frames of a film after %zu runs",
                       video->count);
}

static bool make_room(struct doppel_video *video)
{
    if (video->count < video->room)
        return true;
    size_t room = video->room ? video->room * 2 : 256;
    struct doppel_video_frame *frames = realloc(video->frames, room * sizeof *frames);
    if (!frames)
        return false;
    video->frames = frames;
    uint8_t *cells = realloc(video->cells, room * DOPPEL_VIDEO_CELL_BYTES);
    if (!cells)
        return false;
    video->cells = cells;
    video->room = room;
    return true;
}

/* Whether a frame goes on with the last run. */
static bool goes_on(const struct doppel_video *video, const struct doppel_code *code,
                    uint32_t time_ms)
{
    if (video->options.every_frame || !video->in_run)
        return false;
    const struct doppel_video_frame *last = &video->frames[video->count - 1];
    return time_ms - last->end_ms <= GAP_MS &&
           doppel_code_distance(&last->code, code, 64) <= RUN_LIMIT;
}

static enum doppel_status take_cells(struct doppel_video *video, const uint8_t *cells,
                                     uint32_t time_ms, struct doppel_error *error)
{
    if (!video->options.every_frame && cells_flat(cells)) {
        video->in_run = false;
        return DOPPEL_OK;
    }
    struct doppel_code code = cells_code(cells);
    if (goes_on(video, &code, time_ms)) {
        video->frames[video->count - 1].end_ms = time_ms;
        return DOPPEL_OK;
    }
    if (!make_room(video))
        return no_memory(video, error);
    memcpy(video->cells + video->count * DOPPEL_VIDEO_CELL_BYTES, cells, DOPPEL_VIDEO_CELL_BYTES);
    video->frames[video->count++] = (struct doppel_video_frame){code, time_ms, time_ms};
    video->in_run = true;
    return DOPPEL_OK;
}

static enum doppel_status take_grid(struct doppel_video *video, const uint8_t *grid,
                                    uint32_t time_ms, struct doppel_error *error)
{
    uint8_t cells[DOPPEL_VIDEO_CELL_BYTES];
    grid_cells(grid, video->box, cells);
    return take_cells(video, cells, time_ms, error);
}

/* ---- frames that wait for the box ---- */

static enum doppel_status settle(struct doppel_video *video, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    video->box = grid_picture(video->grids, video->pending);
    video->boxed = true;
    for (size_t i = 0; i < video->pending && !status; i++)
        status = take_grid(video, video->grids + i * GRID_BYTES, video->times[i], error);
    free(video->grids);
    free(video->times);
    video->grids = NULL;
    video->times = NULL;
    return status;
}

static enum doppel_status wait_for_box(struct doppel_video *video, const struct doppel_plane *plane,
                                       uint32_t time_ms, struct doppel_error *error)
{
    if (video->pending == video->pending_room) {
        size_t room = video->pending_room ? video->pending_room * 2 : 64;
        uint8_t *grids = realloc(video->grids, room * GRID_BYTES);
        video->grids = grids ? grids : video->grids;
        uint32_t *times = realloc(video->times, room * sizeof *times);
        video->times = times ? times : video->times;
        if (!grids || !times)
            return no_memory(video, error);
        video->pending_room = room;
    }
    doppel_image_reduce(plane, GRID_SIDE, video->grids + video->pending * GRID_BYTES);
    video->times[video->pending++] = time_ms;
    return video->pending == PENDING_MAX ? settle(video, error) : DOPPEL_OK;
}

/* The pixels of a box, of which there is at least one. */
static struct doppel_plane part(const struct doppel_plane *plane, struct doppel_video_box box)
{
    uint32_t left = (uint32_t)(box.left * (float)plane->width + .5f);
    uint32_t top = (uint32_t)(box.top * (float)plane->height + .5f);
    uint32_t right = (uint32_t)(box.right * (float)plane->width + .5f);
    uint32_t bottom = (uint32_t)(box.bottom * (float)plane->height + .5f);
    right = right > plane->width ? plane->width : right;
    bottom = bottom > plane->height ? plane->height : bottom;
    if (left >= right || top >= bottom)
        return *plane;
    return (struct doppel_plane){plane->data + top * plane->stride + left, right - left,
                                 bottom - top, plane->stride};
}

static enum doppel_status take_part(struct doppel_video *video, const struct doppel_plane *plane,
                                    uint32_t time_ms, struct doppel_error *error)
{
    uint8_t cells[DOPPEL_VIDEO_CELL_BYTES];
    struct doppel_plane inside = part(plane, video->options.box);
    doppel_image_reduce(&inside, DOPPEL_VIDEO_CELLS, cells);
    return take_cells(video, cells, time_ms, error);
}

enum doppel_status doppel_video_push(struct doppel_video *video, const struct doppel_plane *plane,
                                     uint32_t time_ms, struct doppel_error *error)
{
    if (!plane->width || !plane->height)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a frame has no pixels");
    if (video->sampled && time_ms < video->last_ms)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a frame at %u ms comes after one at %u ms",
                           time_ms, video->last_ms);
    video->sampled++;
    video->last_ms = time_ms;
    if (video->options.every_frame)
        return take_part(video, plane, time_ms, error);
    if (!video->boxed)
        return wait_for_box(video, plane, time_ms, error);
    uint8_t grid[GRID_BYTES];
    doppel_image_reduce(plane, GRID_SIDE, grid);
    return take_grid(video, grid, time_ms, error);
}

enum doppel_status doppel_video_finish(struct doppel_video *video, struct doppel_video_track *out,
                                       struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (!video->boxed && !video->options.every_frame)
        status = settle(video, error);
    if (status)
        return status;
    struct doppel_video_box box = video->options.box;
    if (!video->options.every_frame)
        box = (struct doppel_video_box){
            (float)video->box.left / GRID_SIDE, (float)video->box.top / GRID_SIDE,
            (float)video->box.right / GRID_SIDE, (float)video->box.bottom / GRID_SIDE};
    *out = (struct doppel_video_track){.frames = video->frames,
                                       .count = video->count,
                                       .cells = video->cells,
                                       .box = box,
                                       .sampled = video->sampled};
    video->frames = NULL;
    video->cells = NULL;
    video->count = video->room = 0;
    return DOPPEL_OK;
}
