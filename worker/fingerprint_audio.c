/* A recording to what is kept of it: its peaks. Codes are derived from them, and none are sent. */
#include "worker/fingerprint.h"

#include <stdlib.h>

#include <doppel/media.h>

struct hearing {
    struct doppel_audio *audio;
    struct progress_page *progress;
    struct doppel_error *error;
    enum doppel_status status;
};

static enum doppel_status push_silence(struct doppel_audio *audio, size_t count,
                                       struct doppel_error *error)
{
    static const float silence[4096];
    enum doppel_status status = DOPPEL_OK;
    for (size_t left = count, part; left && !status; left -= part) {
        part = left < sizeof silence / sizeof *silence ? left : sizeof silence / sizeof *silence;
        status = doppel_audio_push(audio, silence, part, error);
    }
    return status;
}

static bool hear_fingerprint_audio(void *context, const struct doppel_samples *samples)
{
    struct hearing *hearing = context;
    progress_work(hearing->progress, samples->count * 1000 / DOPPEL_AUDIO_RATE);
    hearing->status = samples->data ? doppel_audio_push(hearing->audio, samples->data,
                                                        samples->count, hearing->error)
                                    : push_silence(hearing->audio, samples->count, hearing->error);
    return hearing->status == DOPPEL_OK;
}

struct doppel_samples_options samples_options(const struct worker_limits *limits,
                                              const struct doppel_order *order)
{
    struct doppel_samples_options options = doppel_samples_options_default();
    options.limits = media_limits(limits);
    options.max_seconds = (double)limits->max_ms / 1000;
    if (order->pcm) {
        options.pcm = (enum doppel_pcm_format)order->pcm;
        options.pcm_rate = order->pcm_rate;
        options.pcm_channels = order->pcm_channels;
    }
    return options;
}

/* The analysis of the last audio, started again. */
static enum doppel_status want_analysis(struct workshop *workshop, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (!workshop->audio)
        status = doppel_audio_new(&workshop->audio, error);
    else
        doppel_audio_reset(workshop->audio);
    return status ? status : doppel_audio_expect_clip(workshop->audio, error);
}

static enum doppel_status pack_audio_track(const struct doppel_audio_track *track, uint8_t **out,
                                           size_t *out_size, struct doppel_error *error)
{
    size_t size = doppel_audio_track_size(track, false);
    uint8_t *bytes = malloc(size);
    if (!bytes)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %zu peaks", track->count);
    doppel_audio_track_write(track, false, bytes);
    *out = bytes;
    *out_size = size;
    return DOPPEL_OK;
}

static enum doppel_status listen_to_workshop(struct workshop *workshop, int fd,
                                             const struct doppel_order *order,
                                             struct doppel_samples_info *out_info,
                                             struct doppel_error *error)
{
    struct doppel_samples_options options = samples_options(&workshop->limits, order);
    enum doppel_status status = want_analysis(workshop, error);
    if (status)
        return status;
    struct hearing hearing = {
        .audio = workshop->audio, .progress = workshop->progress, .error = error};
    struct doppel_error reason = {0};
    status = doppel_media_read_samples(fd, &options, hear_fingerprint_audio, &hearing, out_info,
                                       &reason);
    if (hearing.status)
        return hearing.status;
    if (status)
        return doppel_fail(error, status, "%s", reason.message);
    return doppel_audio_finish(workshop->audio, error);
}

enum doppel_status hear_audio(struct workshop *workshop, int fd, const struct doppel_order *order,
                              uint8_t **out, size_t *out_size, struct doppel_error *error)
{
    struct doppel_samples_info info;
    enum doppel_status status = listen_to_workshop(workshop, fd, order, &info, error);
    if (status)
        return status;
    struct doppel_audio_track track = {.duration_ms = info.duration_ms,
                                       .damaged_ms = info.damaged_ms};
    if (order->scheme == DOPPEL_SCHEME_PEAKS32) /* those of a video are not its audio's */
        track.tags = info.tags;
    /* Borrowed, and only read. */
    track.peaks =
        (struct doppel_audio_peak *)(uintptr_t)doppel_audio_peaks(workshop->audio, &track.count);
    return pack_audio_track(&track, out, out_size, error);
}

enum doppel_status fingerprint_audio(struct workshop *workshop, int fd,
                                     const struct doppel_order *order, struct doppel_outcome *out)
{
    enum doppel_status status =
        hear_audio(workshop, fd, order, &out->attachment, &out->attachment_size, &out->error);
    if (status)
        return status;
    out->kind = DOPPEL_KIND_AUDIO;
    return doppel_fingerprint_make(doppel_scheme_by_id(DOPPEL_SCHEME_PEAKS32), 64, 0,
                                   &out->fingerprint, &out->error);
}
