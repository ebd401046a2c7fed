/* Mono sound in memory: what the edits of audio_recall work on. */
#ifndef BENCH_AUDIO_SOUND_H
#define BENCH_AUDIO_SOUND_H

#include <stddef.h>

enum { SOUND_RATE = 11025 };

struct sound {
    float *data; /**< owned by whoever holds the sound; NULL = none */
    size_t count;
};

struct sound sound_new(size_t count);
void sound_free(struct sound *sound);

/** Seconds from `start` on; silence beyond the end. */
struct sound sound_part(const struct sound *sound, double start, double seconds);

/** Mean square. */
double sound_power(const struct sound *sound);

/** Add noise at so many decibels below the sound; both keep their length. */
void sound_add(struct sound *sound, const struct sound *noise, double decibels);

/** As many samples times `ratio`, by a windowed sinc: for another rate, or another speed. */
struct sound sound_resample(const struct sound *in, double ratio);

/** Keep a band: Butterworth, 12 dB an octave on each side. */
void sound_band(struct sound *sound, double rate, double low, double high);

/** What a room with that response makes of it; as long as before. */
void sound_convolve(struct sound *sound, const struct sound *response);

#endif
