/* The frame that a film shows at a time, small, in colour and upright, as a JPEG. */
#include <stdlib.h>

#include "media/film.h"
#include "media/readers.h"
#include "media/thumbnail_frame.h"

/* ---- the frame that is shown ---- */

struct shown {
    AVFrame *frame;
    uint32_t time_ms;
};

/* Frames come until one begins too late. */
static enum doppel_status keep(struct film *film, uint32_t time_ms, struct doppel_error *error)
{
    struct shown *shown = film->context;
    film->done = time_ms > shown->time_ms;
    if (film->done && shown->frame->buf[0])
        return DOPPEL_OK;
    av_frame_unref(shown->frame);
    if (av_frame_ref(shown->frame, film->frame) < 0)
        return container_fail(&film->container, AVERROR(ENOMEM), error);
    return DOPPEL_OK;
}

static AVRational shape_of_pixel(const struct film *film, const AVFrame *frame)
{
    return film->pixel.num > 0 ? film->pixel : frame->sample_aspect_ratio;
}

enum doppel_status read_thumbnail(int fd, uint32_t time_ms, uint32_t longest, uint8_t **out,
                                  size_t *out_size, struct doppel_error *error)
{
    struct film *film = calloc(1, sizeof *film);
    struct shown shown = {av_frame_alloc(), time_ms};
    enum doppel_status status = DOPPEL_E_MEMORY;
    if (!film || !shown.frame) {
        doppel_fail(error, status, "no memory to read a film");
    } else {
        film->options = doppel_frames_options_default();
        film->options.step_ms = 0;
        film->options.exact = true;
        film->options.from_ms = time_ms;
        film->take = keep;
        film->context = &shown;
        status = film_read(film, fd, error);
    }
    if (status == DOPPEL_OK && !shown.frame->buf[0])
        status = doppel_fail(error, DOPPEL_E_CORRUPT, "is damaged: nothing to show at %.1f s",
                             time_ms / 1000.);
    if (status == DOPPEL_OK) {
        struct frame_shape shape = {
            .pixel = shape_of_pixel(film, shown.frame),
            .orientation = film_orientation(shown.frame, film->orientation),
            .longest = longest,
        };
        status = thumbnail_of_frame(shown.frame, &shape, out, out_size, error);
    }
    av_frame_free(&shown.frame); /* before the film, which counts what frames hold */
    free(film);
    return status;
}
