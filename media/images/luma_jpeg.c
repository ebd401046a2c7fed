/* JPEG to luma through libjpeg-turbo: only the luma, only as large as wanted, only the scans that
 * are needed. This is the path that most pictures take. To be looked at, the colours too. */
#include "media/images/jpeg_reader.h"

#include <stdlib.h>
#include <string.h>

#include <jerror.h>

#include "media/images/jpeg_means.h"
#include "media/images/rgb.h"

enum { ROWS_AT_ONCE = 16 };

static enum doppel_status fail_jpeg_reader(const struct jpeg_reader *reader,
                                           struct doppel_error *error)
{
    switch (reader->errors.msg_code) {
    case JERR_OUT_OF_MEMORY:
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decode the JPEG");
    case JERR_NO_BACKING_STORE:
        return doppel_fail(error, DOPPEL_E_LIMIT,
                           "needs more than %llu MiB to decode (--max-memory)",
                           (unsigned long long)(reader->options->limits.max_memory >> 20));
    case JERR_BAD_PRECISION:
    case JERR_SOF_UNSUPPORTED:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_ARITH_NOTIMPL:
    case JERR_NOTIMPL:
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "a variant of JPEG not known here (%s)",
                           reader->message);
    default:
        return doppel_fail(error, DOPPEL_E_CORRUPT, "the JPEG is damaged (%s)", reader->message);
    }
}

/* ---- what to decode ---- */

/* Colours that libjpeg makes into luma itself it does: for YCbCr that is taking the Y. */
static enum doppel_status choose_colours_jpeg_reader(struct jpeg_reader *reader,
                                                     struct doppel_error *error)
{
    j_decompress_ptr cinfo = &reader->cinfo;
    bool rgb = reader->channels == 3;
    switch (cinfo->jpeg_color_space) {
    case JCS_GRAYSCALE:
    case JCS_RGB:
        cinfo->out_color_space = rgb ? JCS_RGB : JCS_GRAYSCALE;
        return DOPPEL_OK;
    case JCS_YCbCr:
        cinfo->out_color_space = rgb || reader->options->from_rgb ? JCS_RGB : JCS_GRAYSCALE;
        return DOPPEL_OK;
    case JCS_CMYK:
    case JCS_YCCK:
        cinfo->out_color_space = JCS_CMYK;
        return DOPPEL_OK;
    default:
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "a JPEG of %d colour components",
                           cinfo->num_components);
    }
}

/* libjpeg scales by n/8 as it transforms; powers of two have the fast code. */
static void choose_scale(struct jpeg_reader *reader)
{
    j_decompress_ptr cinfo = &reader->cinfo;
    uint32_t wanted = reader->options->min_side;
    uint32_t side =
        cinfo->image_width < cinfo->image_height ? cinfo->image_width : cinfo->image_height;
    cinfo->scale_denom = 8;
    cinfo->scale_num = 8;
    while (wanted && cinfo->scale_num > 1 && (side * (cinfo->scale_num / 2) + 7) / 8 >= wanted)
        cinfo->scale_num /= 2;
    jpeg_calc_output_dimensions(cinfo);
}

/* Files of many scans are held as coefficients, of all components, until they are complete. */
static uint64_t coefficient_bytes(const struct jpeg_decompress_struct *cinfo)
{
    uint64_t bytes = 0;
    for (int i = 0; i < cinfo->num_components; i++) {
        const jpeg_component_info *component = &cinfo->comp_info[i];
        bytes += (uint64_t)(component->width_in_blocks + 3) * (component->height_in_blocks + 3) *
                 DCTSIZE2 * sizeof(JCOEF);
    }
    return bytes;
}

static enum doppel_status prepare_jpeg_reader(struct jpeg_reader *reader,
                                              struct doppel_error *error)
{
    j_decompress_ptr cinfo = &reader->cinfo;
    const struct doppel_media_limits *limits = &reader->options->limits;
    enum doppel_status status =
        check_pixels(limits, cinfo->image_width, cinfo->image_height, error);
    if (status == DOPPEL_OK)
        status = choose_colours_jpeg_reader(reader, error);
    if (status != DOPPEL_OK)
        return status;
    choose_scale(reader);
    struct image *image = &reader->image;
    image->full_width = cinfo->image_width;
    image->full_height = cinfo->image_height;
    image->width = cinfo->output_width;
    image->height = cinfo->output_height;
    size_t pixels = (size_t)image->width * image->height * reader->channels;
    bool cmyk = cinfo->out_color_space == JCS_CMYK;
    bool by_rows = cmyk || (reader->channels == 1 && cinfo->out_color_space != JCS_GRAYSCALE);
    uint64_t held = jpeg_has_multiple_scans(cinfo) ? coefficient_bytes(cinfo) : 0;
    status = check_memory(limits, pixels + held, error);
    if (status != DOPPEL_OK)
        return status;
    image->pixels = malloc(pixels);
    if (by_rows)
        reader->colours = malloc((size_t)image->width * 4);
    if (!image->pixels || (by_rows && !reader->colours))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a picture of %u x %u",
                           image->width, image->height);
    cinfo->do_block_smoothing = FALSE;
    return DOPPEL_OK;
}

/* ---- rows ---- */

static void cmyk_row(const uint8_t *in, uint32_t width, unsigned channels, uint8_t *out)
{
    /* Adobe's way, as everybody's: 255 = no ink. */
    for (uint32_t x = 0; x < width; x++, in += 4, out += channels) {
        unsigned white = in[3], rgb[3];
        for (int i = 0; i < 3; i++)
            rgb[i] = white - scale_255(255u - in[i], white);
        if (channels == 1)
            out[0] = luma_of(rgb[0], rgb[1], rgb[2]);
        for (int i = 0; i < 3 && channels == 3; i++)
            out[i] = (uint8_t)rgb[i];
    }
}

