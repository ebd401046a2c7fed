/* JPEG to luma through libjpeg-turbo: only the luma, only as large as wanted, only the scans that
 * are needed. This is the path that most pictures take. To be looked at, the colours too. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

#include "media/decode.h"
#include "media/jpeg_means.h"
#include "media/rgb.h"

/* No encoder writes that many; a hostile file has thousands over a huge picture. */
enum { MAX_SCANS = 200, ROWS_AT_ONCE = 16 };

struct reader {
    struct jpeg_decompress_struct cinfo;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    jmp_buf on_error;
    struct input *input;
    const struct doppel_luma_options *options;
    struct picture picture;
    unsigned channels;  /* of the picture: 1, or RGB */
    uint8_t *colours;   /* a row of several components; NULL when libjpeg writes luma */
    uint32_t rows_good; /* rows whose data were there */
    unsigned scanned;   /* a bit for each component that a whole scan was read of */
    bool cut;           /* the data are over: rows from now on are invented */
    bool ended;         /* and there was no end of image */
    bool coarse;        /* later scans are not all there */
    char message[JMSG_LENGTH_MAX];
};

static struct reader *reader_of(j_common_ptr cinfo)
{
    return (struct reader *)cinfo->client_data;
}

/* ---- errors ---- */

static void error_exit(j_common_ptr cinfo)
{
    struct reader *reader = reader_of(cinfo);
    cinfo->err->format_message(cinfo, reader->message);
    longjmp(reader->on_error, 1);
}

/* libjpeg warns of damage and goes on. Damage is borne; what must be known is where data end. */
static void emit_message(j_common_ptr cinfo, int level)
{
    struct reader *reader = reader_of(cinfo);
    if (level >= 0 || !cinfo->is_decompressor)
        return;
    cinfo->err->num_warnings++;
    if (cinfo->err->msg_code == JWRN_HIT_MARKER && reader->cinfo.unread_marker == JPEG_EOI)
        reader->cut = true;
}

static void output_message(j_common_ptr cinfo)
{
    (void)cinfo;
}

static enum doppel_status fail(const struct reader *reader, struct doppel_error *error)
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

/* ---- input ---- */

static void begin_source(j_decompress_ptr cinfo)
{
    (void)cinfo;
}

static boolean fill_buffer(j_decompress_ptr cinfo)
{
    static const JOCTET end_of_image[] = {0xff, JPEG_EOI};
    struct reader *reader = reader_of((j_common_ptr)cinfo);
    size_t size = input_fill(reader->input);
    reader->ended = !size;
    cinfo->src->next_input_byte = size ? reader->input->window : end_of_image;
    cinfo->src->bytes_in_buffer = size ? size : sizeof end_of_image;
    return TRUE;
}

static void skip_data(j_decompress_ptr cinfo, long count)
{
    struct jpeg_source_mgr *source = cinfo->src;
    if (count <= 0)
        return;
    if ((size_t)count <= source->bytes_in_buffer) {
        source->next_input_byte += count;
        source->bytes_in_buffer -= (size_t)count;
        return;
    }
    reader_of((j_common_ptr)cinfo)->input->offset += (size_t)count - source->bytes_in_buffer;
    source->bytes_in_buffer = 0;
}

static void end_source(j_decompress_ptr cinfo)
{
    (void)cinfo;
}

static unsigned next_byte(j_decompress_ptr cinfo)
{
    if (!cinfo->src->bytes_in_buffer)
        fill_buffer(cinfo);
    cinfo->src->bytes_in_buffer--;
    return *cinfo->src->next_input_byte++;
}

/* Of the APP1 markers only an EXIF block is read, and not kept: saved by libjpeg, a file of nothing
 * else would fill the memory. */
