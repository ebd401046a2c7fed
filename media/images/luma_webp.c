/* WebP to luma through libwebp: the first frame on its canvas, still pictures being one frame. */
#include <stdlib.h>
#include <string.h>

#include <webp/decode.h>
#include <webp/demux.h>

#include "media/decode.h"
#include "media/images/rgb.h"

struct webp_reader {
    const struct doppel_luma_options *options;
    WebPData file;
    WebPDemuxer *demuxer;
    WebPIterator frame;
    WebPIDecoder *decoder;
    WebPDecoderConfig config;
    struct rows rows;
    uint8_t *canvas_row;
};

static enum doppel_status webp_is_damaged(struct doppel_error *error, const char *what)
{
    return doppel_fail(error, DOPPEL_E_CORRUPT, "the WebP is damaged (%s)", what);
}

/* Lossy frames hold luma, which is taken as it is; lossless ones hold RGB. */
static bool takes_luma(const struct webp_reader *reader)
{
    return reader->config.input.format == 1 && !reader->options->from_rgb;
}

static enum doppel_status open_frame(struct webp_reader *reader, struct doppel_error *error)
{
    WebPDemuxState state;
    reader->demuxer = WebPDemuxPartial(&reader->file, &state);
    if (!reader->demuxer || !WebPDemuxGetFrame(reader->demuxer, 1, &reader->frame))
        return webp_is_damaged(error, "no picture in it");
    if (!WebPInitDecoderConfig(&reader->config))
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "libwebp is of another version");
    const WebPData *data = &reader->frame.fragment;
    if (WebPGetFeatures(data->bytes, data->size, &reader->config.input) != VP8_STATUS_OK)
        return webp_is_damaged(error, "no header");
    return DOPPEL_OK;
}

/* One frame, that fills the canvas, of the lossless kind. */
static bool is_one_lossless(const struct webp_reader *reader)
{
    return reader->config.input.format == 2 && !reader->options->from_rgb &&
           WebPDemuxGetI(reader->demuxer, WEBP_FF_FRAME_COUNT) == 1 &&
           (uint32_t)reader->config.input.width ==
               WebPDemuxGetI(reader->demuxer, WEBP_FF_CANVAS_WIDTH) &&
           (uint32_t)reader->config.input.height ==
               WebPDemuxGetI(reader->demuxer, WEBP_FF_CANVAS_HEIGHT);
}

static enum doppel_status prepare_webp(struct webp_reader *reader, struct doppel_error *error)
{
    const struct doppel_media_limits *limits = &reader->options->limits;
    uint32_t width = WebPDemuxGetI(reader->demuxer, WEBP_FF_CANVAS_WIDTH);
    uint32_t height = WebPDemuxGetI(reader->demuxer, WEBP_FF_CANVAS_HEIGHT);
    enum doppel_status status = check_pixels(limits, width, height, error);
    if (status != DOPPEL_OK)
        return status;
    uint64_t pixels = (uint64_t)reader->config.input.width * (uint64_t)reader->config.input.height;
    uint32_t factor = rows_factor(reader->options, width, height);
    uint64_t held = reader->file.size + (uint64_t)width * height / factor / factor;
    /* Lossless frames are held once as decoded and once as handed out; lossy ones once, with
     * chroma and alpha. */
    held += pixels * (reader->config.input.format == 2 ? 8 : takes_luma(reader) ? 3 : 5);
    status = check_memory(limits, held, error);
    if (status != DOPPEL_OK)
        return status;
    reader->canvas_row = malloc(width);
    if (!reader->canvas_row)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decode the WebP");
    status = rows_begin(&reader->rows, reader->options, width, height, error);
    return status || !is_one_lossless(reader) ? status : rows_want_digest(&reader->rows, error);
}

/* The incremental decoder tells how many rows of a file that breaks off were there. */
static enum doppel_status decode_frame(struct webp_reader *reader, struct doppel_error *error)
{
    reader->config.output.colorspace = takes_luma(reader) ? MODE_YUVA : MODE_RGBA;
    reader->decoder = WebPIDecode(NULL, 0, &reader->config);
    if (!reader->decoder)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decode the WebP");
    const WebPData *data = &reader->frame.fragment;
    VP8StatusCode code = WebPIUpdate(reader->decoder, data->bytes, data->size);
    if (code == VP8_STATUS_OUT_OF_MEMORY)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decode the WebP");
    return DOPPEL_OK;
}

/* ---- from the frame to the canvas ---- */

