/*
 * The means of a JPEG's blocks, which are the picture at 1/8, without what is between.
 *
 * At this scale the time goes into Huffman codes of coefficients that nobody wants, and libjpeg
 * reads them one by one. Here a table says of the next 12 bits how many coefficients they skip,
 * often two or three at once. Only what is in order is read; libjpeg judges the rest.
 *
 * Source: ITU-T T.81, sections F.2.2 and C.2; libjpeg-turbo's output is the definition.
 */
#include "media/images/jpeg_means.h"

#include <stdlib.h>
#include <string.h>

#include "media/images/jpeg_tables.h"

enum { LEAST_BITS = 32 }; /* before a look-up: the longest one takes 16 + 15 */

struct bit_reader {
    struct input *input;
    uint64_t buffer; /* next bit is the most significant */
    int count;       /* bits in it, those made up after a marker included */
    int made_up;
    bool at_marker;
};

struct component {
    const struct huffman *dc, *ac;
    int blocks_across, blocks_down; /* in an MCU */
    int mean;                       /* the predicted one */
};

struct jpeg_scan {
    struct bit_reader reader;
    struct component components[MAX_COMPS_IN_SCAN];
    int component_count;
    int quantum; /* of the first component's mean */
    uint32_t width, height;
    uint8_t *pixels;
    bool damaged;                             /* a block that cannot be was met */
    struct origin_meter *meter;               /* of the first component's blocks */
    struct huffman tables[2 * NUM_HUFF_TBLS]; /* DC, then AC */
};

/* ---- bits ---- */

static bool has_ff(uint64_t bytes)
{
    uint64_t inverted = ~bytes;
    return ((inverted - 0x0101010101010101) & bytes & 0x8080808080808080) != 0;
}

static bool next_byte(struct input *input, uint8_t *out)
{
    if (input->at == input->filled && !input_fill(input))
        return false;
    *out = input->window[input->at++];
    return true;
}

/* Up to a marker, or the end of the file; from there on zeros are made up. A 0xff of the data is
 * followed by a 0. */
static void refill_slowly(struct bit_reader *reader)
{
    while (reader->count <= 56) {
        uint8_t byte = 0, after = 0;
        if (!reader->at_marker && !next_byte(reader->input, &byte))
            reader->at_marker = true;
        if (byte == 0xff && !next_byte(reader->input, &after))
            reader->at_marker = true;
        if (after != 0) {
            reader->at_marker = true;
            reader->input->at--; /* pass_restart looks at it */
        }
        if (reader->at_marker) {
            reader->made_up += 8;
            byte = 0;
        }
        reader->buffer |= (uint64_t)byte << (56 - reader->count);
        reader->count += 8;
    }
}

static inline void refill(struct bit_reader *reader)
{
    struct input *input = reader->input;
    uint64_t bytes;
    if (input->filled - input->at < 8 || reader->at_marker) {
        refill_slowly(reader);
        return;
    }
    memcpy(&bytes, input->window + input->at, 8);
    if (has_ff(bytes)) {
        refill_slowly(reader);
        return;
    }
    reader->buffer |= __builtin_bswap64(bytes) >> reader->count;
    input->at += (size_t)(64 - reader->count) / 8;
    reader->count += (64 - reader->count) & ~7;
}

static inline void drop_bit_reader(struct bit_reader *reader, int bits)
{
    reader->buffer <<= bits;
    reader->count -= bits;
}

/* A code of any length; length 0 when there is no such code. */
static struct code find_code(const struct bit_reader *reader, const struct huffman *table)
{
    struct code code = table->codes[reader->buffer >> (64 - PEEK)];
    if (code.length)
        return code;
    for (int length = PEEK + 1; length <= 16; length++) {
        int32_t bits = (int32_t)(reader->buffer >> (64 - length));
        if (bits <= table->last[length])
            return (struct code){(uint8_t)length, table->symbols[bits + table->offset[length]]};
    }
    return (struct code){0, 0};
}

/* ---- blocks ---- */

/* Of the next `size` bits, at least 1; F.2.2.1. */
static int signed_value(uint64_t buffer, int size)
{
    int value = (int)(buffer >> (64 - size));
    return value < 1 << (size - 1) ? value - (1 << size) + 1 : value;
}

/* The difference to the mean of the block before; F.2.2.1. */
static bool read_difference(struct bit_reader *reader, const struct huffman *table, int *out)
{
    if (reader->count < LEAST_BITS)
        refill(reader);
    struct code code = find_code(reader, table);
    int size = code.symbol;
    if (code.length == 0)
        return false;
    drop_bit_reader(reader, code.length);
    *out = 0;
    if (size) {
        *out = signed_value(reader->buffer, size);
        drop_bit_reader(reader, size);
    }
    return true;
}

