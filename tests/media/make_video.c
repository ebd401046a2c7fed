/* Pictures that show their number, coded and put into containers by libavcodec and libavformat. */
#include "make_video.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

/* ---- pictures ---- */

enum { DARK = 60, BRIGHT = 190, LIMIT = 125 };

/* A strip a bit, brighter downwards, so that it is not flat. */
static void draw(AVFrame *grey, unsigned number)
{
    for (int y = 0; y < grey->height; y++)
        for (int x = 0; x < grey->width; x++) {
            int bit = x * VIDEO_BITS / grey->width;
            int level = number >> bit & 1 ? BRIGHT : DARK;
            grey->data[0][y * grey->linesize[0] + x] = (uint8_t)(level + 40 * y / grey->height);
        }
}

unsigned video_number(const struct doppel_plane *plane)
{
    unsigned number = 0;
    for (unsigned bit = 0; bit < VIDEO_BITS; bit++) {
        uint32_t x = (2 * bit + 1) * plane->width / (2 * VIDEO_BITS);
        const uint8_t *middle = plane->data + plane->height / 2 * plane->stride + x;
        number |= (unsigned)(*middle > LIMIT + 20) << bit;
    }
    return number;
}

static AVFrame *frame_new(int format, int width, int height)
{
    AVFrame *frame = av_frame_alloc();
    assert(frame);
    frame->format = format;
    frame->width = width;
    frame->height = height;
    int got = av_frame_get_buffer(frame, 0);
    assert(got >= 0);
    return frame;
}

/* ---- tracks ---- */

struct writer {
    const struct video_how *how;
    AVFormatContext *container;
    AVCodecContext *clip, *decoy, *cover, *audio;
    AVPacket *packet;
    struct SwsContext *scaler;
};

static void choose_image(AVCodecContext *context, const AVCodec *codec, const struct video_how *how)
{
    context->width = how->width ? (int)how->width : 160;
    context->height = how->height ? (int)how->height : 96;
    context->pix_fmt = how->pixel_format && codec->id != AV_CODEC_ID_PNG
                           ? av_get_pix_fmt(how->pixel_format)
                       : codec->pix_fmts ? codec->pix_fmts[0]
                                         : AV_PIX_FMT_YUV420P;
    int rate = how->rate ? (int)how->rate : 25;
    context->time_base = how->times_ms ? (AVRational){1, 1000} : (AVRational){1, rate};
    context->framerate = how->times_ms ? (AVRational){0, 1} : (AVRational){rate, 1};
    context->gop_size = how->keyframe_every ? how->keyframe_every : 12;
    context->max_b_frames = how->b_frames;
    context->bit_rate = 1000000;
    context->thread_count = 1;
}

static void choose_audio(AVCodecContext *context, const AVCodec *codec)
{
    context->sample_fmt = codec->sample_fmts[0];
    context->sample_rate = 48000;
    context->bit_rate = 64000;
    av_channel_layout_default(&context->ch_layout, 1);
}

/* NULL: the encoder is not there, or refuses. */
static AVCodecContext *add_track(struct writer *writer, const char *name, int disposition)
{
    const AVCodec *codec = avcodec_find_encoder_by_name(name);
    if (!codec)
        return NULL;
    AVCodecContext *context = avcodec_alloc_context3(codec);
    AVStream *track = avformat_new_stream(writer->container, NULL);
    if (codec->type == AVMEDIA_TYPE_AUDIO)
        choose_audio(context, codec);
    else
        choose_image(context, codec, writer->how);
    context->strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL;
    if (writer->container->oformat->flags & AVFMT_GLOBALHEADER)
        context->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    track->time_base = context->time_base;
    track->avg_frame_rate = context->framerate;
    track->disposition = disposition;
    if (avcodec_open2(context, codec, NULL) < 0)
        avcodec_free_context(&context);
    else
        avcodec_parameters_from_context(track->codecpar, context);
    return context;
}

static void show_turned(AVStream *track, const int32_t *matrix)
{
    size_t size = 9 * sizeof *matrix;
    uint8_t *data = av_stream_new_side_data(track, AV_PKT_DATA_DISPLAYMATRIX, size);
    assert(data);
    memcpy(data, matrix, size);
}

/* @return false: something of it is missing here */
static bool add_tracks(struct writer *writer)
{
    const struct video_how *how = writer->how;
    if (how->cover && !(writer->cover = add_track(writer, "png", AV_DISPOSITION_ATTACHED_PIC)))
        return false;
    if (how->decoy && !(writer->decoy = add_track(writer, how->codec, 0)))
        return false;
    writer->clip = add_track(writer, how->codec, how->decoy ? AV_DISPOSITION_DEFAULT : 0);
    if (!writer->clip)
        return false;
    if (how->matrix)
        show_turned(writer->container->streams[writer->container->nb_streams - 1], how->matrix);
    return !how->audio || (writer->audio = add_track(writer, "mp2", 0));
}

/* ---- writing ---- */

