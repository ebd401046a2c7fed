/* PNG to luma through libpng, row by row: only interlaced pictures are held whole. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "media/decode.h"

/* libpng drops a piece that is not whole, with the rows in it. */
enum { PIECE_BYTES = 1024 };

struct png_reader {
    png_structp png;
    png_infop info;
    struct input *input;
    const struct doppel_luma_options *options;
    struct rows rows;
    size_t row_bytes;
    unsigned channels;
    uint8_t *samples;    /* a row; of interlaced pictures, all of them */
    uint32_t whole_rows; /* interlaced: rows of `samples` that hold something */
    uint64_t allowed;    /* bytes of libpng's next allocation */
    bool out_of_memory, cut;
    bool whole; /* all passes over all rows were read */
    char message[128];
};

/* ---- errors and input ---- */

static void on_error(png_structp png, png_const_charp message)
{
    struct png_reader *reader = png_get_error_ptr(png);
    snprintf(reader->message, sizeof reader->message, "%s", message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

/* libpng allocates what a chunk declares before it reads it, and only warns of those over its
 * limit. */
static png_voidp allocate_png_rows(png_structp png, png_alloc_size_t size)
{
    struct png_reader *reader = png_get_mem_ptr(png);
    void *memory = size <= reader->allowed ? malloc(size) : NULL;
    if (!memory && size <= reader->allowed)
        reader->out_of_memory = true;
    return memory;
}

static void release(png_structp png, png_voidp memory)
{
    (void)png;
    free(memory);
}

static void read_png_data(png_structp png, png_bytep out, size_t size)
{
    struct png_reader *reader = png_get_io_ptr(png);
    if (input_read(reader->input, out, size) != size) {
        reader->cut = true;
        png_error(png, "cut short");
    }
}

/* Chunks that are of no use here are not even inflated; that of an animation is reported. */
static void choose_chunks(png_structp png)
{
    static const png_byte names[] = "iCCP\0iTXt\0tEXt\0zTXt\0sPLT\0hIST\0pCAL\0sCAL";
    enum { NAME_BYTES = 5 };
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, names, sizeof names / NAME_BYTES);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_ALWAYS, (const png_byte *)"acTL", 1);
}

static enum doppel_status open_png_reader(struct png_reader *reader, struct doppel_error *error)
{
    reader->allowed = reader->input->size + 65536; /* a chunk, or zlib's state */
    reader->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, reader, on_error, on_warning,
                                           reader, allocate_png_rows, release);
    if (reader->png)
        reader->info = png_create_info_struct(reader->png);
    if (!reader->info)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decode the PNG");
    png_set_read_fn(reader->png, reader, read_png_data);
    png_set_user_limits(reader->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX); /* check_pixels judges */
    png_set_chunk_cache_max(reader->png, 128);
    png_set_compression_buffer_size(reader->png, PIECE_BYTES);
    return DOPPEL_OK;
}

/* ---- header ---- */

static void set_transforms(struct png_reader *reader)
{
    png_set_expand(reader->png);
    png_set_strip_16(reader->png);
    png_set_interlace_handling(reader->png);
    png_read_update_info(reader->png, reader->info);
    reader->channels = png_get_channels(reader->png, reader->info);
    reader->row_bytes = png_get_rowbytes(reader->png, reader->info);
}

static bool is_interlaced(const struct png_reader *reader)
{
    return png_get_interlace_type(reader->png, reader->info) != PNG_INTERLACE_NONE;
}

/* Not of what is more than the picture that is decoded: an animation, or samples of 16 bits. */
static bool wants_digest(struct png_reader *reader)
{
    png_unknown_chunkp chunks;
    return !reader->options->from_rgb && png_get_bit_depth(reader->png, reader->info) <= 8 &&
           !png_get_unknown_chunks(reader->png, reader->info, &chunks);
}

