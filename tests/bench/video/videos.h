/* Videos as the bench reads them: to tracks, which are kept in a folder. */
#ifndef BENCH_VIDEO_VIDEOS_H
#define BENCH_VIDEO_VIDEOS_H

#include <stdbool.h>

#include <doppel/video.h>

struct clip {
    char *path, *name; /**< the name is the file's, without its ending */
    struct doppel_video_track track;
    double seconds; /**< of CPU, to read it; 0: it was kept */
    bool read;
};

struct clips {
    struct clip *list;
    size_t count;
};

/** How they are read. */
struct reading {
    const char *folder; /**< where tracks are kept; NULL: nowhere */
    bool keyframes;
    bool fresh; /**< what is kept is read again */
    unsigned threads;
};

/** Add a path that is to be read. */
void videos_add(struct clips *clips, const char *path);

/** Read them all; one that cannot be read is reported on standard error. */
void videos_read(struct clips *clips, const struct reading *reading);

/** @return NULL: there is none of that name */
const struct clip *videos_named(const struct clips *clips, const char *name);

double videos_hours(const struct clips *clips);

void videos_free(struct clips *clips);

/** The frames of a video between two times, each for itself, within a box of the frame. @return
 * false when there are none */
bool video_frames(const char *path, uint32_t from_ms, uint32_t to_ms,
                  const struct doppel_video_box *box, struct doppel_video_track *out);

/** Do `work` for 0 to count - 1, in so many threads. */
void in_parallel(size_t count, unsigned threads, void (*work)(void *context, size_t number),
                 void *context);

#endif
