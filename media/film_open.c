/* Which container of pictures, which track, which decoder, and what the decoder may hold. */
#include <limits.h>
#include <stdlib.h>

#include <libavutil/imgutils.h>

#include "media/film.h"

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
    int64_t of_track = film_us(track->duration, track->time_base);
    int64_t us = track->duration > 0 && of_track > 0 ? of_track : format->duration;
    return us > 0 ? (uint64_t)us / 1000 : 0;
}

/* Whether a film is cut short is told by its track, or else by the last packets of all. */
static void choose_measure(struct film *film)
{
    AVFormatContext *format = film->container.format;
    film->all_tracks = film->container.searched || film->track->duration <= 0;
    for (unsigned i = 0; film->all_tracks && i < format->nb_streams; i++)
        format->streams[i]->discard = AVDISCARD_DEFAULT;
}

static enum doppel_status find_track(struct film *film, struct doppel_error *error)
{
    struct container *container = &film->container;
    enum doppel_status status =
        container_choose(container, AVMEDIA_TYPE_VIDEO, &film->track, error);
    film->info.has_sound = container->has_sound;
    if (status != DOPPEL_OK)
        return status;
    if (!film->track)
        return doppel_fail(error, DOPPEL_E_FORMAT, "has no pictures in it%s",
                           container->has_sound ? ", only sound" : "");
    if (is_encrypted(film->track))
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "is encrypted");
    choose_measure(film);
    film->orientation = film_orientation_of_track(film->track);
    film->pixel = av_guess_sample_aspect_ratio(container->format, film->track, NULL);
    film->expected_ms = duration_ms(container->format, film->track);
    AVRational rate = av_guess_frame_rate(container->format, film->track, NULL);
    int64_t frame_us = film_us(1, av_inv_q(rate));
    film->clock.frame_us = frame_us > 0 && frame_us < 1000000 ? frame_us : FRAME_US;
    return DOPPEL_OK;
}

/* ---- the decoder ---- */

/* Rides with every reference to a frame's buffers; freed with the last one. */
struct lease {
    struct film *film;
    uint64_t bytes;
};

static void end_lease(void *context, uint8_t *data)
{
    (void)context;
    struct lease *lease = (struct lease *)(void *)data;
    lease->film->held -= lease->bytes;
    free(lease);
}

/* libavcodec asks for every frame here: the place to bound what it holds before it does. */
static int get_buffer(AVCodecContext *codec, AVFrame *frame, int flags)
{
    struct film *film = codec->opaque;
    const struct doppel_media_limits *limits = &film->options.limits;
    uint64_t width = (uint64_t)frame->width, height = (uint64_t)frame->height;
    struct doppel_error *refusal = &film->container.refusal;
    int bytes = av_image_get_buffer_size(frame->format, frame->width, frame->height, 32);
    uint64_t held = film->held + (bytes < 0 ? UINT32_MAX : (uint64_t)bytes);
    if (check_pixels(limits, width, height, refusal) != DOPPEL_OK ||
        check_memory(limits, held, refusal) != DOPPEL_OK)
        return AVERROR(EINVAL);
    struct lease *lease = malloc(sizeof *lease);
    if (!lease)
        return AVERROR(ENOMEM);
    *lease = (struct lease){film, held - film->held};
    frame->opaque_ref = av_buffer_create((uint8_t *)lease, sizeof *lease, end_lease, NULL, 0);
    if (!frame->opaque_ref) {
        free(lease);
        return AVERROR(ENOMEM);
    }
    film->held = held;
    int code = avcodec_default_get_buffer2(codec, frame, flags);
    if (code == AVERROR(ENOMEM)) /* decoders go on without the frame, as if it were damaged */
        doppel_fail(refusal, DOPPEL_E_MEMORY, "no memory to decode the film");
    return code;
}

/* A frame that no other refers to needs no decoding when the next one serves as well. */
static void choose_effort(struct film *film)
{
    if (film->options.exact)
        return;
    film->codec->skip_loop_filter = AVDISCARD_ALL;
    film->skipping = film->options.step_ms > 0;
    if (film->skipping)
        film->codec->skip_frame = AVDISCARD_NONREF;
}

static enum doppel_status open_decoder(struct film *film, struct doppel_error *error)
{
    const AVCodecParameters *has = film->track->codecpar;
    const struct doppel_media_limits *limits = &film->options.limits;
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
    film->codec = avcodec_alloc_context3(coding);
    film->packet = av_packet_alloc();
    film->frame = av_frame_alloc();
    if (!film->codec || !film->packet || !film->frame)
        return container_fail(&film->container, AVERROR(ENOMEM), error);
    int code = avcodec_parameters_to_context(film->codec, has);
    film->codec->thread_count = 1;
    film->codec->pkt_timebase = film->track->time_base;
    film->codec->opaque = film;
    film->codec->get_buffer2 = get_buffer;
    film->codec->max_pixels = limits->max_pixels < INT_MAX ? (int64_t)limits->max_pixels : INT_MAX;
    choose_effort(film);
    if (code >= 0)
        code = avcodec_open2(film->codec, coding, NULL);
    return code < 0 ? container_fail(&film->container, code, error) : DOPPEL_OK;
}

enum doppel_status film_open(struct film *film, struct doppel_error *error)
{
    const AVInputFormat *format = NULL;
    AVDictionary *options = NULL;
    enum doppel_status status = container_find(&film->container, &format, error);
    if (status != DOPPEL_OK)
        return status;
    av_dict_set_int(&options, "probesize", TRACKS_BYTES, 0);
    status = container_open(&film->container, format, options, error);
    if (status == DOPPEL_OK)
        status = find_track(film, error);
    if (status == DOPPEL_OK)
        status = open_decoder(film, error);
    return status;
}
