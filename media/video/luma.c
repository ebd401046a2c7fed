/* From a frame of a video to luma, upright: the decoder's own plane where it is one of 8 bits. */
#include "media/video/video.h"

#include <stdlib.h>
#include <string.h>

#include <libavutil/pixdesc.h>

#include "media/images/rgb.h"

enum { ROW_ALIGNMENT = 32 }; /* what libswscale likes */

/* ---- which way is up ---- */

/* The steps on the screen of a step to the right, (a, b), and of one down, (c, d), in the frame.
 * Source: ISO/IEC 14496-12, 6.2.2. */
static unsigned orientation_of(const int32_t *matrix)
{
    int64_t a = matrix[0], b = matrix[1], c = matrix[3], d = matrix[4];
    bool transposed = llabs(a) + llabs(d) < llabs(b) + llabs(c);
    if (transposed)
        return b >= 0 ? (c >= 0 ? 5 : 6) : c >= 0 ? 8 : 7;
    return a >= 0 ? (d >= 0 ? 1 : 4) : d >= 0 ? 2 : 3;
}

unsigned video_orientation(const AVFrame *frame, unsigned of_track)
{
    const AVFrameSideData *side = av_frame_get_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX);
    if (!side || side->size < 9 * sizeof(int32_t))
        return of_track;
    return orientation_of((const int32_t *)(const void *)side->data);
}

unsigned video_orientation_of_track(const AVStream *track)
{
    size_t size = 0;
    const uint8_t *data = av_stream_get_side_data(track, AV_PKT_DATA_DISPLAYMATRIX, &size);
    if (!data || size < 9 * sizeof(int32_t))
        return 1;
    return orientation_of((const int32_t *)(const void *)data);
}

/* ---- samples ---- */

/* Whether the first component is luma, in samples of one byte, or two as this machine has them. */
static bool has_luma(const AVPixFmtDescriptor *format)
{
    const uint64_t others = AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_FLOAT |
                            AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BAYER |
                            AV_PIX_FMT_FLAG_BITSTREAM;
    const AVComponentDescriptor *luma = &format->comp[0];
    bool is_big = format->flags & AV_PIX_FMT_FLAG_BE;
    return !(format->flags & others) && luma->depth >= 8 && luma->plane == 0 &&
           (luma->depth == 8 ? luma->shift == 0 : is_big == (bool)AV_HAVE_BIGENDIAN);
}

static bool is_plane(const AVFrame *frame, const AVPixFmtDescriptor *format)
{
    const AVComponentDescriptor *luma = &format->comp[0];
    return luma->depth == 8 && luma->step == 1 && luma->offset == 0 &&
           frame->linesize[0] >= frame->width;
}

static enum doppel_status make_room_for_luma(const struct video_luma *luma, size_t bytes,
                                             uint8_t **buffer, size_t *room,
                                             struct doppel_error *error)
{
    if (bytes <= *room)
        return DOPPEL_OK;
    enum doppel_status status = check_memory(luma->limits, bytes, error);
    if (status != DOPPEL_OK)
        return status;
    free(*buffer);
    *room = 0;
    *buffer = aligned_alloc(ROW_ALIGNMENT, bytes);
    if (!*buffer)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a frame");
    *room = bytes;
    return DOPPEL_OK;
}

static void copy_row(const uint8_t *in, const AVComponentDescriptor *luma, int width, uint8_t *out)
{
    int drop = luma->shift + luma->depth - 8;
    in += luma->offset;
    if (luma->depth == 8)
        for (int x = 0; x < width; x++, in += luma->step)
            out[x] = *in;
    else
        for (int x = 0; x < width; x++, in += luma->step) {
            uint16_t wide;
            memcpy(&wide, in, sizeof wide);
            out[x] = (uint8_t)(wide >> drop);
        }
}

