/* Packets to frames to who takes them, with an eye on time, limits and damage. */
#include "media/video/video.h"

/* Demuxers that report an error may do so for ever. */
enum { MAX_ERRORS_IN_A_ROW = 64 };

/* What is damaged counts from so much on. */
enum { LEAST_MS = 3000 };

/* What ends so much before the container says is cut short. */
enum { CUT_MS = 500, CUT_SHARE = 100 };

/* Not before the first frame: what is read may begin amid a video. */
static void note_damage_video(struct video *video)
{
    uint64_t at_ms = (uint64_t)video->clock.last_us / 1000;
    if (video->clock.begun && !video->clock.moved && !video->info.damaged_ms)
        video->info.damaged_ms = at_ms ? at_ms : 1;
    video->damaged = true;
}

/* ---- frames ---- */

static enum doppel_status check_time(const struct video *video, int64_t us,
                                     struct doppel_error *error)
{
    double most = video->options.max_seconds;
    if (most > 0 && (double)us / 1e6 > most)
        return doppel_fail(error, DOPPEL_E_LIMIT, "lasts longer than %g seconds, the limit", most);
    if (us / 1000 >= UINT32_MAX)
        return doppel_fail(error, DOPPEL_E_LIMIT, "lasts longer than 49 days");
    return DOPPEL_OK;
}

static void decode_all_video(struct video *video)
{
    if (!video->skipping)
        return;
    video->skipping = false;
    video->codec->skip_frame = AVDISCARD_DEFAULT;
}

/* Frames of containers that tell the order of decoding alone have no time when they come late. */
static int64_t presented_us(const struct video *video)
{
    int64_t us = video_us(video->frame->best_effort_timestamp, video->codec->pkt_timebase);
    return us == INT64_MIN ? video->group.alone_us : us;
}

/* @return false: the video was sought in, and this is behind what was sought */
static bool lands(struct video *video, uint32_t time_ms)
{
    video->missed = video->landing && time_ms > video->options.from_ms;
    video->landing = false;
    video->done |= video->missed;
    return !video->missed;
}

static enum doppel_status take_frame_video(struct video *video, struct doppel_error *error)
{
    const AVFrame *frame = video->frame;
    int64_t last_us = video->clock.last_us, us;
    bool follows = video->clock.begun && !video->clock.moved;
    enum doppel_status status = check_pixels(&video->options.limits, (uint64_t)frame->width,
                                             (uint64_t)frame->height, error);
    if (status != DOPPEL_OK)
        return status;
    video->number++;
    if (frame->decode_error_flags)
        note_damage_video(video);
    if (!video_clock_time(&video->clock, presented_us(video), &us))
        return DOPPEL_OK;
    /* The frames that others refer to are too far apart for the samples. */
    if (follows && us - last_us > (int64_t)video->options.step_ms * 1000)
        decode_all_video(video);
    status = check_time(video, us, error);
    uint32_t time_ms = us > 0 ? (uint32_t)((us + 500) / 1000) : 0;
    if (status == DOPPEL_OK && lands(video, time_ms))
        status = video->take(video, time_ms, error);
    return status;
}

static enum doppel_status take_frames_video(struct video *video, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    while (status == DOPPEL_OK && !video->done) {
        int code = avcodec_receive_frame(video->codec, video->frame);
        if (code == AVERROR(EAGAIN) || code == AVERROR_EOF)
            break;
        if (code == AVERROR(ENOMEM) || video->container.refusal.status != DOPPEL_OK)
            return container_fail(&video->container, code, error);
        if (code < 0) {
            note_damage_video(video);
            break;
        }
        status = take_frame_video(video, error);
        av_frame_unref(video->frame);
    }
    return status;
}

enum doppel_status video_feed(struct video *video, const AVPacket *packet,
                              struct doppel_error *error)
{
    int code = avcodec_send_packet(video->codec, packet);
    if (code == AVERROR(ENOMEM) || video->container.refusal.status != DOPPEL_OK)
        return container_fail(&video->container, code, error);
    if (code < 0 && code != AVERROR_EOF)
        note_damage_video(video);
    return take_frames_video(video, error);
}

enum doppel_status video_drain(struct video *video, struct doppel_error *error)
{
    enum doppel_status status = video_feed(video, NULL, error);
    avcodec_flush_buffers(video->codec);
    return status;
}

