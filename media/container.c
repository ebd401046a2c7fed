/* Which container, and the way from its errors to sentences. */
#include "media/container.h"

#include <stdlib.h>
#include <string.h>

#include <libavutil/intreadwrite.h>

/* How much is looked at until a container is found. */
enum { FIRST_LOOK = 2048, LAST_LOOK = 1 << 20 };

/* Boxes of an MP4 that are looked at for its index. */
enum { MAX_BOXES = 1000 };

/* Scores of FFmpeg's probe: of a container that the first bytes name, and of any other, where only
 * a row of audio frames is enough. */
enum { NAMED_SCORE = 1, UNNAMED_SCORE = AVPROBE_SCORE_EXTENSION };

/* ---- finding ---- */

/* Lists of other files, descriptions of streams to be fetched, scripts that make audio, modules
 * that need a synthesiser, devices; pictures. */
static bool is_refused(const AVInputFormat *format)
{
    static const char *const names[] = {"hls",        "dash",   "webm_dash_manifest",
                                        "imf",        "concat", "concatf",
                                        "ffmetadata", "image2", "sdp",
                                        "rtsp",       "rtp",    "sap",
                                        "lavfi",      "sbg",    "tedcaptions",
                                        "tty",        "bin",    "xbin",
                                        "adf",        "idf",    "vobsub",
                                        "libopenmpt", "libgme", "libmodplug",
                                        "alias_pix",  "txd",    "svg_pipe"};
    if (format->flags & AVFMT_NOFILE)
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(format->name, names[i]))
            return true;
    size_t length = strlen(format->name);
    return length > 5 && !strcmp(format->name + length - 5, "_pipe");
}

/* A picture that moves is a video. */
static enum doppel_kind kind_of_source(const struct source *source)
{
    enum doppel_kind kind = doppel_media_probe(source->head, source->head_size, NULL);
    bool moves =
        kind == DOPPEL_KIND_IMAGE && doppel_media_is_animated(source->head, source->head_size);
    return moves ? DOPPEL_KIND_VIDEO : kind;
}

enum doppel_status container_find(struct container *container, const AVInputFormat **out,
                                  struct doppel_error *error)
{
    struct source *source = &container->source;
    enum doppel_kind kind = DOPPEL_KIND_UNKNOWN;
    size_t looked = 0;
    bool last = false;
    for (size_t size = FIRST_LOOK; !last; size *= 2) {
        enum doppel_status status = source_look(source, size, error);
        if (status != DOPPEL_OK)
            return status;
        if (!looked)
            kind = kind_of_source(source);
        if (kind == DOPPEL_KIND_TEXT || kind == DOPPEL_KIND_IMAGE)
            return doppel_fail(error, DOPPEL_E_FORMAT, "is no %s but %s", container->holds,
                               doppel_kind_name(kind));
        looked = source->head_size;
        AVProbeData data = {.filename = "", .buf = source->head, .buf_size = (int)looked};
        int score = 0;
        *out = av_probe_input_format3(&data, 1, &score);
        last = looked < size || size == LAST_LOOK;
        int enough = last && kind ? NAMED_SCORE : UNNAMED_SCORE;
        if (*out && score >= enough && !is_refused(*out))
            return DOPPEL_OK;
    }
    if (!looked && source->base)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "has nothing after its ID3 tag");
    if (!looked)
        return doppel_fail(error, DOPPEL_E_EMPTY, "is empty");
    if (kind)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "is damaged, or cut short in its header");
    return doppel_fail(error, DOPPEL_E_FORMAT, "is of no known format of %s", container->holds);
}

/* ---- opening ---- */

/* An errno, or 0. */
static int read_error(const struct container *container)
{
    const struct source *source = &container->source;
    return source->file ? source->file->error : source->error;
}

enum doppel_status container_begin(struct container *container, int fd,
                                   const struct doppel_media_limits *limits,
                                   struct doppel_error *error)
{
    struct input *file = calloc(1, sizeof *file);
    if (!file)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a file");
    container->source.file = file;
    return input_open(file, fd, limits, error);
}

/* A demuxer that would open something else gets nothing. */
static int refuse_to_open(AVFormatContext *container, AVIOContext **io, const char *url, int flags,
                          AVDictionary **options)
{
    (void)container, (void)io, (void)url, (void)flags, (void)options;
    return AVERROR(EPERM);
}

/* Where an MP4 ends that could not be opened. */
enum mp4_end { MP4_UNTOLD, MP4_IN_HEADER, MP4_BEFORE_INDEX };

/* The index is the box moov, before the media in mdat or after them; a size of 0 reaches to the
 * end. Source: ISO/IEC 14496-12, 4.2. */
static enum mp4_end find_mp4_end(struct source *source)
{
    uint64_t left = source->file->size - source->base;
    bool has_media = false;
    for (int i = 0; left && i < MAX_BOXES; i++) {
        uint8_t head[16] = {0};
        size_t got = input_read_at(source->file, source->file->size - left, head, sizeof head);
        uint64_t bytes = AV_RB32(head);
        bytes = bytes == 1 ? AV_RB64(head + 8) : bytes ? bytes : left;
        if (got >= 8 && bytes < 8)
            return MP4_UNTOLD;
        if (!memcmp(head + 4, "moov", 4))
            return bytes > left ? MP4_IN_HEADER : MP4_UNTOLD;
        has_media |= !memcmp(head + 4, "mdat", 4);
        left = got < 8 || bytes > left ? 0 : left - bytes;
    }
    return left ? MP4_UNTOLD : has_media ? MP4_BEFORE_INDEX : MP4_IN_HEADER;
}

