/* Packets to frames to who takes them, with an eye on time, limits and damage. */
#include "media/film.h"

/* Demuxers that report an error may do so for ever. */
enum { MAX_ERRORS_IN_A_ROW = 64 };

/* What is damaged counts from so much on. */
enum { LEAST_MS = 3000 };

/* What ends so much before the container says is cut short. */
enum { CUT_MS = 500, CUT_SHARE = 100 };

/* Not before the first frame: what is read may begin amid a film. */
static void note_damage(struct film *film)
{
    uint64_t at_ms = (uint64_t)film->clock.last_us / 1000;
    if (film->clock.begun && !film->clock.moved && !film->info.damaged_ms)
        film->info.damaged_ms = at_ms ? at_ms : 1;
    film->damaged = true;
}

/* ---- frames ---- */

static enum doppel_status check_time(const struct film *film, int64_t us,
                                     struct doppel_error *error)
{
    double most = film->options.max_seconds;
    if (most > 0 && (double)us / 1e6 > most)
        return doppel_fail(error, DOPPEL_E_LIMIT, "lasts longer than %g seconds, the limit", most);
    if (us / 1000 >= UINT32_MAX)
        return doppel_fail(error, DOPPEL_E_LIMIT, "lasts longer than 49 days");
    return DOPPEL_OK;
}

static void decode_all(struct film *film)
{
    if (!film->skipping)
        return;
    film->skipping = false;
    film->codec->skip_frame = AVDISCARD_DEFAULT;
}

/* Frames of containers that tell the order of decoding alone have no time when they come late. */
static int64_t presented_us(const struct film *film)
{
    int64_t us = film_us(film->frame->best_effort_timestamp, film->codec->pkt_timebase);
    return us == INT64_MIN ? film->group.alone_us : us;
}

/* @return false: the film was sought in, and this is behind what was sought */
static bool lands(struct film *film, uint32_t time_ms)
{
    film->missed = film->landing && time_ms > film->options.from_ms;
    film->landing = false;
    film->done |= film->missed;
    return !film->missed;
}

static enum doppel_status take_frame(struct film *film, struct doppel_error *error)
{
    const AVFrame *frame = film->frame;
    int64_t last_us = film->clock.last_us, us;
    bool follows = film->clock.begun && !film->clock.moved;
    enum doppel_status status =
        check_pixels(&film->options.limits, (uint64_t)frame->width, (uint64_t)frame->height, error);
    if (status != DOPPEL_OK)
        return status;
    film->number++;
    if (frame->decode_error_flags)
        note_damage(film);
    if (!film_clock_tell(&film->clock, presented_us(film), &us))
        return DOPPEL_OK;
    /* The frames that others refer to are too far apart for the samples. */
    if (follows && us - last_us > (int64_t)film->options.step_ms * 1000)
        decode_all(film);
    status = check_time(film, us, error);
    uint32_t time_ms = us > 0 ? (uint32_t)((us + 500) / 1000) : 0;
    if (status == DOPPEL_OK && lands(film, time_ms))
        status = film->take(film, time_ms, error);
    return status;
}

static enum doppel_status take_frames(struct film *film, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    while (status == DOPPEL_OK && !film->done) {
        int code = avcodec_receive_frame(film->codec, film->frame);
        if (code == AVERROR(EAGAIN) || code == AVERROR_EOF)
            break;
        if (code == AVERROR(ENOMEM) || film->container.refusal.status != DOPPEL_OK)
            return container_fail(&film->container, code, error);
        if (code < 0) {
            note_damage(film);
            break;
        }
        status = take_frame(film, error);
        av_frame_unref(film->frame);
    }
    return status;
}

enum doppel_status film_feed(struct film *film, const AVPacket *packet, struct doppel_error *error)
{
    int code = avcodec_send_packet(film->codec, packet);
    if (code == AVERROR(ENOMEM) || film->container.refusal.status != DOPPEL_OK)
        return container_fail(&film->container, code, error);
    if (code < 0 && code != AVERROR_EOF)
        note_damage(film);
    return take_frames(film, error);
}

enum doppel_status film_drain(struct film *film, struct doppel_error *error)
{
    enum doppel_status status = film_feed(film, NULL, error);
    avcodec_flush_buffers(film->codec);
    return status;
}