static enum doppel_status prepare_reader(struct png_reader *reader, struct doppel_error *error)
{
    const struct doppel_media_limits *limits = &reader->options->limits;
    uint32_t width = png_get_image_width(reader->png, reader->info);
    uint32_t height = png_get_image_height(reader->png, reader->info);
    enum doppel_status status = check_pixels(limits, width, height, error);
    if (status != DOPPEL_OK)
        return status;
    /* libpng keeps two rows, before they are made smaller: up to 4 samples of 16 bits a pixel. */
    uint32_t factor = rows_factor(reader->options, width, height);
    uint64_t pixels = (uint64_t)width * height, held = (uint64_t)width * 3 * 8;
    held += pixels / factor / factor + (is_interlaced(reader) ? pixels * 4 : 0);
    status = check_memory(limits, held, error);
    if (status != DOPPEL_OK)
        return status;
    reader->allowed += (uint64_t)width * 8;
    bool digest = wants_digest(reader);
    set_transforms(reader);
    reader->samples = calloc(is_interlaced(reader) ? height : 1, reader->row_bytes);
    if (!reader->samples)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a picture of %u x %u", width,
                           height);
    status = rows_begin(&reader->rows, reader->options, width, height, error);
    return status || !digest ? status : rows_want_digest(&reader->rows, error);
}

/* ---- rows ---- */

static void take_row_reader(struct png_reader *reader, const uint8_t *samples)
{
    rows_take_samples(&reader->rows, samples, reader->channels, reader->options->from_rgb);
}

static void read_plain_reader(struct png_reader *reader)
{
    for (uint32_t y = 0; y < reader->rows.full_height; y++) {
        png_read_row(reader->png, reader->samples, NULL);
        take_row_reader(reader, reader->samples);
    }
}

/* Seven passes over the whole picture; as display rows, so that a cut file leaves coarse blocks
 * instead of holes. */
static void read_interlaced(struct png_reader *reader)
{
    for (int pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; pass++) {
        for (uint32_t y = 0; y < reader->rows.full_height; y++) {
            png_read_row(reader->png, NULL, reader->samples + y * reader->row_bytes);
            if (!pass)
                reader->whole_rows = y + 1;
        }
    }
}

/* Everything that libpng may leave by longjmp; all state is in `reader`. */
static enum doppel_status run_reader(struct png_reader *reader, struct doppel_error *error)
{
    if (setjmp(png_jmpbuf(reader->png))) {
        if (reader->rows.taken || reader->whole_rows)
            return DOPPEL_OK;
        if (reader->out_of_memory)
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decode the PNG");
        return reader->cut ? doppel_fail(error, DOPPEL_E_CORRUPT, "the PNG is cut short")
                           : doppel_fail(error, DOPPEL_E_CORRUPT, "the PNG is damaged (%s)",
                                         reader->message);
    }
    choose_chunks(reader->png);
    png_read_info(reader->png, reader->info);
    enum doppel_status status = prepare_reader(reader, error);
    if (status != DOPPEL_OK)
        return status;
    if (is_interlaced(reader))
        read_interlaced(reader);
    else
        read_plain_reader(reader);
    reader->whole = true;
    png_read_end(reader->png, reader->info);
    return DOPPEL_OK;
}

static void read_png_exif(struct png_reader *reader, struct image *out)
{
    png_bytep exif = NULL;
    png_uint_32 size = 0;
    if (png_get_eXIf_1(reader->png, reader->info, &size, &exif))
        exif_read(exif, size, out);
}

enum doppel_status decode_png(struct input *input, const struct doppel_luma_options *options,
                              struct image *out, struct doppel_error *error)
{
    struct png_reader reader = {.input = input, .options = options};
    enum doppel_status status = open_png_reader(&reader, error);
    if (status == DOPPEL_OK)
        status = run_reader(&reader, error);
    if (!reader.whole)
        rows_drop_digest(&reader.rows);
    for (uint32_t y = 0; status == DOPPEL_OK && y < reader.whole_rows; y++)
        take_row_reader(&reader, reader.samples + y * reader.row_bytes);
    if (status == DOPPEL_OK)
        status = rows_finish(&reader.rows, "PNG", out, error);
    if (status == DOPPEL_OK) {
        read_png_exif(&reader, out);
        out->coarse = !reader.whole && out->there == out->full_height;
    }
    png_destroy_read_struct(&reader.png, &reader.info, NULL);
    rows_free(&reader.rows);
    free(reader.samples);
    return status;
}