static enum doppel_status fail_to_open(struct container *container, const AVInputFormat *format,
                                       int code, struct doppel_error *error)
{
    bool is_mp4 = container->source.file && !strncmp(format->name, "mov,", 4);
    enum mp4_end end =
        is_mp4 && code == AVERROR_INVALIDDATA ? find_mp4_end(&container->source) : MP4_UNTOLD;
    if (end == MP4_BEFORE_INDEX && !read_error(container))
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "is cut short: its index, which stands at the end, is missing");
    return container_fail(container, end == MP4_IN_HEADER ? AVERROR_EOF : code, error);
}

enum doppel_status container_open(struct container *container, const AVInputFormat *format,
                                  AVDictionary *options, struct doppel_error *error)
{
    container->io = source_open(&container->source);
    container->format = avformat_alloc_context();
    int code = AVERROR(ENOMEM);
    if (container->io && container->format) {
        container->format->pb = container->io;
        container->format->io_open = refuse_to_open;
        av_dict_set(&options, "protocol_whitelist", "none", 0); /* there is none of that name */
        av_dict_set_int(&options, "max_streams", CONTAINER_TRACKS, 0);
        code = avformat_open_input(&container->format, "", format, &options);
    }
    av_dict_free(&options);
    return code < 0 ? fail_to_open(container, format, code, error) : DOPPEL_OK;
}

/* The first that the container calls its default, else the first. */
static AVStream *choose_stream(struct container *container, enum AVMediaType type)
{
    AVStream *chosen = NULL;
    for (unsigned i = 0; i < container->format->nb_streams; i++) {
        AVStream *track = container->format->streams[i];
        enum AVMediaType own = track->codecpar->codec_type;
        track->discard = AVDISCARD_ALL;
        if (track->disposition & (AV_DISPOSITION_ATTACHED_PIC | AV_DISPOSITION_TIMED_THUMBNAILS))
            continue;
        container->has_images |= own == AVMEDIA_TYPE_VIDEO;
        container->has_audio |= own == AVMEDIA_TYPE_AUDIO;
        bool better = chosen && (track->disposition & AV_DISPOSITION_DEFAULT) &&
                      !(chosen->disposition & AV_DISPOSITION_DEFAULT);
        if (own == type && (!chosen || better))
            chosen = track;
    }
    return chosen;
}

static bool is_described(const AVStream *track)
{
    const AVCodecParameters *has = track->codecpar;
    bool is_known = has->codec_id != AV_CODEC_ID_NONE;
    return has->codec_type == AVMEDIA_TYPE_VIDEO ? is_known && has->width > 0 : true;
}

enum doppel_status container_choose(struct container *container, enum AVMediaType type,
                                    AVStream **out, struct doppel_error *error)
{
    AVFormatContext *format = container->format;
    AVStream *chosen = choose_stream(container, type);
    bool is_told = !(format->ctx_flags & AVFMTCTX_NOHEADER) && format->nb_streams;
    if (!is_told || (chosen && !is_described(chosen))) {
        for (unsigned i = 0; i < format->nb_streams; i++)
            format->streams[i]->discard = AVDISCARD_DEFAULT;
        container->searched = true;
        int code = avformat_find_stream_info(format, NULL);
        if (code < 0)
            return container_fail(container, code, error);
        chosen = choose_stream(container, type);
    }
    if (chosen)
        chosen->discard = AVDISCARD_DEFAULT;
    *out = chosen;
    return DOPPEL_OK;
}

void container_close(struct container *container)
{
    avformat_close_input(&container->format);
    source_close(container->io);
    free(container->source.head);
    free(container->source.file);
}

/* ---- failing ---- */

struct coding_name coding_name(const AVCodecParameters *track)
{
    struct coding_name name = {"unknown"};
    if (track->codec_id != AV_CODEC_ID_NONE)
        snprintf(name.text, sizeof name.text, "%s", avcodec_get_name(track->codec_id));
    else if (track->codec_tag)
        av_fourcc_make_string(name.text, track->codec_tag);
    return name;
}

enum doppel_status container_check_source(const struct container *container,
                                          struct doppel_error *error)
{
    int code = read_error(container);
    return code ? doppel_fail(error, DOPPEL_E_IO, "cannot be read: %s", strerror(code)) : DOPPEL_OK;
}

enum doppel_status container_fail(const struct container *container, int code,
                                  struct doppel_error *error)
{
    char cause[AV_ERROR_MAX_STRING_SIZE];
    if (container->refusal.status != DOPPEL_OK)
        return doppel_fail(error, container->refusal.status, "%s", container->refusal.message);
    if (read_error(container))
        return container_check_source(container, error);
    if (code == AVERROR(ENOMEM))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decode the %s", container->holds);
    if (code == AVERROR_PATCHWELCOME)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "holds %s of a variant not known here",
                           container->holds);
    /* Matroska's reader calls the end of the file EIO. */
    if (code == AVERROR_EOF || code == AVERROR(EIO))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "is cut short in its header");
    if (code == AVERROR_INVALIDDATA || code == AVERROR(EINVAL) || code == AVERROR(EPERM))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "is damaged in its header");
    return doppel_fail(error, DOPPEL_E_CORRUPT, "is damaged (%s)",
                       av_make_error_string(cause, sizeof cause, code));
}