/* As they are wanted. */
static void read_whole_rows(struct jpeg_reader *reader)
{
    j_decompress_ptr cinfo = &reader->cinfo;
    size_t width = (size_t)reader->image.width * reader->channels;
    JSAMPROW rows[ROWS_AT_ONCE];
    uint32_t count = cinfo->output_height - cinfo->output_scanline;
    if (count > ROWS_AT_ONCE)
        count = ROWS_AT_ONCE;
    for (uint32_t i = 0; i < count; i++)
        rows[i] = reader->image.pixels + (cinfo->output_scanline + i) * width;
    jpeg_read_scanlines(cinfo, rows, count);
}

static void read_colour_row(struct jpeg_reader *reader)
{
    j_decompress_ptr cinfo = &reader->cinfo;
    uint32_t width = reader->image.width;
    uint8_t *out = reader->image.pixels + (size_t)cinfo->output_scanline * width * reader->channels;
    JSAMPROW row = reader->colours;
    jpeg_read_scanlines(cinfo, &row, 1);
    if (cinfo->out_color_space == JCS_CMYK)
        cmyk_row(row, width, reader->channels, out);
    else
        luma_row(row, width, 3, true, out);
}

static void read_rows_jpeg_reader(struct jpeg_reader *reader, uint32_t end)
{
    j_decompress_ptr cinfo = &reader->cinfo;
    while (cinfo->output_scanline < end && !reader->cut) {
        reader->rows_good = cinfo->output_scanline;
        if (reader->colours)
            read_colour_row(reader);
        else
            read_whole_rows(reader);
    }
    if (!reader->cut)
        reader->rows_good = end;
}

/* At 1/8 there is a quicker way. Where it ends, libjpeg begins from where it began. */
static bool read_means(struct jpeg_reader *reader)
{
    struct input *input = reader->input;
    size_t left = reader->source.bytes_in_buffer;
    if (!jpeg_means_apply(&reader->cinfo) || left > input->filled)
        return false;
    uint64_t begin = input->offset - left;
    input->at = input->filled - left;
    bool damaged = false;
    jpeg_reader_begin_meter(reader);
    bool done =
        jpeg_means_read(&reader->cinfo, input, reader->image.pixels, &reader->meter, &damaged);
    reader->damaged |= damaged;
    if (done) {
        reader->rows_good = reader->cinfo.output_height;
        return true;
    }
    input->offset = begin;
    reader->source.bytes_in_buffer = 0;
    return false;
}

static void decode_single_scan(struct jpeg_reader *reader)
{
    if (reader->channels == 1 && read_means(reader))
        return;
    jpeg_start_decompress(&reader->cinfo);
    jpeg_reader_measure(reader);
    read_rows_jpeg_reader(reader, reader->cinfo.output_height);
    if (!reader->cut)
        jpeg_finish_decompress(&reader->cinfo); /* which warns of what is left over */
}

static void decode_scans(struct jpeg_reader *reader)
{
    j_decompress_ptr cinfo = &reader->cinfo;
    cinfo->buffered_image = TRUE;
    jpeg_start_decompress(cinfo);
    jpeg_read_scans(reader);
    reader->cut = false;
    jpeg_start_output(cinfo, cinfo->input_scan_number);
    jpeg_reader_measure(reader);
    read_rows_jpeg_reader(reader, reader->rows_good);
}

/* Everything that libjpeg may leave by longjmp; all state is in `reader`. */
static enum doppel_status run_jpeg_reader(struct jpeg_reader *reader, struct doppel_error *error)
{
    if (setjmp(reader->on_error))
        return reader->rows_good ? DOPPEL_OK : fail_jpeg_reader(reader, error);
    jpeg_reader_open(reader);
    jpeg_read_header(&reader->cinfo, TRUE);
    enum doppel_status status = prepare_jpeg_reader(reader, error);
    if (status != DOPPEL_OK)
        return status;
    if (jpeg_has_multiple_scans(&reader->cinfo))
        decode_scans(reader);
    else
        decode_single_scan(reader);
    return DOPPEL_OK;
}

/* Rows that were not there are cropped away; a tenth must be left. */
static enum doppel_status crop(struct jpeg_reader *reader, struct doppel_error *error)
{
    struct image *image = &reader->image;
    uint64_t full = (uint64_t)reader->rows_good * image->full_height / image->height;
    enum doppel_status status = check_rows("JPEG", (uint32_t)full, image->full_height, error);
    image->height = reader->rows_good;
    image->there = (uint32_t)full;
    image->coarse = reader->coarse && full == image->full_height;
    image->damaged = reader->damaged;
    origin_finish(&reader->meter, &image->origin);
    return status;
}

static enum doppel_status decode_input(struct input *input,
                                       const struct doppel_luma_options *options, unsigned channels,
                                       struct image *out, struct doppel_error *error)
{
    struct jpeg_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decode the JPEG");
    reader->input = input;
    reader->options = options;
    reader->channels = channels;
    enum doppel_status status = run_jpeg_reader(reader, error);
    if (status == DOPPEL_OK)
        status = crop(reader, error);
    jpeg_destroy_decompress(&reader->cinfo);
    free(reader->colours);
    if (status == DOPPEL_OK)
        *out = reader->image;
    else
        free(reader->image.pixels);
    free(reader);
    return status;
}

enum doppel_status decode_jpeg(struct input *input, const struct doppel_luma_options *options,
                               struct image *out, struct doppel_error *error)
{
    return decode_input(input, options, 1, out, error);
}

enum doppel_status decode_jpeg_rgb(struct input *input, const struct doppel_luma_options *options,
                                   struct image *out, struct doppel_error *error)
{
    return decode_input(input, options, 3, out, error);
}
