/* GIF, BMP, TGA and JPEG XL to luma through libavcodec: a file is one packet to exactly the
 * decoder of its format, so that nothing is guessed and nothing else is opened. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavutil/imgutils.h>

#include "core/bytes.h"
#include "media/decode.h"
#include "media/video/video.h"
#include "media/images/frame.h"
#include "media/images/gif.h"
#include "media/images/lossless.h"
#include "media/thumbnail/thumbnail.h"
#include "media/thumbnail/frame.h"

struct lavc_reader {
    struct input *input;
    const struct doppel_luma_options *options;
    const char *name;
    AVCodecContext *codec;
    AVPacket *packet;
    AVFrame *frame;
    uint32_t declared_height;    /* of a file that breaks off; 0 = as decoded */
    uint32_t rows;               /* that are there then */
    struct gif_rows gif;         /* of one that breaks off */
    struct doppel_error refusal; /* of a frame over the limits */
};

/* ---- limits ---- */

/* What a decoder may hold of a pixel beside the frame. */
static unsigned bytes_inside(enum AVCodecID id)
{
    return id == AV_CODEC_ID_JPEGXL ? 6 : id == AV_CODEC_ID_WEBP ? 4 : 0;
}

/* libavcodec asks for every frame here: the place to bound them before they are allocated. */
static int get_image_buffer(AVCodecContext *codec, AVFrame *frame, int flags)
{
    struct lavc_reader *reader = codec->opaque;
    const struct doppel_media_limits *limits = &reader->options->limits;
    uint64_t width = (uint64_t)frame->width, height = (uint64_t)frame->height;
    int bytes = av_image_get_buffer_size(frame->format, frame->width, frame->height, 32);
    if (check_pixels(limits, width, height, &reader->refusal) != DOPPEL_OK)
        return AVERROR(EINVAL);
    /* libjxl 0.7 holds 4 to 6 bytes a pixel more than it hands out; where a lossless file is made
     * for progressive display 30, which no header tells: that is left to the process's own limit.
     */
    uint64_t inside = width * height * bytes_inside(codec->codec_id);
    uint64_t held =
        (uint64_t)reader->packet->size + inside + (bytes < 0 ? UINT32_MAX : (uint64_t)bytes);
    if (check_memory(limits, held, &reader->refusal) != DOPPEL_OK)
        return AVERROR(EINVAL);
    return avcodec_default_get_buffer2(codec, frame, flags);
}

/* FFmpeg takes grey of 16 bits, which are grey and alpha, for colours. */
enum { TGA_GREY = 3 };

/* What the header declares is judged here first: libavcodec's own refusal has no sentence. */
static enum doppel_status check_declared(const struct lavc_reader *reader,
                                         enum doppel_format format, struct doppel_error *error)
{
    const uint8_t *data = reader->packet->data;
    uint64_t width = 1, height = 1;
    if (reader->packet->size < 26)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "the %s is cut short in its header",
                           reader->name);
    if (format == DOPPEL_FORMAT_GIF) {
        width = get_u16(data + 6);
        height = get_u16(data + 8);
    } else if (format == DOPPEL_FORMAT_TGA) {
        if (data[2] % 8 == TGA_GREY && data[16] != 8)
            return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "a variant of TGA not known here");
        width = get_u16(data + 12);
        height = get_u16(data + 14);
    } else if (format == DOPPEL_FORMAT_BMP && get_u32(data + 14) > 12) {
        int32_t signed_height = (int32_t)get_u32(data + 22); /* negative: top row first */
        width = get_u32(data + 18);
        height = (uint64_t)llabs((long long)signed_height);
    }
    enum doppel_status status = check_pixels(&reader->options->limits, width, height, error);
    if (status == DOPPEL_OK && av_image_check_size((unsigned)width, (unsigned)height, 0, NULL) < 0)
        return doppel_fail(error, DOPPEL_E_LIMIT,
                           "declares %llu x %llu pixels, more than FFmpeg decodes",
                           (unsigned long long)width, (unsigned long long)height);
    return status;
}

/* ---- files that break off ---- */

