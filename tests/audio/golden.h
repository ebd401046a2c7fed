/* The audio of docs/methods.md, by integers alone: four seconds of rising and falling buzzes in
 * noise. */
#ifndef DOPPEL_TESTS_AUDIO_GOLDEN_H
#define DOPPEL_TESTS_AUDIO_GOLDEN_H

#include <stdint.h>

enum { GOLDEN_SAMPLES = 4 * 11025 };

/* Sample n: 64 voices one after the other, each of 689 samples, a triangle whose phase (of 2^16)
 * grows by `step`, fading from 2^14 to 0; and noise of 10 bits. */
static inline void golden_audio(float out[GOLDEN_SAMPLES])
{
    uint32_t noise = 1;
    for (uint32_t n = 0; n < GOLDEN_SAMPLES; n++) {
        uint32_t voice = n / 689, at = n % 689;
        uint32_t step = 600 + voice * 7919 % 12000;
        uint32_t phase = (at * step + voice * at * at / 8) & 0xffff;
        int32_t triangle = (int32_t)(phase < 32768 ? phase : 65535 - phase) - 16384;
        noise = noise * 1664525u + 1013904223u;
        int32_t sample = triangle * (int32_t)(689 - at) / 689 + (int32_t)(noise >> 22) - 512;
        out[n] = (float)sample / 32768;
    }
}

#endif
