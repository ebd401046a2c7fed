/* Packets to frames to the mix, with an eye on time: gaps become silence, damage is noted. */
#include "media/audio/audio.h"

/* A frame that comes so much later than the one before ends follows a gap. Containers round times
 * to milliseconds, and clocks drift; after something that could not be decoded times are trusted.
 */
enum { GAP_US = 100000, GAP_AFTER_LOSS_US = 3000 };

/* All gaps together, or of a stream each. */
enum { MAX_GAP_SECONDS = 3600 };

/* Demuxers that report an error may do so for ever. */
enum { MAX_ERRORS_IN_A_ROW = 64 };

/* Presentation times beyond are no times: 1000 years. */
static const int64_t MAX_US = INT64_C(1000) * 366 * 86400 * 1000000;

/* What ends so much before the container says is cut short: half a second, since ends and delays of
 * encoders are stated loosely, and a hundredth of the whole for times that are rough. */
static const double CUT_SECONDS = .5, CUT_SHARE = .01;

static void note_damage_recording(struct recording *recording)
{
    uint64_t at_ms = recording->out.visited * 1000 / AUDIO_RATE;
    recording->lost = true;
    if (!recording->info.damaged_ms)
        recording->info.damaged_ms = at_ms ? at_ms : 1;
}

/* ---- time ---- */

static int64_t end_us(const struct recording *recording)
{
    uint32_t rate = recording->mix.rate ? recording->mix.rate : 1;
    return recording->anchor_us + av_rescale((int64_t)recording->since_anchor, 1000000, rate);
}

static enum doppel_status fill_gap_recording(struct recording *recording, int64_t gap_us,
                                             struct doppel_error *error)
{
    uint64_t count = (uint64_t)av_rescale(gap_us, AUDIO_RATE, 1000000);
    uint64_t longest = (uint64_t)MAX_GAP_SECONDS * AUDIO_RATE;
    uint64_t left = recording->options.stream ? longest : longest - recording->out.silent;
    enum doppel_status status = audio_mix_finish(&recording->mix, error);
    if (status != DOPPEL_OK || count > left)
        return status;
    return audio_out_silence(&recording->out, count, error);
}

/* Bring time to that of the frame: it begins at the end of the last one, as a rule. */
static enum doppel_status keep_time(struct recording *recording, const AVFrame *frame,
                                    struct doppel_error *error)
{
    int64_t time = frame->best_effort_timestamp;
    bool changed = recording->mix.rate != (uint32_t)frame->sample_rate;
    int64_t end = end_us(recording);
    if (changed) {
        recording->anchor_us = end;
        recording->since_anchor = 0;
    }
    if (time == AV_NOPTS_VALUE)
        return DOPPEL_OK;
    int64_t at = av_rescale_q(time, recording->codec->pkt_timebase, AV_TIME_BASE_Q);
    if (at > MAX_US || at < -MAX_US)
        return DOPPEL_OK;
    int64_t gap = recording->anchored ? at - end : 0;
    bool jumps = gap > (recording->lost ? GAP_AFTER_LOSS_US : GAP_US) || gap < -GAP_US;
    if (!jumps && recording->anchored)
        return DOPPEL_OK;
    recording->anchored = true;
    recording->anchor_us = at;
    recording->since_anchor = 0;
    return gap > 0 ? fill_gap_recording(recording, gap, error) : DOPPEL_OK;
}

/* ---- frames and packets ---- */

static enum doppel_status take_frame_recording(struct recording *recording,
                                               struct doppel_error *error)
{
    const AVFrame *frame = recording->frame;
    if (frame->nb_samples <= 0 || frame->sample_rate <= 0 || frame->ch_layout.nb_channels <= 0)
        return DOPPEL_OK;
    if (!recording->info.rate) {
        recording->info.rate = (uint32_t)frame->sample_rate;
        recording->info.channels = (uint32_t)frame->ch_layout.nb_channels;
    }
#ifdef HAVE_CHROMAPRINT
    if (recording->chromaprint)
        return audio_chromaprint_take(recording->chromaprint, frame, error);
#endif
    enum doppel_status status = keep_time(recording, frame, error);
    if (status == DOPPEL_OK)
        status = audio_mix_take(&recording->mix, frame, &recording->options.limits, error);
    recording->since_anchor += (uint64_t)frame->nb_samples;
    recording->lost = false;
    return status;
}

/* Take every frame that the decoder has ready. */
static enum doppel_status take_frames_recording(struct recording *recording,
                                                struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    while (status == DOPPEL_OK) {
        int code = avcodec_receive_frame(recording->codec, recording->frame);
        if (code == AVERROR(EAGAIN) || code == AVERROR_EOF)
            break;
        if (code == AVERROR(ENOMEM) || recording->container.refusal.status != DOPPEL_OK)
            return container_fail(&recording->container, code, error);
        if (code < 0) {
            note_damage_recording(recording);
            break;
        }
        status = take_frame_recording(recording, error);
        av_frame_unref(recording->frame);
    }
    return status;
}

/* Less than a sample of each channel, at the end of raw PCM, is no damage. */
static void drop_odd_bytes(const struct recording *recording, AVPacket *packet)
{
    int frame = recording->codec->block_align;
    if (recording->options.pcm && frame > 0)
        av_shrink_packet(packet, packet->size - packet->size % frame);
}

