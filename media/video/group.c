/* Fast mode: of the packets from one keyframe to the next only the first is decoded, unless they
 * last too long. */
#include "media/video/video.h"

#include <stdlib.h>

/* Keyframes that are further apart do not tell the video: then all frames between are decoded. */
static const int64_t MAX_APART_US = 2000000;

/* Packets that wait, at most: their bytes are a share of the memory, their number is of 2 s. */
enum { MEMORY_SHARE = 4, MAX_PACKETS = 4096 };

static void forget_group_frames(struct video_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        av_packet_free(&group->packets[i]);
    group->count = 0;
    group->bytes = 0;
}

void video_group_free(struct video_group *group)
{
    forget_group_frames(group);
    free(group->packets);
    group->packets = NULL;
    group->room = 0;
    group->whole = false;
}

/* When a packet is decoded: in the order of the packets, which times of presentation are not. */
static int64_t decoded_us(const struct video *video)
{
    const AVPacket *packet = video->packet;
    int64_t time = packet->dts != AV_NOPTS_VALUE ? packet->dts : packet->pts;
    return video_us(time, video->track->time_base);
}

static enum doppel_status wait_for_next(struct video *video, struct doppel_error *error)
{
    struct video_group *group = &video->group;
    if (group->count == group->room) {
        size_t room = group->room ? 2 * group->room : 64;
        AVPacket **grown = realloc(group->packets, room * sizeof(AVPacket *));
        if (!grown)
            return container_fail(&video->container, AVERROR(ENOMEM), error);
        group->packets = grown;
        group->room = room;
    }
    AVPacket *packet = av_packet_clone(video->packet);
    if (!packet)
        return container_fail(&video->container, AVERROR(ENOMEM), error);
    if (!group->count)
        group->begin_us = decoded_us(video);
    group->end_us = decoded_us(video);
    group->packets[group->count++] = packet;
    group->bytes += (uint64_t)packet->size;
    return DOPPEL_OK;
}

static enum doppel_status decode_whole_group(struct video *video, struct doppel_error *error)
{
    struct video_group *group = &video->group;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < group->count && status == DOPPEL_OK && !video->done; i++)
        status = video_feed(video, group->packets[i], error);
    group->whole = group->ever_whole = true;
    forget_group_frames(group);
    return status;
}

enum doppel_status video_group_finish(struct video *video, struct doppel_error *error)
{
    struct video_group *group = &video->group;
    enum doppel_status status = DOPPEL_OK;
    if (group->count && !(group->packets[0]->flags & AV_PKT_FLAG_KEY))
        status = decode_whole_group(video, error); /* the video begins amid a group */
    else if (group->count) {
        group->alone_us = group->begin_us;
        video->passed_us = group->end_us;
        if (!video_is_needless(video, group->packets[0]))
            status = video_feed(video, group->packets[0], error);
    }
    if (status == DOPPEL_OK && (group->count || group->whole))
        status = video_drain(video, error);
    group->alone_us = INT64_MIN;
    forget_group_frames(group);
    group->whole = false;
    return status;
}

static bool is_too_long_video(const struct video *video)
{
    const struct video_group *group = &video->group;
    int64_t us = decoded_us(video);
    return us == INT64_MIN || group->begin_us == INT64_MIN || us - group->begin_us > MAX_APART_US ||
           group->bytes > video->options.limits.max_memory / MEMORY_SHARE ||
           group->count > MAX_PACKETS;
}

enum doppel_status video_group_take(struct video *video, struct doppel_error *error)
{
    struct video_group *group = &video->group;
    bool is_key = video->packet->flags & AV_PKT_FLAG_KEY;
    enum doppel_status status = is_key ? video_group_finish(video, error) : DOPPEL_OK;
    if (status != DOPPEL_OK || video->done)
        return status;
    if (group->whole)
        return video_feed(video, video->packet, error);
    bool too_long = group->count && is_too_long_video(video);
    status = wait_for_next(video, error);
    if (status == DOPPEL_OK && too_long)
        status = decode_whole_group(video, error);
    return status;
}
