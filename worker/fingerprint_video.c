/* A video to what is kept of it: its track, with the peaks of its audio. And a moment of it, looked
 * at closely. */
#include "worker/fingerprint.h"

#include <stdlib.h>

#include <doppel/media.h>
#include <doppel/video.h>

/* What a visit to a video's frames has. */
struct watching {
    struct doppel_video *video;
    struct progress_page *progress;
    struct doppel_error *error;
    enum doppel_status status;
};

static bool watch_frame(void *context, const struct doppel_frame *frame)
{
    struct watching *watching = context;
    progress_report(watching->progress, frame->time_ms, frame->expected_ms);
    watching->status =
        doppel_video_push(watching->video, &frame->plane, frame->time_ms, watching->error);
    return watching->status == DOPPEL_OK;
}

struct doppel_frames_options frames_options(const struct worker_limits *limits,
                                            const struct doppel_order *order)
{
    struct doppel_frames_options options = doppel_frames_options_default();
    options.limits = media_limits(limits);
    options.max_seconds = (double)limits->max_ms / 1000;
    options.keyframes = order->video_keyframes;
    if (order->video_task == DOPPEL_VIDEO_CLOSE) {
        options.from_ms = order->from_ms;
        options.to_ms = order->to_ms;
        options.step_ms = 0;
        options.exact = true;
        options.keyframes = false;
    }
    return options;
}

static struct doppel_video_options video_options(const struct doppel_order *order)
{
    struct doppel_video_options options = doppel_video_options_default();
    if (order->video_task == DOPPEL_VIDEO_CLOSE) {
        options.every_frame = true;
        options.box = (struct doppel_video_box){order->video_box[0], order->video_box[1],
                                                order->video_box[2], order->video_box[3]};
    }
    return options;
}

/* Frames to a track. @param out given, also with what the video says of itself */
static enum doppel_status watch_video(struct workshop *workshop, int fd,
                                      const struct doppel_order *order,
                                      struct doppel_frames_info *info,
                                      struct doppel_video_track *out, struct doppel_error *error)
{
    struct doppel_frames_options frames = frames_options(&workshop->limits, order);
    struct doppel_video_options options = video_options(order);
    struct watching watching = {.progress = workshop->progress, .error = error};
    struct doppel_error reason = {0};
    enum doppel_status status = doppel_video_new(&options, &watching.video, error);
    if (status)
        return status;
    status = doppel_media_read_frames(fd, &frames, watch_frame, &watching, info, &reason);
    if (watching.status)
        status = watching.status;
    else if (status)
        doppel_fail(error, status, "%s", reason.message);
    else
        status = doppel_video_finish(watching.video, out, error);
    doppel_video_free(watching.video);
    if (status)
        return status;
    out->width = info->width;
    out->height = info->height;
    out->duration_ms = info->duration_ms;
    out->damaged_ms = info->damaged_ms;
    out->keyframes_only = info->keyframes;
    return DOPPEL_OK;
}

/* A video whose audio cannot be read is still a video: that is remarked, and no failure. */
static enum doppel_status add_audio(struct workshop *workshop, int fd,
                                    const struct doppel_order *order,
                                    struct doppel_video_track *track, struct doppel_error *remark)
{
    struct doppel_error reason = {0};
    enum doppel_status status =
        hear_audio(workshop, fd, order, &track->audio, &track->audio_size, &reason);
    if (status == DOPPEL_E_FORMAT)
        return DOPPEL_OK;
    if (status == DOPPEL_E_CORRUPT || status == DOPPEL_E_UNSUPPORTED) {
        doppel_fail(remark, DOPPEL_OK, "read without its audio: %s", reason.message);
        return DOPPEL_OK;
    }
    return status ? doppel_fail(remark, status, "%s", reason.message) : DOPPEL_OK;
}

/* A video whose pictures cannot be read is none; that its audio can be is worth knowing. */
static void mention_audio(struct workshop *workshop, int fd, const struct doppel_order *order,
                          struct doppel_error *error)
{
    uint8_t *recording;
    size_t size;
    bool hopeless = error->status != DOPPEL_E_CORRUPT && error->status != DOPPEL_E_UNSUPPORTED;
    if (hopeless || order->video_no_audio ||
        hear_audio(workshop, fd, order, &recording, &size, NULL))
        return;
    free(recording);
    doppel_fail(error, error->status, "%s; its audio alone can be read (--no-video)",
                error->message);
}

/* With the cells, unless that is more than can be sent: of a video of very many hours. */
static enum doppel_status attach_video_track(const struct doppel_video_track *track,
                                             struct doppel_outcome *out)
{
    enum { ROOM = PROTOCOL_LONG_BYTES - PROTOCOL_MAX_BYTES };
    enum doppel_status status = doppel_video_track_write(track, DOPPEL_VIDEO_ALL, &out->attachment,
                                                         &out->attachment_size, &out->error);
    if (status || out->attachment_size <= ROOM)
        return status;
    free(out->attachment);
    out->attachment = NULL;
    return doppel_video_track_write(track, DOPPEL_VIDEO_CODES, &out->attachment,
                                    &out->attachment_size, &out->error);
}

static enum doppel_status fingerprint_frames(struct workshop *workshop, int fd,
                                             const struct doppel_order *order,
                                             struct doppel_outcome *out)
{
    struct doppel_frames_info info = {0};
    struct doppel_video_track track = {0};
    bool whole = order->video_task == DOPPEL_VIDEO_FINGERPRINT;
    enum doppel_status status = watch_video(workshop, fd, order, &info, &track, &out->error);
    if (status == DOPPEL_E_FORMAT && info.has_audio)
        out->kind = DOPPEL_KIND_AUDIO;
    if (status && whole)
        mention_audio(workshop, fd, order, &out->error);
    if (status)
        return status;
    if (whole && !order->video_no_audio)
        status = add_audio(workshop, fd, order, &track, &out->error);
    if (status == DOPPEL_OK)
        status = attach_video_track(&track, out);
    out->width = track.width;
    out->height = track.height;
    doppel_video_track_free(&track);
    return status;
}

static enum doppel_status fingerprint_thumbnail(int fd, const struct doppel_order *order,
                                                struct doppel_outcome *out)
{
    return doppel_media_read_thumbnail(fd, order->from_ms, order->to_ms, &out->attachment,
                                       &out->attachment_size, &out->error);
}

enum doppel_status fingerprint_video(struct workshop *workshop, int fd,
                                     const struct doppel_order *order, struct doppel_outcome *out)
{
    enum doppel_status status =
        order->video_task > DOPPEL_VIDEO_THUMBNAIL
            ? doppel_fail(&out->error, DOPPEL_E_ARGUMENT, "no such task: %u", order->video_task)
        : order->video_task == DOPPEL_VIDEO_THUMBNAIL
            ? fingerprint_thumbnail(fd, order, out)
            : fingerprint_frames(workshop, fd, order, out);
    if (status)
        return status;
    out->kind = DOPPEL_KIND_VIDEO;
    return doppel_fingerprint_make(doppel_scheme_by_id(DOPPEL_SCHEME_FRAMES64), 64, 0,
                                   &out->fingerprint, &out->error);
}
