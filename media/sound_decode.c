/* Packets to frames to the mix, with an eye on time: gaps become silence, damage is noted. */
#include "media/sound.h"

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
 * encoders are told loosely, and a hundredth of the whole for times that are rough. */
static const double CUT_SECONDS = .5, CUT_SHARE = .01;

static void note_damage(struct sound *sound)
{
    uint64_t at_ms = sound->out.visited * 1000 / SOUND_RATE;
    sound->lost = true;
    if (!sound->info.damaged_ms)
        sound->info.damaged_ms = at_ms ? at_ms : 1;
}

/* ---- time ---- */

static int64_t end_us(const struct sound *sound)
{
    uint32_t rate = sound->mix.rate ? sound->mix.rate : 1;
    return sound->anchor_us + av_rescale((int64_t)sound->since_anchor, 1000000, rate);
}

static enum doppel_status fill_gap(struct sound *sound, int64_t gap_us, struct doppel_error *error)
{
    uint64_t count = (uint64_t)av_rescale(gap_us, SOUND_RATE, 1000000);
    uint64_t longest = (uint64_t)MAX_GAP_SECONDS * SOUND_RATE;
    uint64_t left = sound->options.stream ? longest : longest - sound->out.silent;
    enum doppel_status status = sound_mix_finish(&sound->mix, error);
    if (status != DOPPEL_OK || count > left)
        return status;
    return sound_out_silence(&sound->out, count, error);
}

/* Bring time to that of the frame: it begins at the end of the last one, as a rule. */
static enum doppel_status keep_time(struct sound *sound, const AVFrame *frame,
                                    struct doppel_error *error)
{
    int64_t time = frame->best_effort_timestamp;
    bool changed = sound->mix.rate != (uint32_t)frame->sample_rate;
    int64_t end = end_us(sound);
    if (changed) {
        sound->anchor_us = end;
        sound->since_anchor = 0;
    }
    if (time == AV_NOPTS_VALUE)
        return DOPPEL_OK;
    int64_t at = av_rescale_q(time, sound->codec->pkt_timebase, AV_TIME_BASE_Q);
    if (at > MAX_US || at < -MAX_US)
        return DOPPEL_OK;
    int64_t gap = sound->anchored ? at - end : 0;
    bool jumps = gap > (sound->lost ? GAP_AFTER_LOSS_US : GAP_US) || gap < -GAP_US;
    if (!jumps && sound->anchored)
        return DOPPEL_OK;
    sound->anchored = true;
    sound->anchor_us = at;
    sound->since_anchor = 0;
    return gap > 0 ? fill_gap(sound, gap, error) : DOPPEL_OK;
}

/* ---- frames and packets ---- */

static enum doppel_status take_frame(struct sound *sound, struct doppel_error *error)
{
    const AVFrame *frame = sound->frame;
    if (frame->nb_samples <= 0 || frame->sample_rate <= 0 || frame->ch_layout.nb_channels <= 0)
        return DOPPEL_OK;
    if (!sound->info.rate) {
        sound->info.rate = (uint32_t)frame->sample_rate;
        sound->info.channels = (uint32_t)frame->ch_layout.nb_channels;
    }
    if (sound->chromaprint)
        return sound_chromaprint_take(sound->chromaprint, frame, error);
    enum doppel_status status = keep_time(sound, frame, error);
    if (status == DOPPEL_OK)
        status = sound_mix_take(&sound->mix, frame, &sound->options.limits, error);
    sound->since_anchor += (uint64_t)frame->nb_samples;
    sound->lost = false;
    return status;
}

/* Take every frame that the decoder has ready. */
static enum doppel_status take_frames(struct sound *sound, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    while (status == DOPPEL_OK) {
        int code = avcodec_receive_frame(sound->codec, sound->frame);
        if (code == AVERROR(EAGAIN) || code == AVERROR_EOF)
            break;
        if (code == AVERROR(ENOMEM) || sound->container.refusal.status != DOPPEL_OK)
            return container_fail(&sound->container, code, error);
        if (code < 0) {
            note_damage(sound);
            break;
        }
        status = take_frame(sound, error);
        av_frame_unref(sound->frame);
    }
    return status;
}

