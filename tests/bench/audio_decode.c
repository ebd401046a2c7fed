/*
 * audio_decode [DIR]: CPU time of doppel_media_read_samples against FFmpeg's own libraries in the
 * shortest loop that decodes and resamples to one channel of floats at 11025 Hz, and against the
 * ffmpeg program on one thread. DIR is a folder of recordings; without it a minute of saw teeth in
 * a WAV is read. Rounds are interleaved; ratios are medians of each round's.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswresample/swresample.h>

#include <doppel/media.h>

#include "bench.h"

enum { ROUNDS = 5, MAX_FILES = 200, RATE = 11025 };

enum way { OURS, LIMIT, PROGRAM, WAYS };

static const char *const way_names[WAYS] = {"doppel_media_read_samples",
                                            "libavcodec + libswresample, shortest loop",
                                            "ffmpeg -threads 1 (program)"};

static void die(const char *what)
{
    fprintf(stderr, "audio_decode: %s\n", what);
    exit(2);
}

/* ---- the ways ---- */

static bool count_samples(void *context, const struct doppel_samples *samples)
{
    *(uint64_t *)context += samples->count;
    return true;
}

static uint64_t read_ours(const char *path)
{
    uint64_t count = 0;
    struct doppel_error error;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (doppel_media_read_samples(fd, NULL, count_samples, &count, NULL, &error))
        die(error.message);
    close(fd);
    return count;
}

struct limit {
    AVFormatContext *container;
    AVCodecContext *codec;
    SwrContext *resampler;
    AVPacket *packet;
    AVFrame *frame;
    float out[65536];
};

static uint64_t resample(struct limit *limit, AVFrame *frame)
{
    AVChannelLayout mono = AV_CHANNEL_LAYOUT_MONO;
    if (!limit->resampler && frame &&
        (swr_alloc_set_opts2(&limit->resampler, &mono, AV_SAMPLE_FMT_FLT, RATE, &frame->ch_layout,
                             frame->format, frame->sample_rate, 0, NULL) < 0 ||
         swr_init(limit->resampler) < 0))
        die("swr_init");
    uint8_t *planes[] = {(uint8_t *)limit->out};
    int got = swr_convert(limit->resampler, planes, sizeof limit->out / sizeof *limit->out,
                          frame ? (const uint8_t **)frame->extended_data : NULL,
                          frame ? frame->nb_samples : 0);
    return got > 0 ? (uint64_t)got : 0;
}

static uint64_t decode(struct limit *limit, const AVPacket *packet)
{
    uint64_t count = 0;
    avcodec_send_packet(limit->codec, packet);
    while (avcodec_receive_frame(limit->codec, limit->frame) >= 0)
        count += resample(limit, limit->frame);
    return count;
}

static uint64_t read_limit(const char *path)
{
    static struct limit limit;
    limit = (struct limit){.packet = av_packet_alloc(), .frame = av_frame_alloc()};
    const AVCodec *codec = NULL;
    uint64_t count = 0;
    if (avformat_open_input(&limit.container, path, NULL, NULL) < 0 ||
        avformat_find_stream_info(limit.container, NULL) < 0)
        die(path);
    int track = av_find_best_stream(limit.container, AVMEDIA_TYPE_AUDIO, -1, -1, &codec, 0);
    limit.codec = avcodec_alloc_context3(codec);
    avcodec_parameters_to_context(limit.codec, limit.container->streams[track]->codecpar);
    limit.codec->pkt_timebase = limit.container->streams[track]->time_base;
    if (avcodec_open2(limit.codec, codec, NULL) < 0)
        die(path);
    while (av_read_frame(limit.container, limit.packet) >= 0) {
        if (limit.packet->stream_index == track)
            count += decode(&limit, limit.packet);
        av_packet_unref(limit.packet);
    }
    count += decode(&limit, NULL);
    count += resample(&limit, NULL);
    swr_free(&limit.resampler);
    avcodec_free_context(&limit.codec);
    avformat_close_input(&limit.container);
    av_packet_free(&limit.packet);
    av_frame_free(&limit.frame);
    return count;
}

