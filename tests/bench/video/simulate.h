/* Videos that nobody made, whose codes are as those of real ones. */
#ifndef BENCH_VIDEO_SIMULATE_H
#define BENCH_VIDEO_SIMULATE_H

#include "../random.h"
#include "videos.h"

/**
 * So many milliseconds of video: pieces of 5 to 60 s, each a real video laid over a frame of
 * another, with weights, parts of their frames (.6 to 1 of the sides), turns (to 10 degrees),
 * mirroring and speeds drawn again for each; upside down. Runs as the video room makes them. No
 * cells.
 * @param out given (doppel_video_track_free)
 */
void simulate(const struct clips *clips, uint64_t duration_ms, struct random *random,
              struct doppel_video_track *out);

/** The same video with rows and columns exchanged, its codes from its cells: in no library. */
void tilt(const struct doppel_video_track *track, struct doppel_video_track *out);

#endif
