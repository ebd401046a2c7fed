/* Planes that the tests of the image room draw, and a fixed stream of random numbers. */
#ifndef TESTS_IMAGE_PLANES_H
#define TESTS_IMAGE_PLANES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <doppel/core.h>

/* xorshift64*; any seed but 0. */
static inline uint32_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (uint32_t)(*state * UINT64_C(2685821657736338717) >> 32);
}

static inline uint8_t *samples_of(const struct doppel_plane *plane)
{
    return (uint8_t *)(uintptr_t)plane->data;
}

/* Zeroed; free(samples_of(&plane)). */
static inline struct doppel_plane make_plane(uint32_t width, uint32_t height)
{
    uint8_t *data = calloc(width, height);
    if (!data)
        abort();
    return (struct doppel_plane){data, width, height, width};
}

static inline void free_plane(struct doppel_plane *plane)
{
    free(samples_of(plane));
}

static inline uint8_t get(const struct doppel_plane *plane, size_t x, size_t y)
{
    return plane->data[y * plane->stride + x];
}

static inline void set(struct doppel_plane *plane, size_t x, size_t y, int level)
{
    samples_of(plane)[y * plane->stride + x] = (uint8_t)(level < 0 ? 0 : level > 255 ? 255 : level);
}

/* Something like a photo: random rectangles and slopes of all sizes, and a little noise. */
static inline struct doppel_plane draw_scene(uint32_t width, uint32_t height, uint64_t seed)
{
    struct doppel_plane plane = make_plane(width, height);
    uint64_t state = seed * 2 + 1;
    for (size_t i = 0; i < (size_t)width * height; i++)
        samples_of(&plane)[i] = (uint8_t)(98 + next_random(&state) % 61);
    for (unsigned n = 0; n < 60; n++) {
        uint32_t w = 1 + next_random(&state) % (width / (1 + n / 8) + 1);
        uint32_t h = 1 + next_random(&state) % (height / (1 + n / 8) + 1);
        uint32_t left = next_random(&state) % width, top = next_random(&state) % height;
        int level = 70 + (int)(next_random(&state) % 116),
            slope = (int)(next_random(&state) % 80) - 40;
        for (size_t y = top; y < top + h && y < height; y++)
            for (size_t x = left; x < left + w && x < width; x++)
                set(&plane, x, y,
                    level + slope * (int)(x - left) / (int)w + (int)(next_random(&state) % 61) -
                        30);
    }
    return plane;
}

static inline struct doppel_plane draw_noise(uint32_t width, uint32_t height, uint64_t seed)
{
    struct doppel_plane plane = make_plane(width, height);
    uint64_t state = seed * 2 + 1;
    for (size_t i = 0; i < (size_t)width * height; i++)
        samples_of(&plane)[i] = (uint8_t)next_random(&state);
    return plane;
}

/* The plane after an orientation: transposed first (bit 2), then mirrored left to right (bit 0),
 * top to bottom (bit 1). */
static inline struct doppel_plane turn_plane(const struct doppel_plane *plane, unsigned orientation)
{
    bool transposed = orientation & 4;
    struct doppel_plane out = transposed ? make_plane(plane->height, plane->width)
                                         : make_plane(plane->width, plane->height);
    for (size_t y = 0; y < out.height; y++)
        for (size_t x = 0; x < out.width; x++) {
            size_t from_x = orientation & 1 ? out.width - 1 - x : x;
            size_t from_y = orientation & 2 ? out.height - 1 - y : y;
            set(&out, x, y, transposed ? get(plane, from_y, from_x) : get(plane, from_x, from_y));
        }
    return out;
}

#endif
