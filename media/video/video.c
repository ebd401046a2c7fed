/* The pictures of a video through FFmpeg, from opening to closing, and which of them are visited.
 */
#include "media/video/video.h"

#include <stdlib.h>

#include "media/readers.h"

static void close_all_video(struct video *video)
{
    video_group_free(&video->group);
    av_frame_free(&video->frame);
    av_packet_free(&video->packet);
    avcodec_free_context(&video->codec);
    container_close(&video->container);
}

enum doppel_status video_decode_file(struct video *video, int fd, struct doppel_error *error)
{
    av_log_set_level(AV_LOG_QUIET);
    video->container.holds = "video";
    video->passed_us = video->group.alone_us = video->read_us = INT64_MIN;
    enum doppel_status status =
        container_begin(&video->container, fd, &video->options.limits, error);
    if (status == DOPPEL_OK)
        status = video_open(video, error);
    if (status == DOPPEL_OK)
        status = video_decode(video, error);
    if (status == DOPPEL_OK)
        status = container_check_source(&video->container, error);
    close_all_video(video);
    return status;
}

/* ---- the frames that are visited ---- */

struct sampling {
    doppel_frames_visitor *visitor;
    void *context;
    struct video_luma luma;
    bool begun;
    uint32_t last_step;
};

static bool is_wanted_video(struct video *video, struct sampling *sampling, uint32_t time_ms)
{
    const struct doppel_frames_options *options = &video->options;
    if (options->to_ms && time_ms >= options->to_ms)
        video->done = true;
    if (time_ms < options->from_ms || video->done)
        return false;
    uint32_t step = options->step_ms ? time_ms / options->step_ms : 0;
    if (options->step_ms && sampling->begun && step <= sampling->last_step)
        return false;
    sampling->begun = true;
    sampling->last_step = step;
    video->wanted_us = ((int64_t)step + 1) * options->step_ms * 1000;
    return true;
}

static enum doppel_status visit_video_frame(struct video *video, uint32_t time_ms,
                                            struct doppel_error *error)
{
    struct sampling *sampling = video->context;
    struct doppel_frame frame = {
        .time_ms = time_ms, .number = video->number - 1, .expected_ms = video->expected_ms};
    if (!is_wanted_video(video, sampling, time_ms))
        return DOPPEL_OK;
    enum doppel_status status =
        video_luma_take(&sampling->luma, video->frame, video->orientation, &frame.plane, error);
    if (status != DOPPEL_OK)
        return status;
    if (!video->info.width) {
        video->info.width = frame.plane.width;
        video->info.height = frame.plane.height;
    }
    if (!sampling->visitor(sampling->context, &frame))
        return doppel_fail(error, DOPPEL_E_CANCELLED, "was cancelled");
    return DOPPEL_OK;
}

enum doppel_status read_video(int fd, const struct doppel_frames_options *options,
                              doppel_frames_visitor *visitor, void *context,
                              struct doppel_frames_info *out_info, struct doppel_error *error)
{
    struct sampling sampling = {
        .visitor = visitor,
        .context = context,
        .luma = {.limits = &options->limits, .from_rgb = options->from_rgb}};
    struct video *video = calloc(1, sizeof *video);
    if (!video)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a video");
    video->options = *options;
    video->options.exact |= options->from_rgb;
    video->take = visit_video_frame;
    video->context = &sampling;
    enum doppel_status status = video_decode_file(video, fd, error);
    if (out_info && status == DOPPEL_OK)
        *out_info = video->info;
    else if (out_info && status == DOPPEL_E_FORMAT)
        out_info->has_audio = video->info.has_audio;
    video_luma_free(&sampling.luma);
    free(video);
    return status;
}
