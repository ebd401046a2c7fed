/* A kept index of videos. */
#include "shelf.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../bench.h"

enum { FLUSH_CODES = 1 << 20 };

static bool give(void *context, uint64_t id, struct doppel_video_track *out)
{
    const struct shelf *shelf = context;
    uint64_t start = id ? shelf->ends[id - 1] : 0;
    return doppel_video_track_read(shelf->mapped + start, shelf->ends[id] - start,
                                   DOPPEL_VIDEO_CODES, out, NULL) == DOPPEL_OK;
}

void shelf_open(struct shelf *shelf, const char *parent)
{
    struct doppel_index_options options = doppel_videos_index_options();
    struct doppel_error error = {0};
    char path[128];
    *shelf = (struct shelf){0};
    snprintf(shelf->folder, sizeof shelf->folder, "%s/shelf.XXXXXX", parent);
    if (!mkdtemp(shelf->folder))
        abort();
    struct doppel_index_files files = {.folder = shelf->folder};
    bench_must(doppel_index_open(&options, &files, &shelf->index, &error), &error);
    bench_must(doppel_videos_over(shelf->index, give, shelf, &shelf->set, &error), &error);
    snprintf(path, sizeof path, "%s/tracks", shelf->folder);
    shelf->tracks = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (shelf->tracks < 0 || unlink(path))
        abort();
}

static void shelf_write(struct shelf *shelf, const struct doppel_video_track *track)
{
    struct doppel_error error = {0};
    uint8_t *data;
    size_t size;
    bench_must(doppel_video_track_write(track, DOPPEL_VIDEO_CODES, &data, &size, &error), &error);
    uint64_t start = shelf->count ? shelf->ends[shelf->count - 1] : 0;
    if ((shelf->count & (shelf->count - 1)) == 0)
        shelf->ends = realloc(shelf->ends, (2 * shelf->count + 1) * sizeof *shelf->ends);
    if (!shelf->ends || write(shelf->tracks, data, size) != (ssize_t)size)
        abort();
    shelf->ends[shelf->count++] = start + size;
    free(data);
}

void shelf_add(struct shelf *shelf, const struct doppel_video_track *track)
{
    struct doppel_error error = {0};
    struct doppel_video_code_list list;
    bench_must(doppel_video_codes(shelf->count, track, &list, &error), &error);
    bench_must(doppel_index_insert(shelf->index, list.codes, list.payloads, list.count, &error),
               &error);
    free(list.codes);
    free(list.payloads);
    shelf_write(shelf, track);
    if (doppel_index_info(shelf->index).head_codes >= FLUSH_CODES)
        bench_must(doppel_index_flush(shelf->index, &error), &error);
}

void shelf_settle(struct shelf *shelf)
{
    struct doppel_error error = {0};
    bench_must(doppel_index_flush(shelf->index, &error), &error);
    bench_must(doppel_index_compact(shelf->index, true, &error), &error);
    void *mapped =
        mmap(NULL, shelf->ends[shelf->count - 1], PROT_READ, MAP_SHARED, shelf->tracks, 0);
    if (mapped == MAP_FAILED)
        abort();
    shelf->mapped = mapped;
}

void shelf_close(struct shelf *shelf)
{
    doppel_videos_free(shelf->set);
    doppel_index_free(shelf->index);
    if (shelf->mapped)
        munmap((void *)shelf->mapped, shelf->ends[shelf->count - 1]);
    close(shelf->tracks);
    free(shelf->ends);
    bench_remove_folder(shelf->folder);
}
