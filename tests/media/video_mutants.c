/* Small videos in many containers, of many codecs. */
#include "video_mutants.h"

static const struct video_how hows[] = {
    {.muxer = "mp4", .codec = "mpeg4", .b_frames = 2, .audio = true},
    {.muxer = "mp4", .codec = "libx264", .b_frames = 3, .options = "movflags=faststart"},
    {.muxer = "mp4", .codec = "libx265"},
    {.muxer = "mov", .codec = "mjpeg"},
    {.muxer = "mp4", .codec = "mpeg4", .options = "movflags=frag_keyframe+empty_moov"},
    {.muxer = "matroska", .codec = "mpeg4", .b_frames = 1, .audio = true},
    {.muxer = "matroska", .codec = "ffv1"},
    {.muxer = "webm", .codec = "libvpx"},
    {.muxer = "webm", .codec = "libvpx-vp9"},
    {.muxer = "avi", .codec = "mpeg4", .audio = true},
    {.muxer = "avi", .codec = "mjpeg"},
    {.muxer = "mpegts", .codec = "mpeg2video", .b_frames = 2, .audio = true},
    {.muxer = "mpegts", .codec = "libx264", .b_frames = 2},
    {.muxer = "vob", .codec = "mpeg2video"},
    {.muxer = "flv", .codec = "flv"},
    {.muxer = "asf", .codec = "wmv2"},
    {.muxer = "ogg", .codec = "libtheora"},
    {.muxer = "mov", .codec = "qtrle"},
    {.muxer = "m4v", .codec = "mpeg4"},
    {.muxer = "yuv4mpegpipe", .codec = "wrapped_avframe"},
};

_Static_assert(sizeof hows / sizeof *hows == VIDEO_SEEDS, "a seed each");

size_t video_seeds(struct file seeds[VIDEO_SEEDS])
{
    size_t count = 0;
    for (size_t i = 0; i < VIDEO_SEEDS; i++) {
        struct video_how how = hows[i];
        how.width = 80;
        how.height = 48;
        how.frames = 40;
        how.rate = 10;
        how.keyframe_every = 10;
        seeds[count] = make_video(&how);
        if (!seeds[count].data) { /* MPEG-2 has rates of its own */
            how.rate = 25;
            how.frames = 100;
            seeds[count] = make_video(&how);
        }
        count += seeds[count].data != NULL;
    }
    return count;
}
