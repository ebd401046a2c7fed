/* The scans of a JPEG: as many as are needed. */
#include "media/images/jpeg_reader.h"

/* No encoder writes that many; a hostile file has thousands over a huge picture. */
enum { MAX_SCANS = 200 };

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
static bool has_enough(struct jpeg_reader *reader)
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
static bool has_end(struct jpeg_reader *reader)
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
        unsigned byte = jpeg_next_byte(&reader->cinfo);
        if (marker && byte == JPEG_EOI)
            return !reader->ended;
        marker = byte == 0xff;
    }
    return false;
}

void jpeg_read_scans(struct jpeg_reader *reader)
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
