/* Made sounds for tests: music and speech by a seed, and what befalls recordings. All are mono at
 * DOPPEL_AUDIO_RATE, about -20 dB of full scale; the same seed gives the same sound, of which a
 * shorter one is the beginning. */
#ifndef TESTS_SOUND_H
#define TESTS_SOUND_H

#include <stddef.h>
#include <stdint.h>

enum { SOUND_RATE = 11025 };

struct sound {
    float *samples; /* free */
    size_t count;
};

size_t sound_samples(double seconds);

/* Notes of three voices with partials that decay, on a beat, and bursts of noise. */
struct sound sound_music(double seconds, uint64_t seed);

/* Pulses and noise through formants that move, with pauses. */
struct sound sound_speech(double seconds, uint64_t seed);

/* The same words, as a seed says them, by another voice. */
struct sound sound_voice(double seconds, uint64_t words, uint64_t voice);

/* White noise. */
struct sound sound_noise(double seconds, uint64_t seed);

struct sound sound_silence(double seconds);
struct sound sound_tone(double seconds, double hertz);

/* A piece of a sound; what lies beyond it is silence. */
struct sound sound_cut(const struct sound *sound, double start, double seconds);

/* The same, played `factor` times as fast: shorter and higher. */
struct sound sound_speed(const struct sound *sound, double factor);

/* Put `other` in place of what is at `start`, as far as there is room. */
void sound_paste(struct sound *sound, double start, const struct sound *other);

/* Add `other`, from its beginning and again when it ends, so that the first is `snr_db` above it.
 */
void sound_mix(struct sound *sound, const struct sound *other, double snr_db);

void sound_add_noise(struct sound *sound, double snr_db, uint64_t seed);
void sound_gain(struct sound *sound, double factor);

#endif
