/* Which container of pictures, which track, which decoder, and what the decoder may hold. */
#include <limits.h>
#include <stdlib.h>

#include <libavutil/imgutils.h>

#include "media/video/video.h"

/* How much is looked at to find the tracks of a container that does not list them. */
enum { TRACKS_BYTES = 5 << 20 };

/* How long a frame lasts where nobody says. */
enum { FRAME_US = 40000 };

/* ---- the track ---- */

/* Of MP4 the sample entry, or its boxes; of others the track's or the packets' side data. */
static bool is_encrypted(const AVStream *track)
{
    return track->codecpar->codec_tag == MKTAG('e', 'n', 'c', 'v') ||
           av_stream_get_side_data(track, AV_PKT_DATA_ENCRYPTION_INIT_INFO, NULL);
}

static uint64_t duration_ms(const AVFormatContext *format, const AVStream *track)
{
    int64_t of_track = video_us(track->duration, track->time_base);
    int64_t us = track->duration > 0 && of_track > 0 ? of_track : format->duration;
    return us > 0 ? (uint64_t)us / 1000 : 0;
}

/* Whether a video is cut short is recognised by its track, or else by the last packets of all. */
static void choose_measure(struct video *video)
{
    AVFormatContext *format = video->container.format;
    video->all_tracks = video->container.searched || video->track->duration <= 0;
    for (unsigned i = 0; video->all_tracks && i < format->nb_streams; i++)
        format->streams[i]->discard = AVDISCARD_DEFAULT;
}

static enum doppel_status find_track_video(struct video *video, struct doppel_error *error)
{
    struct container *container = &video->container;
    enum doppel_status status =
        container_choose(container, AVMEDIA_TYPE_VIDEO, &video->track, error);
    video->info.has_audio = container->has_audio;
    if (status != DOPPEL_OK)
        return status;
    if (!video->track)
        return doppel_fail(error, DOPPEL_E_FORMAT, "has no pictures in it%s",
                           container->has_audio ? ", only audio" : "");
    if (is_encrypted(video->track))
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "is encrypted");
    choose_measure(video);
    video->orientation = video_orientation_of_track(video->track);
    video->pixel = av_guess_sample_aspect_ratio(container->format, video->track, NULL);
    video->expected_ms = duration_ms(container->format, video->track);
    AVRational rate = av_guess_frame_rate(container->format, video->track, NULL);
    int64_t frame_us = video_us(1, av_inv_q(rate));
    video->clock.frame_us = frame_us > 0 && frame_us < 1000000 ? frame_us : FRAME_US;
    return DOPPEL_OK;
}

/* ---- the decoder ---- */

/* Rides with every reference to a frame's buffers; freed with the last one. */
struct lease {
    struct video *video;
    uint64_t bytes;
};

static void end_lease(void *context, uint8_t *data)
{
    (void)context;
    struct lease *lease = (struct lease *)(void *)data;
    lease->video->held -= lease->bytes;
    free(lease);
}

/* libavcodec asks for every frame here: the place to bound what it holds before it does. */
static int get_video_buffer(AVCodecContext *codec, AVFrame *frame, int flags)
{
    struct video *video = codec->opaque;
    const struct doppel_media_limits *limits = &video->options.limits;
    uint64_t width = (uint64_t)frame->width, height = (uint64_t)frame->height;
    struct doppel_error *refusal = &video->container.refusal;
    int bytes = av_image_get_buffer_size(frame->format, frame->width, frame->height, 32);
    uint64_t held = video->held + (bytes < 0 ? UINT32_MAX : (uint64_t)bytes);
    if (check_pixels(limits, width, height, refusal) != DOPPEL_OK ||
        check_memory(limits, held, refusal) != DOPPEL_OK)
        return AVERROR(EINVAL);
    struct lease *lease = malloc(sizeof *lease);
    if (!lease)
        return AVERROR(ENOMEM);
    *lease = (struct lease){video, held - video->held};
    frame->opaque_ref = av_buffer_create((uint8_t *)lease, sizeof *lease, end_lease, NULL, 0);
    if (!frame->opaque_ref) {
        free(lease);
        return AVERROR(ENOMEM);
    }
    video->held = held;
    int code = avcodec_default_get_buffer2(codec, frame, flags);
    if (code == AVERROR(ENOMEM)) /* decoders go on without the frame, as if it were damaged */
        doppel_fail(refusal, DOPPEL_E_MEMORY, "no memory to decode the video");
    return code;
}

/* A frame that no other refers to needs no decoding when the next one serves as well. */
static void choose_effort(struct video *video)
{
    if (video->options.exact)
        return;
    video->codec->skip_loop_filter = AVDISCARD_ALL;
    video->skipping = video->options.step_ms > 0;
    if (video->skipping)
        video->codec->skip_frame = AVDISCARD_NONREF;
}

static enum doppel_status open_decoder_video(struct video *video, struct doppel_error *error)
{
    const AVCodecParameters *has = video->track->codecpar;
    const struct doppel_media_limits *limits = &video->options.limits;
    const AVCodec *coding = avcodec_find_decoder(has->codec_id);
    if (!coding)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "holds pictures coded as %s, for which FFmpeg has no decoder here",
                           coding_name(has).text);
    if (has->width > 0 && has->height > 0) {
        enum doppel_status status =
            check_pixels(limits, (uint64_t)has->width, (uint64_t)has->height, error);
        if (status != DOPPEL_OK)
            return status;
    }
    video->codec = avcodec_alloc_context3(coding);
    video->packet = av_packet_alloc();
    video->frame = av_frame_alloc();
    if (!video->codec || !video->packet || !video->frame)
        return container_fail(&video->container, AVERROR(ENOMEM), error);
    int code = avcodec_parameters_to_context(video->codec, has);
    video->codec->thread_count = 1;
    video->codec->pkt_timebase = video->track->time_base;
    video->codec->opaque = video;
    video->codec->get_buffer2 = get_video_buffer;
    video->codec->max_pixels = limits->max_pixels < INT_MAX ? (int64_t)limits->max_pixels : INT_MAX;
    choose_effort(video);
    if (code >= 0)
        code = avcodec_open2(video->codec, coding, NULL);
    return code < 0 ? container_fail(&video->container, code, error) : DOPPEL_OK;
}

enum doppel_status video_open(struct video *video, struct doppel_error *error)
{
    const AVInputFormat *format = NULL;
    AVDictionary *options = NULL;
    enum doppel_status status = container_find(&video->container, &format, error);
    if (status != DOPPEL_OK)
        return status;
    av_dict_set_int(&options, "probesize", TRACKS_BYTES, 0);
    status = container_open(&video->container, format, options, error);
    if (status == DOPPEL_OK)
        status = find_track_video(video, error);
    if (status == DOPPEL_OK)
        status = open_decoder_video(video, error);
    return status;
}
