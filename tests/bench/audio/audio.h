/* Mono audio in memory: what the edits of audio_recall work on. */
#ifndef BENCH_AUDIO_AUDIO_H
#define BENCH_AUDIO_AUDIO_H

#include <stddef.h>

enum { AUDIO_RATE = 11025 };

struct recording {
    float *data; /**< owned by whoever holds the audio; NULL = none */
    size_t count;
};

struct recording audio_new(size_t count);
void audio_free(struct recording *recording);

/** Seconds from `start` on; silence beyond the end. */
struct recording audio_part(const struct recording *recording, double start, double seconds);

/** Mean square. */
double audio_power(const struct recording *recording);

/** Add noise at so many decibels below the audio; both keep their length. */
void audio_add(struct recording *recording, const struct recording *noise, double decibels);

/** As many samples times `ratio`, by a windowed sinc: for another rate, or another speed. */
struct recording audio_resample(const struct recording *in, double ratio);

/** Keep a band: Butterworth, 12 dB an octave on each side. */
void audio_band(struct recording *recording, double rate, double low, double high);

/** What a room with that response makes of it; as long as before. */
void audio_convolve(struct recording *recording, const struct recording *response);

#endif
