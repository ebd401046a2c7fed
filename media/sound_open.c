/* Which container, which track, which decoder. Nothing but the descriptor is ever opened. */
#include <string.h>

#include <libavutil/opt.h>

#include "media/sound.h"

/* How much is looked at until a container is found, and to find the tracks of one that does not
 * list them. */
enum {
    FIRST_LOOK = 2048,
    LAST_LOOK = 1 << 20,
    TRACKS_BYTES = 5 << 20,
    STREAM_TRACKS_BYTES = 1 << 17
};

enum { MAX_TRACKS = 256 };

/* Scores of FFmpeg's probe: of a container that the first bytes name, and of any other, where only
 * a row of sound frames is enough. */
enum { NAMED_SCORE = 1, UNNAMED_SCORE = AVPROBE_SCORE_EXTENSION };

/* ---- the container ---- */

/* Lists of other files, descriptions of streams to be fetched, scripts that make sound, modules
 * that need a synthesiser, devices; pictures. */
static bool is_refused(const AVInputFormat *format)
{
    static const char *const names[] = {"hls",        "dash",    "webm_dash_manifest",
                                        "imf",        "concat",  "concatf",
                                        "ffmetadata", "image2",  "sdp",
                                        "rtsp",       "rtp",     "sap",
                                        "lavfi",      "sbg",     "tedcaptions",
                                        "tty",        "bin",     "xbin",
                                        "adf",        "idf",     "vobsub",
                                        "libopenmpt", "libgme",  "libmodplug",
                                        "gif",        "apng",    "alias_pix",
                                        "txd",        "svg_pipe"};
    if (format->flags & AVFMT_NOFILE)
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(format->name, names[i]))
            return true;
    size_t length = strlen(format->name);
    return length > 5 && !strcmp(format->name + length - 5, "_pipe");
}

static enum doppel_status find_container(struct sound *sound, const AVInputFormat **out,
                                         struct doppel_error *error)
{
    struct sound_input *input = &sound->input;
    enum doppel_kind kind = DOPPEL_KIND_UNKNOWN;
    size_t looked = 0;
    bool last = false;
    for (size_t size = FIRST_LOOK; !last; size *= 2) {
        enum doppel_status status = sound_input_look(input, size, error);
        if (status != DOPPEL_OK)
            return status;
        if (!looked)
            kind = doppel_media_probe(input->head, input->head_size, NULL);
        if (kind == DOPPEL_KIND_TEXT || kind == DOPPEL_KIND_IMAGE)
            return doppel_fail(error, DOPPEL_E_FORMAT, "is no sound but %s",
                               doppel_kind_name(kind));
        looked = input->head_size;
        AVProbeData data = {.filename = "", .buf = input->head, .buf_size = (int)looked};
        int score = 0;
        *out = av_probe_input_format3(&data, 1, &score);
        last = looked < size || size == LAST_LOOK;
        int enough = !last ? UNNAMED_SCORE : kind ? NAMED_SCORE : UNNAMED_SCORE;
        if (*out && score >= enough && !is_refused(*out))
            return DOPPEL_OK;
    }
    if (!looked && input->base)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "has nothing after its ID3 tag");
    if (!looked)
        return doppel_fail(error, DOPPEL_E_EMPTY, "is empty");
    if (kind)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "is damaged, or cut short in its header");
    return doppel_fail(error, DOPPEL_E_FORMAT, "is of no known format of sound");
}

/* A WAV out of a pipe becomes raw PCM. */
static enum doppel_status look_for_wav(struct sound *sound, struct doppel_error *error)
{
    struct sound_input *input = &sound->input;
    struct sound_wav wav;
    enum doppel_status status = sound_input_look(input, FIRST_LOOK, error);
    if (status != DOPPEL_OK || !sound_wav_read(input->head, input->head_size, &wav))
        return status;
    sound_input_skip(input, wav.first_byte);
    input->end = wav.bytes;
    sound->options.pcm = wav.pcm;
    sound->options.pcm_rate = wav.rate;
    sound->options.pcm_channels = wav.channels;
    return DOPPEL_OK;
}

static const AVInputFormat *pcm_container(enum doppel_pcm_format pcm)
{
    static const char *const names[] = {
        [DOPPEL_PCM_U8] = "u8",       [DOPPEL_PCM_S16LE] = "s16le", [DOPPEL_PCM_S24LE] = "s24le",
        [DOPPEL_PCM_S32LE] = "s32le", [DOPPEL_PCM_F32LE] = "f32le",
    };
    return (size_t)pcm < sizeof names / sizeof *names && names[pcm]
               ? av_find_input_format(names[pcm])
               : NULL;
}

/* A demuxer that would open something else gets nothing. */
static int refuse_to_open(AVFormatContext *container, AVIOContext **io, const char *url, int flags,
                          AVDictionary **options)
{
    (void)container, (void)io, (void)url, (void)flags, (void)options;
    return AVERROR(EPERM);
}

static AVDictionary *container_options(const struct doppel_samples_options *options, bool is_wav)
{
    AVDictionary *dictionary = NULL;
    av_dict_set(&dictionary, "protocol_whitelist", "none", 0); /* there is none of that name */
    av_dict_set_int(&dictionary, "max_streams", MAX_TRACKS, 0);
    av_dict_set_int(&dictionary, "probesize", options->stream ? STREAM_TRACKS_BYTES : TRACKS_BYTES,
                    0);
    av_dict_set_int(&dictionary, "skip_estimate_duration_from_pts", 1, 0);
    /* Of WAV: bytes a packet, and how many are searched for sound that is disguised as PCM. */
    if (is_wav) {
        av_dict_set_int(&dictionary, "max_size", 32768, 0);
        av_dict_set_int(&dictionary, "max_probe_packets", 4, 0);
    }
    if (options->pcm) {
        av_dict_set_int(&dictionary, "sample_rate", options->pcm_rate, 0);
        char layout[32];
        snprintf(layout, sizeof layout, "%uC", options->pcm_channels);
        av_dict_set(&dictionary, "ch_layout", layout, 0);
    }
    return dictionary;
}