/* ---- packets ---- */

static int64_t packet_us(const struct video *video, const AVPacket *packet)
{
    int64_t time = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
    return video_us(time, video->container.format->streams[packet->stream_index]->time_base);
}

bool video_is_needless(const struct video *video, const AVPacket *packet)
{
    const struct video_clock *clock = &video->clock;
    int64_t us = packet_us(video, packet);
    if (video->options.exact || !clock->begun || clock->moved || us == INT64_MIN)
        return false;
    /* Half a millisecond: times are rounded. */
    us -= clock->origin_us;
    return us > clock->last_us && us + 500 < video->wanted_us;
}

/* Of codecs whose pictures need no other, those between the samples need no decoding. */
static bool is_left_out(struct video *video)
{
    const AVPacket *packet = video->packet;
    const AVCodecDescriptor *codec = video->codec->codec_descriptor;
    bool alone = codec && (codec->props & AV_CODEC_PROP_INTRA_ONLY);
    if (!alone || !(packet->flags & AV_PKT_FLAG_KEY) || !video_is_needless(video, packet))
        return false;
    video->passed_us = packet_us(video, packet);
    return true;
}

static void note_end(struct video *video)
{
    const AVPacket *packet = video->packet;
    AVRational base = video->container.format->streams[packet->stream_index]->time_base;
    int64_t us = packet_us(video, packet), lasts_us = video_us(packet->duration, base);
    if (us != INT64_MIN && us + (lasts_us > 0 ? lasts_us : 0) > video->read_us)
        video->read_us = us + (lasts_us > 0 ? lasts_us : 0);
}

static enum doppel_status take_packet_video(struct video *video, struct doppel_error *error)
{
    AVPacket *packet = video->packet;
    note_end(video);
    if (packet->stream_index != video->track->index || !packet->size)
        return DOPPEL_OK;
    if (av_packet_get_side_data(packet, AV_PKT_DATA_ENCRYPTION_INFO, NULL))
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "is encrypted");
    if (packet->flags & AV_PKT_FLAG_CORRUPT)
        note_damage_video(video);
    if (packet->pts == AV_NOPTS_VALUE && packet->dts == AV_NOPTS_VALUE)
        decode_all_video(video); /* time is told by counting */
    enum doppel_status status = check_memory(
        &video->options.limits, video->held + video->group.bytes + (uint64_t)packet->size, error);
    if (status != DOPPEL_OK)
        return status;
    if (is_left_out(video))
        return DOPPEL_OK;
    return video->options.keyframes ? video_group_take(video, error)
                                    : video_feed(video, packet, error);
}

static enum doppel_status read_packets_video(struct video *video, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    int errors = 0;
    while (status == DOPPEL_OK && !video->done && errors < MAX_ERRORS_IN_A_ROW) {
        int code = av_read_frame(video->container.format, video->packet);
        if (code == AVERROR_EOF)
            break;
        if (code == AVERROR(ENOMEM))
            return container_fail(&video->container, code, error);
        if (code < 0) {
            note_damage_video(video);
            errors++;
            continue;
        }
        errors = 0;
        status = take_packet_video(video, error);
        av_packet_unref(video->packet);
    }
    if (status == DOPPEL_OK && !video->done && video->options.keyframes)
        status = video_group_finish(video, error);
    if (status == DOPPEL_OK && !video->done)
        status = video_feed(video, NULL, error);
    return status;
}

/* ---- from a moment on ---- */

static enum doppel_status pass_over_video(struct video *video, uint32_t time_ms,
                                          struct doppel_error *error)
{
    (void)time_ms, (void)error;
    video->done = true;
    return DOPPEL_OK;
}

/* @param to_ms 0: the beginning */
static void seek_video(struct video *video, uint32_t to_ms)
{
    AVFormatContext *format = video->container.format;
    int64_t us = video->clock.origin_us + (int64_t)to_ms * 1000;
    int64_t time = av_rescale_q_rnd(us, AV_TIME_BASE_Q, video->track->time_base, AV_ROUND_DOWN);
    int flags = AVSEEK_FLAG_BACKWARD;
    if (!to_ms && !(format->iformat->flags & AVFMT_NO_BYTE_SEEK)) {
        time = 0;
        flags |= AVSEEK_FLAG_BYTE;
    }
    avcodec_flush_buffers(video->codec);
    video_group_free(&video->group);
    /* A container that cannot be sought in is read on from where it stands. */
    if (av_seek_frame(format, video->track->index, time, flags) >= 0)
        video->clock.moved = true;
}

