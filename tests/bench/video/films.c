/* Films to tracks, several at once; a track that was made before is read from its file. */
#include "films.h"

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

void films_add(struct films *films, const char *path)
{
    if ((films->count & (films->count - 1)) == 0)
        films->list = realloc(films->list, (2 * films->count + 1) * sizeof *films->list);
    if (!films->list)
        abort();
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    films->list[films->count++] =
        (struct film){.path = text(path, strlen(path)),
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

bool film_frames(const char *path, uint32_t from_ms, uint32_t to_ms,
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

/* Where a film's track is kept: told by its path, size and time. */
static bool place_of(const struct film *film, const struct reading *reading, char out[4096])
{
    struct stat stat_;
    char facts[4096];
    if (!reading->folder || stat(film->path, &stat_))
        return false;
    snprintf(facts, sizeof facts, "%s %lld %lld %d", film->path, (long long)stat_.st_size,
             (long long)stat_.st_mtime, reading->keyframes);
    struct doppel_digest digest = doppel_digest_bytes(facts, strlen(facts));
    char hex[17];
    doppel_hex_encode(&digest, 8, hex);
    return snprintf(out, 4096, "%s/%s.%.16s", reading->folder, film->name, hex) < 4096;
}

static bool read_kept(struct film *film, const char *place)
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
        doppel_video_track_read(data, size, DOPPEL_VIDEO_ALL, &film->track, NULL) == DOPPEL_OK;
    free(data);
    fclose(file);
    return read;
}

static void keep(const struct film *film, const char *place)
{
    uint8_t *data = NULL;
    size_t size = 0;
    if (doppel_video_track_write(&film->track, DOPPEL_VIDEO_ALL, &data, &size, NULL))
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
    struct films *films;
    const struct reading *reading;
};

static void read_one(void *context, size_t number)
{
    const struct batch *batch = context;
    struct film *film = &batch->films->list[number];
    char place[4096];
    bool keeps = place_of(film, batch->reading, place);
    film->read = keeps && !batch->reading->fresh && read_kept(film, place);
    if (film->read)
        return;
    struct doppel_frames_options frames = doppel_frames_options_default();
    struct doppel_error error = {0};
    double start = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    frames.keyframes = batch->reading->keyframes;
    film->read = decode(film->path, &frames, NULL, &film->track, &error) == DOPPEL_OK;
    film->seconds = bench_seconds(CLOCK_THREAD_CPUTIME_ID) - start;
    if (!film->read)
        fprintf(stderr, "%s: %s\n", film->path, error.message);
    if (film->read && keeps)
        keep(film, place);
}

void films_read(struct films *films, const struct reading *reading)
{
    struct batch batch = {films, reading};
    if (reading->folder)
        mkdir(reading->folder, 0777);
    in_parallel(films->count, reading->threads, read_one, &batch);
}

const struct film *films_named(const struct films *films, const char *name)
{
    for (size_t i = 0; i < films->count; i++)
        if (!strcmp(films->list[i].name, name))
            return &films->list[i];
    return NULL;
}

double films_hours(const struct films *films)
{
    double hours = 0;
    for (size_t i = 0; i < films->count; i++)
        hours += (double)films->list[i].track.duration_ms / 3.6e6;
    return hours;
}

void films_free(struct films *films)
{
    for (size_t i = 0; i < films->count; i++) {
        free(films->list[i].path);
        free(films->list[i].name);
        doppel_video_track_free(&films->list[i].track);
    }
    free(films->list);
    *films = (struct films){0};
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