/* Colours, and whatever else: through libswscale. */
static enum doppel_status scale_luma(struct video_luma *luma, const AVFrame *frame, size_t stride,
                                     struct doppel_error *error)
{
    enum AVPixelFormat wanted = luma->from_rgb ? AV_PIX_FMT_RGB24 : AV_PIX_FMT_GRAY8;
    luma->scaler =
        sws_getCachedContext(luma->scaler, frame->width, frame->height, frame->format, frame->width,
                             frame->height, wanted, SWS_POINT | SWS_ACCURATE_RND, NULL, NULL, NULL);
    if (!luma->scaler)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "holds pixels of a kind not known here (%s)",
                           av_get_pix_fmt_name(frame->format));
    uint8_t *planes[4] = {luma->converted};
    int strides[4] = {(int)stride};
    sws_scale(luma->scaler, (const uint8_t *const *)frame->data, frame->linesize, 0, frame->height,
              planes, strides);
    for (int y = 0; luma->from_rgb && y < frame->height; y++) {
        uint8_t *row = luma->converted + (size_t)y * stride;
        luma_row(row, (size_t)frame->width, 3, true, row);
    }
    return DOPPEL_OK;
}

static enum doppel_status convert_to_luma(struct video_luma *luma, const AVFrame *frame,
                                          const AVPixFmtDescriptor *format,
                                          struct doppel_plane *out, struct doppel_error *error)
{
    size_t channels = luma->from_rgb ? 3 : 1;
    size_t stride = ((size_t)frame->width * channels + ROW_ALIGNMENT) / ROW_ALIGNMENT;
    stride *= ROW_ALIGNMENT;
    /* One row more: libswscale may write past the end of a row. */
    enum doppel_status status = make_room_for_luma(luma, stride * ((size_t)frame->height + 1),
                                                   &luma->converted, &luma->converted_room, error);
    if (status == DOPPEL_OK && !luma->from_rgb && has_luma(format))
        for (int y = 0; y < frame->height; y++)
            copy_row(frame->data[0] + (ptrdiff_t)y * frame->linesize[0], &format->comp[0],
                     frame->width, luma->converted + (size_t)y * stride);
    else if (status == DOPPEL_OK)
        status = scale_luma(luma, frame, stride, error);
    if (status == DOPPEL_OK)
        *out = (struct doppel_plane){luma->converted, (uint32_t)frame->width,
                                     (uint32_t)frame->height, stride};
    return status;
}

static enum doppel_status turn_luma_plane(struct video_luma *luma, unsigned orientation,
                                          struct doppel_plane *plane, struct doppel_error *error)
{
    size_t bytes = (size_t)plane->width * plane->height + ROW_ALIGNMENT - 1;
    bytes -= bytes % ROW_ALIGNMENT;
    enum doppel_status status =
        make_room_for_luma(luma, bytes, &luma->turned, &luma->turned_room, error);
    if (status != DOPPEL_OK)
        return status;
    orientation_turn(plane, orientation, luma->turned);
    bool transposed = orientation >= 5;
    uint32_t width = transposed ? plane->height : plane->width;
    uint32_t height = transposed ? plane->width : plane->height;
    *plane = (struct doppel_plane){luma->turned, width, height, width};
    return DOPPEL_OK;
}

enum doppel_status video_luma_take(struct video_luma *luma, const AVFrame *frame, unsigned of_track,
                                   struct doppel_plane *out, struct doppel_error *error)
{
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(frame->format);
    if (!format || (format->flags & AV_PIX_FMT_FLAG_HWACCEL))
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "holds pixels of a kind not known here (%s)",
                           format ? format->name : "none");
    struct doppel_plane plane = {frame->data[0], (uint32_t)frame->width, (uint32_t)frame->height,
                                 (size_t)frame->linesize[0]};
    enum doppel_status status = DOPPEL_OK;
    if (luma->from_rgb || !has_luma(format) || !is_plane(frame, format))
        status = convert_to_luma(luma, frame, format, &plane, error);
    unsigned orientation = video_orientation(frame, of_track);
    if (status == DOPPEL_OK && orientation > 1)
        status = turn_luma_plane(luma, orientation, &plane, error);
    if (status == DOPPEL_OK)
        *out = plane;
    return status;
}

void video_luma_free(struct video_luma *luma)
{
    sws_freeContext(luma->scaler);
    free(luma->converted);
    free(luma->turned);
    *luma = (struct video_luma){0};
}
