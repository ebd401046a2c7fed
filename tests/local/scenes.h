/* Pictures drawn for tests: blobs at random places, and views of them. */
#ifndef TESTS_LOCAL_SCENES_H
#define TESTS_LOCAL_SCENES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <doppel/local.h>

enum { SCENE_BLOBS = 260 };

struct scene {
    double x[SCENE_BLOBS], y[SCENE_BLOBS], size[SCENE_BLOBS], grey[SCENE_BLOBS];
};

static inline double scene_number(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ z >> 31) >> 11) / 9007199254740992.0;
}

static inline struct scene scene_make(uint64_t seed)
{
    struct scene scene;
    uint64_t state = seed * 7919 + 1;
    for (int i = 0; i < SCENE_BLOBS; i++) {
        scene.x[i] = scene_number(&state);
        scene.y[i] = scene_number(&state);
        scene.size[i] = .008 + .04 * scene_number(&state) * scene_number(&state);
        scene.grey[i] = 160 * (scene_number(&state) - .5);
    }
    return scene;
}

/* What a view shows at x, y is the scene at origin + scale × the turned x, y. */
struct scene_view {
    double x, y, scale, angle;
    bool mirrored;
    uint32_t width, height;
};

/* One blob, added to the samples that it reaches; x, y are where it is in the view. */
static inline void scene_add(double *sums, const struct scene_view *view, double x, double y,
                             double sigma, double grey)
{
    int left = (int)fmax(x - 3 * sigma, 0), top = (int)fmax(y - 3 * sigma, 0);
    for (int row = top; row < (int)view->height && row < y + 3 * sigma; row++)
        for (int column = left; column < (int)view->width && column < x + 3 * sigma; column++) {
            double dx = (column + .5 - x) / sigma, dy = (row + .5 - y) / sigma;
            sums[(size_t)row * view->width + (size_t)column] +=
                grey * exp(-.5 * (dx * dx + dy * dy));
        }
}

/* @return width × height samples (free) */
static inline uint8_t *scene_draw(const struct scene *scene, const struct scene_view *view)
{
    size_t count = (size_t)view->width * view->height;
    double *sums = calloc(count, sizeof *sums);
    uint8_t *out = malloc(count);
    double cosine = cos(view->angle), sine = sin(view->angle);
    for (int i = 0; i < SCENE_BLOBS; i++) {
        double x = scene->x[i] - view->x, y = scene->y[i] - view->y;
        double u = (cosine * x + sine * y) / view->scale, v = (cosine * y - sine * x) / view->scale;
        scene_add(sums, view, view->mirrored ? view->width - u : u, v, scene->size[i] / view->scale,
                  scene->grey[i]);
    }
    for (size_t i = 0; i < count; i++)
        out[i] = (uint8_t)fmin(fmax(128.5 + sums[i], 0), 255);
    free(sums);
    return out;
}

static inline struct doppel_fingerprint scene_points(const struct scene *scene,
                                                     const struct scene_view *view)
{
    struct doppel_fingerprint points;
    uint8_t *samples = scene_draw(scene, view);
    const struct doppel_plane plane = {samples, view->width, view->height, view->width};
    if (doppel_local_features(&plane, &points, NULL))
        abort();
    free(samples);
    return points;
}

static const struct scene_view scene_whole = {0, 0, 1. / 480, 0, false, 480, 480};

#endif
