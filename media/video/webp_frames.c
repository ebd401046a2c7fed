/* An animated WebP as a short video, through libwebp: FFmpeg reads its first frame alone. */
#include "media/video/webp_frames.h"

#include <stdlib.h>
#include <string.h>

#include <webp/demux.h>

#include "core/try.h"
#include "media/decode.h"
#include "media/images/rgb.h"

struct webp_frames {
    struct input input;
    const struct doppel_frames_options *options;
    uint8_t *file;
    size_t size;
    WebPAnimDecoder *decoder;
    WebPAnimInfo info;
    uint8_t *luma;
    bool begun;
    uint32_t last_step;
};

bool is_animated_webp(int fd)
{
    uint8_t head[32];
    struct input input = {.fd = fd, .size = sizeof head};
    size_t size = input_read_at(&input, 0, head, sizeof head);
    return size > 12 && !memcmp(head + 8, "WEBP", 4) && doppel_media_is_animated(head, size);
}

static enum doppel_status open_webp_frames(struct webp_frames *webp, int fd,
                                           struct doppel_error *error)
{
    const struct doppel_media_limits *limits = &webp->options->limits;
    WebPAnimDecoderOptions wanted;
    enum doppel_status status;
    TRY(input_open(&webp->input, fd, limits, error));
    TRY(check_memory(limits, webp->input.size, error));
    TRY(input_load(&webp->input, webp->input.size, 0, &webp->file, &webp->size, error));
    /* Its head has the sides of the canvas, less one, in 24 bits each: looked at before libwebp
     * makes room for it. */
    const uint8_t *sides = webp->file + 24;
    if (webp->size < 30)
        TRY(doppel_fail(error, DOPPEL_E_CORRUPT, "the WebP is damaged (no header)"));
    uint64_t width = 1 + ((uint64_t)sides[0] | (uint64_t)sides[1] << 8 | (uint64_t)sides[2] << 16);
    uint64_t height = 1 + ((uint64_t)sides[3] | (uint64_t)sides[4] << 8 | (uint64_t)sides[5] << 16);
    TRY(check_pixels(limits, width, height, error));
    /* The canvas, the one before it, a frame as decoded; and its luma. */
    TRY(check_memory(limits, webp->size + width * height * 13, error));
    const WebPData data = {webp->file, webp->size};
    WebPAnimDecoderOptionsInit(&wanted);
    wanted.color_mode = MODE_RGBA;
    webp->decoder = WebPAnimDecoderNew(&data, &wanted);
    if (!webp->decoder || !WebPAnimDecoderGetInfo(webp->decoder, &webp->info))
        TRY(doppel_fail(error, DOPPEL_E_CORRUPT, "the WebP is damaged (no frames in it)"));
    webp->luma = malloc((size_t)webp->info.canvas_width * webp->info.canvas_height);
    if (!webp->luma)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a frame"));
done:
    return status;
}

static bool wants_webp_frame(struct webp_frames *webp, uint32_t time_ms)
{
    const struct doppel_frames_options *options = webp->options;
    uint32_t step = options->step_ms ? time_ms / options->step_ms : 0;
    if (time_ms < options->from_ms || (options->to_ms && time_ms >= options->to_ms))
        return false;
    if (options->step_ms && webp->begun && step <= webp->last_step)
        return false;
    webp->begun = true;
    webp->last_step = step;
    return true;
}

static struct doppel_plane webp_plane(struct webp_frames *webp, const uint8_t *canvas)
{
    uint32_t width = webp->info.canvas_width, height = webp->info.canvas_height;
    for (uint32_t y = 0; y < height; y++)
        luma_row(canvas + (size_t)4 * y * width, width, 4, webp->options->from_rgb,
                 webp->luma + (size_t)y * width);
    return (struct doppel_plane){webp->luma, width, height, width};
}

/* What breaks off counts as far as it goes. */
static enum doppel_status visit_webp_frames(struct webp_frames *webp,
                                            doppel_frames_visitor *visitor, void *context,
                                            struct doppel_frames_info *info,
                                            struct doppel_error *error)
{
    uint8_t *canvas;
    int end_ms = 0, begin_ms = 0;
    uint64_t number = 0;
    double most_ms = webp->options->max_seconds * 1000;
    while (WebPAnimDecoderHasMoreFrames(webp->decoder)) {
        if (!WebPAnimDecoderGetNext(webp->decoder, &canvas, &end_ms) || end_ms < begin_ms) {
            info->damaged_ms = (uint64_t)begin_ms;
            break;
        }
        if (most_ms > 0 && begin_ms >= most_ms)
            return doppel_fail(error, DOPPEL_E_LIMIT, "is longer than %g s (--max-seconds)",
                               webp->options->max_seconds);
        struct doppel_frame frame = {.time_ms = (uint32_t)begin_ms, .number = number++};
        if (wants_webp_frame(webp, frame.time_ms)) {
            frame.plane = webp_plane(webp, canvas);
            if (!visitor(context, &frame))
                return doppel_fail(error, DOPPEL_E_CANCELLED, "was cancelled");
        }
        begin_ms = end_ms;
    }
    info->duration_ms = (uint64_t)begin_ms;
    return number ? DOPPEL_OK
                  : doppel_fail(error, DOPPEL_E_CORRUPT, "the WebP is damaged (no frame is whole)");
}

enum doppel_status read_webp_frames(int fd, const struct doppel_frames_options *options,
                                    doppel_frames_visitor *visitor, void *context,
                                    struct doppel_frames_info *out_info, struct doppel_error *error)
{
    struct webp_frames *webp = calloc(1, sizeof *webp);
    struct doppel_frames_info info = {0};
    enum doppel_status status;
    if (!webp)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a WebP");
    webp->options = options;
    TRY(open_webp_frames(webp, fd, error));
    TRY(visit_webp_frames(webp, visitor, context, &info, error));
    info.width = webp->info.canvas_width;
    info.height = webp->info.canvas_height;
    if (out_info)
        *out_info = info;
done:
    WebPAnimDecoderDelete(webp->decoder);
    free(webp->luma);
    free(webp->file);
    free(webp);
    return status;
}
