/* Simulated videos: real ones over pictures of others. */
#include "simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = DOPPEL_VIDEO_CELLS, BYTES = DOPPEL_VIDEO_CELL_BYTES, SAME_BITS = 10 };

/** A real video as it lies in a piece. */
struct layer {
    const struct doppel_video_track *track;
    double start, speed; /**< where it begins, ms, and how it runs */
    double a, b, x, y;   /**< from a place in the frame to one in the video's */
    bool mirrored;
};

static void *must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

/* ---- layers ---- */

/* Longer videos more often. */
static const struct doppel_video_track *draw_video(const struct clips *clips, struct random *random)
{
    double at = random_between(random, 0, videos_hours(clips)) * 3.6e6;
    for (size_t i = 0; i < clips->count; i++) {
        const struct doppel_video_track *track = &clips->list[i].track;
        at -= (double)track->duration_ms;
        if (at <= 0 && track->count)
            return track;
    }
    for (size_t i = 0;; i++)
        if (clips->list[i].track.count)
            return &clips->list[i].track;
}

static struct layer draw_layer(const struct clips *clips, struct random *random)
{
    static const double PI = 3.14159265358979323846;
    struct layer layer = {.track = draw_video(clips, random)};
    double part = random_between(random, .6, 1), turn = random_between(random, -10, 10) * PI / 180;
    layer.start = random_between(random, 0, .8) * (double)layer.track->duration_ms;
    layer.speed = random_between(random, .7, 1.4);
    layer.a = part * cos(turn);
    layer.b = part * sin(turn);
    layer.x = random_between(random, -.5, .5) * (1 - part);
    layer.y = random_between(random, -.5, .5) * (1 - part);
    layer.mirrored = random_below(random, 2);
    return layer;
}

/* Its run at a time of the piece; from the beginning again after the end. */
static const uint8_t *cells_at(const struct layer *layer, double ms)
{
    const struct doppel_video_track *track = layer->track;
    double length = (double)(track->frames[track->count - 1].end_ms + DOPPEL_VIDEO_STEP_MS);
    double at = fmod(layer->start + ms * layer->speed, length);
    size_t low = 0, high = track->count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if ((double)track->frames[middle].start_ms <= at)
            low = middle;
        else
            high = middle;
    }
    return track->cells + low * BYTES;
}

/** Where in a video's cells those of a layer lie. */
struct place {
    uint16_t at; /**< upper left of four cells */
    float right, down;
};

static struct place place_of(double x, double y)
{
    x = fmin(fmax(x, 0), SIDE - 1.001);
    y = fmin(fmax(y, 0), SIDE - 1.001);
    int column = (int)x, row = (int)y;
    return (struct place){(uint16_t)(row * SIDE + column), (float)(x - column), (float)(y - row)};
}

static void find_places(const struct layer *layer, struct place out[BYTES])
{
    for (int i = 0; i < BYTES; i++) {
        double u = (i % SIDE + .5) / SIDE - .5;
        double v = .5 - (i / SIDE + .5) / SIDE; /* upside down: else it is found as its original */
        u = layer->mirrored ? -u : u;
        double x = layer->a * u - layer->b * v + layer->x;
        double y = layer->b * u + layer->a * v + layer->y;
        out[i] = place_of((x + .5) * SIDE - .5, (y + .5) * SIDE - .5);
    }
}

static void add_layer(const struct place places[BYTES], const uint8_t *cells, float weight,
                      float out[BYTES])
{
    for (int i = 0; i < BYTES; i++) {
        const struct place *place = &places[i];
        const uint8_t *at = cells + place->at;
        float above = at[0] + (float)(at[1] - at[0]) * place->right;
        float below = at[SIDE] + (float)(at[SIDE + 1] - at[SIDE]) * place->right;
        out[i] += weight * (above + (below - above) * place->down);
    }
}

/* ---- videos ---- */

/** A video in the making. */
struct reel {
    struct doppel_video_frame *frames;
    size_t count, capacity;
};

