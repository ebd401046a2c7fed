/* A frame of libavcodec to a thumbnail: small, in colour and upright. */
#include "media/thumbnail/frame.h"

#include <stdlib.h>

#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

#include "media/images/rgb.h"
#include "media/thumbnail/thumbnail.h"

struct size {
    uint32_t width, height;
};

/* As shown, but for the orientation: pixels need not be square. */
static struct size thumbnail_frame_size(const AVFrame *frame, const struct frame_shape *shape)
{
    double width = frame->width, height = frame->height;
    if (shape->pixel.num > 0 && shape->pixel.den > 0)
        width *= av_q2d(shape->pixel);
    double scale = shape->longest / (width > height ? width : height);
    scale = scale < 1 ? scale : 1;
    uint32_t across = (uint32_t)(width * scale + .5), down = (uint32_t)(height * scale + .5);
    return (struct size){across ? across : 1, down ? down : 1};
}

static void choose_colours_SwsContext(struct SwsContext *scaler, const AVFrame *frame)
{
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(frame->format);
    if (!format || format->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL))
        return;
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

/* Planes of green, blue, red and alpha. */
static enum doppel_status scale_frame(const AVFrame *frame, struct size size, uint8_t *planes[4],
                                      int strides[4], struct doppel_error *error)
{
    struct SwsContext *scaler = sws_getContext(frame->width, frame->height, frame->format,
                                               (int)size.width, (int)size.height, AV_PIX_FMT_GBRAP,
                                               SWS_AREA | SWS_ACCURATE_RND, NULL, NULL, NULL);
    if (!scaler)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "holds pixels of a kind not known here");
    choose_colours_SwsContext(scaler, frame);
    sws_scale(scaler, (const uint8_t *const *)frame->data, frame->linesize, 0, frame->height,
              planes, strides);
    sws_freeContext(scaler);
    return DOPPEL_OK;
}

/* One component, upright and over white, to its place among three. @param alpha NULL: opaque
 * @param turned room for two planes */
static void interleave(struct doppel_plane plane, const uint8_t *alpha, unsigned orientation,
                       uint8_t *turned, uint8_t *pixels)
{
    size_t count = (size_t)plane.width * plane.height;
    struct doppel_plane opacity = {alpha, plane.width, plane.height, plane.stride};
    orientation_turn(&plane, orientation, turned);
    if (alpha)
        orientation_turn(&opacity, orientation, turned + count);
    for (size_t k = 0; k < count; k++)
        pixels[3 * k] = alpha ? over_white(turned[k], turned[count + k]) : turned[k];
}

enum doppel_status thumbnail_of_frame(const AVFrame *frame, const struct frame_shape *shape,
                                      uint8_t **out, size_t *out_size, struct doppel_error *error)
{
    static const int place[] = {1, 2, 0};
    struct size size = thumbnail_frame_size(frame, shape);
    size_t count = (size_t)size.width * size.height;
    uint8_t *planes[4] = {0}, *pixels = malloc(5 * count);
    int strides[4];
    enum doppel_status status = DOPPEL_OK;
    if (!pixels || av_image_alloc(planes, strides, (int)size.width, (int)size.height,
                                  AV_PIX_FMT_GBRAP, 32) < 0)
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a thumbnail");
    if (status == DOPPEL_OK)
        status = scale_frame(frame, size, planes, strides, error);
    if (status == DOPPEL_OK) {
        bool across = shape->orientation >= 5;
        for (int i = 0; i < 3; i++)
            interleave(
                (struct doppel_plane){planes[i], size.width, size.height, (size_t)strides[i]},
                shape->opaque ? NULL : planes[3], shape->orientation, pixels + 3 * count,
                pixels + place[i]);
        struct thumbnail thumbnail = {pixels, across ? size.height : size.width,
                                      across ? size.width : size.height, 3};
        status = thumbnail_write(&thumbnail, out, out_size, error);
    }
    av_freep(&planes[0]);
    free(pixels);
    return status;
}
