/* Fuzz target: from the bytes of a container to frames, to codes, to what is kept of a video. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <doppel/media.h>
#include <doppel/video.h>

#include "fuzz_container.h"

struct seen {
    struct doppel_video *video;
    uint32_t last_ms, count;
};

enum { MOST_FRAMES = 400 };

/* Every sample of a plane is there, and times ascend. */
static bool push(void *context, const struct doppel_frame *frame)
{
    struct seen *seen = context;
    uint32_t sum = 0;
    for (uint32_t y = 0; y < frame->plane.height; y++)
        for (uint32_t x = 0; x < frame->plane.width; x += 1 + frame->plane.width / 64)
            sum += frame->plane.data[y * frame->plane.stride + x];
    uint64_t pixels = (uint64_t)frame->plane.width * frame->plane.height;
    if (!pixels || sum > 255 * pixels || (seen->count && frame->time_ms < seen->last_ms))
        abort();
    seen->last_ms = frame->time_ms;
    return ++seen->count < MOST_FRAMES &&
           doppel_video_push(seen->video, &frame->plane, frame->time_ms, NULL) == DOPPEL_OK;
}

/* What is written is read. */
static void keep(const struct doppel_video_track *track, enum doppel_video_parts parts)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    struct doppel_video_track again = {0};
    if (doppel_video_track_write(track, parts, &bytes, &size, NULL) != DOPPEL_OK ||
        doppel_video_track_read(bytes, size, parts, &again, NULL) != DOPPEL_OK ||
        again.count != track->count)
        abort();
    doppel_video_track_free(&again);
    free(bytes);
}

/* How it is read depends on the input, too. */
static struct doppel_frames_options options_for(const uint8_t *data, size_t size)
{
    struct doppel_frames_options options = doppel_frames_options_default();
    options.limits.max_memory = 64 << 20;
    options.limits.max_pixels = 1 << 20;
    options.keyframes = data[size / 2] % 3 == 0;
    options.exact = data[size / 3] % 4 == 0;
    options.from_rgb = data[size / 4] % 8 == 0;
    options.step_ms = data[size / 5] % 4 == 0 ? 0 : 250;
    options.from_ms = data[size / 6] % 4 == 0 ? data[size - 1] * 16u : 0;
    options.to_ms = data[size / 7] % 8 == 0 ? 2000 : 0;
    return options;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seen seen = {0};
    struct doppel_frames_info info = {0};
    struct doppel_video_track track = {0};
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (!size || fd < 0 || write(fd, data, size) != (ssize_t)size ||
        doppel_video_new(NULL, &seen.video, NULL) != DOPPEL_OK) {
        close(fd);
        return 0;
    }
    struct doppel_frames_options options = options_for(data, size);
    enum doppel_status status = doppel_media_read_frames(fd, &options, push, &seen, &info, NULL);
    if (doppel_video_finish(seen.video, &track, NULL) == DOPPEL_OK) {
        keep(&track, DOPPEL_VIDEO_ALL);
        keep(&track, DOPPEL_VIDEO_CODES);
    }
    uint8_t *png = NULL;
    size_t png_size = 0;
    if (status == DOPPEL_OK && data[size / 8] % 4 == 0 &&
        doppel_media_read_thumbnail(fd, seen.last_ms, 64, &png, &png_size, NULL) == DOPPEL_OK)
        free(png);
    doppel_video_track_free(&track);
    doppel_video_free(seen.video);
    close(fd);
    return 0;
}