/* Whether a packet is whole samples as they lie in memory, which need no decoder. */
static bool holds_samples(const struct recording *recording, const AVPacket *packet)
{
    const AVCodecContext *codec = recording->codec;
    int bytes = av_get_bytes_per_sample(codec->sample_fmt);
    int channels = codec->ch_layout.nb_channels;
    return bytes > 0 && channels > 0 && packet->size % (bytes * channels) == 0 &&
           codec->codec_id == av_get_pcm_codec(codec->sample_fmt, -1) && !packet->side_data_elems &&
           (uintptr_t)packet->data % (uintptr_t)bytes == 0;
}

static enum doppel_status take_samples_recording(struct recording *recording,
                                                 const AVPacket *packet, struct doppel_error *error)
{
    const AVCodecContext *codec = recording->codec;
    AVFrame *frame = recording->frame;
    int channels = codec->ch_layout.nb_channels;
    if (av_channel_layout_copy(&frame->ch_layout, &codec->ch_layout) < 0)
        return container_fail(&recording->container, AVERROR(ENOMEM), error);
    frame->format = codec->sample_fmt;
    frame->sample_rate = codec->sample_rate;
    frame->nb_samples = packet->size / av_get_bytes_per_sample(codec->sample_fmt) / channels;
    frame->best_effort_timestamp = packet->pts == AV_NOPTS_VALUE ? packet->dts : packet->pts;
    frame->data[0] = packet->data; /* borrowed */
    enum doppel_status status = take_frame_recording(recording, error);
    av_frame_unref(frame);
    return status;
}

/* @param packet NULL: the end, so that the decoder gives what it holds back */
static enum doppel_status take_packet_recording(struct recording *recording, const AVPacket *packet,
                                                struct doppel_error *error)
{
    /* The last packet of a file has this flag also where it is merely shorter than others. */
    if (packet && (packet->flags & AV_PKT_FLAG_CORRUPT) && !avio_feof(recording->container.io))
        note_damage_recording(recording);
    if (packet)
        check_memory(&recording->options.limits, (uint64_t)packet->size,
                     &recording->container.refusal);
    if (packet && recording->container.refusal.status == DOPPEL_OK &&
        holds_samples(recording, packet))
        return take_samples_recording(recording, packet, error);
    int code = recording->container.refusal.status == DOPPEL_OK
                   ? avcodec_send_packet(recording->codec, packet)
                   : -1;
    if (code == AVERROR(ENOMEM) || recording->container.refusal.status != DOPPEL_OK)
        return container_fail(&recording->container, code, error);
    if (code < 0 && code != AVERROR_EOF)
        note_damage_recording(recording);
    return take_frames_recording(recording, error);
}

static enum doppel_status read_packets_recording(struct recording *recording,
                                                 struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    int errors = 0;
    while (status == DOPPEL_OK && errors < MAX_ERRORS_IN_A_ROW) {
        int code = av_read_frame(recording->container.format, recording->packet);
        if (code == AVERROR_EOF)
            break;
        if (code == AVERROR(ENOMEM))
            return container_fail(&recording->container, code, error);
        if (code < 0) {
            note_damage_recording(recording);
            errors++;
            continue;
        }
        errors = 0;
        drop_odd_bytes(recording, recording->packet);
        if (recording->packet->stream_index == recording->track->index && recording->packet->size)
            status = take_packet_recording(recording, recording->packet, error);
        av_packet_unref(recording->packet);
    }
    return status;
}

/* ---- the end ---- */

/* By a WAV's own header, which libavformat sets aside where the file is shorter; 0 = not told. */
static double declared_seconds(const struct recording *recording)
{
    const AVStream *track = recording->track;
    const struct source *input = &recording->container.source;
    double bytes_per_second = (double)track->codecpar->sample_rate * track->codecpar->block_align;
    struct audio_wav wav;
    if (bytes_per_second > 0 && audio_wav_read(input->head, input->head_size, &wav) &&
        wav.bytes != UINT64_MAX)
        return (double)wav.bytes / bytes_per_second;
    return track->duration > 0 ? (double)track->duration * av_q2d(track->time_base) : 0;
}

static void check_length(struct recording *recording)
{
    if (recording->options.stream || recording->options.pcm)
        return;
    double declared = declared_seconds(recording);
    double heard = (double)recording->out.visited / AUDIO_RATE;
    if (heard + CUT_SECONDS + declared * CUT_SHARE < declared)
        note_damage_recording(recording);
}

enum doppel_status audio_decode(struct recording *recording, struct doppel_error *error)
{
    enum doppel_status status = read_packets_recording(recording, error);
    if (status == DOPPEL_OK)
        status = take_packet_recording(recording, NULL, error);
    if (status == DOPPEL_OK)
        status = audio_mix_finish(&recording->mix, error);
    if (status != DOPPEL_OK || recording->chromaprint)
        return status;
    check_length(recording);
    uint64_t heard = recording->out.visited - recording->out.silent;
    if (recording->info.damaged_ms && heard < AUDIO_RATE)
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "is damaged or cut short: %.2f seconds of audio could be decoded, of "
                           "which at least 1 is needed",
                           (double)heard / AUDIO_RATE);
    if (!heard)
        return doppel_fail(error, DOPPEL_E_EMPTY, "has no audio in it: 0 samples");
    recording->info.duration_ms = recording->out.visited * 1000 / AUDIO_RATE;
    return DOPPEL_OK;
}
