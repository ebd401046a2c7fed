/* A stream to its peaks, told as they are known. Nothing is kept of what was reported, so memory
 * does not grow; and who listens slowly makes the decoder wait, by the socket. */
#include "worker/listen.h"

#include <stdlib.h>

#include <doppel/audio.h>
#include <doppel/media.h>

enum {
    RATE = DOPPEL_AUDIO_RATE,
    STEP_SAMPLES = DOPPEL_AUDIO_HOP / DOPPEL_AUDIO_TIME_STEPS,
    PUSH_SAMPLES = RATE,        /* at once: what the analysis may have to hold */
    TELL_SAMPLES = RATE,        /* at least so often, also without peaks */
    LAG_SAMPLES = 5 * RATE / 2, /* no peak is reported later than this behind its audio */
    TRACK_PEAKS = 4096,         /* in one frame: some 13 KB */
    GAP_SAMPLES = RATE          /* a shorter gap is silence */
};

/* Times of peaks are 32 bits: the analysis starts again once a day. */
static const uint64_t longest_analysis = 86400ull * RATE;

struct listening {
    int socket;
    struct doppel_audio *audio;
    uint64_t origin; /* of the stream's samples, the first that this analysis has */
    uint64_t pushed; /* samples, since */
    uint64_t told;   /* of the stream: all up to here */
    uint64_t gap;    /* samples that are missing after these */
    bool deaf;       /* the parent is gone */
    struct doppel_error error;
};

/* ---- telling ---- */

static bool send_stretch(struct listening *listening, const struct stretch *stretch)
{
    uint8_t frame[PROTOCOL_MAX_BYTES];
    size_t size = stretch_write(stretch, frame, sizeof frame);
    listening->deaf = !size || !frame_send(listening->socket, frame, size);
    listening->told = stretch->until;
    return !listening->deaf;
}

/* Tell `count` peaks, whose times begin with `base`, and that all up to `until` is reported. */
static bool send_peaks(struct listening *listening, struct doppel_audio_peak *peaks, size_t count,
                       uint32_t base, uint64_t until)
{
    for (size_t i = 0; i < count; i++)
        peaks[i].time -= base;
    uint64_t from = listening->origin + (uint64_t)base * STEP_SAMPLES;
    struct doppel_audio_track track = {
        .peaks = peaks, .count = count, .duration_ms = (until - from) * 1000 / RATE};
    size_t size = doppel_audio_track_size(&track, false);
    uint8_t *bytes = malloc(size);
    if (!bytes) {
        doppel_fail(&listening->error, DOPPEL_E_MEMORY, "no memory for peaks");
        return false;
    }
    doppel_audio_track_write(&track, false, bytes);
    struct stretch stretch = {.from = from, .until = until, .track = bytes, .track_size = size};
    bool sent = send_stretch(listening, &stretch);
    free(bytes);
    return sent;
}

/* Up to where all peaks are known. */
static uint64_t known_until(const struct listening *listening,
                            const struct doppel_audio_peak *peaks, size_t count)
{
    uint64_t end = listening->origin + listening->pushed;
    uint64_t known = end > LAG_SAMPLES ? end - LAG_SAMPLES : 0;
    uint64_t last = count ? listening->origin + (uint64_t)peaks[count - 1].time * STEP_SAMPLES : 0;
    known = known > last ? known : last;
    return known > listening->told ? known : listening->told;
}

static bool emit_listening(struct listening *listening, uint64_t until)
{
    struct doppel_audio_peak copy[TRACK_PEAKS];
    size_t count;
    const struct doppel_audio_peak *peaks = doppel_audio_peaks(listening->audio, &count);
    uint64_t begun = listening->told - listening->origin;
    size_t at = 0;
    do {
        size_t piece = count - at < TRACK_PEAKS ? count - at : TRACK_PEAKS;
        uint32_t base = (uint32_t)(begun / STEP_SAMPLES);
        if (piece && peaks[at].time < base)
            base = peaks[at].time;
        for (size_t i = 0; i < piece; i++)
            copy[i] = peaks[at + i];
        at += piece;
        if (!send_peaks(listening, copy, piece, base, at < count ? listening->told : until))
            return false;
    } while (at < count);
    doppel_audio_drain(listening->audio);
    return true;
}