/* @return seconds of CPU */
static double run_program(const char *path)
{
    return bench_run((const char *const[]){"ffmpeg", "-v", "quiet", "-nostdin", "-threads", "1",
                                           "-i", path, "-vn", "-ac", "1", "-ar", "11025", "-f",
                                           "f32le", "-y", "/dev/null", NULL})
        .cpu;
}

/* ---- measuring ---- */

struct run {
    char *paths[MAX_FILES];
    size_t count;
    double times[WAYS][ROUNDS];
    uint64_t samples[WAYS];
};

/* @return seconds of CPU */
static double measure(struct run *run, enum way way)
{
    double since = bench_seconds(CLOCK_PROCESS_CPUTIME_ID), of_program = 0;
    run->samples[way] = 0;
    for (size_t i = 0; i < run->count; i++) {
        if (way == OURS)
            run->samples[way] += read_ours(run->paths[i]);
        else if (way == LIMIT)
            run->samples[way] += read_limit(run->paths[i]);
        else
            of_program += run_program(run->paths[i]);
    }
    return way == PROGRAM ? of_program : bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - since;
}

static void print_table(struct run *run, bool program)
{
    double seconds = (double)run->samples[OURS] / RATE;
    printf("%zu files, %.0f s of audio, %d rounds\n", run->count, seconds, ROUNDS);
    printf("  %-44s %10s %14s %8s\n", "median", "CPU s", "x real time", "ratio");
    for (enum way way = 0; way < WAYS; way++) {
        double values[ROUNDS];
        memcpy(values, run->times[way], sizeof values);
        double median = bench_median(values, ROUNDS);
        if (way != PROGRAM || program)
            printf("  %-44s %10.3f %14.0f %8.3f\n", way_names[way], median, seconds / median,
                   bench_median_ratio(run->times[way], run->times[LIMIT], ROUNDS));
    }
    double time = bench_median_ratio(run->times[OURS], run->times[LIMIT], ROUNDS);
    printf("  %-44s %10.3f goal <= 1.11 %s\n", "time / FFmpeg's own", time,
           time <= 1.11 ? "met" : "MISSED");
}

static void find_files(struct run *run, const char *folder)
{
    struct dirent **names;
    int count = scandir(folder, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (names[i]->d_name[0] != '.' && run->count < MAX_FILES &&
            asprintf(&run->paths[run->count], "%s/%s", folder, names[i]->d_name) > 0)
            run->count++;
        free(names[i]);
    }
    if (count >= 0)
        free(names);
}

/* A minute of saw teeth in two channels, as a WAV of 16 bits. */
static char *make_file(void)
{
    static char path[] = "/tmp/audio_decode.XXXXXX";
    static const unsigned char head[44] =
        "RIFF\xff\xff\xff\x7fWAVEfmt \x10\0\0\0\1\0\2\0\x44\xac\0\0"
        "\x10\xb1\2\0\4\0\x10\0data\x40\x7e\xa1\0";
    FILE *file = fdopen(mkstemp(path), "wb");
    if (!file || fwrite(head, sizeof head, 1, file) != 1)
        die(path);
    for (int32_t i = 0; i < 60 * 44100; i++) {
        int16_t pair[] = {(int16_t)(i * 700), (int16_t)(i * 911)};
        fwrite(pair, sizeof pair, 1, file);
    }
    fclose(file);
    return path;
}

int main(int argument_count, char **arguments)
{
    static struct run run;
    bool made = argument_count < 2, program = system("ffmpeg -version > /dev/null 2>&1") == 0;
    av_log_set_level(AV_LOG_QUIET);
    if (made)
        run.paths[run.count++] = make_file();
    else
        find_files(&run, arguments[1]);
    if (!run.count)
        die("no files");
    for (int round = 0; round < ROUNDS; round++)
        for (enum way way = 0; way < WAYS; way++)
            if (way != PROGRAM || program)
                run.times[way][round] = measure(&run, way);
    print_table(&run, program);
    if (made)
        unlink(run.paths[0]);
    for (size_t i = 0; i < run.count && !made; i++)
        free(run.paths[i]);
    return 0;
}