/* ---- packets ---- */

static int64_t packet_us(const struct film *film, const AVPacket *packet)
{
    int64_t time = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
    return film_us(time, film->container.format->streams[packet->stream_index]->time_base);
}

bool film_is_needless(const struct film *film, const AVPacket *packet)
{
    const struct film_clock *clock = &film->clock;
    int64_t us = packet_us(film, packet);
    if (film->options.exact || !clock->begun || clock->moved || us == INT64_MIN)
        return false;
    /* Half a millisecond: times are rounded. */
    us -= clock->origin_us;
    return us > clock->last_us && us + 500 < film->wanted_us;
}

/* Of codecs whose pictures need no other, those between the samples need no decoding. */
static bool is_left_out(struct film *film)
{
    const AVPacket *packet = film->packet;
    const AVCodecDescriptor *codec = film->codec->codec_descriptor;
    bool alone = codec && (codec->props & AV_CODEC_PROP_INTRA_ONLY);
    if (!alone || !(packet->flags & AV_PKT_FLAG_KEY) || !film_is_needless(film, packet))
        return false;
    film->passed_us = packet_us(film, packet);
    return true;
}

static void note_end(struct film *film)
{
    const AVPacket *packet = film->packet;
    AVRational base = film->container.format->streams[packet->stream_index]->time_base;
    int64_t us = packet_us(film, packet), lasts_us = film_us(packet->duration, base);
    if (us != INT64_MIN && us + (lasts_us > 0 ? lasts_us : 0) > film->read_us)
        film->read_us = us + (lasts_us > 0 ? lasts_us : 0);
}

static enum doppel_status take_packet(struct film *film, struct doppel_error *error)
{
    AVPacket *packet = film->packet;
    note_end(film);
    if (packet->stream_index != film->track->index || !packet->size)
        return DOPPEL_OK;
    if (av_packet_get_side_data(packet, AV_PKT_DATA_ENCRYPTION_INFO, NULL))
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "is encrypted");
    if (packet->flags & AV_PKT_FLAG_CORRUPT)
        note_damage(film);
    if (packet->pts == AV_NOPTS_VALUE && packet->dts == AV_NOPTS_VALUE)
        decode_all(film); /* time is told by counting */
    enum doppel_status status = check_memory(
        &film->options.limits, film->held + film->group.bytes + (uint64_t)packet->size, error);
    if (status != DOPPEL_OK)
        return status;
    if (is_left_out(film))
        return DOPPEL_OK;
    return film->options.keyframes ? film_group_take(film, error) : film_feed(film, packet, error);
}

static enum doppel_status read_packets(struct film *film, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    int errors = 0;
    while (status == DOPPEL_OK && !film->done && errors < MAX_ERRORS_IN_A_ROW) {
        int code = av_read_frame(film->container.format, film->packet);
        if (code == AVERROR_EOF)
            break;
        if (code == AVERROR(ENOMEM))
            return container_fail(&film->container, code, error);
        if (code < 0) {
            note_damage(film);
            errors++;
            continue;
        }
        errors = 0;
        status = take_packet(film, error);
        av_packet_unref(film->packet);
    }
    if (status == DOPPEL_OK && !film->done && film->options.keyframes)
        status = film_group_finish(film, error);
    if (status == DOPPEL_OK && !film->done)
        status = film_feed(film, NULL, error);
    return status;
}

/* ---- from a moment on ---- */

static enum doppel_status pass_over(struct film *film, uint32_t time_ms, struct doppel_error *error)
{
    (void)time_ms, (void)error;
    film->done = true;
    return DOPPEL_OK;
}

/* @param to_ms 0: the beginning */
static void seek(struct film *film, uint32_t to_ms)
{
    AVFormatContext *format = film->container.format;
    int64_t us = film->clock.origin_us + (int64_t)to_ms * 1000;
    int64_t time = av_rescale_q_rnd(us, AV_TIME_BASE_Q, film->track->time_base, AV_ROUND_DOWN);
    int flags = AVSEEK_FLAG_BACKWARD;
    if (!to_ms && !(format->iformat->flags & AVFMT_NO_BYTE_SEEK)) {
        time = 0;
        flags |= AVSEEK_FLAG_BYTE;
    }
    avcodec_flush_buffers(film->codec);
    film_group_free(&film->group);
    /* A container that cannot be sought in is read on from where it stands. */
    if (av_seek_frame(format, film->track->index, time, flags) >= 0)
        film->clock.moved = true;
}

