/* The frame that a video shows at a time, small, in colour and upright, as a JPEG. */
#include <stdlib.h>

#include "media/video/video.h"
#include "media/readers.h"
#include "media/thumbnail/frame.h"

/* ---- the frame that is shown ---- */

struct shown {
    AVFrame *frame;
    uint32_t time_ms;
};

/* Frames come until one begins too late. */
static enum doppel_status keep_video(struct video *video, uint32_t time_ms,
                                     struct doppel_error *error)
{
    struct shown *shown = video->context;
    video->done = time_ms > shown->time_ms;
    if (video->done && shown->frame->buf[0])
        return DOPPEL_OK;
    av_frame_unref(shown->frame);
    if (av_frame_ref(shown->frame, video->frame) < 0)
        return container_fail(&video->container, AVERROR(ENOMEM), error);
    return DOPPEL_OK;
}

static AVRational shape_of_pixel(const struct video *video, const AVFrame *frame)
{
    return video->pixel.num > 0 ? video->pixel : frame->sample_aspect_ratio;
}

enum doppel_status read_thumbnail(int fd, uint32_t time_ms, uint32_t longest, uint8_t **out,
                                  size_t *out_size, struct doppel_error *error)
{
    struct video *video = calloc(1, sizeof *video);
    struct shown shown = {av_frame_alloc(), time_ms};
    enum doppel_status status = DOPPEL_E_MEMORY;
    if (!video || !shown.frame) {
        doppel_fail(error, status, "no memory to read a video");
    } else {
        video->options = doppel_frames_options_default();
        video->options.step_ms = 0;
        video->options.exact = true;
        video->options.from_ms = time_ms;
        video->take = keep_video;
        video->context = &shown;
        status = video_decode_file(video, fd, error);
    }
    if (status == DOPPEL_OK && !shown.frame->buf[0])
        status = doppel_fail(error, DOPPEL_E_CORRUPT, "is damaged: nothing to show at %.1f s",
                             time_ms / 1000.);
    if (status == DOPPEL_OK) {
        struct frame_shape shape = {
            .pixel = shape_of_pixel(video, shown.frame),
            .orientation = video_orientation(shown.frame, video->orientation),
            .longest = longest,
        };
        status = thumbnail_of_frame(shown.frame, &shape, out, out_size, error);
    }
    av_frame_free(&shown.frame); /* before the video, which counts what frames hold */
    free(video);
    return status;
}
