/*
 * video_kept FILE...: what is kept of videos: bytes an hour of the codes, with the cells, and how
 * many runs there are; of each video and of all of them as one.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "video/videos.h"

static size_t written(const struct doppel_video_track *track, enum doppel_video_parts parts)
{
    uint8_t *bytes;
    size_t size;
    struct doppel_error error = {0};
    bench_must(doppel_video_track_write(track, parts, &bytes, &size, &error), &error);
    free(bytes);
    return size;
}

/* The runs of all videos, one after the other. */
static void append(struct doppel_video_track *all, const struct doppel_video_track *track)
{
    struct doppel_video_frame *frames =
        realloc(all->frames, (all->count + track->count + 1) * sizeof *frames);
    if (!frames)
        abort();
    for (size_t i = 0; i < track->count; i++) {
        frames[all->count + i] = track->frames[i];
        frames[all->count + i].start_ms += (uint32_t)all->duration_ms;
        frames[all->count + i].end_ms += (uint32_t)all->duration_ms;
    }
    all->frames = frames;
    all->has_middle |= track->has_middle;
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
    struct clips clips = {0};
    size_t with_cells = 0, codes = 0;
    for (int i = 1; i < argc; i++)
        videos_add(&clips, argv[i]);
    videos_read(&clips, &(struct reading){.threads = 2});
    for (size_t i = 0; i < clips.count; i++) {
        if (!clips.list[i].read)
            return 2;
        size_t size = written(&clips.list[i].track, DOPPEL_VIDEO_ALL);
        print(clips.list[i].name, &clips.list[i].track, size);
        append(&all, &clips.list[i].track);
        with_cells += size;
        codes += written(&clips.list[i].track, DOPPEL_VIDEO_CODES);
    }
    print("all, as one, without bars", &all, with_cells);
    printf("all, each by itself: %.1f KB/h of codes\n",
           (double)codes / (double)all.duration_ms * 3600);
    doppel_video_track_free(&all);
    videos_free(&clips);
    return 0;
}
