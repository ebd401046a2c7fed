/* GIF, BMP, TIFF, TGA and JPEG XL files, through libavcodec's encoders. */
#include "make.h"

#include <assert.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

struct usual {
    enum doppel_format format;
    enum AVCodecID codec;
    const char *pixel_format;
};

static const struct usual usuals[] = {
    {DOPPEL_FORMAT_GIF, AV_CODEC_ID_GIF, "rgb8"},
    {DOPPEL_FORMAT_BMP, AV_CODEC_ID_BMP, "bgr24"},
    {DOPPEL_FORMAT_TIFF, AV_CODEC_ID_TIFF, "rgb24"},
    {DOPPEL_FORMAT_TGA, AV_CODEC_ID_TARGA, "bgr24"},
    {DOPPEL_FORMAT_JXL, AV_CODEC_ID_JPEGXL, "rgb24"},
};

static AVFrame *frame_of(const struct scene *scene, enum AVPixelFormat format)
{
    int width = (int)scene->width, height = (int)scene->height;
    AVFrame *frame = av_frame_alloc();
    frame->format = format;
    frame->width = width;
    frame->height = height;
    int code = av_frame_get_buffer(frame, 0);
    assert(code >= 0);
    struct SwsContext *converter =
        sws_getContext(width, height, AV_PIX_FMT_RGBA, width, height, format,
                       SWS_POINT | SWS_ACCURATE_RND, NULL, NULL, NULL);
    const uint8_t *rows[4] = {scene->rgba};
    int strides[4] = {width * 4};
    code = sws_scale(converter, rows, strides, 0, height, frame->data, frame->linesize);
    assert(code == height);
    (void)code;
    sws_freeContext(converter);
    return frame;
}

static void encode(AVCodecContext *codec, AVFrame *frame, struct file *file)
{
    AVPacket *packet = av_packet_alloc();
    avcodec_send_frame(codec, frame);
    avcodec_send_frame(codec, NULL);
    while (avcodec_receive_packet(codec, packet) >= 0) {
        file_append(file, packet->data, (size_t)packet->size);
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
}

struct file make_lavc(const struct scene *scene, enum doppel_format format,
                      const char *pixel_format)
{
    struct file file = {0};
    const struct usual *usual = usuals;
    while (usual->format != format)
        usual++;
    const AVCodec *encoder = avcodec_find_encoder(usual->codec);
    if (!encoder)
        return file;
    AVFrame *frame =
        frame_of(scene, av_get_pix_fmt(pixel_format ? pixel_format : usual->pixel_format));
    AVCodecContext *codec = avcodec_alloc_context3(encoder);
    codec->width = frame->width;
    codec->height = frame->height;
    codec->pix_fmt = frame->format;
    codec->time_base = (AVRational){1, 25};
    codec->thread_count = 1;
    if (avcodec_open2(codec, encoder, NULL) >= 0)
        encode(codec, frame, &file);
    avcodec_free_context(&codec);
    av_frame_free(&frame);
    return file;
}
