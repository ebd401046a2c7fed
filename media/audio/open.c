/* Which container of audio, which track, which decoder. */
#include <string.h>

#include <libavutil/opt.h>

#include "media/audio/audio.h"

/* How much is looked at to tell a WAV out of a pipe, and to find the tracks of a container that
 * does not list them. */
enum { FIRST_LOOK = 2048, TRACKS_BYTES = 5 << 20, STREAM_TRACKS_BYTES = 1 << 17 };

/* ---- the container ---- */

/* A WAV out of a pipe becomes raw PCM. */
static enum doppel_status look_for_wav(struct recording *recording, struct doppel_error *error)
{
    struct source *input = &recording->container.source;
    struct audio_wav wav;
    enum doppel_status status = source_look(input, FIRST_LOOK, error);
    if (status != DOPPEL_OK || !audio_wav_read(input->head, input->head_size, &wav))
        return status;
    source_skip(input, wav.first_byte);
    input->end = wav.bytes;
    recording->options.pcm = wav.pcm;
    recording->options.pcm_rate = wav.rate;
    recording->options.pcm_channels = wav.channels;
    return DOPPEL_OK;
}

static const AVInputFormat *pcm_container(enum doppel_pcm_format pcm)
{
    static const char *const names[] = {
        [DOPPEL_PCM_U8] = "u8",       [DOPPEL_PCM_S16LE] = "s16le", [DOPPEL_PCM_S24LE] = "s24le",
        [DOPPEL_PCM_S32LE] = "s32le", [DOPPEL_PCM_F32LE] = "f32le",
    };
    return (size_t)pcm < sizeof names / sizeof *names && names[pcm]
               ? av_find_input_format(names[pcm])
               : NULL;
}

static AVDictionary *container_options(const struct doppel_samples_options *options, bool is_wav)
{
    AVDictionary *dictionary = NULL;
    av_dict_set_int(&dictionary, "probesize", options->stream ? STREAM_TRACKS_BYTES : TRACKS_BYTES,
                    0);
    av_dict_set_int(&dictionary, "skip_estimate_duration_from_pts", 1, 0);
    /* Of WAV: bytes a packet, and how many are searched for audio that is disguised as PCM. */
    if (is_wav) {
        av_dict_set_int(&dictionary, "max_size", 262144, 0);
        av_dict_set_int(&dictionary, "max_probe_packets", 1, 0);
    }
    if (options->pcm) {
        av_dict_set_int(&dictionary, "sample_rate", options->pcm_rate, 0);
        char layout[32];
        snprintf(layout, sizeof layout, "%uC", options->pcm_channels);
        av_dict_set(&dictionary, "ch_layout", layout, 0);
    }
    return dictionary;
}

/* ---- the track ---- */

static enum doppel_status find_track_recording(struct recording *recording,
                                               struct doppel_error *error)
{
    struct container *container = &recording->container;
    enum doppel_status status =
        container_choose(container, AVMEDIA_TYPE_AUDIO, &recording->track, error);
    recording->info.has_images = container->has_images;
    if (status == DOPPEL_OK && !recording->track)
        return doppel_fail(error, DOPPEL_E_FORMAT, "has no audio in it");
    if (status == DOPPEL_OK)
        audio_tags_read(container, recording->track, &recording->info.tags);
    return status;
}

/* ---- the decoder ---- */

/* libavcodec asks for every frame here: the place to bound them before they are allocated. */
static int get_audio_buffer(AVCodecContext *codec, AVFrame *frame, int flags)
{
    struct recording *recording = codec->opaque;
    int bytes = av_get_bytes_per_sample(frame->format);
    uint64_t held = (uint64_t)frame->nb_samples * (uint64_t)frame->ch_layout.nb_channels *
                    (uint64_t)(bytes > 0 ? bytes : 1);
    if (check_memory(&recording->options.limits, held, &recording->container.refusal) != DOPPEL_OK)
        return AVERROR(EINVAL);
    return avcodec_default_get_buffer2(codec, frame, flags);
}

static enum doppel_status open_decoder_recording(struct recording *recording,
                                                 struct doppel_error *error)
{
    const AVCodecParameters *parameters = recording->track->codecpar;
    const AVCodec *codec = avcodec_find_decoder(parameters->codec_id);
    if (!codec)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "holds audio coded as %s, for which FFmpeg has no decoder here",
                           coding_name(parameters).text);
    recording->codec = avcodec_alloc_context3(codec);
    recording->packet = av_packet_alloc();
    recording->frame = av_frame_alloc();
    if (!recording->codec || !recording->packet || !recording->frame)
        return container_fail(&recording->container, AVERROR(ENOMEM), error);
    int code = avcodec_parameters_to_context(recording->codec, parameters);
    recording->codec->thread_count = 1;
    recording->codec->pkt_timebase = recording->track->time_base;
    recording->codec->opaque = recording;
    recording->codec->get_buffer2 = get_audio_buffer;
    if (code >= 0)
        code = avcodec_open2(recording->codec, codec, NULL);
    return code < 0 ? container_fail(&recording->container, code, error) : DOPPEL_OK;
}

enum doppel_status audio_open(struct recording *recording, struct doppel_error *error)
{
    const AVInputFormat *format = NULL;
    enum doppel_status status = DOPPEL_OK;
    if (!recording->options.pcm && recording->options.stream)
        status = look_for_wav(recording, error);
    if (status == DOPPEL_OK && !recording->options.pcm)
        status = container_find(&recording->container, &format, error);
    else if (status == DOPPEL_OK)
        format = pcm_container(recording->options.pcm);
    if (status == DOPPEL_OK && !format)
        status = doppel_fail(error, DOPPEL_E_ARGUMENT, "raw PCM of an unknown kind (%d)",
                             (int)recording->options.pcm);
    if (status == DOPPEL_OK)
        status = container_open(
            &recording->container, format,
            container_options(&recording->options, !strcmp(format->name, "wav")), error);
    if (status == DOPPEL_OK)
        status = find_track_recording(recording, error);
    if (status == DOPPEL_OK)
        status = open_decoder_recording(recording, error);
    return status;
}