/* Bytes before the first row of an uncompressed BMP or TGA, and bytes of a row; 0 of others. */
static uint64_t raw_layout(const uint8_t *data, enum doppel_format format, uint64_t *first_row)
{
    if (format == DOPPEL_FORMAT_BMP && get_u32(data + 14) >= 40) {
        *first_row = get_u32(data + 10);
        bool raw = data[30] == 0 || data[30] == 3; /* BI_RGB, BI_BITFIELDS */
        return raw ? ((uint64_t)get_u32(data + 18) * get_u16(data + 28) + 31) / 32 * 4 : 0;
    }
    if (format == DOPPEL_FORMAT_TGA && data[2] < 8) {
        uint64_t map = data[1] ? (uint64_t)get_u16(data + 5) * ((data[7] + 7u) / 8) : 0;
        *first_row = 18 + (uint64_t)data[0] + map;
        return (uint64_t)get_u16(data + 12) * ((data[16] + 7u) / 8);
    }
    return 0;
}

/* libavcodec refuses a raw picture that breaks off: declare the rows that are there instead. */
static enum doppel_status keep_raw_rows(struct lavc_reader *reader, enum doppel_format format,
                                        struct doppel_error *error)
{
    uint8_t *data = reader->packet->data;
    uint64_t first_row = 0, size = (uint64_t)reader->packet->size;
    uint64_t row = size >= 54 ? raw_layout(data, format, &first_row) : 0;
    uint64_t rows = row && size > first_row ? (size - first_row) / row : 0;
    bool is_bmp = format == DOPPEL_FORMAT_BMP;
    int32_t declared = is_bmp ? (int32_t)get_u32(data + 22) : get_u16(data + 14);
    uint32_t height = declared < 0 ? 0 - (uint32_t)declared : (uint32_t)declared;
    if (!row || rows >= height)
        return DOPPEL_OK;
    enum doppel_status status = check_rows(reader->name, (uint32_t)rows, height, error);
    if (status != DOPPEL_OK)
        return status;
    if (is_bmp)
        put_u32(data + 22, declared < 0 ? 0 - (uint32_t)rows : (uint32_t)rows);
    else
        put_u16(data + 14, (uint16_t)rows);
    reader->declared_height = height;
    reader->rows = (uint32_t)rows;
    return DOPPEL_OK;
}

/* libavcodec takes a GIF that breaks off, and leaves the rest of it blank. */
static enum doppel_status keep_gif_rows(struct lavc_reader *reader, struct doppel_error *error)
{
    struct gif_rows *gif = &reader->gif;
    if (!gif_is_cut(reader->packet->data, (size_t)reader->packet->size, gif))
        return DOPPEL_OK;
    reader->declared_height = gif->height;
    reader->rows = gif->rows;
    return check_rows(reader->name, gif->rows, gif->height, error);
}

/* The frame becomes what is there. */
static void crop_frame(const struct lavc_reader *reader)
{
    AVFrame *frame = reader->frame;
    if (reader->rows && (int64_t)reader->rows < frame->height)
        frame->height = (int)reader->rows;
    for (int y = 1; y < frame->height; y++) {
        uint8_t *row = frame->data[0] + (ptrdiff_t)y * frame->linesize[0];
        if (gif_lacks_row(&reader->gif, (uint32_t)y))
            memcpy(row, row - frame->linesize[0], (size_t)abs(frame->linesize[0]));
    }
}

/* ---- decoding ---- */

static enum doppel_status fail_reader(const struct lavc_reader *reader, int code,
                                      struct doppel_error *error)
{
    char cause[AV_ERROR_MAX_STRING_SIZE];
    if (reader->refusal.status != DOPPEL_OK)
        return doppel_fail(error, reader->refusal.status, "%s", reader->refusal.message);
    if (code == AVERROR(ENOMEM))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decode the %s", reader->name);
    if (code == AVERROR_PATCHWELCOME)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "a variant of %s not known here",
                           reader->name);
    if (code == AVERROR_EOF || code == AVERROR(EAGAIN))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "the %s is cut short", reader->name);
    if (code == AVERROR_INVALIDDATA || code == AVERROR(EINVAL) || code == AVERROR(EPERM))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "the %s is damaged", reader->name);
    return doppel_fail(error, DOPPEL_E_CORRUPT, "the %s is damaged (%s)", reader->name,
                       av_make_error_string(cause, sizeof cause, code));
}

