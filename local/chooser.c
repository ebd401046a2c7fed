/* Which frames of a video are kept: those that show something else than the last one. */
#include <stdlib.h>

#include "core/array.h"
#include "core/try.h"
#include "local/local_internal.h"

enum {
    NEAR = 8,           /* so far a point has moved at most that is where it was */
    NEAR_SCALE = 2,     /* and grown */
    NEAR_DISTANCE = 30, /* and changed, in bits */
    LEAST_POINTS = 8,   /* fewer tell nothing */
    SAME_PERCENT = 50,  /* so many of the points where they were: the same is shown */
    MOST_MS = 8000,     /* a frame stands for no longer time */
};

struct doppel_local_chooser {
    ARRAY(struct doppel_local_frame) frames;
    uint32_t last_ms;
    bool begun, going_on; /* the last frame is still shown */
};

enum doppel_status doppel_local_chooser_new(struct doppel_local_chooser **out,
                                            struct doppel_error *error)
{
    struct doppel_local_chooser *chooser = calloc(1, sizeof *chooser);
    if (!chooser)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the frames of a video");
    *out = chooser;
    return DOPPEL_OK;
}

void doppel_local_chooser_free(struct doppel_local_chooser *chooser)
{
    struct doppel_local_video video;
    if (!chooser)
        return;
    doppel_local_chooser_finish(chooser, 0, &video);
    doppel_local_video_free(&video);
    free(chooser);
}

/* ---- the same or not ---- */

static bool has_point(const struct doppel_fingerprint *points, const struct point_place *place,
                      const struct doppel_code *code)
{
    for (uint32_t i = 0; i < points->count; i++) {
        const struct point_place other = unpack_place(points->positions[i]);
        if (abs(other.x - place->x) <= NEAR && abs(other.y - place->y) <= NEAR &&
            abs(other.scale - place->scale) <= NEAR_SCALE &&
            point_distance(&points->codes[i], code) <= NEAR_DISTANCE)
            return true;
    }
    return false;
}

/* By the points of a frame that a library keeps, looked for among all of another one. */
static bool shows_the_same(const struct doppel_fingerprint *fresh,
                           const struct doppel_fingerprint *last)
{
    const uint32_t count = fresh->count < DOPPEL_LOCAL_KEPT ? fresh->count : DOPPEL_LOCAL_KEPT;
    uint32_t same = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct point_place place = unpack_place(fresh->positions[i]);
        same += has_point(last, &place, &fresh->codes[i]);
    }
    return same * 100 >= count * SAME_PERCENT;
}

/* ---- frames ---- */

/* The last frame is shown until now, if it still was. */
static void end_last_frame(struct doppel_local_chooser *chooser, uint32_t time_ms)
{
    if (chooser->going_on)
        chooser->frames.items[chooser->frames.count - 1].to_ms = time_ms;
}

static enum doppel_status take_points(struct doppel_local_chooser *chooser, uint32_t time_ms,
                                      struct doppel_fingerprint *points, struct doppel_error *error)
{
    end_last_frame(chooser, time_ms);
    const struct doppel_local_frame *last =
        chooser->going_on ? &chooser->frames.items[chooser->frames.count - 1] : NULL;
    if (last && time_ms - last->from_ms < MOST_MS && points->count >= LEAST_POINTS &&
        shows_the_same(points, &last->points))
        return DOPPEL_OK;
    chooser->going_on = points->count >= LEAST_POINTS;
    if (!chooser->going_on)
        return DOPPEL_OK;
    if (chooser->frames.count == DOPPEL_LOCAL_FRAMES)
        return doppel_fail(error, DOPPEL_E_LIMIT, "is too long for keypoints");
    struct doppel_local_frame frame = {time_ms, time_ms + 1, *points};
    if (!array_push(&chooser->frames, frame))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the frames of a video");
    *points = (struct doppel_fingerprint){0};
    return DOPPEL_OK;
}

enum doppel_status doppel_local_chooser_push(struct doppel_local_chooser *chooser,
                                             const struct doppel_plane *plane, uint32_t time_ms,
                                             struct doppel_error *error)
{
    struct doppel_fingerprint points = {0};
    enum doppel_status status;
    if (chooser->begun && time_ms <= chooser->last_ms)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "frames are pushed in order of time");
    if (time_ms == UINT32_MAX)
        return doppel_fail(error, DOPPEL_E_LIMIT, "is too long for keypoints");
    TRY(doppel_local_features(plane, &points, error));
    TRY(take_points(chooser, time_ms, &points, error));
    chooser->begun = true;
    chooser->last_ms = time_ms;
done:
    doppel_fingerprint_free(&points);
    return status;
}

void doppel_local_chooser_finish(struct doppel_local_chooser *chooser, uint64_t duration_ms,
                                 struct doppel_local_video *out)
{
    if (chooser->begun && duration_ms > chooser->last_ms && duration_ms <= UINT32_MAX)
        end_last_frame(chooser, (uint32_t)duration_ms);
    *out = (struct doppel_local_video){.duration_ms = duration_ms,
                                       .frames = chooser->frames.items,
                                       .count = (uint32_t)chooser->frames.count};
    *chooser = (struct doppel_local_chooser){0};
}
