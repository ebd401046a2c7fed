/* Small videos in many containers: what the robust tests and the fuzzer's driver begin with. */
#ifndef DOPPEL_TESTS_MEDIA_VIDEO_MUTANTS_H
#define DOPPEL_TESTS_MEDIA_VIDEO_MUTANTS_H

#include "make_video.h"

enum { VIDEO_SEEDS = 20 };

/** Files of four seconds; fewer than FILM_SEEDS where FFmpeg lacks an encoder. Each given
 * (file_free). @return how many */
size_t video_seeds(struct file seeds[VIDEO_SEEDS]);

#endif