static boolean read_exif(j_decompress_ptr cinfo)
{
    struct reader *reader = reader_of((j_common_ptr)cinfo);
    unsigned length = next_byte(cinfo) << 8;
    length |= next_byte(cinfo);
    length = length > 2 ? length - 2 : 0;
    uint8_t *block = reader->picture.orientation ? NULL : malloc(length ? length : 1);
    if (block) {
        for (unsigned i = 0; i < length; i++)
            block[i] = (uint8_t)next_byte(cinfo);
        if (length >= 6 && !memcmp(block, "Exif\0", 6))
            reader->picture.orientation = orientation_read(block, length);
        free(block);
    } else {
        skip_data(cinfo, (long)length);
    }
    return TRUE;
}

static void open_reader(struct reader *reader)
{
    j_decompress_ptr cinfo = &reader->cinfo;
    cinfo->err = jpeg_std_error(&reader->errors);
    reader->errors.error_exit = error_exit;
    reader->errors.emit_message = emit_message;
    reader->errors.output_message = output_message;
    cinfo->client_data = reader;
    jpeg_create_decompress(cinfo);
    reader->source = (struct jpeg_source_mgr){.init_source = begin_source,
                                              .fill_input_buffer = fill_buffer,
                                              .skip_input_data = skip_data,
                                              .resync_to_restart = jpeg_resync_to_restart,
                                              .term_source = end_source};
    cinfo->src = &reader->source;
    cinfo->mem->max_memory_to_use = (long)reader->options->limits.max_memory;
}

/* ---- what to decode ---- */

/* Colours that libjpeg makes into luma itself it does: for YCbCr that is taking the Y. */
static enum doppel_status choose_colours(struct reader *reader, struct doppel_error *error)
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
        if (rgb)
            return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "a JPEG of inks, shown in grey");
        cinfo->out_color_space = JCS_CMYK;
        return DOPPEL_OK;
    default:
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "a JPEG of %d colour components",
                           cinfo->num_components);
    }
}

/* libjpeg scales by n/8 as it transforms; powers of two have the fast code. */
static void choose_scale(struct reader *reader)
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

static enum doppel_status prepare(struct reader *reader, struct doppel_error *error)
{
    j_decompress_ptr cinfo = &reader->cinfo;
    const struct doppel_media_limits *limits = &reader->options->limits;
    enum doppel_status status =
        check_pixels(limits, cinfo->image_width, cinfo->image_height, error);
    if (status == DOPPEL_OK)
        status = choose_colours(reader, error);
    if (status != DOPPEL_OK)
        return status;
    choose_scale(reader);
    struct picture *picture = &reader->picture;
    picture->full_width = cinfo->image_width;
    picture->full_height = cinfo->image_height;
    picture->width = cinfo->output_width;
    picture->height = cinfo->output_height;
    size_t pixels = (size_t)picture->width * picture->height * reader->channels;
    bool by_rows = reader->channels == 1 && cinfo->out_color_space != JCS_GRAYSCALE;
    uint64_t held = jpeg_has_multiple_scans(cinfo) ? coefficient_bytes(cinfo) : 0;
    status = check_memory(limits, pixels + held, error);
    if (status != DOPPEL_OK)
        return status;
    picture->pixels = malloc(pixels);
    if (by_rows)
        reader->colours = malloc((size_t)picture->width * 4);
    if (!picture->pixels || (by_rows && !reader->colours))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a picture of %u x %u",
                           picture->width, picture->height);
    cinfo->do_block_smoothing = FALSE;
    return DOPPEL_OK;
}

/* ---- scans ---- */

static const uint8_t zigzag[DCTSIZE2] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
};

/* Does the inverse transform at this scale look at the coefficient in this row and column? The 4×4
 * one leaves out row and column 4, the 2×2 one all even ones but the first. */
static bool is_needed(int scaled_size, int row, int column)
{
    if (scaled_size == 1)
        return !row && !column;
    if (scaled_size == 2)
        return (!row || row % 2) && (!column || column % 2);
    return scaled_size != 4 || (row != 4 && column != 4);
}

/* Is the mean of a block known to a grey level, `bits` of its value still missing? */
static bool is_mean_known(const jpeg_component_info *component, int bits)
{
    const JQUANT_TBL *table = component->quant_table;
    return bits == 0 || (bits == 1 && table && table->quantval[0] <= DCTSIZE);
}

