/* The pictures of a film through FFmpeg, from opening to closing, and which of them are visited. */
#include "media/film.h"

#include <stdlib.h>

#include "media/readers.h"

static void close_all(struct film *film)
{
    film_group_free(&film->group);
    av_frame_free(&film->frame);
    av_packet_free(&film->packet);
    avcodec_free_context(&film->codec);
    container_close(&film->container);
}

enum doppel_status film_read(struct film *film, int fd, struct doppel_error *error)
{
    av_log_set_level(AV_LOG_QUIET);
    film->container.holds = "film";
    film->passed_us = film->group.alone_us = film->read_us = INT64_MIN;
    enum doppel_status status = container_begin(&film->container, fd, &film->options.limits, error);
    if (status == DOPPEL_OK)
        status = film_open(film, error);
    if (status == DOPPEL_OK)
        status = film_decode(film, error);
    if (status == DOPPEL_OK)
        status = container_check_source(&film->container, error);
    close_all(film);
    return status;
}

/* ---- the frames that are visited ---- */

struct sampling {
    doppel_frames_visitor *visitor;
    void *context;
    struct film_luma luma;
    bool begun;
    uint32_t last_step;
};

static bool is_wanted(struct film *film, struct sampling *sampling, uint32_t time_ms)
{
    const struct doppel_frames_options *options = &film->options;
    if (options->to_ms && time_ms >= options->to_ms)
        film->done = true;
    if (time_ms < options->from_ms || film->done)
        return false;
    uint32_t step = options->step_ms ? time_ms / options->step_ms : 0;
    if (options->step_ms && sampling->begun && step <= sampling->last_step)
        return false;
    sampling->begun = true;
    sampling->last_step = step;
    film->wanted_us = ((int64_t)step + 1) * options->step_ms * 1000;
    return true;
}

static enum doppel_status visit(struct film *film, uint32_t time_ms, struct doppel_error *error)
{
    struct sampling *sampling = film->context;
    struct doppel_frame frame = {
        .time_ms = time_ms, .number = film->number - 1, .expected_ms = film->expected_ms};
    if (!is_wanted(film, sampling, time_ms))
        return DOPPEL_OK;
    enum doppel_status status =
        film_luma_take(&sampling->luma, film->frame, film->orientation, &frame.plane, error);
    if (status != DOPPEL_OK)
        return status;
    if (!film->info.width) {
        film->info.width = frame.plane.width;
        film->info.height = frame.plane.height;
    }
    if (!sampling->visitor(sampling->context, &frame))
        return doppel_fail(error, DOPPEL_E_CANCELLED, "was cancelled");
    return DOPPEL_OK;
}

enum doppel_status read_film(int fd, const struct doppel_frames_options *options,
                             doppel_frames_visitor *visitor, void *context,
                             struct doppel_frames_info *out_info, struct doppel_error *error)
{
    struct sampling sampling = {
        .visitor = visitor,
        .context = context,
        .luma = {.limits = &options->limits, .from_rgb = options->from_rgb}};
    struct film *film = calloc(1, sizeof *film);
    if (!film)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a film");
    film->options = *options;
    film->options.exact |= options->from_rgb;
    film->take = visit;
    film->context = &sampling;
    enum doppel_status status = film_read(film, fd, error);
    if (out_info && status == DOPPEL_OK)
        *out_info = film->info;
    else if (out_info && status == DOPPEL_E_FORMAT)
        out_info->has_sound = film->info.has_sound;
    film_luma_free(&sampling.luma);
    free(film);
    return status;
}
