/*
 * video_decode [CLIP...]: CPU time, one thread, of videos on their way to codes against FFmpeg's
 * own libraries in the shortest loop that decodes them: doppel_media_read_frames and
 * doppel_video_push in full mode against every frame, in fast mode against keyframes alone
 * (skip_frame). The videos are the first 8 s of each CLIP, one after the other, scaled to 360, 720
 * and 1080 rows and coded by libx264 with 3 B-frames and a keyframe every 2 s; without a CLIP, 16 s
 * of FFmpeg's test picture. Rounds are interleaved; ratios are medians of each round's. Needs the
 * ffmpeg program.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#include <doppel/media.h>
#include <doppel/video.h>

#include "bench.h"

enum { ROUNDS = 5, SIZES = 3, SKIPPED = 77 };

enum way { PLAIN, FULL, SAMPLES, PLAIN_KEYS, FAST, WAYS };

static const char *const way_names[WAYS] = {"libavcodec, every frame", "doppel, full, to codes",
                                            "doppel, full, samples alone", "libavcodec, keyframes",
                                            "doppel, fast, to codes"};

static const int heights[SIZES] = {360, 720, 1080};

static void die(const char *what)
{
    fprintf(stderr, "video_decode: %s\n", what);
    exit(2);
}

/* ---- doppel ---- */

static bool push(void *context, const struct doppel_frame *frame)
{
    struct doppel_video *video = context;
    return !video || doppel_video_push(video, &frame->plane, frame->time_ms, NULL) == DOPPEL_OK;
}

static double read_ours(const char *path, enum way way)
{
    struct doppel_frames_options options = doppel_frames_options_default();
    struct doppel_frames_info info = {0};
    struct doppel_video_track track = {0};
    struct doppel_video *video = NULL;
    struct doppel_error error;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    options.keyframes = way == FAST;
    if ((way != SAMPLES && doppel_video_new(NULL, &video, &error)) ||
        doppel_media_read_frames(fd, &options, push, video, &info, &error) ||
        (video && doppel_video_finish(video, &track, &error)))
        die(error.message);
    doppel_video_track_free(&track);
    doppel_video_free(video);
    close(fd);
    return (double)info.duration_ms / 1000;
}

/* ---- FFmpeg ---- */

static unsigned decode(AVCodecContext *codec, const AVPacket *packet, AVFrame *frame)
{
    unsigned count = 0;
    avcodec_send_packet(codec, packet);
    while (avcodec_receive_frame(codec, frame) >= 0)
        count++;
    return count;
}

static double read_plainly(const char *path, bool keys)
{
    AVFormatContext *container = NULL;
    const AVCodec *decoder = NULL;
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    unsigned count = 0;
    if (avformat_open_input(&container, path, NULL, NULL) < 0 ||
        avformat_find_stream_info(container, NULL) < 0)
        die(path);
    int track = av_find_best_stream(container, AVMEDIA_TYPE_VIDEO, -1, -1, &decoder, 0);
    AVCodecContext *codec = avcodec_alloc_context3(decoder);
    avcodec_parameters_to_context(codec, container->streams[track]->codecpar);
    codec->thread_count = 1;
    if (keys)
        codec->skip_frame = AVDISCARD_NONKEY;
    if (avcodec_open2(codec, decoder, NULL) < 0)
        die(path);
    while (av_read_frame(container, packet) >= 0) {
        if (packet->stream_index == track)
            count += decode(codec, packet, frame);
        av_packet_unref(packet);
    }
    count += decode(codec, NULL, frame);
    avcodec_free_context(&codec);
    avformat_close_input(&container);
    av_packet_free(&packet);
    av_frame_free(&frame);
    return count;
}

/* ---- videos ---- */

/* The filters that lay the clips end to end, at one size and rate. */
static char *filters(int clips, int height)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    for (int i = 0; i < clips; i++)
        fprintf(out, "[%d:v]trim=0:8,setpts=PTS-STARTPTS,scale=%d:%d,setsar=1,fps=25[v%d];", i,
                height * 16 / 9, height, i);
    for (int i = 0; i < clips; i++)
        fprintf(out, "[v%d]", i);
    fprintf(out, "concat=n=%d", clips);
    fclose(out);
    return text;
}

