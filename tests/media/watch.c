/* Watching videos in memory: through doppel, and by a plain loop over FFmpeg. */
#include "watch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

static void remember(struct watched *watched, const struct doppel_plane *plane, uint32_t time_ms,
                     uint64_t number)
{
    watched->seen = realloc(watched->seen, (watched->count + 1) * sizeof *watched->seen);
    assert(watched->seen);
    struct image_seen *seen = &watched->seen[watched->count++];
    *seen = (struct image_seen){
        time_ms, plane->width,        plane->height,
        number,  video_number(plane), malloc((size_t)plane->width * plane->height)};
    for (uint32_t y = 0; y < plane->height; y++)
        memcpy(seen->pixels + (size_t)y * plane->width, plane->data + y * plane->stride,
               plane->width);
}

/* ---- doppel ---- */

static bool see(void *context, const struct doppel_frame *frame)
{
    struct watched *watched = context;
    if (watched->count)
        assert_true(frame->time_ms >= watched->seen[watched->count - 1].time_ms);
    remember(watched, &frame->plane, frame->time_ms, frame->number);
    watched->expected_ms = frame->expected_ms;
    return true;
}

struct watched watch(const struct file *file, const struct doppel_frames_options *options)
{
    struct watched watched = {.info.width = 77};
    int fd = file_open(file->data, file->size);
    watched.status =
        doppel_media_read_frames(fd, options, see, &watched, &watched.info, &watched.error);
    close(fd);
    if (watched.status != DOPPEL_OK) {
        assert_int_equal(watched.info.width, 77); /* untouched on failure */
        assert_true(watched.error.message[0]);
    }
    return watched;
}

struct watched watch_good(const struct file *file, const struct doppel_frames_options *options)
{
    struct watched watched = watch(file, options);
    if (watched.status != DOPPEL_OK)
        fail_msg("%s", watched.error.message);
    return watched;
}

void watched_free(struct watched *watched)
{
    for (size_t i = 0; i < watched->count; i++)
        free(watched->seen[i].pixels);
    free(watched->seen);
    *watched = (struct watched){0};
}

struct doppel_frames_options every_frame(void)
{
    struct doppel_frames_options options = doppel_frames_options_default();
    options.step_ms = 0;
    options.exact = true;
    return options;
}

void assert_not_watched(struct file file, const struct doppel_frames_options *options,
                        enum doppel_status status, const char *words)
{
    struct watched watched = watch(&file, options);
    if (watched.status != status || !strstr(watched.error.message, words))
        fail_msg("%s (%s) instead of %s (%s)", doppel_status_name(watched.status),
                 watched.error.message, doppel_status_name(status), words);
    watched_free(&watched);
    file_free(&file);
}

/* ---- the plain loop ---- */

struct plain {
    AVCodecContext *codec;
    AVFrame *frame;
    int64_t first;
    AVRational base;
};

static void take_all(struct plain *plain, struct watched *watched)
{
    while (avcodec_receive_frame(plain->codec, plain->frame) >= 0) {
        AVFrame *frame = plain->frame;
        if (!watched->count)
            plain->first = frame->best_effort_timestamp;
        int64_t time = frame->best_effort_timestamp, ms = 0;
        if (time != AV_NOPTS_VALUE)
            ms = av_rescale_q(time - plain->first, plain->base, (AVRational){1, 1000});
        else if (watched->count) /* some at the end of an AVI */
            ms = watched->seen[watched->count - 1].time_ms + 40;
        struct doppel_plane plane = {frame->data[0], (uint32_t)frame->width,
                                     (uint32_t)frame->height, (size_t)frame->linesize[0]};
        remember(watched, &plane, (uint32_t)ms, watched->count);
    }
}

struct watched watch_plainly(const struct file *file)
{
    struct watched watched = {0};
    char path[64];
    int fd = file_open(file->data, file->size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    AVFormatContext *container = NULL;
    assert_true(avformat_open_input(&container, path, NULL, NULL) >= 0);
    assert_true(avformat_find_stream_info(container, NULL) >= 0);
    int index = av_find_best_stream(container, AVMEDIA_TYPE_VIDEO, -1, -1, NULL, 0);
    assert_true(index >= 0);
    AVStream *track = container->streams[index];
    const AVCodec *codec = avcodec_find_decoder(track->codecpar->codec_id);
    struct plain plain = {avcodec_alloc_context3(codec), av_frame_alloc(), 0, track->time_base};
    avcodec_parameters_to_context(plain.codec, track->codecpar);
    plain.codec->thread_count = 1;
    plain.codec->pkt_timebase = track->time_base;
    assert_true(avcodec_open2(plain.codec, codec, NULL) >= 0);
    AVPacket *packet = av_packet_alloc();
    while (av_read_frame(container, packet) >= 0) {
        if (packet->stream_index == index) {
            avcodec_send_packet(plain.codec, packet);
            take_all(&plain, &watched);
        }
        av_packet_unref(packet);
    }
    avcodec_send_packet(plain.codec, NULL);
    take_all(&plain, &watched);
    av_packet_free(&packet);
    av_frame_free(&plain.frame);
    avcodec_free_context(&plain.codec);
    avformat_close_input(&container);
    close(fd);
    return watched;
}
