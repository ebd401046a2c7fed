/* What libjpeg reads, and what it says of it. */
#include "media/images/jpeg_reader.h"

#include <stdlib.h>
#include <string.h>

#include <jerror.h>

#include "media/images/jpeg_means.h"

static struct jpeg_reader *reader_of(j_common_ptr cinfo)
{
    return (struct jpeg_reader *)cinfo->client_data;
}

/* ---- errors ---- */

static void error_exit(j_common_ptr cinfo)
{
    struct jpeg_reader *reader = reader_of(cinfo);
    cinfo->err->format_message(cinfo, reader->message);
    longjmp(reader->on_error, 1);
}

/* Some encoders pad a scan; that much is left over where codes were lost. */
static bool is_of_damage(const struct jpeg_error_mgr *errors)
{
    int warning = errors->msg_code;
    return warning == JWRN_HIT_MARKER || warning == JWRN_HUFF_BAD_CODE ||
           warning == JWRN_ARITH_BAD_CODE || warning == JWRN_MUST_RESYNC ||
           (warning == JWRN_EXTRANEOUS_DATA && errors->msg_parm.i[0] >= JPEG_LEFT_OVER);
}

/* libjpeg warns of damage and goes on. Damage is borne, and remembered; what must be known is where
 * data end. Other warnings are of what does no harm: some bytes too many, odd versions. */
static void emit_message(j_common_ptr cinfo, int level)
{
    struct jpeg_reader *reader = reader_of(cinfo);
    if (level >= 0 || !cinfo->is_decompressor)
        return;
    cinfo->err->num_warnings++;
    if (cinfo->err->msg_code == JWRN_HIT_MARKER && reader->cinfo.unread_marker == JPEG_EOI)
        reader->cut = true;
    else
        reader->damaged |= is_of_damage(cinfo->err);
}

static void output_message(j_common_ptr cinfo)
{
    (void)cinfo;
}

/* ---- input ---- */

static void begin_source(j_decompress_ptr cinfo)
{
    (void)cinfo;
}

static boolean fill_buffer(j_decompress_ptr cinfo)
{
    static const JOCTET end_of_image[] = {0xff, JPEG_EOI};
    struct jpeg_reader *reader = reader_of((j_common_ptr)cinfo);
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

unsigned jpeg_next_byte(j_decompress_ptr cinfo)
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
    struct jpeg_reader *reader = reader_of((j_common_ptr)cinfo);
    unsigned length = jpeg_next_byte(cinfo) << 8;
    length |= jpeg_next_byte(cinfo);
    length = length > 2 ? length - 2 : 0;
    uint8_t *block = reader->image.orientation ? NULL : malloc(length ? length : 1);
    if (block) {
        for (unsigned i = 0; i < length; i++)
            block[i] = (uint8_t)jpeg_next_byte(cinfo);
        if (length >= 6 && !memcmp(block, "Exif\0", 6))
            exif_read(block, length, &reader->image);
        free(block);
    } else {
        skip_data(cinfo, (long)length);
    }
    return TRUE;
}

void jpeg_reader_open(struct jpeg_reader *reader)
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
    jpeg_set_marker_processor(cinfo, JPEG_APP0 + 1, read_exif);
    cinfo->mem->max_memory_to_use = (long)reader->options->limits.max_memory;
}

/* ---- measuring ---- */

void jpeg_reader_begin_meter(struct jpeg_reader *reader)
{
    const jpeg_component_info *first = reader->cinfo.comp_info;
    const JQUANT_TBL *table = reader->cinfo.quant_tbl_ptrs[first->quant_tbl_no & 3];
    origin_begin(&reader->meter, (uint64_t)first->width_in_blocks * first->height_in_blocks,
                 table ? table->quantval : NULL);
    reader->image.origin.jpeg_quality = table ? origin_quality(table->quantval) : 0;
}

static void measure_and_transform(j_decompress_ptr cinfo, jpeg_component_info *component,
                                  JCOEFPTR coefficients, JSAMPARRAY out, JDIMENSION column)
{
    struct jpeg_reader *reader = reader_of((j_common_ptr)cinfo);
    if (origin_wants(&reader->meter))
        origin_take(&reader->meter, coefficients);
    reader->transform(cinfo, component, coefficients, out, column);
}

/* What libjpeg calls of each block is its own, but the type is declared (jpegint.h). */
void jpeg_reader_measure(struct jpeg_reader *reader)
{
    struct jpeg_inverse_dct *transforms = reader->cinfo.idct;
    if (reader->options->from_rgb || reader->channels != 1)
        return;
    jpeg_reader_begin_meter(reader);
    reader->transform = transforms->inverse_DCT[0];
    transforms->inverse_DCT[0] = measure_and_transform;
}
