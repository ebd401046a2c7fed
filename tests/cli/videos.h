/* Files of made videos for the tests of the command. */
#ifndef DOPPEL_TESTS_VIDEOS_H
#define DOPPEL_TESTS_VIDEOS_H

#include "video.h"
#include "audio.h"

/* Write a video: 8 frames a second of 128 × 96, unless `how` says otherwise. Skips the test where
 * videos cannot be written. */
void keep_video(const char *path, struct video_how how);
/* With a recording, which is freed. */
void keep_video_and_audio(const char *path, struct video_how how, struct recording recording);

/* A moment of a video as a picture: one with enough structure. */
void keep_shot(const char *path, uint64_t seed, double seconds);

/* whole.mp4, of 30 s, and clip.mp4, of 9 s of it from 10 s on, mirrored and smaller. */
void make_whole_and_clip(void);

#endif
