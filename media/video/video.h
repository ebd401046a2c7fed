/* The way of a video: bytes -> packets -> frames, each with its time -> who takes them. */
#ifndef DOPPEL_MEDIA_VIDEO_H
#define DOPPEL_MEDIA_VIDEO_H

#include <libavcodec/avcodec.h>
#include <libswscale/swscale.h>

#include "media/container.h"

/* ---- time ---- */

struct video_clock {
    bool begun;        /**< a frame came: `origin_us` is known */
    bool moved;        /**< the video was sought in: the next time is taken as it is */
    int64_t origin_us; /**< in the container's times, of the first frame; jumps move it */
    int64_t last_us;   /**< of the last frame, from the first one on */
    int64_t frame_us;  /**< how long a frame lasts, as a rule */
};

/** Tell the time of a frame that the container presents at `at_us` (INT64_MIN: not told).
 * @return false: it goes back, the frame is passed over */
bool video_clock_time(struct video_clock *clock, int64_t at_us, int64_t *out_us);

/** Microseconds, or INT64_MIN of what is no time. */
int64_t video_us(int64_t time, AVRational base);

/* ---- luma ---- */

/** How a frame is turned upright, as EXIF has it. @param of_track what the track says */
unsigned video_orientation(const AVFrame *frame, unsigned of_track);
unsigned video_orientation_of_track(const AVStream *track);

/** Makes upright planes of frames; zero at first. */
struct video_luma {
    const struct doppel_media_limits *limits;
    bool from_rgb;
    struct SwsContext *scaler;
    uint8_t *converted, *turned;
    size_t converted_room, turned_room;
};

/** @param of_track its orientation, where the frame has none of its own
 * @param out borrowed from the frame or from `luma`, until the next one */
enum doppel_status video_luma_take(struct video_luma *luma, const AVFrame *frame, unsigned of_track,
                                   struct doppel_plane *out, struct doppel_error *error);
void video_luma_free(struct video_luma *luma);

/* ---- the whole way ---- */

struct video;

/** Takes `video->frame`; may set `video->done`. */
typedef enum doppel_status video_taker(struct video *video, uint32_t time_ms,
                                       struct doppel_error *error);

/** Packets from a keyframe on, in fast mode: whether they are decoded is not known yet. */
struct video_group {
    AVPacket **packets;
    size_t count, room;
    uint64_t bytes;
    int64_t begin_us, end_us; /**< in the container's times, of the first and the last packet */
    int64_t alone_us;         /**< the same, of a keyframe that is decoded alone; or INT64_MIN */
    bool whole;               /**< longer than allowed: its packets are decoded as they come */
    bool ever_whole;          /**< this, or one before, was longer */
};

struct video {
    struct doppel_frames_options options;
    struct container container;
    AVStream *track;
    AVCodecContext *codec;
    AVPacket *packet;
    AVFrame *frame;
    video_taker *take;
    void *context; /**< of `take` */
    struct video_clock clock;
    struct video_group group;
    uint64_t held;   /**< bytes of frames that are in use, by the decoder or here */
    uint64_t number; /**< frames that were decoded */
    uint64_t expected_ms;
    int64_t wanted_us;    /**< from the first frame on: what is earlier is not visited any more */
    int64_t passed_us;    /**< in the container's times, of the last packet that was left out; or
                             INT64_MIN */
    bool all_tracks;      /**< how long the track is nobody knows, but how long all of them are */
    int64_t read_us;      /**< then: where the last packet of any of them ends; or INT64_MIN */
    unsigned orientation; /**< of the track, as EXIF has it */
    AVRational pixel;     /**< its shape as the track has it; 0 = not told */
    bool damaged;         /**< whatever it was, even before the first frame */
    bool skipping;        /**< frames that no other refers to are not decoded */
    bool landing;         /**< no frame came since the video was sought in */
    bool missed;          /**< sought beyond what was wanted */
    bool done;
    struct doppel_frames_info info;
};

/** Open, decode, close. @param video options, take and context are set, the rest is zero */
enum doppel_status video_decode_file(struct video *video, int fd, struct doppel_error *error);

/** Choose the demuxer, the track and its decoder. */
enum doppel_status video_open(struct video *video, struct doppel_error *error);

/** Decode what is wanted of it. */
enum doppel_status video_decode(struct video *video, struct doppel_error *error);

/* ---- between the files of the decoding ---- */

/** One packet to the decoder, and its frames to `take`. @param packet NULL: the end */
enum doppel_status video_feed(struct video *video, const AVPacket *packet,
                              struct doppel_error *error);

/** Whether nothing is lost when this packet, which needs no other, is not decoded. */
bool video_is_needless(const struct video *video, const AVPacket *packet);

/** Let the decoder give what it holds back, and start again. */
enum doppel_status video_drain(struct video *video, struct doppel_error *error);

/** Fast mode: one packet, of which perhaps nothing is decoded. */
enum doppel_status video_group_take(struct video *video, struct doppel_error *error);
/** Fast mode: no packets come any more. */
enum doppel_status video_group_finish(struct video *video, struct doppel_error *error);
void video_group_free(struct video_group *group);

#endif
