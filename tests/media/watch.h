/* Watching videos in memory: through doppel, and by a plain loop over FFmpeg. */
#ifndef DOPPEL_TESTS_MEDIA_WATCH_H
#define DOPPEL_TESTS_MEDIA_WATCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "make_video.h"

struct image_seen {
    uint32_t time_ms, width, height;
    uint64_t number; /**< as doppel counts */
    unsigned shown;  /**< the number in the picture */
    uint8_t *pixels; /**< rows without a gap */
};

struct watched {
    struct image_seen *seen;
    size_t count;
    uint64_t expected_ms; /**< as the last visit was told */
    enum doppel_status status;
    struct doppel_frames_info info;
    struct doppel_error error;
};

struct watched watch(const struct file *file, const struct doppel_frames_options *options);

/** A video that must be good. */
struct watched watch_good(const struct file *file, const struct doppel_frames_options *options);

/** Every frame by avcodec_receive_frame in order, none skipped: times from the first one on. */
struct watched watch_plainly(const struct file *file);

void watched_free(struct watched *watched);

/** Every frame, decoded in full. */
struct doppel_frames_options every_frame(void);

/** That a video is refused like this, and the sentence has these words in it; frees the file. */
void assert_not_watched(struct file file, const struct doppel_frames_options *options,
                        enum doppel_status status, const char *words);

#endif
