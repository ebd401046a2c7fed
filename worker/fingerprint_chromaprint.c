/* A recording, or what fpcalc printed of one, to AcoustID's fingerprint. */
#include "worker/fingerprint.h"

#include <stdlib.h>
#include <unistd.h>

#include <doppel/media.h>

#include "core/files/read_at.h"

/* Of what fpcalc prints: an hour of audio is 320 KB. */
enum { TEXT_MAX = 16 << 20 };

static bool is_printed_chromaprint(int fd)
{
    char head[16];
    ssize_t size = read_at(fd, head, sizeof head, 0);
    return size > 0 && doppel_chromaprint_is_text(head, (size_t)size);
}

static enum doppel_status parse_printed_chromaprint(int fd, struct doppel_fingerprint *out,
                                                    uint64_t *out_duration_ms,
                                                    struct doppel_error *error)
{
    char *text;
    size_t size;
    enum doppel_status status = read_printed(fd, TEXT_MAX, "a Chromaprint", &text, &size, error);
    if (status)
        return status;
    status = doppel_chromaprint_parse(text, size, out, out_duration_ms, error);
    free(text);
    return status;
}

static enum doppel_status make_worker_limits(const struct worker_limits *limits, int fd,
                                             struct doppel_fingerprint *out,
                                             struct doppel_audio_track *out_track,
                                             struct doppel_error *error)
{
    struct doppel_samples_options options = doppel_samples_options_default();
    struct doppel_chromaprint made;
    options.limits = media_limits(limits);
    enum doppel_status status = doppel_media_read_chromaprint(fd, &options, &made, error);
    if (status)
        return status;
    status = doppel_chromaprint_fingerprint(made.codes, made.count, out, error);
    free(made.codes);
    out_track->duration_ms = made.duration_ms;
    out_track->tags = made.tags;
    return status;
}

/* How long it is, and its tags, go along as a track without peaks. */
static enum doppel_status attach_head(const struct doppel_audio_track *track,
                                      struct doppel_outcome *out)
{
    out->attachment_size = doppel_audio_track_size(track, false);
    out->attachment = malloc(out->attachment_size);
    if (!out->attachment)
        return doppel_fail(&out->error, DOPPEL_E_MEMORY, "no memory for a Chromaprint");
    doppel_audio_track_write(track, false, out->attachment);
    return DOPPEL_OK;
}

enum doppel_status fingerprint_chromaprint(struct workshop *workshop, int fd,
                                           struct doppel_outcome *out)
{
    struct doppel_audio_track track = {0};
    enum doppel_status status =
        is_printed_chromaprint(fd)
            ? parse_printed_chromaprint(fd, &out->fingerprint, &track.duration_ms, &out->error)
            : make_worker_limits(&workshop->limits, fd, &out->fingerprint, &track, &out->error);
    out->kind = DOPPEL_KIND_AUDIO;
    return status ? status : attach_head(&track, out);
}
