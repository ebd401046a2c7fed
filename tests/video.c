/* The pictures of made videos: scenes of 1.5 to 4 s, each waves of its own with discs that move. */
#include "video.h"

#include <math.h>

enum { WAVES = 7, DISCS = 3 };

struct scene {
    uint64_t seed;
    double begin, seconds;
};

static uint64_t mix(uint64_t value)
{
    value += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

/* 0 to 1, number `index` of a seed's. */
static double draw_number(uint64_t seed, unsigned index)
{
    return (double)(mix(seed + UINT64_C(0x632be59bd9b4e019) * (index + 1)) >> 11) * 0x1p-53;
}

static struct scene scene_at(uint64_t seed, double seconds)
{
    struct scene scene = {mix(seed), 0, 0};
    for (;;) {
        scene.seconds = 1.5 + 2.5 * draw_number(scene.seed, 99);
        if (seconds < scene.begin + scene.seconds)
            return scene;
        scene.begin += scene.seconds;
        scene.seed = mix(scene.seed);
    }
}

struct wave {
    double across, down, phase, height;
};

struct disc {
    double x, y, radius, value;
};

struct moment {
    struct wave waves[WAVES];
    struct disc discs[DISCS];
};

/* Triangle wave, 0 to 1: discs turn back at the edges. */
static double bounce(double way)
{
    double rest = way - 2 * floor(way / 2);
    return rest < 1 ? rest : 2 - rest;
}

static struct moment moment_of(const struct scene *scene, double seconds)
{
    struct moment moment;
    double passed = seconds - scene->begin;
    for (unsigned i = 0; i < WAVES; i++) {
        unsigned at = i * 5;
        double turns = 1 + 3.5 * draw_number(scene->seed, at);
        double angle = 6.283185307 * draw_number(scene->seed, at + 1);
        moment.waves[i] = (struct wave){turns * cos(angle), turns * sin(angle),
                                        draw_number(scene->seed, at + 2) +
                                            passed * (.1 * draw_number(scene->seed, at + 3) - .05),
                                        44 / turns * (.5 + draw_number(scene->seed, at + 4))};
    }
    for (unsigned i = 0; i < DISCS; i++) {
        unsigned at = 50 + i * 6;
        moment.discs[i] = (struct disc){
            bounce(draw_number(scene->seed, at) + passed * .3 * draw_number(scene->seed, at + 1)),
            bounce(draw_number(scene->seed, at + 2) +
                   passed * .3 * draw_number(scene->seed, at + 3)),
            .06 + .12 * draw_number(scene->seed, at + 4),
            30 + 200 * draw_number(scene->seed, at + 5)};
    }
    return moment;
}

/* @param x,y 0 to 1 */
static double value_at(const struct moment *moment, double x, double y)
{
    double value = 120;
    for (unsigned i = 0; i < DISCS; i++) {
        const struct disc *disc = &moment->discs[i];
        double dx = x - disc->x, dy = .75 * (y - disc->y);
        if (dx * dx + dy * dy < disc->radius * disc->radius)
            return disc->value;
    }
    for (unsigned i = 0; i < WAVES; i++) {
        const struct wave *wave = &moment->waves[i];
        value +=
            wave->height * sin(6.283185307 * (wave->across * x + wave->down * y + wave->phase));
    }
    return value;
}

/* Where a position of the video, 0 to 1, lies in the content. */
static double spread(double position, double from, double to)
{
    return from + position * (1 - from - to);
}

void video_draw(const struct video_view *view, double seconds, uint32_t width, uint32_t height,
                uint8_t *out)
{
    double speed = view->speed > 0 ? view->speed : 1;
    double when = view->from + (view->still ? 0 : seconds * speed);
    struct scene scene = scene_at(view->seed, when);
    struct moment moment = moment_of(&scene, when);
    for (uint32_t row = 0; row < height; row++)
        for (uint32_t column = 0; column < width; column++) {
            double x = spread((column + .5) / width, (double)view->left, (double)view->right);
            double y = spread((row + .5) / height, (double)view->top, (double)view->bottom);
            bool bar = x < 0 || x > 1 || y < 0 || y > 1;
            double value = bar ? 16 : value_at(&moment, view->mirrored ? 1 - x : x, y);
            out[(size_t)row * width + column] = (uint8_t)fmin(235, fmax(16, value));
        }
}
