/* Films that tests draw: waves that drift, cut into scenes. */
#ifndef DOPPEL_TESTS_VIDEO_DRAWN_H
#define DOPPEL_TESTS_VIDEO_DRAWN_H

#include <math.h>
#include <stdint.h>

/* A number for a seed and a place: the same on every machine. */
static inline uint32_t drawn_random(uint32_t seed, uint32_t place)
{
    uint32_t x = seed * 0x9e3779b9u ^ place * 0x85ebca6bu;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* The sample at x, y (shares of the picture) of a scene, `seconds` after it began. */
static inline uint8_t drawn_sample(uint32_t scene, double seconds, double x, double y)
{
    double sum = 128;
    for (uint32_t i = 0; i < 6; i++) {
        double u = drawn_random(scene, i * 4) % 1000 / 100.0 - 5;
        double v = drawn_random(scene, i * 4 + 1) % 1000 / 100.0 - 5;
        double phase = drawn_random(scene, i * 4 + 2) % 1000 / 1000.0;
        double drift = drawn_random(scene, i * 4 + 3) % 1000 / 4000.0;
        sum += 34 * sin(6.283185307 * (u * x + v * y + phase + drift * seconds));
    }
    return (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

/* A picture of width×height of that scene into `out`, rows `stride` apart. */
static inline void draw_scene(uint32_t scene, double seconds, uint32_t width, uint32_t height,
                              uint8_t *out, uint32_t stride)
{
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            out[y * stride + x] = drawn_sample(scene, seconds, (x + .5) / width, (y + .5) / height);
}

#endif