static void add_frame(struct reel *reel, const struct doppel_video_frame *frame)
{
    struct doppel_video_frame *last = reel->count ? &reel->frames[reel->count - 1] : NULL;
    if (last && doppel_code_distance(&last->code, &frame->code, 256) <= SAME_BITS) {
        last->end_ms = frame->end_ms;
        return;
    }
    if (reel->count == reel->capacity) {
        reel->capacity = 2 * reel->capacity + 64;
        reel->frames = must(realloc(reel->frames, reel->capacity * sizeof *reel->frames));
    }
    reel->frames[reel->count++] = *frame;
}

/* A code, and that of the upright middle. */
static struct doppel_video_frame mix(const float back[BYTES], const struct place places[BYTES],
                                     const uint8_t *front, float weight)
{
    static const struct doppel_video_warp AS_IT_IS = {.scale_x = 1, .scale_y = 1},
                                          MIDDLE = {.scale_x = 81 / 256.F, .scale_y = 1};
    float mixed[BYTES];
    uint8_t cells[BYTES];
    memcpy(mixed, back, sizeof mixed);
    add_layer(places, front, weight, mixed);
    for (int i = 0; i < BYTES; i++)
        cells[i] = (uint8_t)(mixed[i] + .5f);
    return (struct doppel_video_frame){.code = doppel_video_warped_code(cells, &AS_IT_IS),
                                       .middle = doppel_video_warped_code(cells, &MIDDLE)};
}

static void add_piece(struct reel *reel, const struct clips *clips, double from, double to,
                      struct random *random)
{
    struct layer front = draw_layer(clips, random), back = draw_layer(clips, random);
    struct place places[BYTES];
    float weight = (float)random_between(random, .4, .65), still[BYTES] = {0};
    const uint8_t *last = NULL;
    find_places(&back, places);
    add_layer(places, cells_at(&back, 0), 1 - weight, still);
    find_places(&front, places);
    for (double ms = from; ms < to; ms += DOPPEL_VIDEO_STEP_MS) {
        const uint8_t *cells = cells_at(&front, ms - from);
        if (cells == last) {
            reel->frames[reel->count - 1].end_ms = (uint32_t)ms;
            continue;
        }
        struct doppel_video_frame frame = mix(still, places, cells, weight);
        frame.start_ms = frame.end_ms = (uint32_t)ms;
        add_frame(reel, &frame);
        last = cells;
    }
}

void simulate(const struct clips *clips, uint64_t duration_ms, struct random *random,
              struct doppel_video_track *out)
{
    struct reel reel = {0};
    double end = (double)duration_ms;
    for (double at = 0, next; at < end; at = next) {
        next = fmin(end, at + DOPPEL_VIDEO_STEP_MS * floor(random_between(random, 20, 240)));
        add_piece(&reel, clips, at, next, random);
    }
    *out = (struct doppel_video_track){.frames = reel.frames,
                                       .count = reel.count,
                                       .box = {0, 0, 1, 1},
                                       .has_middle = true,
                                       .width = 640,
                                       .height = 360,
                                       .sampled = (uint32_t)(end / DOPPEL_VIDEO_STEP_MS),
                                       .duration_ms = duration_ms};
}

/* ---- unrelated items ---- */

static uint8_t *tilted(const uint8_t *cells, size_t count)
{
    uint8_t *out = must(malloc(count * BYTES + 1));
    for (size_t i = 0; i < count * BYTES; i++)
        out[i] = cells[i / BYTES * BYTES + i % SIDE * SIDE + i % BYTES / SIDE];
    return out;
}

void tilt(const struct doppel_video_track *track, struct doppel_video_track *out)
{
    static const struct doppel_video_warp AS_IT_IS = {.scale_x = 1, .scale_y = 1};
    *out = *track;
    out->audio = NULL;
    out->audio_size = 0;
    out->frames = must(malloc(track->count * sizeof *out->frames + 1));
    memcpy(out->frames, track->frames, track->count * sizeof *out->frames);
    out->cells = tilted(track->cells, track->count);
    for (size_t i = 0; i < track->rectangle_count; i++)
        out->rectangle_cells[i] = tilted(track->rectangle_cells[i], track->count);
    for (size_t i = 0; i < track->count; i++)
        out->frames[i].code = doppel_video_warped_code(out->cells + i * BYTES, &AS_IT_IS);
}
