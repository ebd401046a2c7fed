/* Films as the bench reads them: to tracks, which are kept in a folder. */
#ifndef BENCH_VIDEO_FILMS_H
#define BENCH_VIDEO_FILMS_H

#include <stdbool.h>

#include <doppel/video.h>

struct film {
    char *path, *name; /**< the name is the file's, without its ending */
    struct doppel_video_track track;
    double seconds; /**< of CPU, to read it; 0: it was kept */
    bool read;
};

struct films {
    struct film *list;
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
void films_add(struct films *films, const char *path);

/** Read them all; one that cannot be read is told on standard error. */
void films_read(struct films *films, const struct reading *reading);

/** @return NULL: there is none of that name */
const struct film *films_named(const struct films *films, const char *name);

double films_hours(const struct films *films);

void films_free(struct films *films);

/** The frames of a film between two times, each for itself, within a box of the frame. @return
 * false when there are none */
bool film_frames(const char *path, uint32_t from_ms, uint32_t to_ms,
                 const struct doppel_video_box *box, struct doppel_video_track *out);

/** Do `work` for 0 to count - 1, in so many threads. */
void in_parallel(size_t count, unsigned threads, void (*work)(void *context, size_t number),
                 void *context);

#endif
