/* Videos that tests draw: waves that drift, cut into scenes. */
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

enum { DRAWN_WAVES = 6, DRAWN_SIDE = 512 };

/* A wave of a scene, `seconds` after it began: cycles a width and a height, and where it begins. */
struct drawn_wave {
    double across, down, phase;
};

static inline struct drawn_wave drawn_wave(uint32_t scene, uint32_t wave, double seconds)
{
    double drift = drawn_random(scene, wave * 4 + 3) % 1000 / 4000.0;
    return (struct drawn_wave){drawn_random(scene, wave * 4) % 1000 / 100.0 - 5,
                               drawn_random(scene, wave * 4 + 1) % 1000 / 100.0 - 5,
                               drawn_random(scene, wave * 4 + 2) % 1000 / 1000.0 + drift * seconds};
}

static inline uint8_t drawn_level(double sum)
{
    double level = 128 + 34 * sum;
    return (uint8_t)(level < 0 ? 0 : level > 255 ? 255 : level);
}

/* The sample at x, y (shares of the picture). */
static inline uint8_t drawn_sample(uint32_t scene, double seconds, double x, double y)
{
    double sum = 0;
    for (uint32_t i = 0; i < DRAWN_WAVES; i++) {
        struct drawn_wave wave = drawn_wave(scene, i, seconds);
        sum += sin(6.283185307 * (wave.across * x + wave.down * y + wave.phase));
    }
    return drawn_level(sum);
}

/* Sine and cosine of a wave's share of the angle, by column or by row. */
struct drawn_turns {
    double sine[DRAWN_SIDE], cosine[DRAWN_SIDE];
};

static inline void drawn_turns_fill(struct drawn_turns *turns, uint32_t count, double cycles,
                                    double phase)
{
    for (uint32_t i = 0; i < count; i++) {
        double angle = 6.283185307 * (cycles * (i + .5) / count + phase);
        turns->sine[i] = sin(angle);
        turns->cosine[i] = cos(angle);
    }
}

/* A picture of width×height, DRAWN_SIDE each at most, of that scene into `out`, rows `stride`
 * apart. Sines of sums: a sine a sample takes ten times as long. */
static inline void draw_scene(uint32_t scene, double seconds, uint32_t width, uint32_t height,
                              uint8_t *out, uint32_t stride)
{
    struct drawn_turns columns[DRAWN_WAVES], rows[DRAWN_WAVES];
    for (uint32_t i = 0; i < DRAWN_WAVES; i++) {
        struct drawn_wave wave = drawn_wave(scene, i, seconds);
        drawn_turns_fill(&columns[i], width, wave.across, 0);
        drawn_turns_fill(&rows[i], height, wave.down, wave.phase);
    }
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) {
            double sum = 0;
            for (uint32_t i = 0; i < DRAWN_WAVES; i++)
                sum +=
                    columns[i].sine[x] * rows[i].cosine[y] + columns[i].cosine[x] * rows[i].sine[y];
            out[y * stride + x] = drawn_level(sum);
        }
}

#endif
