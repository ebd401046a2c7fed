/* The frame that a film shows at a time, small, in colour and upright, as a PNG. */
#include <stdlib.h>

#include <png.h>

#include <libavutil/imgutils.h>

#include "media/film.h"
#include "media/readers.h"

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

/* ---- its pixels ---- */

struct size {
    uint32_t width, height;
};

/* As shown, but for the orientation: pixels need not be square. */
static struct size size_of(const AVFrame *frame, AVRational pixel, uint32_t longest)
{
    double width = frame->width, height = frame->height;
    if (pixel.num > 0 && pixel.den > 0)
        width *= av_q2d(pixel);
    double scale = longest / (width > height ? width : height);
    uint32_t across = (uint32_t)(width * scale + .5), down = (uint32_t)(height * scale + .5);
    return (struct size){across ? across : 1, down ? down : 1};
}

static void choose_colours(struct SwsContext *scaler, const AVFrame *frame)
{
    /* Who does not tell means BT.709 of high definition, BT.601 of less. */
    int space = frame->colorspace;
    if (space == AVCOL_SPC_UNSPECIFIED)
        space = frame->height > 576 ? SWS_CS_ITU709 : SWS_CS_ITU601;
    int *from, *to, from_range, to_range, brightness, contrast, saturation;
    if (sws_getColorspaceDetails(scaler, &from, &from_range, &to, &to_range, &brightness, &contrast,
                                 &saturation) < 0)
        return;
    if (frame->color_range == AVCOL_RANGE_JPEG)
        from_range = 1;
    sws_setColorspaceDetails(scaler, sws_getCoefficients(space), from_range, to, to_range,
                             brightness, contrast, saturation);
}

/* Planes of green, blue and red, rows without a gap. */
static enum doppel_status scale(const AVFrame *frame, struct size size, uint8_t *planes[4],
                                int strides[4], struct doppel_error *error)
{
    struct SwsContext *scaler = sws_getContext(frame->width, frame->height, frame->format,
                                               (int)size.width, (int)size.height, AV_PIX_FMT_GBRP,
                                               SWS_AREA | SWS_ACCURATE_RND, NULL, NULL, NULL);
    if (!scaler)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "holds pixels of a kind not known here");
    choose_colours(scaler, frame);
    sws_scale(scaler, (const uint8_t *const *)frame->data, frame->linesize, 0, frame->height,
              planes, strides);
    sws_freeContext(scaler);
    return DOPPEL_OK;
}

/* @param pixels room for three bytes a pixel: RGB, upright */
static void interleave(uint8_t *const planes[4], const int strides[4], struct size *size,
                       unsigned orientation, uint8_t *turned, uint8_t *pixels)
{
    static const int place[] = {1, 2, 0};
    size_t count = (size_t)size->width * size->height;
    for (int i = 0; i < 3; i++) {
        struct doppel_plane plane = {planes[i], size->width, size->height, (size_t)strides[i]};
        orientation_turn(&plane, orientation, turned);
        for (size_t k = 0; k < count; k++)
            pixels[3 * k + (size_t)place[i]] = turned[k];
    }
    if (orientation >= 5)
        *size = (struct size){size->height, size->width};
}

static enum doppel_status write_png(const uint8_t *pixels, struct size size, uint8_t **out,
                                    size_t *out_size, struct doppel_error *error)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = size.width,
                       .height = size.height,
                       .format = PNG_FORMAT_RGB};
    png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(image);
    uint8_t *png = malloc(bytes);
    if (!png || !png_image_write_to_memory(&image, png, &bytes, 0, pixels, 0, NULL)) {
        free(png);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a thumbnail");
    }
    *out = png;
    *out_size = bytes;
    return DOPPEL_OK;
}

static enum doppel_status draw(const struct film *film, const AVFrame *frame, uint32_t longest,
                               uint8_t **out, size_t *out_size, struct doppel_error *error)
{
    AVRational pixel = film->pixel.num > 0 ? film->pixel : frame->sample_aspect_ratio;
    struct size size = size_of(frame, pixel, longest);
    size_t count = (size_t)size.width * size.height;
    uint8_t *planes[4] = {0}, *rest = malloc(4 * count);
    int strides[4];
    enum doppel_status status = DOPPEL_OK;
    if (!rest ||
        av_image_alloc(planes, strides, (int)size.width, (int)size.height, AV_PIX_FMT_GBRP, 32) < 0)
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a thumbnail");
    if (status == DOPPEL_OK)
        status = scale(frame, size, planes, strides, error);
    if (status == DOPPEL_OK) {
        unsigned orientation = film_orientation(frame, film->orientation);
        interleave(planes, strides, &size, orientation, rest + 3 * count, rest);
        status = write_png(rest, size, out, out_size, error);
    }
    av_freep(&planes[0]);
    free(rest);
    return status;
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
    if (status == DOPPEL_OK)
        status = draw(film, shown.frame, longest, out, out_size, error);
    av_frame_free(&shown.frame); /* before the film, which counts what frames hold */
    free(film);
    return status;
}