static enum doppel_status open_codec(struct lavc_reader *reader, enum AVCodecID id,
                                     struct doppel_error *error)
{
    const AVCodec *codec = avcodec_find_decoder(id);
    if (!codec)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "is a %s, for which FFmpeg has no decoder here", reader->name);
    reader->codec = avcodec_alloc_context3(codec);
    reader->packet = av_packet_alloc();
    reader->frame = av_frame_alloc();
    if (!reader->codec || !reader->packet || !reader->frame)
        return fail_reader(reader, AVERROR(ENOMEM), error);
    reader->codec->thread_count = 1;
    reader->codec->opaque = reader;
    reader->codec->get_buffer2 = get_image_buffer;
    uint64_t pixels = reader->options->limits.max_pixels;
    reader->codec->max_pixels = pixels < INT_MAX ? (int64_t)pixels : INT_MAX;
    int code = avcodec_open2(reader->codec, codec, NULL);
    return code < 0 ? fail_reader(reader, code, error) : DOPPEL_OK;
}

/* Of an animation only the first frame is read: LZW cannot make more bytes of it than two a pixel;
 * a megabyte is for palettes and comments before it. */
static uint64_t bytes_wanted(struct input *input, enum doppel_format format)
{
    uint8_t head[10];
    if (format != DOPPEL_FORMAT_GIF || input_read_at(input, 0, head, sizeof head) < sizeof head)
        return input->size;
    uint64_t wanted = 2 * (uint64_t)get_u16(head + 6) * get_u16(head + 8) + (1 << 20);
    return wanted < input->size ? wanted : input->size;
}

static enum doppel_status load_packet(struct lavc_reader *reader, enum doppel_format format,
                                      struct doppel_error *error)
{
    uint64_t size = bytes_wanted(reader->input, format);
    enum doppel_status status = check_memory(&reader->options->limits, size, error);
    if (status != DOPPEL_OK)
        return status;
    if (size > INT_MAX - AV_INPUT_BUFFER_PADDING_SIZE ||
        av_new_packet(reader->packet, (int)size) < 0)
        return fail_reader(reader, AVERROR(ENOMEM), error);
    size_t got = input_read_at(reader->input, 0, reader->packet->data, (size_t)size);
    av_shrink_packet(reader->packet, (int)got);
    status = check_declared(reader, format, error);
    if (status == DOPPEL_OK)
        status = format == DOPPEL_FORMAT_GIF ? keep_gif_rows(reader, error)
                                             : keep_raw_rows(reader, format, error);
    return status;
}

static enum doppel_status decode_packet(struct lavc_reader *reader, struct doppel_error *error)
{
    int code = avcodec_send_packet(reader->codec, reader->packet);
    if (code >= 0)
        code = avcodec_receive_frame(reader->codec, reader->frame);
    if (code == AVERROR(EAGAIN) && avcodec_send_packet(reader->codec, NULL) >= 0)
        code = avcodec_receive_frame(reader->codec, reader->frame);
    return code < 0 ? fail_reader(reader, code, error) : DOPPEL_OK;
}

/* A TGA of 32 bits that declares no alpha bits has anything there. */
static bool has_no_alpha(const struct lavc_reader *reader, enum doppel_format format)
{
    return format == DOPPEL_FORMAT_TGA && !(reader->packet->data[17] & 15);
}

/* Lossless, of one picture, and all there. */
static bool is_lossless(const struct lavc_reader *reader, enum doppel_format format)
{
    return !reader->declared_height && !reader->frame->decode_error_flags &&
           lossless_is_whole(format, reader->packet->data, (size_t)reader->packet->size);
}

/* @param reader given (close_lavc_reader), also on failure */
static enum doppel_status read_frame_reader(struct lavc_reader *reader, enum doppel_format format,
                                            enum AVCodecID id, struct doppel_error *error)
{
    av_log_set_level(AV_LOG_QUIET);
    enum doppel_status status = open_codec(reader, id, error);
    if (status == DOPPEL_OK)
        status = load_packet(reader, format, error);
    if (status == DOPPEL_OK)
        status = decode_packet(reader, error);
    if (status == DOPPEL_OK && reader->rows)
        crop_frame(reader);
    return status;
}

