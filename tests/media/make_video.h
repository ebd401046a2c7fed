/* Videos that the tests make themselves: every picture shows its number. */
#ifndef DOPPEL_TESTS_MEDIA_MAKE_VIDEO_H
#define DOPPEL_TESTS_MEDIA_MAKE_VIDEO_H

#include "make.h"

struct video_how {
    const char *muxer, *codec; /**< as FFmpeg calls them */
    const char *pixel_format;  /**< the same; NULL = the codec's first */
    const char *options;       /**< of the muxer, "name=value:name=value" */
    uint32_t width, height;    /**< 0 = 160 x 96 */
    unsigned frames;           /**< at most VIDEO_NUMBERS */
    unsigned rate;             /**< frames a second; 0 = 25 */
    const int64_t *times_ms;   /**< of presentation, of each frame; NULL = by the rate */
    int keyframe_every;        /**< frames; 0 = 12 */
    int b_frames;              /**< between two others */
    const int32_t *matrix;     /**< 9: how it is shown; NULL = as it is */
    bool audio;                /**< a track of silence, too */
    bool cover;                /**< an attached picture before the video */
    bool decoy;                /**< another video before it, that is not the default */
};

enum { VIDEO_NUMBERS = 1024, VIDEO_BITS = 10 };

/** `data` is NULL when this machine has no such encoder or muxer; given (file_free). */
struct file make_video(const struct video_how *how);

/** The number that a picture shows, of a plane that is not turned. */
unsigned video_number(const struct doppel_plane *plane);

#endif
