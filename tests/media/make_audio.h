/* Recordings that the tests make themselves, and files of them: WAV by hand, others by FFmpeg. */
#ifndef DOPPEL_TESTS_MEDIA_MAKE_RECORDING_H
#define DOPPEL_TESTS_MEDIA_MAKE_RECORDING_H

#include "make.h"

/** Interleaved samples. */
struct tune {
    uint32_t rate, channels;
    size_t count; /**< a channel */
    float *samples;
};

/** The same three tones in each channel, none over 3 kHz; tune_value is what they are made of. */
struct tune tune_make(double seconds, uint32_t rate, uint32_t channels);
void tune_free(struct tune *tune);
double tune_value(double seconds);

enum wav_coding { WAV_U8, WAV_S16, WAV_S24, WAV_S32, WAV_F32, WAV_F64, WAV_CODINGS };

/** The samples alone, little-endian: raw PCM. */
struct file make_pcm(const struct tune *tune, enum wav_coding coding);
struct file make_wav(const struct tune *tune, enum wav_coding coding);

struct audio_how {
    const char *muxer, *codec;          /**< names of FFmpeg's */
    double gap_at, gap;                 /**< from `gap_at` s on, times are `gap` s later */
    bool images;                        /**< with a video track before the audio */
    const char *artist, *title, *album; /**< tags; NULL: none */
};

/** `data` is NULL where FFmpeg has no such encoder. */
struct file make_audio(const struct tune *tune, const struct audio_how *how);

#endif
