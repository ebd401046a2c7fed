/* Made recordings for tests: music and speech by a seed, and what befalls recordings. All are mono
 * at DOPPEL_AUDIO_RATE, about -20 dB of full scale; the same seed gives the same audio, of which a
 * shorter one is the beginning. */
#ifndef TESTS_AUDIO_H
#define TESTS_AUDIO_H

#include <stddef.h>
#include <stdint.h>

enum { AUDIO_RATE = 11025 };

struct recording {
    float *samples; /* free */
    size_t count;
};

size_t audio_samples(double seconds);

/* Notes of three voices with partials that decay, on a beat, and bursts of noise. */
struct recording audio_music(double seconds, uint64_t seed);

/* Pulses and noise through formants that move, with pauses. */
struct recording audio_speech(double seconds, uint64_t seed);

/* The same words, as a seed says them, by another voice. */
struct recording audio_voice(double seconds, uint64_t words, uint64_t voice);

/* White noise. */
struct recording audio_noise(double seconds, uint64_t seed);

struct recording audio_silence(double seconds);
struct recording audio_tone(double seconds, double hertz);

/* A piece of a recording; what lies beyond it is silence. */
struct recording audio_cut(const struct recording *recording, double start, double seconds);

/* The same, played `factor` times as fast: shorter and higher. */
struct recording audio_speed(const struct recording *recording, double factor);

/* Put `other` in place of what is at `start`, as far as there is room. */
void audio_paste(struct recording *recording, double start, const struct recording *other);

/* Add `other`, from its beginning and again when it ends, so that the first is `snr_db` above it.
 */
void audio_mix(struct recording *recording, const struct recording *other, double snr_db);

void audio_add_noise(struct recording *recording, double snr_db, uint64_t seed);
void audio_gain(struct recording *recording, double factor);

#endif
