/* Sampled frames to a track: they wait, small, until bars and rectangles are known. */
#include <doppel/video.h>

#include <stdlib.h>
#include <string.h>

#include <doppel/image.h>

#include "video/video_internal.h"

/* Frames by which bars and rectangles are judged. */
enum { WAITING_MAX = 64 * 1024 * 1024 / GRID_BYTES };

struct doppel_video {
    struct doppel_video_options options;
    struct runs runs;

    /* Frames that wait. */
    uint8_t *grids;
    uint32_t *times;
    size_t waiting, capacity;

    bool settled; /* what follows is known, and frames no longer wait */
    struct grid_box parts[PARTS], middle;
    size_t rectangle_count;

    uint32_t sampled, last_ms, width, height; /* of the first frame */
};

struct doppel_video_options doppel_video_options_default(void)
{
    return (struct doppel_video_options){.box = {0, 0, 1, 1}};
}

/* A box may come from a damaged file: one of nothing is the full frame. */
static struct grid_box part_of(struct doppel_video_box box)
{
    const float least = 1.f / GRID_SIDE;
    bool usable = box.left >= 0 && box.top >= 0 && box.right <= 1 && box.bottom <= 1 &&
                  box.right - box.left >= least && box.bottom - box.top >= least;
    return usable ? grid_box_of(box) : grid_box_full;
}

enum doppel_status doppel_video_new(const struct doppel_video_options *options,
                                    struct doppel_video **out, struct doppel_error *error)
{
    struct doppel_video *video = calloc(1, sizeof *video);
    if (!video)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the frames of a video");
    video->options = options ? *options : doppel_video_options_default();
    video->runs.parts = 1;
    video->runs.every = video->options.every_frame;
    video->settled = video->options.every_frame;
    video->parts[0] = part_of(video->options.box);
    *out = video;
    return DOPPEL_OK;
}

static void forget_waiting(struct doppel_video *video)
{
    free(video->grids);
    free(video->times);
    video->grids = NULL;
    video->times = NULL;
    video->waiting = video->capacity = 0;
}

void doppel_video_free(struct doppel_video *video)
{
    if (!video)
        return;
    forget_waiting(video);
    runs_free(&video->runs);
    free(video);
}

static enum doppel_status no_memory_video(const struct doppel_video *video,
                                          struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the frames of a video after %u",
                       video->sampled);
}

/* ---- frames that wait ---- */

static enum doppel_status take_grid(struct doppel_video *video, const uint8_t *grid,
                                    uint32_t time_ms, struct doppel_error *error)
{
    uint8_t cells[ALL_PARTS][DOPPEL_VIDEO_CELL_BYTES];
    for (size_t i = 0; i < 1 + video->rectangle_count; i++)
        grid_cells(grid, video->parts[i], cells[i]);
    if (video->runs.middle)
        grid_cells(grid, video->middle, cells[MIDDLE]);
    if (video->runs.whole)
        grid_cells(grid, grid_box_full, cells[WHOLE]);
    return runs_take(&video->runs, cells, time_ms, error);
}

/* Of a short video, what looks like bars may be the sky: what is within them is a guess. The full
 * frame is kept as a rectangle, too, if need be as the last of them. */
static void keep_full_frame(struct doppel_video *video)
{
    if (!memcmp(&video->parts[0], &grid_box_full, sizeof grid_box_full))
        return;
    if (video->rectangle_count < DOPPEL_VIDEO_RECTANGLES)
        video->rectangle_count++;
    video->parts[video->rectangle_count] = grid_box_full;
}

static enum doppel_status settle_video(struct doppel_video *video, struct doppel_error *error)
{
    if (!find_image(video->grids, video->waiting, &video->parts[0]))
        return no_memory_video(video, error);
    video->rectangle_count =
        find_rectangles(video->grids, video->waiting, video->parts[0], video->parts + 1);
    keep_full_frame(video);
    video->runs.middle =
        upright_middle(video->parts[0], video->width, video->height, &video->middle);
    video->runs.whole = memcmp(&video->parts[0], &grid_box_full, sizeof grid_box_full) != 0;
    video->runs.parts = 1 + video->rectangle_count;
    video->settled = true;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < video->waiting && !status; i++)
        status = take_grid(video, video->grids + i * GRID_BYTES, video->times[i], error);
    forget_waiting(video);
    return status;
}

static bool make_room_video(struct doppel_video *video)
{
    if (video->waiting < video->capacity)
        return true;
    size_t capacity = video->capacity ? video->capacity * 2 : 64;
    uint8_t *grids = realloc(video->grids, capacity * GRID_BYTES);
    video->grids = grids ? grids : video->grids;
    uint32_t *times = realloc(video->times, capacity * sizeof *times);
    video->times = times ? times : video->times;
    if (!grids || !times)
        return false;
    video->capacity = capacity;
    return true;
}

static enum doppel_status wait(struct doppel_video *video, const struct doppel_plane *plane,
                               uint32_t time_ms, struct doppel_error *error)
{
    if (!make_room_video(video))
        return no_memory_video(video, error);
    doppel_image_reduce(plane, GRID_SIDE, video->grids + video->waiting * GRID_BYTES);
    video->times[video->waiting++] = time_ms;
    return video->waiting == WAITING_MAX ? settle_video(video, error) : DOPPEL_OK;
}

/* ---- frames ---- */

static enum doppel_status take_plane(struct doppel_video *video, const struct doppel_plane *plane,
                                     uint32_t time_ms, struct doppel_error *error)
{
    uint8_t grid[GRID_BYTES];
    doppel_image_reduce(plane, GRID_SIDE, grid);
    return take_grid(video, grid, time_ms, error);
}

enum doppel_status doppel_video_push(struct doppel_video *video, const struct doppel_plane *plane,
                                     uint32_t time_ms, struct doppel_error *error)
{
    if (!plane->width || !plane->height)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a frame has no pixels");
    if (video->sampled && time_ms < video->last_ms)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a frame at %u ms comes after one at %u ms",
                           time_ms, video->last_ms);
    if (!video->sampled++) {
        video->width = plane->width;
        video->height = plane->height;
    }
    video->last_ms = time_ms;
    if (video->settled)
        return take_plane(video, plane, time_ms, error);
    return wait(video, plane, time_ms, error);
}

enum doppel_status doppel_video_finish(struct doppel_video *video, struct doppel_video_track *out,
                                       struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (!video->settled)
        status = settle_video(video, error);
    if (status)
        return status;
    struct runs *runs = &video->runs;
    struct doppel_video_track track = {.frames = runs->frames,
                                       .count = runs->count,
                                       .cells = runs->cells[0],
                                       .box = grid_box_shares(video->parts[0]),
                                       .has_middle = runs->middle,
                                       .has_whole = runs->whole,
                                       .sampled = video->sampled};
    for (size_t i = 1; i < runs->parts; i++) {
        track.rectangles[i - 1] = grid_box_shares(video->parts[i]);
        track.rectangle_cells[i - 1] = runs->cells[i];
        track.rectangle_count = i;
    }
    *runs = (struct runs){0};
    *out = track;
    return DOPPEL_OK;
}
