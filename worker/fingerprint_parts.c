/* A video to the keypoints of some of its frames. */
#include "worker/fingerprint.h"

#include <stdlib.h>

#include <doppel/local.h>
#include <doppel/media.h>

/* What a visit to a video's frames has. */
struct frame_choosing {
    struct doppel_local_chooser *chooser;
    struct progress_page *progress;
    struct doppel_error *error;
    enum doppel_status status;
};

static bool choose_frame(void *context, const struct doppel_frame *frame)
{
    struct frame_choosing *choosing = context;
    progress_report(choosing->progress, frame->time_ms, frame->expected_ms);
    choosing->status = doppel_local_chooser_push(choosing->chooser, &frame->plane, frame->time_ms,
                                                 choosing->error);
    return choosing->status == DOPPEL_OK;
}

/* @param out given (doppel_local_video_free) */
static enum doppel_status choose_frames(struct workshop *workshop, int fd,
                                        const struct doppel_order *order,
                                        struct doppel_local_video *out,
                                        struct doppel_outcome *outcome)
{
    struct doppel_frames_options options = frames_options(&workshop->limits, order);
    struct doppel_frames_info info = {0};
    struct frame_choosing choosing = {.progress = workshop->progress, .error = &outcome->error};
    struct doppel_error reason = {0};
    options.step_ms = DOPPEL_LOCAL_STEP_MS;
    options.exact = true;
    enum doppel_status status = doppel_local_chooser_new(&choosing.chooser, &outcome->error);
    if (status)
        return status;
    status = doppel_media_read_frames(fd, &options, choose_frame, &choosing, &info, &reason);
    if (choosing.status)
        status = choosing.status;
    else if (status)
        doppel_fail(&outcome->error, status, "%s", reason.message);
    if (status == DOPPEL_E_FORMAT && info.has_audio)
        outcome->kind = DOPPEL_KIND_AUDIO;
    if (!status) {
        doppel_local_chooser_finish(choosing.chooser, info.duration_ms, out);
        out->damaged_ms = info.damaged_ms;
        outcome->width = info.width;
        outcome->height = info.height;
    }
    doppel_local_chooser_free(choosing.chooser);
    return status;
}

/* All points, unless that is more than can be sent: of a video of many hours. */
static enum doppel_status attach_points(const struct doppel_local_video *video,
                                        struct doppel_outcome *out)
{
    enum { ROOM = PROTOCOL_LONG_BYTES - PROTOCOL_MAX_BYTES };
    enum doppel_status status = doppel_local_video_write(video, false, &out->attachment,
                                                         &out->attachment_size, &out->error);
    if (status || out->attachment_size <= ROOM)
        return status;
    free(out->attachment);
    out->attachment = NULL;
    return doppel_local_video_write(video, true, &out->attachment, &out->attachment_size,
                                    &out->error);
}

enum doppel_status fingerprint_parts(struct workshop *workshop, int fd,
                                     const struct doppel_order *order, struct doppel_outcome *out)
{
    struct doppel_local_video video = {0};
    enum doppel_status status = choose_frames(workshop, fd, order, &video, out);
    if (!status)
        status = attach_points(&video, out);
    doppel_local_video_free(&video);
    if (status)
        return status;
    out->kind = DOPPEL_KIND_VIDEO;
    return doppel_fingerprint_make(doppel_scheme_by_id(DOPPEL_SCHEME_FRAMES128), DOPPEL_LOCAL_BITS,
                                   0, &out->fingerprint, &out->error);
}
