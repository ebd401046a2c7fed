/* Simulated films: real ones over pictures of others. */
#include "simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = DOPPEL_VIDEO_CELLS, BYTES = DOPPEL_VIDEO_CELL_BYTES, SAME_BITS = 10 };

/** A real film as it lies in a piece. */
struct layer {
    const struct doppel_video_track *track;
    double start, speed; /**< where it begins, ms, and how it runs */
    double a, b, x, y;   /**< from a place in the frame to one in the film's */
    bool mirrored;
};

static void *must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

/* ---- layers ---- */

/* Longer films more often. */
static const struct doppel_video_track *draw_film(const struct films *films, struct random *random)
{
    double at = random_between(random, 0, films_hours(films)) * 3.6e6;
    for (size_t i = 0; i < films->count; i++) {
        const struct doppel_video_track *track = &films->list[i].track;
        at -= (double)track->duration_ms;
        if (at <= 0 && track->count)
            return track;
    }
    for (size_t i = 0;; i++)
        if (films->list[i].track.count)
            return &films->list[i].track;
}

static struct layer draw_layer(const struct films *films, struct random *random)
{
    static const double PI = 3.14159265358979323846;
    struct layer layer = {.track = draw_film(films, random)};
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

static double sample(const uint8_t *cells, double x, double y)
{
    x = fmin(fmax(x, 0), SIDE - 1.001);
    y = fmin(fmax(y, 0), SIDE - 1.001);
    int column = (int)x, row = (int)y;
    double right = x - column, down = y - row;
    const uint8_t *at = cells + row * SIDE + column;
    return (at[0] * (1 - right) + at[1] * right) * (1 - down) +
           (at[SIDE] * (1 - right) + at[SIDE + 1] * right) * down;
}

static void add_layer(const struct layer *layer, const uint8_t *cells, double weight,
                      double out[BYTES])
{
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++) {
            double u = (column + .5) / SIDE - .5, v = (row + .5) / SIDE - .5;
            u = layer->mirrored ? -u : u;
            v = -v; /* upside down: or it would be found as what it is made of */
            double x = layer->a * u - layer->b * v + layer->x;
            double y = layer->b * u + layer->a * v + layer->y;
            out[row * SIDE + column] +=
                weight * sample(cells, (x + .5) * SIDE - .5, (y + .5) * SIDE - .5);
        }
}

/* ---- films ---- */

/** A film in the making. */
struct reel {
    struct doppel_video_frame *frames;
    size_t count, capacity;
};

static void add_frame(struct reel *reel, const struct doppel_code *code, uint32_t ms)
{
    struct doppel_video_frame *last = reel->count ? &reel->frames[reel->count - 1] : NULL;
    if (last && doppel_code_distance(&last->code, code, 256) <= SAME_BITS) {
        last->end_ms = ms;
        return;
    }
    if (reel->count == reel->capacity) {
        reel->capacity = 2 * reel->capacity + 64;
        reel->frames = must(realloc(reel->frames, reel->capacity * sizeof *reel->frames));
    }
    reel->frames[reel->count++] = (struct doppel_video_frame){*code, ms, ms};
}

static void add_piece(struct reel *reel, const struct films *films, double from, double to,
                      struct random *random)
{
    static const struct doppel_video_warp AS_IT_IS = {.scale_x = 1, .scale_y = 1};
    struct layer front = draw_layer(films, random), back = draw_layer(films, random);
    double weight = random_between(random, .4, .65);
    const uint8_t *b = cells_at(&back, 0);
    const uint8_t *last = NULL;
    for (double ms = from; ms < to; ms += DOPPEL_VIDEO_STEP_MS) {
        const uint8_t *a = cells_at(&front, ms - from);
        double mixed[BYTES] = {0};
        uint8_t cells[BYTES];
        if (a == last) {
            reel->frames[reel->count - 1].end_ms = (uint32_t)ms;
            continue;
        }
        add_layer(&front, a, weight, mixed);
        add_layer(&back, b, 1 - weight, mixed);
        for (int i = 0; i < BYTES; i++)
            cells[i] = (uint8_t)(mixed[i] + .5);
        struct doppel_code code = doppel_video_warped_code(cells, &AS_IT_IS);
        add_frame(reel, &code, (uint32_t)ms);
        last = a;
    }
}

void simulate(const struct films *films, uint64_t duration_ms, struct random *random,
              struct doppel_video_track *out)
{
    struct reel reel = {0};
    double end = (double)duration_ms;
    for (double at = 0, next; at < end; at = next) {
        next = fmin(end, at + DOPPEL_VIDEO_STEP_MS * floor(random_between(random, 20, 240)));
        add_piece(&reel, films, at, next, random);
    }
    *out = (struct doppel_video_track){.frames = reel.frames,
                                       .count = reel.count,
                                       .box = {0, 0, 1, 1},
                                       .width = 640,
                                       .height = 360,
                                       .sampled = (uint32_t)(end / DOPPEL_VIDEO_STEP_MS),
                                       .duration_ms = duration_ms};
}

/* ---- strangers ---- */

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
    out->sound = NULL;
    out->sound_size = 0;
    out->frames = must(malloc(track->count * sizeof *out->frames + 1));
    memcpy(out->frames, track->frames, track->count * sizeof *out->frames);
    out->cells = tilted(track->cells, track->count);
    for (size_t i = 0; i < track->rectangle_count; i++)
        out->rectangle_cells[i] = tilted(track->rectangle_cells[i], track->count);
    for (size_t i = 0; i < track->count; i++)
        out->frames[i].code = doppel_video_warped_code(out->cells + i * BYTES, &AS_IT_IS);
}
