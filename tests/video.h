/* Made videos for tests: scenes of moving shapes by a seed, and files of them. The same seed gives
 * the same video, of which a shorter one is the beginning. */
#ifndef TESTS_VIDEO_H
#define TESTS_VIDEO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recording;

/* What is seen of a seed's video. Zeroes stand for what is said. */
struct video_view {
    uint64_t seed;
    double from;  /* the video's first moment, in seconds of the content */
    double speed; /* of the content; 0: 1 */
    bool still;   /* the first moment all the time */
    bool mirrored;
    float left, right, top, bottom; /* shares that are cut off; below 0: black bars instead */
};

/* The luma at `seconds` of the video, width × height samples without gaps. Without FFmpeg. */
void video_draw(const struct video_view *view, double seconds, uint32_t width, uint32_t height,
                uint8_t *out);

/* The same of other videos. @param out width × height samples without gaps */
typedef void video_drawer(const struct video_view *view, double seconds, uint32_t width,
                          uint32_t height, uint8_t *out);

struct video_how {
    struct video_view view;
    video_drawer *draw; /* NULL: video_draw */
    double seconds;
    double rate;            /* frames a second; 0: 25 */
    uint32_t width, height; /* even; 0: 160 × 120 */
    const char *muxer;      /* names of FFmpeg's; NULL: by the file's name */
    const char *codec;      /* NULL: mpeg4 */
    int keyframes;          /* frames from one to the next; 0: 12 */
    int quality;            /* quantiser, 1 (best) to 31; 0: 4 */
    int rotation; /* display matrix: degrees clockwise that a player turns it; 0, 90, … */
    const struct recording *audio; /* mono at SOUND_RATE; NULL: none */
    const char *audio_codec;       /* NULL: aac */
    bool no_images;                /* the audio alone, in a video's container */
};

/* @return false where FFmpeg, or this encoder, is missing */
bool video_write(const char *path, const struct video_how *how);

#endif