/* A decoded frame: luma with alpha beside it, or RGBA. */
struct samples {
    const uint8_t *luma, *alpha, *rgba;
    int rows, width, stride, alpha_stride;
};

static struct samples decoded_samples(const struct webp_reader *reader)
{
    struct samples s = {0};
    int height;
    if (takes_luma(reader))
        s.luma = WebPIDecGetYUVA(reader->decoder, &s.rows, NULL, NULL, (uint8_t **)&s.alpha,
                                 &s.width, &height, &s.stride, NULL, &s.alpha_stride);
    else
        s.rgba = WebPIDecGetRGB(reader->decoder, &s.rows, &s.width, &height, &s.stride);
    return s;
}

/* VP8's luma is 16..235. */
static uint8_t full_range(int luma)
{
    int wide = ((luma - 16) * 255 + 109) / 219;
    return (uint8_t)(wide < 0 ? 0 : wide > 255 ? 255 : wide);
}

static void frame_row(const struct webp_reader *reader, const struct samples *s, int y,
                      uint8_t *out)
{
    bool ignore_alpha = reader->options->from_rgb;
    if (s->rgba) {
        luma_row(s->rgba + (ptrdiff_t)y * s->stride, (size_t)s->width, 4, ignore_alpha, out);
        return;
    }
    const uint8_t *luma = s->luma + (ptrdiff_t)y * s->stride;
    const uint8_t *alpha = s->alpha ? s->alpha + (ptrdiff_t)y * s->alpha_stride : NULL;
    for (int x = 0; x < s->width; x++) {
        uint8_t sample = full_range(luma[x]);
        out[x] = alpha ? over_white(sample, alpha[x]) : sample;
    }
}

static enum doppel_status take_rows(struct webp_reader *reader, struct doppel_error *error)
{
    struct samples s = decoded_samples(reader);
    uint32_t left = (uint32_t)reader->frame.x_offset, top = (uint32_t)reader->frame.y_offset;
    if (!s.luma && !s.rgba)
        return webp_is_damaged(error, "not a row can be decoded");
    if (left + (uint64_t)s.width > reader->rows.full_width)
        return webp_is_damaged(error, "its frame leaves the canvas");
    bool whole = s.rows == reader->config.input.height;
    if (reader->rows.digest) {
        for (int y = 0; y < s.rows; y++)
            rows_take_samples(&reader->rows, s.rgba + (ptrdiff_t)y * s.stride, 4, false);
        return DOPPEL_OK;
    }
    for (uint32_t y = 0; y < reader->rows.full_height; y++) {
        memset(reader->canvas_row, 255, reader->rows.full_width);
        if (y >= top && y - top < (uint32_t)s.rows)
            frame_row(reader, &s, (int)(y - top), reader->canvas_row + left);
        else if (y >= top && !whole)
            break;
        rows_take(&reader->rows, reader->canvas_row);
    }
    return DOPPEL_OK;
}

static void read_webp_exif(const struct webp_reader *reader, struct image *out)
{
    WebPChunkIterator chunk;
    if (!WebPDemuxGetChunk(reader->demuxer, "EXIF", 1, &chunk))
        return;
    exif_read(chunk.chunk.bytes, chunk.chunk.size, out);
    WebPDemuxReleaseChunkIterator(&chunk);
}

static void close_webp_reader(struct webp_reader *reader)
{
    WebPIDelete(reader->decoder);
    WebPFreeDecBuffer(&reader->config.output);
    WebPDemuxReleaseIterator(&reader->frame);
    WebPDemuxDelete(reader->demuxer);
    rows_free(&reader->rows);
    free(reader->canvas_row);
}

enum doppel_status decode_webp(struct input *input, const struct doppel_luma_options *options,
                               struct image *out, struct doppel_error *error)
{
    struct webp_reader reader = {.options = options};
    enum doppel_status status = check_memory(&options->limits, input->size, error);
    uint8_t *data = NULL;
    if (status == DOPPEL_OK)
        status = input_load(input, input->size, 0, &data, &reader.file.size, error);
    reader.file.bytes = data;
    if (status == DOPPEL_OK)
        status = open_frame(&reader, error);
    if (status == DOPPEL_OK)
        status = prepare_webp(&reader, error);
    if (status == DOPPEL_OK)
        status = decode_frame(&reader, error);
    if (status == DOPPEL_OK)
        status = take_rows(&reader, error);
    if (status == DOPPEL_OK)
        status = rows_finish(&reader.rows, "WebP", out, error);
    if (status == DOPPEL_OK)
        read_webp_exif(&reader, out);
    close_webp_reader(&reader);
    free(data);
    return status;
}
