/*
 * video_kept FILE...: what is kept of films: bytes an hour of the codes, with the cells, and how
 * many runs there are; of each film and of all of them as one.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doppel/media.h>
#include <doppel/video.h>

static void die(const char *path, const char *what)
{
    fprintf(stderr, "video_kept: %s: %s\n", path, what);
    exit(2);
}

static bool push(void *context, const struct doppel_frame *frame)
{
    return doppel_video_push(context, &frame->plane, frame->time_ms, NULL) == DOPPEL_OK;
}

static struct doppel_video_track read_film(const char *path)
{
    const struct doppel_frames_options options = doppel_frames_options_default();
    struct doppel_frames_info info;
    struct doppel_error error = {0};
    struct doppel_video *video;
    struct doppel_video_track track;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || doppel_video_new(NULL, &video, &error) ||
        doppel_media_read_frames(fd, &options, push, video, &info, &error) ||
        doppel_video_finish(video, &track, &error))
        die(path, fd < 0 ? "cannot be opened" : error.message);
    track.duration_ms = info.duration_ms;
    doppel_video_free(video);
    close(fd);
    return track;
}

static size_t written(const struct doppel_video_track *track, enum doppel_video_parts parts)
{
    uint8_t *bytes;
    size_t size;
    if (doppel_video_track_write(track, parts, &bytes, &size, NULL))
        die("track", "cannot be written");
    free(bytes);
    return size;
}

/* The runs of all films, one after the other. */
static void append(struct doppel_video_track *all, const struct doppel_video_track *track)
{
    struct doppel_video_frame *frames =
        realloc(all->frames, (all->count + track->count + 1) * sizeof *frames);
    if (!frames)
        die("all", "no memory");
    for (size_t i = 0; i < track->count; i++) {
        frames[all->count + i] = track->frames[i];
        frames[all->count + i].start_ms += (uint32_t)all->duration_ms;
        frames[all->count + i].end_ms += (uint32_t)all->duration_ms;
    }
    all->frames = frames;
    all->count += track->count;
    all->duration_ms += track->duration_ms;
}

static void print(const char *name, const struct doppel_video_track *track, size_t with_cells)
{
    double hours = (double)track->duration_ms / 3.6e6;
    if (hours <= 0)
        return;
    printf("%-32s %8.3f h %7.0f runs/h %7.1f KB/h of codes %8.0f with cells\n", name, hours,
           (double)track->count / hours, (double)written(track, DOPPEL_VIDEO_CODES) / hours / 1000,
           (double)with_cells / hours / 1000);
}

int main(int argc, char **argv)
{
    struct doppel_video_track all = {0};
    size_t with_cells = 0;
    for (int i = 1; i < argc; i++) {
        struct doppel_video_track track = read_film(argv[i]);
        const char *slash = strrchr(argv[i], '/');
        size_t size = written(&track, DOPPEL_VIDEO_ALL);
        print(slash ? slash + 1 : argv[i], &track, size);
        append(&all, &track);
        with_cells += size;
        doppel_video_track_free(&track);
    }
    print("all, as one", &all, with_cells);
    doppel_video_track_free(&all);
    return 0;
}
