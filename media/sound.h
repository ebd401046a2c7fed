/* The way of sound: bytes -> packets -> frames -> blocks of one channel -> 11025 Hz -> visitor. */
#ifndef DOPPEL_MEDIA_SOUND_H
#define DOPPEL_MEDIA_SOUND_H

#include <libavcodec/avcodec.h>
#include <libswresample/swresample.h>

#include "media/container.h"

enum { SOUND_RATE = 11025 };

/* ---- output: one channel of any rate becomes samples that are visited ---- */

struct sound_out {
    doppel_samples_visitor *visitor;
    void *context;
    double max_seconds; /**< 0 = no limit */
    uint32_t rate;      /**< of what is taken; 0 = not told yet */
    SwrContext *resampler;
    uint64_t visited, silent; /**< samples, and how many of them stood for gaps */
    float samples[8192];
};

/** From now on samples of this rate are taken; what is under way is finished first. */
enum doppel_status sound_out_begin(struct sound_out *out, uint32_t rate,
                                   struct doppel_error *error);
enum doppel_status sound_out_take(struct sound_out *out, const float *samples, size_t count,
                                  struct doppel_error *error);
/** Let the visitor have all that was taken. */
enum doppel_status sound_out_finish(struct sound_out *out, struct doppel_error *error);
/** `count` samples of a gap, at 11025 Hz; after sound_out_finish. */
enum doppel_status sound_out_silence(struct sound_out *out, uint64_t count,
                                     struct doppel_error *error);

/* ---- downmix: frames of any layout become one channel ---- */

struct sound_mix {
    struct sound_out *out;
    uint32_t rate, channels;
    size_t block, filled; /**< samples of a channel */
    float *planes;        /**< a block of each channel, then one of their mix */
    double *energies;     /**< of the last second or so, likewise */
    uint32_t chosen;      /**< the plane that is handed on */
};

/** Take the samples of a frame; its rate and layout may be others than those of the last. */
enum doppel_status sound_mix_take(struct sound_mix *mix, const AVFrame *frame,
                                  const struct doppel_media_limits *limits,
                                  struct doppel_error *error);
/** Hand on what was taken, to the end of the resampler. */
enum doppel_status sound_mix_finish(struct sound_mix *mix, struct doppel_error *error);
void sound_mix_free(struct sound_mix *mix);

/** Samples of one channel of a frame as floats; what is no number, or absurdly large, is 0. */
void sound_convert(const AVFrame *frame, uint32_t channel, size_t first, size_t count, float *out);

/* ---- AcoustID's way: frames become their fingerprint ---- */

struct sound_chromaprint;

void sound_chromaprint_begin(struct sound_chromaprint *chromaprint,
                             const AVFormatContext *container, const AVStream *track);
enum doppel_status sound_chromaprint_take(struct sound_chromaprint *chromaprint,
                                          const AVFrame *frame, struct doppel_error *error);

/* ---- WAV out of a pipe ---- */

struct sound_wav {
    enum doppel_pcm_format pcm;
    uint32_t rate, channels;
    uint64_t first_byte, bytes; /**< of the samples; UINT64_MAX = to the end */
};

/** Whether these first bytes are a WAV of a kind that DOPPEL_PCM_… has. */
bool sound_wav_read(const uint8_t *head, size_t size, struct sound_wav *out);

/* ---- the whole way ---- */

struct sound {
    struct doppel_samples_options options;
    struct container container;
    AVStream *track;
    AVCodecContext *codec;
    AVPacket *packet;
    AVFrame *frame;
    struct sound_mix mix;
    struct sound_out out;
    struct sound_chromaprint *chromaprint; /**< takes the frames in place of the mix; NULL: none */
    int64_t anchor_us;                     /**< presentation time at `since_anchor` = 0 */
    uint64_t since_anchor;                 /**< samples at the rate of the mix */
    bool anchored;
    bool lost; /**< something could not be decoded since the last frame */
    struct doppel_samples_info info;
};

/** Open, decode, close. @param sound all that is not of the input is set */
enum doppel_status sound_read(struct sound *sound, int fd, struct doppel_error *error);

/** Choose the demuxer, the track and its decoder. */
enum doppel_status sound_open(struct sound *sound, struct doppel_error *error);

/** Decode all of it. */
enum doppel_status sound_decode(struct sound *sound, struct doppel_error *error);

#endif
