/* Recordings that tests make: notes that begin and fade, with noise. */
#ifndef DOPPEL_TESTS_AUDIO_SYNTH_H
#define DOPPEL_TESTS_AUDIO_SYNTH_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

static inline uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = *state ^ *state >> 33;
    return x * 0xff51afd7ed558ccdu >> 16;
}

static inline double uniform(uint64_t *state)
{
    return (double)(next_random(state) & 0xffffffff) / 4294967296.0;
}

/* `count` samples at 11 025 Hz: eight notes a second, of 100 to 4000 Hz with overtones, that fade;
 * freed by the caller. */
static inline float *make_music(size_t count, uint64_t seed, double noise)
{
    float *out = calloc(count ? count : 1, sizeof *out);
    for (size_t i = 0; i < count; i++)
        out[i] = (float)(noise * (uniform(&seed) + uniform(&seed) - 1));
    for (size_t start = 0; start < count; start += 1378) {
        double frequency = 100 * exp2(uniform(&seed) * 5.3), level = .05 + .2 * uniform(&seed);
        double fade = 1e-4 * (1 + 4 * uniform(&seed)), phase = 6.28 * uniform(&seed);
        size_t end = start + 22050 < count ? start + 22050 : count;
        for (size_t i = start; i < end; i++) {
            double t = (double)(i - start), angle = 2 * 3.14159265358979 * frequency / 11025 * t;
            double tone = sin(angle + phase);
            if (frequency * 2.01 < 5400)
                tone += .5 * sin(2.01 * angle);
            out[i] += (float)(level * exp(-fade * t) * (1 - exp(-t / 60)) * tone);
        }
    }
    return out;
}

#endif