static enum doppel_status open_container(struct sound *sound, const AVInputFormat *format,
                                         struct doppel_error *error)
{
    sound->io = sound_input_open(&sound->input);
    sound->container = avformat_alloc_context();
    if (!sound->io || !sound->container)
        return sound_fail(sound, AVERROR(ENOMEM), error);
    sound->container->pb = sound->io;
    sound->container->io_open = refuse_to_open;
    AVDictionary *options = container_options(&sound->options, !strcmp(format->name, "wav"));
    int code = avformat_open_input(&sound->container, "", format, &options);
    av_dict_free(&options);
    return code < 0 ? sound_fail(sound, code, error) : DOPPEL_OK;
}

/* ---- the track ---- */

/* The first that the container calls its default, else the first. Tracks that are not wanted are
 * not read. */
static AVStream *choose_track(AVFormatContext *container, bool *has_pictures)
{
    AVStream *chosen = NULL;
    *has_pictures = false;
    for (unsigned i = 0; i < container->nb_streams; i++) {
        AVStream *track = container->streams[i];
        track->discard = AVDISCARD_ALL;
        bool cover = track->disposition & AV_DISPOSITION_ATTACHED_PIC;
        *has_pictures |= track->codecpar->codec_type == AVMEDIA_TYPE_VIDEO && !cover;
        if (track->codecpar->codec_type != AVMEDIA_TYPE_AUDIO)
            continue;
        bool better = chosen && (track->disposition & AV_DISPOSITION_DEFAULT) &&
                      !(chosen->disposition & AV_DISPOSITION_DEFAULT);
        if (!chosen || better)
            chosen = track;
    }
    if (chosen)
        chosen->discard = AVDISCARD_DEFAULT;
    return chosen;
}

static enum doppel_status find_track(struct sound *sound, struct doppel_error *error)
{
    AVFormatContext *container = sound->container;
    if ((container->ctx_flags & AVFMTCTX_NOHEADER) || !container->nb_streams) {
        int code = avformat_find_stream_info(container, NULL);
        if (code < 0)
            return sound_fail(sound, code, error);
    }
    sound->track = choose_track(container, &sound->info.has_pictures);
    if (!sound->track)
        return doppel_fail(error, DOPPEL_E_FORMAT, "has no sound in it");
    return DOPPEL_OK;
}

/* ---- the decoder ---- */

/* libavcodec asks for every frame here: the place to bound them before they are allocated. */
static int get_buffer(AVCodecContext *codec, AVFrame *frame, int flags)
{
    struct sound *sound = codec->opaque;
    int bytes = av_get_bytes_per_sample(frame->format);
    uint64_t held = (uint64_t)frame->nb_samples * (uint64_t)frame->ch_layout.nb_channels *
                    (uint64_t)(bytes > 0 ? bytes : 1);
    if (check_memory(&sound->options.limits, held, &sound->refusal) != DOPPEL_OK)
        return AVERROR(EINVAL);
    return avcodec_default_get_buffer2(codec, frame, flags);
}

static enum doppel_status open_decoder(struct sound *sound, struct doppel_error *error)
{
    const AVCodecParameters *parameters = sound->track->codecpar;
    const AVCodec *codec = avcodec_find_decoder(parameters->codec_id);
    if (!codec)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "holds sound coded as %s, for which FFmpeg has no decoder here",
                           avcodec_get_name(parameters->codec_id));
    sound->codec = avcodec_alloc_context3(codec);
    sound->packet = av_packet_alloc();
    sound->frame = av_frame_alloc();
    if (!sound->codec || !sound->packet || !sound->frame)
        return sound_fail(sound, AVERROR(ENOMEM), error);
    int code = avcodec_parameters_to_context(sound->codec, parameters);
    sound->codec->thread_count = 1;
    sound->codec->pkt_timebase = sound->track->time_base;
    sound->codec->opaque = sound;
    sound->codec->get_buffer2 = get_buffer;
    if (code >= 0)
        code = avcodec_open2(sound->codec, codec, NULL);
    return code < 0 ? sound_fail(sound, code, error) : DOPPEL_OK;
}

enum doppel_status sound_open(struct sound *sound, struct doppel_error *error)
{
    const AVInputFormat *format = NULL;
    enum doppel_status status = DOPPEL_OK;
    if (!sound->options.pcm && sound->options.stream)
        status = look_for_wav(sound, error);
    if (status == DOPPEL_OK && !sound->options.pcm)
        status = find_container(sound, &format, error);
    else if (status == DOPPEL_OK)
        format = pcm_container(sound->options.pcm);
    if (status == DOPPEL_OK && !format)
        status = doppel_fail(error, DOPPEL_E_ARGUMENT, "raw PCM of an unknown kind (%d)",
                             (int)sound->options.pcm);
    if (status == DOPPEL_OK)
        status = open_container(sound, format, error);
    if (status == DOPPEL_OK)
        status = find_track(sound, error);
    if (status == DOPPEL_OK)
        status = open_decoder(sound, error);
    return status;
}