/* Peaks come by the second; silence is recognised by the second, too. */
static bool emit_some(struct listening *listening)
{
    size_t count;
    const struct doppel_audio_peak *peaks = doppel_audio_peaks(listening->audio, &count);
    uint64_t until = known_until(listening, peaks, count);
    if (!count && until - listening->told < TELL_SAMPLES)
        return true;
    return emit_listening(listening, until);
}

/* ---- hearing ---- */

/* Tell what is left of the analysis, and begin another one with the next sample. */
static bool restart_stream(struct listening *listening)
{
    uint64_t end = listening->origin + listening->pushed;
    if (doppel_audio_finish(listening->audio, &listening->error) || !emit_listening(listening, end))
        return false;
    doppel_audio_reset(listening->audio);
    listening->origin = end;
    listening->pushed = 0;
    return true;
}

static bool hear_gap(struct listening *listening, uint64_t samples)
{
    if (!restart_stream(listening))
        return false;
    struct stretch gap = {
        .gap = true, .from = listening->origin, .until = listening->origin + samples};
    listening->origin += samples;
    return send_stretch(listening, &gap);
}

static bool hear_piece(struct listening *listening, const float *samples, size_t count)
{
    if (doppel_audio_push(listening->audio, samples, count, &listening->error))
        return false;
    listening->pushed += count;
    if (listening->pushed >= longest_analysis)
        return restart_stream(listening);
    return emit_some(listening);
}

/* @param samples NULL: silence */
static bool hear_samples(struct listening *listening, const float *samples, size_t count)
{
    static const float silence[PUSH_SAMPLES];
    for (size_t at = 0; at < count;) {
        size_t piece = count - at < PUSH_SAMPLES ? count - at : PUSH_SAMPLES;
        if (!hear_piece(listening, samples ? samples + at : silence, piece))
            return false;
        at += piece;
    }
    return true;
}

/* The gap up to here is over. */
static bool settle_gap(struct listening *listening)
{
    uint64_t gap = listening->gap;
    listening->gap = 0;
    return gap < GAP_SAMPLES ? hear_samples(listening, NULL, gap) : hear_gap(listening, gap);
}

static bool hear_or_note_gap(void *context, const struct doppel_samples *samples)
{
    struct listening *listening = context;
    if (!samples->data) {
        listening->gap += samples->count;
        return true;
    }
    return settle_gap(listening) && hear_samples(listening, samples->data, samples->count);
}

static struct doppel_samples_options samples_options_listen_order(const struct listen_order *order)
{
    struct doppel_samples_options options = doppel_samples_options_default();
    options.stream = true;
    if (order->max_memory >= WORKER_LEAST_BYTES)
        options.limits.max_memory = order->max_memory - WORKER_UNCOUNTED_BYTES - WORKER_OWN_BYTES;
    options.pcm = (enum doppel_pcm_format)order->pcm;
    options.pcm_rate = order->pcm_rate;
    options.pcm_channels = order->pcm_channels;
    return options;
}

/* However it ends, what was heard before is reported. */
static enum doppel_status listen_through(struct listening *listening, int fd,
                                         const struct listen_order *order)
{
    struct doppel_samples_options options = samples_options_listen_order(order);
    struct doppel_error error = {0};
    enum doppel_status status = doppel_audio_new(&listening->audio, &listening->error);
    if (status)
        return status;
    status = doppel_media_read_samples(fd, &options, hear_or_note_gap, listening, NULL, &error);
    bool whole = !listening->deaf && !listening->error.status && settle_gap(listening) &&
                 restart_stream(listening);
    if (whole)
        listening->error = error;
    return whole ? status : listening->error.status;
}

void listen_to(int socket, int fd, const struct listen_order *order)
{
    struct listening listening = {.socket = socket};
    uint8_t frame[PROTOCOL_MAX_BYTES];
    if (!listen_through(&listening, fd, order))
        listening.error.status = DOPPEL_OK;
    doppel_audio_free(listening.audio);
    if (!listening.deaf)
        frame_send(socket, frame, end_write(&listening.error, frame, sizeof frame));
}