/* The rest of a block from coefficient `at` on, symbol by symbol. */
static bool pass_singly(struct bit_reader *reader, const struct huffman *table, int at)
{
    while (at < DCTSIZE2) {
        if (reader->count < LEAST_BITS)
            refill(reader);
        struct code code = find_code(reader, table);
        if (code.length == 0)
            return false;
        struct step step = jpeg_step_of(code);
        drop_bit_reader(reader, step.bits);
        at += step.skips;
    }
    return at == DCTSIZE2 || at >= BLOCK_ENDS;
}

/* The 63 other coefficients. A code that is long, and a step that reaches over the block's end, is
 * left to pass_singly. The loop's state stays in registers: this is where the time goes. */
static inline bool pass_block(struct bit_reader *reader, const struct huffman *table)
{
    uint64_t buffer = reader->buffer;
    int count = reader->count, at = 1;
    for (;;) {
        if (count < LEAST_BITS) {
            reader->buffer = buffer;
            reader->count = count;
            refill(reader);
            buffer = reader->buffer;
            count = reader->count;
        }
        struct step step = table->steps[buffer >> (64 - PEEK)];
        int next = at + step.skips;
        if (step.bits == 0 || next >= DCTSIZE2)
            break;
        buffer <<= step.bits;
        count -= step.bits;
        at = next;
    }
    struct step last = table->steps[buffer >> (64 - PEEK)];
    reader->buffer = buffer;
    reader->count = count;
    if (last.skips < BLOCK_ENDS || at + last.skips >= BLOCK_ENDS + DCTSIZE2)
        return pass_singly(reader, table, at);
    drop_bit_reader(reader, last.bits);
    return true;
}

/* A block that is measured: the same, and its coefficients. */
static bool read_block(struct bit_reader *reader, const struct huffman *table,
                       int16_t out[DCTSIZE2])
{
    int at = 1;
    while (at < DCTSIZE2) {
        if (reader->count < LEAST_BITS)
            refill(reader);
        struct code code = find_code(reader, table);
        int size = code.symbol & 15;
        if (code.length == 0)
            return false;
        drop_bit_reader(reader, code.length);
        if (size == 0 && code.symbol >> 4 != 15)
            return true;
        at += (code.symbol >> 4) + 1;
        if (size && at <= DCTSIZE2)
            out[jpeg_natural_order[at - 1]] = (int16_t)signed_value(reader->buffer, size);
        drop_bit_reader(reader, size);
    }
    return at == DCTSIZE2;
}

static bool measure_block(struct jpeg_scan *scan, const struct component *component)
{
    int16_t coefficients[DCTSIZE2] = {0};
    if (!read_block(&scan->reader, component->ac, coefficients))
        return false;
    origin_take(scan->meter, coefficients);
    return true;
}

/* ---- MCUs ---- */

/* As the 1×1 inverse transform does. */
static bool put_mean(const struct jpeg_scan *scan, int mean, uint32_t x, uint32_t y)
{
    int value = (mean * scan->quantum + 4) >> 3;
    if (value < -512 || value > 511 || mean < INT16_MIN || mean > INT16_MAX)
        return false;
    value += CENTERJSAMPLE;
    if (x < scan->width && y < scan->height)
        scan->pixels[(size_t)y * scan->width + x] = (uint8_t)(value < 0            ? 0
                                                              : value > MAXJSAMPLE ? MAXJSAMPLE
                                                                                   : value);
    return true;
}

static bool read_component_scan(struct jpeg_scan *scan, int index, uint32_t mcu_x, uint32_t mcu_y)
{
    struct component *component = &scan->components[index];
    for (int y = 0; y < component->blocks_down; y++)
        for (int x = 0; x < component->blocks_across; x++) {
            int difference;
            if (!read_difference(&scan->reader, component->dc, &difference))
                return false;
            bool passed = !index && origin_wants(scan->meter)
                              ? measure_block(scan, component)
                              : pass_block(&scan->reader, component->ac);
            if (!passed)
                return false;
            if (index)
                continue;
            component->mean += difference;
            if (!put_mean(scan, component->mean,
                          mcu_x * (uint32_t)component->blocks_across + (uint32_t)x,
                          mcu_y * (uint32_t)component->blocks_down + (uint32_t)y))
                return false;
        }
    return true;
}

/* A restart marker stands where the bits end, but for less than a byte of padding. */
static bool pass_restart(struct jpeg_scan *scan, unsigned number)
{
    struct bit_reader *reader = &scan->reader;
    uint8_t byte = 0;
    refill_slowly(reader);
    int left = reader->count - reader->made_up;
    if (!reader->at_marker || left < 0 || left > 7)
        return false;
    if (!next_byte(reader->input, &byte) || byte != JPEG_RST0 + number % 8)
        return false;
    *reader = (struct bit_reader){.input = reader->input};
    for (int i = 0; i < scan->component_count; i++)
        scan->components[i].mean = 0;
    return true;
}