/* Containers land where they like, also behind what was asked for: then from farther back. */
static enum doppel_status read_from(struct video *video, struct doppel_error *error)
{
    static const uint32_t back_ms[] = {0, 10000, UINT32_MAX};
    const uint32_t from_ms = video->options.from_ms;
    video_taker *take = video->take;
    video->take = pass_over_video; /* the first frame, from which times are counted */
    enum doppel_status status = read_packets_video(video, error);
    video->take = take;
    video->missed = true;
    for (size_t i = 0; status == DOPPEL_OK && video->missed && i < 3; i++) {
        video->missed = video->done = false;
        video->landing = back_ms[i] < from_ms;
        seek_video(video, video->landing ? from_ms - back_ms[i] : 0);
        status = read_packets_video(video, error);
        video->missed |= video->clock.moved; /* behind the last keyframe: nothing came */
    }
    return status;
}

/* ---- the end ---- */

/* How long the video is, as far as it was seen or passed over. */
static uint64_t seen_us(const struct video *video)
{
    const struct video_clock *clock = &video->clock;
    int64_t end_us = clock->last_us, passed_us = video->passed_us;
    if (passed_us != INT64_MIN && passed_us > clock->origin_us + end_us)
        end_us = passed_us - clock->origin_us;
    return (uint64_t)(end_us + clock->frame_us + 500);
}

/* Whether what the video is to last was told by nobody. */
static bool is_guessed(const struct video *video)
{
    return video->container.format->duration_estimation_method == AVFMT_DURATION_FROM_BITRATE;
}

static bool is_cut(const struct video *video, uint64_t seen_ms)
{
    const AVFormatContext *format = video->container.format;
    uint64_t end_ms = video->expected_ms;
    if (video->done || (video->all_tracks && (is_guessed(video) || video->read_us == INT64_MIN)))
        return false;
    if (video->all_tracks) {
        int64_t begin_us = format->start_time != AV_NOPTS_VALUE ? format->start_time : 0;
        seen_ms = video->read_us > begin_us ? (uint64_t)(video->read_us - begin_us) / 1000 : 0;
    }
    return seen_ms + CUT_MS + end_ms / CUT_SHARE < end_ms;
}

/* Decoders without memory may keep silent: two frames are the least that they hold. */
static enum doppel_status fail_without_frames(const struct video *video, struct doppel_error *error)
{
    uint64_t pixels = (uint64_t)video->codec->width * (uint64_t)video->codec->height;
    bool promised = video->expected_ms && !is_guessed(video);
    enum doppel_status status = check_memory(&video->options.limits, 3 * pixels, error);
    if (status != DOPPEL_OK)
        return status;
    if (video->damaged || promised)
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "is damaged or cut short: no picture could be decoded");
    return doppel_fail(error, DOPPEL_E_EMPTY, "has no pictures in it: 0 frames");
}

static enum doppel_status check_end(struct video *video, struct doppel_error *error)
{
    if (!video->number)
        return fail_without_frames(video, error);
    uint64_t seen_ms = seen_us(video) / 1000, stated_ms = video->expected_ms;
    bool cut = is_cut(video, seen_ms);
    if (cut)
        note_damage_video(video);
    if (video->info.damaged_ms && seen_ms < LEAST_MS)
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "is damaged or cut short: %.2f seconds could be decoded, of which at "
                           "least %d are needed",
                           (double)seen_ms / 1000, LEAST_MS / 1000);
    bool told = !cut && !video->all_tracks && stated_ms > seen_ms;
    video->info.duration_ms = told ? stated_ms : seen_ms;
    video->info.keyframes = video->options.keyframes && !video->group.ever_whole;
    return DOPPEL_OK;
}

enum doppel_status video_decode(struct video *video, struct doppel_error *error)
{
    enum doppel_status status =
        video->options.from_ms ? read_from(video, error) : read_packets_video(video, error);
    return status == DOPPEL_OK ? check_end(video, error) : status;
}