static bool is_final(const struct jpeg_decompress_struct *cinfo, int component)
{
    const int *bits = cinfo->coef_bits[component]; /* in zigzag order; -1 = nothing yet */
    const jpeg_component_info *info = &cinfo->comp_info[component];
    if (!is_mean_known(info, bits[0]))
        return false;
    for (int i = 1; i < DCTSIZE2; i++)
        if (bits[i] && is_needed(info->DCT_scaled_size, zigzag[i] / DCTSIZE, zigzag[i] % DCTSIZE))
            return false;
    return true;
}

/* After a scan: is there all that the output needs? */
static bool has_enough(struct reader *reader)
{
    j_decompress_ptr cinfo = &reader->cinfo;
    for (int i = 0; i < cinfo->comps_in_scan; i++)
        reader->scanned |= 1u << cinfo->cur_comp_info[i]->component_index;
    for (int i = 0; i < cinfo->num_components; i++) {
        if (!cinfo->comp_info[i].component_needed)
            continue;
        if (!(reader->scanned >> i & 1) || (cinfo->progressive_mode && !is_final(cinfo, i)))
            return false;
    }
    return true;
}

/* Rows of the first scan that were there when the data ended; a later scan only refines. */
static uint32_t rows_of_first_scan(const struct jpeg_decompress_struct *cinfo)
{
    if (cinfo->input_scan_number > 1)
        return cinfo->output_height;
    uint64_t rows = (uint64_t)cinfo->input_iMCU_row * cinfo->output_height / cinfo->total_iMCU_rows;
    return (uint32_t)rows;
}

/* Whether the image ends in what is left of the file, where other things may follow it. In the data
 * of scans the marker's bytes do not occur. */
static bool has_end(struct reader *reader)
{
    uint8_t last[2];
    uint64_t size = reader->input->size;
    if (input_read_at(reader->input, size - sizeof last, last, sizeof last) == sizeof last &&
        last[0] == 0xff && last[1] == JPEG_EOI)
        return true;
    if (reader->cinfo.unread_marker == JPEG_EOI) /* read ahead */
        return !reader->ended;
    bool marker = false;
    while (!reader->ended) {
        unsigned byte = next_byte(&reader->cinfo);
        if (marker && byte == JPEG_EOI)
            return !reader->ended;
        marker = byte == 0xff;
    }
    return false;
}

static void read_scans(struct reader *reader)
{
    j_decompress_ptr cinfo = &reader->cinfo;
    int event;
    bool enough = false;
    do {
        event = jpeg_consume_input(cinfo);
        enough = event == JPEG_SCAN_COMPLETED && has_enough(reader);
        if (reader->cut || cinfo->input_scan_number > MAX_SCANS)
            break;
    } while (!enough && event != JPEG_REACHED_EOI);
    reader->rows_good = reader->cut ? rows_of_first_scan(cinfo) : cinfo->output_height;
    reader->coarse = reader->cut || reader->ended || (enough && !has_end(reader));
}

/* ---- rows ---- */

static void cmyk_row(const uint8_t *in, uint32_t width, uint8_t *out)
{
    /* Adobe's way, as everybody's: 255 = no ink. */
    for (uint32_t x = 0; x < width; x++, in += 4) {
        unsigned white = in[3];
        out[x] =
            luma_of(white - scale_255(255u - in[0], white), white - scale_255(255u - in[1], white),
                    white - scale_255(255u - in[2], white));
    }
}

/* As they are wanted. */
static void read_whole_rows(struct reader *reader)
{
    j_decompress_ptr cinfo = &reader->cinfo;
    size_t width = (size_t)reader->picture.width * reader->channels;
    JSAMPROW rows[ROWS_AT_ONCE];
    uint32_t count = cinfo->output_height - cinfo->output_scanline;
    if (count > ROWS_AT_ONCE)
        count = ROWS_AT_ONCE;
    for (uint32_t i = 0; i < count; i++)
        rows[i] = reader->picture.pixels + (cinfo->output_scanline + i) * width;
    jpeg_read_scanlines(cinfo, rows, count);
}