static void write_packets(struct writer *writer, AVCodecContext *codec, const AVFrame *frame,
                          unsigned index)
{
    int sent = avcodec_send_frame(codec, frame);
    assert(sent >= 0);
    while (avcodec_receive_packet(codec, writer->packet) >= 0) {
        AVRational base = writer->container->streams[index]->time_base;
        if (!writer->packet->duration && writer->how->rate)
            writer->packet->duration = 1;
        av_packet_rescale_ts(writer->packet, codec->time_base, base);
        writer->packet->stream_index = (int)index;
        int written = av_interleaved_write_frame(writer->container, writer->packet);
        assert(written >= 0);
    }
}

static void write_image(struct writer *writer, AVCodecContext *codec, unsigned index,
                        unsigned number, int64_t time)
{
    AVFrame *grey = frame_new(AV_PIX_FMT_GRAY8, codec->width, codec->height);
    AVFrame *frame = frame_new(codec->pix_fmt, codec->width, codec->height);
    draw(grey, number);
    writer->scaler =
        sws_getCachedContext(writer->scaler, grey->width, grey->height, grey->format, frame->width,
                             frame->height, frame->format, SWS_POINT, NULL, NULL, NULL);
    assert(writer->scaler);
    sws_scale(writer->scaler, (const uint8_t *const *)grey->data, grey->linesize, 0, grey->height,
              frame->data, frame->linesize);
    frame->pts = time;
    write_packets(writer, codec, frame, index);
    av_frame_free(&frame);
    av_frame_free(&grey);
}

static void write_silence(struct writer *writer, unsigned index, int64_t *written, double until)
{
    AVCodecContext *codec = writer->audio;
    while (codec && (double)*written < until * codec->sample_rate) {
        AVFrame *frame = av_frame_alloc();
        frame->format = codec->sample_fmt;
        frame->nb_samples = codec->frame_size;
        frame->sample_rate = codec->sample_rate;
        av_channel_layout_copy(&frame->ch_layout, &codec->ch_layout);
        int got = av_frame_get_buffer(frame, 0);
        assert(got >= 0);
        av_samples_set_silence(frame->extended_data, 0, frame->nb_samples, 1, frame->format);
        frame->pts = *written;
        write_packets(writer, codec, frame, index);
        *written += frame->nb_samples;
        av_frame_free(&frame);
    }
}

static void write_all(struct writer *writer)
{
    const struct video_how *how = writer->how;
    unsigned clip = (writer->cover ? 1u : 0) + (writer->decoy ? 1u : 0);
    int64_t samples = 0;
    if (writer->cover)
        write_image(writer, writer->cover, 0, 1, 0);
    for (unsigned i = 0; i < how->frames; i++) {
        int64_t time = how->times_ms ? how->times_ms[i] : i;
        if (writer->decoy)
            write_image(writer, writer->decoy, clip - 1, VIDEO_NUMBERS - 1 - i, time);
        write_image(writer, writer->clip, clip, i, time);
        write_silence(writer, clip + 1, &samples, (double)time * av_q2d(writer->clip->time_base));
    }
    write_packets(writer, writer->clip, NULL, clip);
    if (writer->decoy)
        write_packets(writer, writer->decoy, NULL, clip - 1);
    if (writer->audio)
        write_packets(writer, writer->audio, NULL, clip + 1);
}

static struct file read_all(int fd)
{
    struct stat status;
    fstat(fd, &status);
    struct file file = {malloc((size_t)status.st_size + 1), (size_t)status.st_size};
    ssize_t got = pread(fd, file.data, file.size, 0);
    assert(got == (ssize_t)file.size);
    return file;
}

/* Into a file in memory: muxers go back and complete their headers. */
static struct file write_file(struct writer *writer)
{
    struct file file = {0};
    AVDictionary *options = NULL;
    char path[64];
    int fd = file_open("", 0);
    snprintf(path, sizeof path, "file:/proc/self/fd/%d", fd);
    int opened = avio_open(&writer->container->pb, path, AVIO_FLAG_WRITE);
    assert(opened >= 0);
    writer->container->url = av_strdup(path); /* some muxers read what they wrote */
    if (writer->how->options)
        av_dict_parse_string(&options, writer->how->options, "=", ":", 0);
    writer->container->flags |= AVFMT_FLAG_BITEXACT;
    bool takes = avformat_write_header(writer->container, &options) >= 0;
    if (takes) {
        write_all(writer);
        av_write_trailer(writer->container);
    }
    av_dict_free(&options);
    avio_closep(&writer->container->pb);
    if (takes)
        file = read_all(fd);
    close(fd);
    return file;
}

struct file make_video(const struct video_how *how)
{
    struct file file = {0};
    struct writer writer = {.how = how, .packet = av_packet_alloc()};
    av_log_set_level(AV_LOG_QUIET);
    assert(how->frames <= VIDEO_NUMBERS);
    avformat_alloc_output_context2(&writer.container, NULL, how->muxer, NULL);
    if (writer.container && add_tracks(&writer))
        file = write_file(&writer);
    avcodec_free_context(&writer.clip);
    avcodec_free_context(&writer.decoy);
    avcodec_free_context(&writer.cover);
    avcodec_free_context(&writer.audio);
    avformat_free_context(writer.container);
    sws_freeContext(writer.scaler);
    av_packet_free(&writer.packet);
    return file;
}
