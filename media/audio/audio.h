/* The way of audio: bytes -> packets -> frames -> blocks of one channel -> 11025 Hz -> visitor. */
#ifndef DOPPEL_MEDIA_RECORDING_H
#define DOPPEL_MEDIA_RECORDING_H

#include <libavcodec/avcodec.h>
#include <libswresample/swresample.h>

#include "media/audio/decimate.h"
#include "media/audio/kernels.h"
#include "media/container.h"

enum { AUDIO_RATE = 11025 };

/* ---- output: one channel of any rate becomes samples that are visited ---- */

struct audio_out {
    doppel_samples_visitor *visitor;
    void *context;
    double max_seconds;    /**< 0 = no limit */
    uint32_t rate;         /**< of what is taken; 0 = not told yet */
    SwrContext *resampler; /**< both NULL: samples stay as they are */
    struct audio_decimator *decimator;
    uint64_t visited, silent; /**< samples, and how many of them stood for gaps */
    float samples[DECIMATE_BLOCK];
};

/** From now on samples of this rate are taken; what is in progress is finished first. */
enum doppel_status audio_out_begin(struct audio_out *out, uint32_t rate,
                                   struct doppel_error *error);
/** @param count at most DECIMATE_BLOCK */
enum doppel_status audio_out_take(struct audio_out *out, const float *samples, size_t count,
                                  struct doppel_error *error);
/** Let the visitor have all that was taken. */
enum doppel_status audio_out_finish(struct audio_out *out, struct doppel_error *error);
void audio_out_free(struct audio_out *out);
/** `count` samples of a gap, at 11025 Hz; after audio_out_finish. */
enum doppel_status audio_out_silence(struct audio_out *out, uint64_t count,
                                     struct doppel_error *error);

/* ---- downmix: frames of any layout become one channel ---- */

struct audio_mix {
    struct audio_out *out;
    const struct sample_kernels *kernels;
    uint32_t rate, channels;
    size_t block, filled; /**< samples of a channel */
    float *planes;        /**< a block of each channel, then one of their mix */
    double *energies;     /**< of the last second or so, likewise; then those of a block */
    uint32_t chosen;      /**< the plane that is handed on */
};

/** Take the samples of a frame; its rate and layout may be others than those of the last. */
enum doppel_status audio_mix_take(struct audio_mix *mix, const AVFrame *frame,
                                  const struct doppel_media_limits *limits,
                                  struct doppel_error *error);
/** Hand on what was taken, to the end of the resampler. */
enum doppel_status audio_mix_finish(struct audio_mix *mix, struct doppel_error *error);
void audio_mix_free(struct audio_mix *mix);

/** Samples of one channel of a frame as floats; what is no number, or absurdly large, is 0. */
void audio_convert(const struct sample_kernels *kernels, const AVFrame *frame, uint32_t channel,
                   size_t first, size_t count, float *out);

/* ---- AcoustID's way: frames become their fingerprint ---- */

struct audio_chromaprint;

void audio_chromaprint_begin(struct audio_chromaprint *chromaprint,
                             const AVFormatContext *container, const AVStream *track);
enum doppel_status audio_chromaprint_take(struct audio_chromaprint *chromaprint,
                                          const AVFrame *frame, struct doppel_error *error);

/* ---- WAV out of a pipe ---- */

struct audio_wav {
    enum doppel_pcm_format pcm;
    uint32_t rate, channels;
    uint64_t first_byte, bytes; /**< of the samples; UINT64_MAX = to the end */
};

/** Whether these first bytes are a WAV of a kind that DOPPEL_PCM_… has. */
bool audio_wav_read(const uint8_t *head, size_t size, struct audio_wav *out);

/* ---- tags ---- */

/** @param out zero */
void audio_tags_read(const struct container *container, const AVStream *track,
                     struct doppel_audio_tags *out);

/* ---- the whole way ---- */

struct recording {
    struct doppel_samples_options options;
    struct container container;
    AVStream *track;
    AVCodecContext *codec;
    AVPacket *packet;
    AVFrame *frame;
    struct audio_mix mix;
    struct audio_out out;
    struct audio_chromaprint *chromaprint; /**< takes the frames in place of the mix; NULL: none */
    int64_t anchor_us;                     /**< presentation time at `since_anchor` = 0 */
    uint64_t since_anchor;                 /**< samples at the rate of the mix */
    bool anchored;
    bool lost; /**< something could not be decoded since the last frame */
    struct doppel_samples_info info;
};

/** Open, decode, close. @param audio all that is not of the input is set */
enum doppel_status audio_decode_file(struct recording *recording, int fd,
                                     struct doppel_error *error);

/** Choose the demuxer, the track and its decoder. */
enum doppel_status audio_open(struct recording *recording, struct doppel_error *error);

/** Decode all of it. */
enum doppel_status audio_decode(struct recording *recording, struct doppel_error *error);

#endif