static void read_colour_row(struct reader *reader)
{
    j_decompress_ptr cinfo = &reader->cinfo;
    uint32_t width = reader->picture.width;
    uint8_t *out = reader->picture.pixels + (size_t)cinfo->output_scanline * width;
    JSAMPROW row = reader->colours;
    jpeg_read_scanlines(cinfo, &row, 1);
    if (cinfo->out_color_space == JCS_CMYK)
        cmyk_row(row, width, out);
    else
        luma_row(row, width, 3, true, out);
}

static void read_rows(struct reader *reader, uint32_t end)
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
static bool read_means(struct reader *reader)
{
    struct input *input = reader->input;
    size_t left = reader->source.bytes_in_buffer;
    if (!jpeg_means_apply(&reader->cinfo) || left > input->filled)
        return false;
    uint64_t begin = input->offset - left;
    input->at = input->filled - left;
    if (jpeg_means_read(&reader->cinfo, input, reader->picture.pixels)) {
        reader->rows_good = reader->cinfo.output_height;
        return true;
    }
    input->offset = begin;
    reader->source.bytes_in_buffer = 0;
    return false;
}

static void decode_single_scan(struct reader *reader)
{
    if (reader->channels == 1 && read_means(reader))
        return;
    jpeg_start_decompress(&reader->cinfo);
    read_rows(reader, reader->cinfo.output_height);
}

static void decode_scans(struct reader *reader)
{
    j_decompress_ptr cinfo = &reader->cinfo;
    cinfo->buffered_image = TRUE;
    jpeg_start_decompress(cinfo);
    read_scans(reader);
    reader->cut = false;
    jpeg_start_output(cinfo, cinfo->input_scan_number);
    read_rows(reader, reader->rows_good);
}

/* Everything that libjpeg may leave by longjmp; all state is in `reader`. */
static enum doppel_status run(struct reader *reader, struct doppel_error *error)
{
    if (setjmp(reader->on_error))
        return reader->rows_good ? DOPPEL_OK : fail(reader, error);
    open_reader(reader);
    jpeg_set_marker_processor(&reader->cinfo, JPEG_APP0 + 1, read_exif);
    jpeg_read_header(&reader->cinfo, TRUE);
    enum doppel_status status = prepare(reader, error);
    if (status != DOPPEL_OK)
        return status;
    if (jpeg_has_multiple_scans(&reader->cinfo))
        decode_scans(reader);
    else
        decode_single_scan(reader);
    return DOPPEL_OK;
}

/* Rows that were not there are cropped away; a tenth must be left. */
static enum doppel_status crop(struct reader *reader, struct doppel_error *error)
{
    struct picture *picture = &reader->picture;
    uint64_t full = (uint64_t)reader->rows_good * picture->full_height / picture->height;
    enum doppel_status status = check_rows("JPEG", (uint32_t)full, picture->full_height, error);
    picture->height = reader->rows_good;
    picture->there = (uint32_t)full;
    picture->coarse = reader->coarse && full == picture->full_height;
    return status;
}

static enum doppel_status decode(struct input *input, const struct doppel_luma_options *options,
                                 unsigned channels, struct picture *out, struct doppel_error *error)
{
    struct reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decode the JPEG");
    reader->input = input;
    reader->options = options;
    reader->channels = channels;
    enum doppel_status status = run(reader, error);
    if (status == DOPPEL_OK)
        status = crop(reader, error);
    jpeg_destroy_decompress(&reader->cinfo);
    free(reader->colours);
    if (status == DOPPEL_OK)
        *out = reader->picture;
    else
        free(reader->picture.pixels);
    free(reader);
    return status;
}

enum doppel_status decode_jpeg(struct input *input, const struct doppel_luma_options *options,
                               struct picture *out, struct doppel_error *error)
{
    return decode(input, options, 1, out, error);
}

enum doppel_status decode_jpeg_rgb(struct input *input, const struct doppel_luma_options *options,
                                   struct picture *out, struct doppel_error *error)
{
    return decode(input, options, 3, out, error);
}