static void make_video(char **clips, int count, int height, const char *path)
{
    char source[64];
    snprintf(source, sizeof source, "testsrc2=s=%dx%d:r=25:d=16", height * 16 / 9, height);
    char **arguments = calloc((size_t)(2 * count + 40), sizeof *arguments), **end = arguments;
    char *const before[] = {"ffmpeg", "-v", "error", "-nostdin", "-y"};
    char *const after[] = {"-an",    "-c:v",        "libx264", "-preset",
                           "medium", "-bf",         "3",       "-g",
                           "50",     "-keyint_min", "50",      "-sc_threshold",
                           "0",      "-pix_fmt",    "yuv420p", (char *)(uintptr_t)path};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        *end++ = before[i];
    for (int i = 0; i < count; i++) {
        *end++ = "-i";
        *end++ = clips[i];
    }
    char *graph = count ? filters(count, height) : NULL;
    char *const made[] = {"-f", "lavfi", "-i", source}, *const laid[] = {"-filter_complex", graph};
    for (size_t i = 0; i < (graph ? 2 : 4); i++)
        *end++ = graph ? laid[i] : made[i];
    for (size_t i = 0; i < sizeof after / sizeof *after; i++)
        *end++ = after[i];
    bench_run((const char *const *)arguments);
    free(graph);
    free(arguments);
}

/* ---- measuring ---- */

struct times {
    double ms[WAYS][ROUNDS];
    double seconds;
};

static void measure(const char *path, struct times *times)
{
    for (int round = 0; round < ROUNDS; round++)
        for (enum way way = 0; way < WAYS; way++) {
            struct bench_time since = bench_now();
            if (way == PLAIN || way == PLAIN_KEYS)
                read_plainly(path, way == PLAIN_KEYS);
            else
                times->seconds = read_ours(path, way);
            times->ms[way][round] = bench_each_ms(since, 1).cpu;
        }
}

static double ratio(const struct times *times, enum way a, enum way b)
{
    return bench_median_ratio(times->ms[a], times->ms[b], ROUNDS);
}

static void print(int height, const struct times *times)
{
    printf("%d rows, %.0f s\n", height, times->seconds);
    for (enum way way = 0; way < WAYS; way++) {
        double values[ROUNDS];
        memcpy(values, times->ms[way], sizeof values);
        double ms = bench_median(values, ROUNDS);
        printf("  %-30s %9.1f ms %8.0f x real time\n", way_names[way], ms,
               times->seconds * 1000 / ms);
    }
    double full = ratio(times, FULL, PLAIN), speed = ratio(times, PLAIN_KEYS, FAST);
    printf("  %-30s %9.3f goal <= 1.03 %s\n", "full / every frame", full,
           full <= 1.03 ? "met" : "MISSED");
    printf("  %-30s %9.3f goal >= 0.90 %s\n", "speed of fast / of keyframes", speed,
           speed >= .9 ? "met" : "MISSED");
    printf("  %-30s %9.2f\n", "every frame / fast", ratio(times, PLAIN, FAST));
}

int main(int argument_count, char **arguments)
{
    char folder[] = "/tmp/video_decode.XXXXXX", path[64];
    av_log_set_level(AV_LOG_QUIET);
    if (system("ffmpeg -version > /dev/null 2>&1") != 0) {
        puts("skipped: there is no ffmpeg here");
        return SKIPPED;
    }
    if (!mkdtemp(folder))
        die(folder);
    printf("CPU time on one thread, medians of %d rounds\n", ROUNDS);
    for (int i = 0; i < SIZES; i++) {
        struct times times = {0};
        snprintf(path, sizeof path, "%s/%d.mp4", folder, heights[i]);
        make_video(arguments + 1, argument_count - 1, heights[i], path);
        measure(path, &times);
        print(heights[i], &times);
        unlink(path);
    }
    rmdir(folder);
    return 0;
}