static bool read_scan(struct jpeg_scan *scan, uint32_t columns, uint32_t rows,
                      unsigned restart_interval)
{
    unsigned until_restart = restart_interval, restarts = 0;
    for (uint32_t y = 0; y < rows; y++)
        for (uint32_t x = 0; x < columns; x++) {
            if (restart_interval && until_restart-- == 0) {
                if (!pass_restart(scan, restarts++))
                    return false;
                until_restart = restart_interval - 1;
            }
            for (int i = 0; i < scan->component_count && !scan->damaged; i++)
                scan->damaged = !read_component_scan(scan, i, x, y);
            if (scan->damaged)
                return false;
            if (scan->reader.count < scan->reader.made_up)
                return false;
        }
    return true;
}

/* Whether there is more than padding between the last block and the next marker. */
static bool has_left_over(struct bit_reader *reader)
{
    int bytes = 0;
    refill_slowly(reader);
    while (!reader->at_marker && bytes < JPEG_LEFT_OVER) {
        bytes += reader->count / 8;
        *reader = (struct bit_reader){.input = reader->input};
        refill_slowly(reader);
    }
    return bytes + (reader->count - reader->made_up) / 8 >= JPEG_LEFT_OVER;
}

/* ---- the face ---- */

bool jpeg_means_apply(const struct jpeg_decompress_struct *cinfo)
{
    const jpeg_component_info *first = cinfo->comp_info;
    return !cinfo->progressive_mode && !cinfo->arith_code && cinfo->data_precision == 8 &&
           cinfo->comps_in_scan == cinfo->num_components && cinfo->cur_comp_info[0] == first &&
           cinfo->out_color_space == JCS_GRAYSCALE && cinfo->jpeg_color_space != JCS_RGB &&
           first->h_samp_factor == cinfo->max_h_samp_factor &&
           first->v_samp_factor == cinfo->max_v_samp_factor && first->DCT_scaled_size == 1;
}

/* Numbers of tables come from the file. */
static bool prepare_component(const struct jpeg_decompress_struct *cinfo,
                              const jpeg_component_info *info, struct jpeg_scan *scan,
                              struct component *out)
{
    int dc = info->dc_tbl_no, ac = info->ac_tbl_no, quantizer = info->quant_tbl_no;
    if (dc < 0 || dc >= NUM_HUFF_TBLS || ac < 0 || ac >= NUM_HUFF_TBLS || quantizer < 0 ||
        quantizer >= NUM_QUANT_TBLS || !cinfo->quant_tbl_ptrs[quantizer])
        return false;
    bool alone = cinfo->comps_in_scan == 1;
    *out = (struct component){.dc = &scan->tables[dc],
                              .ac = &scan->tables[NUM_HUFF_TBLS + ac],
                              .blocks_across = alone ? 1 : info->h_samp_factor,
                              .blocks_down = alone ? 1 : info->v_samp_factor};
    if (!out->dc->symbols &&
        !jpeg_table_make(cinfo->dc_huff_tbl_ptrs[dc], false, &scan->tables[dc]))
        return false;
    return out->ac->symbols ||
           jpeg_table_make(cinfo->ac_huff_tbl_ptrs[ac], true, &scan->tables[NUM_HUFF_TBLS + ac]);
}

static bool prepare_scan(const struct jpeg_decompress_struct *cinfo, struct jpeg_scan *scan)
{
    int blocks = 0;
    for (int i = 0; i < 2 * NUM_HUFF_TBLS; i++)
        scan->tables[i].symbols = NULL; /* not made yet */
    scan->component_count = cinfo->comps_in_scan;
    for (int i = 0; i < cinfo->comps_in_scan; i++) {
        struct component *component = &scan->components[i];
        if (!prepare_component(cinfo, cinfo->cur_comp_info[i], scan, component))
            return false;
        blocks += component->blocks_across * component->blocks_down;
    }
    scan->quantum = cinfo->quant_tbl_ptrs[cinfo->comp_info->quant_tbl_no]->quantval[0];
    scan->width = cinfo->output_width;
    scan->height = cinfo->output_height;
    return blocks <= D_MAX_BLOCKS_IN_MCU;
}

bool jpeg_means_read(const struct jpeg_decompress_struct *cinfo, struct input *input,
                     uint8_t *pixels, struct origin_meter *meter, bool *out_damaged)
{
    struct jpeg_scan *scan = malloc(sizeof *scan);
    if (!scan)
        return false;
    scan->reader = (struct bit_reader){.input = input};
    scan->pixels = pixels;
    scan->damaged = false;
    scan->meter = meter;
    bool done = prepare_scan(cinfo, scan);
    if (done) {
        const struct component *first = scan->components;
        uint32_t across = (uint32_t)first->blocks_across, down = (uint32_t)first->blocks_down;
        done = read_scan(scan, (scan->width + across - 1) / across,
                         (scan->height + down - 1) / down, cinfo->restart_interval);
    }
    *out_damaged = scan->damaged || (done && has_left_over(&scan->reader));
    free(scan);
    return done;
}
