/* WebP files, through libwebp. */
#include "make.h"

#include <assert.h>
#include <string.h>

#include <webp/encode.h>
#include <webp/mux.h>

static struct file encode(const struct scene *scene, bool lossless)
{
    struct file file = {0};
    uint8_t *data = NULL;
    int width = (int)scene->width, height = (int)scene->height;
    size_t size = lossless ? WebPEncodeLosslessRGBA(scene->rgba, width, height, width * 4, &data)
                           : WebPEncodeRGBA(scene->rgba, width, height, width * 4, 90, &data);
    assert(size);
    file_append(&file, data, size);
    WebPFree(data);
    return file;
}

/* The scene is the first of two frames, 20 pixels right of and 10 below the corner of a canvas that
 * is 30 wider and higher. */
static void add_frames(WebPMux *mux, const struct scene *scene, const WebPData *still)
{
    WebPMuxFrameInfo frame = {.bitstream = *still,
                              .x_offset = 20,
                              .y_offset = 10,
                              .duration = 100,
                              .id = WEBP_CHUNK_ANMF};
    WebPMuxSetCanvasSize(mux, (int)scene->width + 30, (int)scene->height + 30);
    WebPMuxAnimParams parameters = {.bgcolor = 0xff000000};
    WebPMuxSetAnimationParams(mux, &parameters);
    WebPMuxPushFrame(mux, &frame, 1);
    frame.x_offset = frame.y_offset = 0;
    WebPMuxPushFrame(mux, &frame, 1);
}

struct file make_webp(const struct scene *scene, const struct webp_how *how)
{
    struct file still = encode(scene, how->lossless);
    if (!how->animated && !how->orientation)
        return still;
    WebPMux *mux = WebPMuxNew();
    WebPData data = {still.data, still.size}, whole;
    if (how->animated)
        add_frames(mux, scene, &data);
    else
        WebPMuxSetImage(mux, &data, 1);
    uint8_t exif[EXIF_BYTES];
    exif_make(how->orientation, false, exif);
    WebPData chunk = {exif, sizeof exif};
    if (how->orientation)
        WebPMuxSetChunk(mux, "EXIF", &chunk, 1);
    WebPMuxError code = WebPMuxAssemble(mux, &whole);
    assert(code == WEBP_MUX_OK);
    (void)code;
    file_free(&still);
    file_append(&still, whole.bytes, whole.size);
    WebPDataClear(&whole);
    WebPMuxDelete(mux);
    return still;
}
