/* Videos to tracks, several at once; a track that was made before is read from its file. */
#include "videos.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <doppel/media.h>

#include "../bench.h"

static char *text(const char *from, size_t length)
{
    char *copy = strndup(from, length);
    if (!copy)
        abort();
    return copy;
}

void videos_add(struct clips *clips, const char *path)
{
    if ((clips->count & (clips->count - 1)) == 0)
        clips->list = realloc(clips->list, (2 * clips->count + 1) * sizeof *clips->list);
    if (!clips->list)
        abort();
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    clips->list[clips->count++] =
        (struct clip){.path = text(path, strlen(path)),
                      .name = text(name, dot ? (size_t)(dot - name) : strlen(name))};
}

/* ---- decoding ---- */

static bool push(void *context, const struct doppel_frame *frame)
{
    return doppel_video_push(context, &frame->plane, frame->time_ms, NULL) == DOPPEL_OK;
}

static enum doppel_status decode(const char *path, const struct doppel_frames_options *frames,
                                 const struct doppel_video_options *options,
                                 struct doppel_video_track *out, struct doppel_error *error)
{
    struct doppel_video *video = NULL;
    struct doppel_frames_info info = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    enum doppel_status status = fd < 0 ? DOPPEL_E_IO : doppel_video_new(options, &video, error);
    if (!status)
        status = doppel_media_read_frames(fd, frames, push, video, &info, error);
    if (!status)
        status = doppel_video_finish(video, out, error);
    if (!status) {
        out->width = info.width;
        out->height = info.height;
        out->duration_ms = info.duration_ms;
        out->damaged_ms = info.damaged_ms;
        out->keyframes_only = info.keyframes;
    }
    doppel_video_free(video);
    if (fd >= 0)
        close(fd);
    return status;
}

bool video_frames(const char *path, uint32_t from_ms, uint32_t to_ms,
                  const struct doppel_video_box *box, struct doppel_video_track *out)
{
    struct doppel_frames_options frames = doppel_frames_options_default();
    struct doppel_video_options options = doppel_video_options_default();
    frames.step_ms = 0;
    frames.exact = true;
    frames.from_ms = from_ms;
    frames.to_ms = to_ms;
    options.every_frame = true;
    options.box = *box;
    *out = (struct doppel_video_track){0};
    return decode(path, &frames, &options, out, NULL) == DOPPEL_OK;
}

/* ---- what is kept ---- */

/* Where a video's track is kept: told by its path, size and time. */
static bool place_of(const struct clip *clip, const struct reading *reading, char out[4096])
{
    struct stat stat_;
    char facts[4096];
    if (!reading->folder || stat(clip->path, &stat_))
        return false;
    snprintf(facts, sizeof facts, "%s %lld %lld %d", clip->path, (long long)stat_.st_size,
             (long long)stat_.st_mtime, reading->keyframes);
    struct doppel_digest digest = doppel_digest_bytes(facts, strlen(facts));
    char hex[17];
    doppel_hex_encode(&digest, 8, hex);
    return snprintf(out, 4096, "%s/%s.%.16s", reading->folder, clip->name, hex) < 4096;
}

static bool read_kept(struct clip *clip, const char *place)
{
    FILE *file = fopen(place, "rb");
    struct stat stat_;
    if (!file || fstat(fileno(file), &stat_)) {
        if (file)
            fclose(file);
        return false;
    }
    size_t size = (size_t)stat_.st_size;
    uint8_t *data = malloc(size + 1);
    bool read =
        data && fread(data, 1, size, file) == size &&
        doppel_video_track_read(data, size, DOPPEL_VIDEO_ALL, &clip->track, NULL) == DOPPEL_OK;
    free(data);
    fclose(file);
    return read;
}

static void keep(const struct clip *clip, const char *place)
{
    uint8_t *data = NULL;
    size_t size = 0;
    if (doppel_video_track_write(&clip->track, DOPPEL_VIDEO_ALL, &data, &size, NULL))
        return;
    FILE *file = fopen(place, "wb");
    if (file) {
        fwrite(data, 1, size, file);
        fclose(file);
    }
    free(data);
}

/* ---- all of them ---- */

struct batch {
    struct clips *clips;
    const struct reading *reading;
};

static void read_one(void *context, size_t number)
{
    const struct batch *batch = context;
    struct clip *clip = &batch->clips->list[number];
    char place[4096];
    bool keeps = place_of(clip, batch->reading, place);
    clip->read = keeps && !batch->reading->fresh && read_kept(clip, place);
    if (clip->read)
        return;
    struct doppel_frames_options frames = doppel_frames_options_default();
    struct doppel_error error = {0};
    double start = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    frames.keyframes = batch->reading->keyframes;
    clip->read = decode(clip->path, &frames, NULL, &clip->track, &error) == DOPPEL_OK;
    clip->seconds = bench_seconds(CLOCK_THREAD_CPUTIME_ID) - start;
    if (!clip->read)
        fprintf(stderr, "%s: %s\n", clip->path, error.message);
    if (clip->read && keeps)
        keep(clip, place);
}

void videos_read(struct clips *clips, const struct reading *reading)
{
    struct batch batch = {clips, reading};
    if (reading->folder)
        mkdir(reading->folder, 0777);
    in_parallel(clips->count, reading->threads, read_one, &batch);
}

const struct clip *videos_named(const struct clips *clips, const char *name)
{
    for (size_t i = 0; i < clips->count; i++)
        if (!strcmp(clips->list[i].name, name))
            return &clips->list[i];
    return NULL;
}

double videos_hours(const struct clips *clips)
{
    double hours = 0;
    for (size_t i = 0; i < clips->count; i++)
        hours += (double)clips->list[i].track.duration_ms / 3.6e6;
    return hours;
}

void videos_free(struct clips *clips)
{
    for (size_t i = 0; i < clips->count; i++) {
        free(clips->list[i].path);
        free(clips->list[i].name);
        doppel_video_track_free(&clips->list[i].track);
    }
    free(clips->list);
    *clips = (struct clips){0};
}

/* ---- threads ---- */

struct crowd {
    void (*work)(void *context, size_t number);
    void *context;
    size_t count;
    atomic_size_t next;
};

static void *join_crowd(void *argument)
{
    struct crowd *crowd = argument;
    for (size_t i; (i = atomic_fetch_add(&crowd->next, 1)) < crowd->count;)
        crowd->work(crowd->context, i);
    return NULL;
}

void in_parallel(size_t count, unsigned threads, void (*work)(void *context, size_t number),
                 void *context)
{
    enum { MOST = 64 };
    struct crowd crowd = {work, context, count, 0};
    pthread_t others[MOST];
    unsigned started = 0;
    while (started + 1 < threads && started < MOST &&
           !pthread_create(&others[started], NULL, join_crowd, &crowd))
        started++;
    join_crowd(&crowd);
    while (started)
        pthread_join(others[--started], NULL);
}