/* Less than a sample of each channel, at the end of raw PCM, is no damage. */
static void drop_odd_bytes(const struct sound *sound, AVPacket *packet)
{
    int frame = sound->codec->block_align;
    if (sound->options.pcm && frame > 0)
        av_shrink_packet(packet, packet->size - packet->size % frame);
}

/* @param packet NULL: the end, so that the decoder gives what it holds back */
static enum doppel_status take_packet(struct sound *sound, const AVPacket *packet,
                                      struct doppel_error *error)
{
    /* The last packet of a file has this flag also where it is merely shorter than others. */
    if (packet && (packet->flags & AV_PKT_FLAG_CORRUPT) && !avio_feof(sound->container.io))
        note_damage(sound);
    if (packet)
        check_memory(&sound->options.limits, (uint64_t)packet->size, &sound->container.refusal);
    int code = sound->container.refusal.status == DOPPEL_OK
                   ? avcodec_send_packet(sound->codec, packet)
                   : -1;
    if (code == AVERROR(ENOMEM) || sound->container.refusal.status != DOPPEL_OK)
        return container_fail(&sound->container, code, error);
    if (code < 0 && code != AVERROR_EOF)
        note_damage(sound);
    return take_frames(sound, error);
}

static enum doppel_status read_packets(struct sound *sound, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    int errors = 0;
    while (status == DOPPEL_OK && errors < MAX_ERRORS_IN_A_ROW) {
        int code = av_read_frame(sound->container.format, sound->packet);
        if (code == AVERROR_EOF)
            break;
        if (code == AVERROR(ENOMEM))
            return container_fail(&sound->container, code, error);
        if (code < 0) {
            note_damage(sound);
            errors++;
            continue;
        }
        errors = 0;
        drop_odd_bytes(sound, sound->packet);
        if (sound->packet->stream_index == sound->track->index && sound->packet->size)
            status = take_packet(sound, sound->packet, error);
        av_packet_unref(sound->packet);
    }
    return status;
}

/* ---- the end ---- */

/* By a WAV's own header, which libavformat sets aside where the file is shorter; 0 = not told. */
static double declared_seconds(const struct sound *sound)
{
    const AVStream *track = sound->track;
    const struct source *input = &sound->container.source;
    double bytes_per_second = (double)track->codecpar->sample_rate * track->codecpar->block_align;
    struct sound_wav wav;
    if (bytes_per_second > 0 && sound_wav_read(input->head, input->head_size, &wav) &&
        wav.bytes != UINT64_MAX)
        return (double)wav.bytes / bytes_per_second;
    return track->duration > 0 ? (double)track->duration * av_q2d(track->time_base) : 0;
}

static void check_length(struct sound *sound)
{
    if (sound->options.stream || sound->options.pcm)
        return;
    double declared = declared_seconds(sound);
    double heard = (double)sound->out.visited / SOUND_RATE;
    if (heard + CUT_SECONDS + declared * CUT_SHARE < declared)
        note_damage(sound);
}

enum doppel_status sound_decode(struct sound *sound, struct doppel_error *error)
{
    enum doppel_status status = read_packets(sound, error);
    if (status == DOPPEL_OK)
        status = take_packet(sound, NULL, error);
    if (status == DOPPEL_OK)
        status = sound_mix_finish(&sound->mix, error);
    if (status != DOPPEL_OK || sound->chromaprint)
        return status;
    check_length(sound);
    uint64_t heard = sound->out.visited - sound->out.silent;
    if (sound->info.damaged_ms && heard < SOUND_RATE)
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "is damaged or cut short: %.2f seconds of sound could be decoded, of "
                           "which at least 1 is needed",
                           (double)heard / SOUND_RATE);
    if (!heard)
        return doppel_fail(error, DOPPEL_E_EMPTY, "has no sound in it: 0 samples");
    sound->info.duration_ms = sound->out.visited * 1000 / SOUND_RATE;
    return DOPPEL_OK;
}