static void close_lavc_reader(struct lavc_reader *reader)
{
    avcodec_free_context(&reader->codec);
    av_packet_free(&reader->packet);
    av_frame_free(&reader->frame);
}

static enum doppel_status decode_lavc_image(struct input *input,
                                            const struct doppel_luma_options *options,
                                            enum doppel_format format, enum AVCodecID id,
                                            struct image *out, struct doppel_error *error)
{
    struct lavc_reader reader = {
        .input = input, .options = options, .name = doppel_format_name(format)};
    enum doppel_status status = read_frame_reader(&reader, format, id, error);
    if (status == DOPPEL_OK) {
        struct frame_facts facts = {has_no_alpha(&reader, format), is_lossless(&reader, format)};
        status = frame_to_image(reader.frame, options, &facts, out, error);
    }
    if (status == DOPPEL_OK && reader.declared_height) {
        out->full_height = reader.declared_height;
        out->there = reader.rows;
        out->coarse = reader.rows == reader.declared_height;
    }
    close_lavc_reader(&reader);
    return status;
}

enum doppel_status decode_gif(struct input *input, const struct doppel_luma_options *options,
                              struct image *out, struct doppel_error *error)
{
    return decode_lavc_image(input, options, DOPPEL_FORMAT_GIF, AV_CODEC_ID_GIF, out, error);
}

enum doppel_status decode_bmp(struct input *input, const struct doppel_luma_options *options,
                              struct image *out, struct doppel_error *error)
{
    return decode_lavc_image(input, options, DOPPEL_FORMAT_BMP, AV_CODEC_ID_BMP, out, error);
}

enum doppel_status decode_tga(struct input *input, const struct doppel_luma_options *options,
                              struct image *out, struct doppel_error *error)
{
    return decode_lavc_image(input, options, DOPPEL_FORMAT_TGA, AV_CODEC_ID_TARGA, out, error);
}

enum doppel_status decode_jxl(struct input *input, const struct doppel_luma_options *options,
                              struct image *out, struct doppel_error *error)
{
    return decode_lavc_image(input, options, DOPPEL_FORMAT_JXL, AV_CODEC_ID_JPEGXL, out, error);
}

static enum AVCodecID codec_of(enum doppel_format format)
{
    static const enum AVCodecID ids[] = {
        [DOPPEL_FORMAT_PNG] = AV_CODEC_ID_PNG,   [DOPPEL_FORMAT_GIF] = AV_CODEC_ID_GIF,
        [DOPPEL_FORMAT_WEBP] = AV_CODEC_ID_WEBP, [DOPPEL_FORMAT_BMP] = AV_CODEC_ID_BMP,
        [DOPPEL_FORMAT_TGA] = AV_CODEC_ID_TARGA, [DOPPEL_FORMAT_JXL] = AV_CODEC_ID_JPEGXL,
    };
    size_t index = (size_t)format;
    return index < sizeof ids / sizeof *ids ? ids[index] : AV_CODEC_ID_NONE;
}

enum doppel_status lavc_still(struct input *input, const struct doppel_luma_options *options,
                              enum doppel_format format, uint32_t longest, uint8_t **out,
                              size_t *out_size, struct doppel_error *error)
{
    struct lavc_reader reader = {
        .input = input, .options = options, .name = doppel_format_name(format)};
    struct frame_shape shape = {.orientation = 1, .longest = longest};
    enum AVCodecID id = codec_of(format);
    if (id == AV_CODEC_ID_NONE)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "is a %s, which is shown in grey",
                           reader.name);
    enum doppel_status status = read_frame_reader(&reader, format, id, error);
    if (status == DOPPEL_OK) {
        unsigned told =
            orientation_of_file(format, reader.packet->data, (size_t)reader.packet->size);
        shape.orientation = video_orientation(reader.frame, told ? told : 1);
        shape.opaque = has_no_alpha(&reader, format);
        status = thumbnail_of_frame(reader.frame, &shape, out, out_size, error);
    }
    close_lavc_reader(&reader);
    return status;
}
