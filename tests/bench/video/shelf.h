/* A kept index of videos: files in a folder of its own, and the tracks, as a library keeps both. */
#ifndef BENCH_VIDEO_SHELF_H
#define BENCH_VIDEO_SHELF_H

#include <doppel/match.h>

struct shelf {
    char folder[64];
    struct doppel_index *index; /**< its segments are files */
    struct doppel_videos *set;  /**< over it */
    int tracks;                 /**< the file of tracks, one after the other */
    uint64_t *ends;
    size_t count; /**< ids are 0 to count - 1 */
    const uint8_t *mapped;
};

/** @param parent where the folder is made */
void shelf_open(struct shelf *shelf, const char *parent);

/** Add the next video. */
void shelf_add(struct shelf *shelf, const struct doppel_video_track *track);

/** All in one segment, and the tracks mapped. */
void shelf_settle(struct shelf *shelf);

/** And remove its files. */
void shelf_close(struct shelf *shelf);

#endif