/* Containers land where they like, also behind what was asked for: then from farther back. */
static enum doppel_status read_from(struct film *film, struct doppel_error *error)
{
    static const uint32_t back_ms[] = {0, 10000, UINT32_MAX};
    const uint32_t from_ms = film->options.from_ms;
    film_taker *take = film->take;
    film->take = pass_over; /* the first frame, from which times are counted */
    enum doppel_status status = read_packets(film, error);
    film->take = take;
    film->missed = true;
    for (size_t i = 0; status == DOPPEL_OK && film->missed && i < 3; i++) {
        film->missed = film->done = false;
        film->landing = back_ms[i] < from_ms;
        seek(film, film->landing ? from_ms - back_ms[i] : 0);
        status = read_packets(film, error);
        film->missed |= film->clock.moved; /* behind the last keyframe: nothing came */
    }
    return status;
}

/* ---- the end ---- */

/* How long the film is, as far as it was seen or passed over. */
static uint64_t seen_us(const struct film *film)
{
    const struct film_clock *clock = &film->clock;
    int64_t end_us = clock->last_us, passed_us = film->passed_us;
    if (passed_us != INT64_MIN && passed_us > clock->origin_us + end_us)
        end_us = passed_us - clock->origin_us;
    return (uint64_t)(end_us + clock->frame_us + 500);
}

/* Whether what the film is to last was told by nobody. */
static bool is_guessed(const struct film *film)
{
    return film->container.format->duration_estimation_method == AVFMT_DURATION_FROM_BITRATE;
}

static bool is_cut(const struct film *film, uint64_t seen_ms)
{
    const AVFormatContext *format = film->container.format;
    uint64_t end_ms = film->expected_ms;
    if (film->done || (film->all_tracks && (is_guessed(film) || film->read_us == INT64_MIN)))
        return false;
    if (film->all_tracks) {
        int64_t begin_us = format->start_time != AV_NOPTS_VALUE ? format->start_time : 0;
        seen_ms = film->read_us > begin_us ? (uint64_t)(film->read_us - begin_us) / 1000 : 0;
    }
    return seen_ms + CUT_MS + end_ms / CUT_SHARE < end_ms;
}

/* Decoders without memory may keep silent: two frames are the least that they hold. */
static enum doppel_status fail_without_frames(const struct film *film, struct doppel_error *error)
{
    uint64_t pixels = (uint64_t)film->codec->width * (uint64_t)film->codec->height;
    bool promised = film->expected_ms && !is_guessed(film);
    enum doppel_status status = check_memory(&film->options.limits, 3 * pixels, error);
    if (status != DOPPEL_OK)
        return status;
    if (film->damaged || promised)
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "is damaged or cut short: no picture could be decoded");
    return doppel_fail(error, DOPPEL_E_EMPTY, "has no pictures in it: 0 frames");
}

static enum doppel_status check_end(struct film *film, struct doppel_error *error)
{
    if (!film->number)
        return fail_without_frames(film, error);
    uint64_t seen_ms = seen_us(film) / 1000, said_ms = film->expected_ms;
    bool cut = is_cut(film, seen_ms);
    if (cut)
        note_damage(film);
    if (film->info.damaged_ms && seen_ms < LEAST_MS)
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "is damaged or cut short: %.2f seconds could be decoded, of which at "
                           "least %d are needed",
                           (double)seen_ms / 1000, LEAST_MS / 1000);
    bool told = !cut && !film->all_tracks && said_ms > seen_ms;
    film->info.duration_ms = told ? said_ms : seen_ms;
    film->info.keyframes = film->options.keyframes && !film->group.ever_whole;
    return DOPPEL_OK;
}

enum doppel_status film_decode(struct film *film, struct doppel_error *error)
{
    enum doppel_status status =
        film->options.from_ms ? read_from(film, error) : read_packets(film, error);
    return status == DOPPEL_OK ? check_end(film, error) : status;
}
