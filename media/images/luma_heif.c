/* HEIC and AVIF to luma through libheif, which also turns and crops as the container says. */
#include <libheif/heif.h>
#include <stdlib.h>
#include <string.h>

#include "media/decode.h"
#include "media/images/rgb.h"

struct heif_input {
    struct input *input;
    int64_t position;
    const struct doppel_luma_options *options;
    struct heif_context *context;
    struct heif_image_handle *handle;
    struct heif_image *image;
    struct rows rows;
    uint8_t *row;
};

/* ---- input ---- */

static int64_t get_position(void *user)
{
    return ((struct heif_input *)user)->position;
}

static int read_heif_data(void *out, size_t size, void *user)
{
    struct heif_input *reader = user;
    if (input_read_at(reader->input, (uint64_t)reader->position, out, size) != size)
        return 1;
    reader->position += (int64_t)size;
    return 0;
}

static int seek_to(int64_t position, void *user)
{
    if (position < 0)
        return 1;
    ((struct heif_input *)user)->position = position;
    return 0;
}

static enum heif_reader_grow_status has_size(int64_t size, void *user)
{
    const struct heif_input *reader = user;
    bool has = size >= 0 && (uint64_t)size <= reader->input->size;
    return has ? heif_reader_grow_status_size_reached : heif_reader_grow_status_size_beyond_eof;
}

static const struct heif_reader file_reader = {1, get_position, read_heif_data, seek_to, has_size};

static enum doppel_status fail_heif_error(struct heif_error cause, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_E_CORRUPT;
    if (cause.subcode == heif_suberror_Security_limit_exceeded)
        status = DOPPEL_E_LIMIT;
    else if (cause.code == heif_error_Memory_allocation_error)
        status = DOPPEL_E_MEMORY;
    else if (cause.code == heif_error_Unsupported_feature ||
             cause.code == heif_error_Unsupported_filetype ||
             cause.code == heif_error_Plugin_loading_error)
        status = DOPPEL_E_UNSUPPORTED;
    int line = (int)strcspn(cause.message, "\n"); /* what follows is not for users */
    return doppel_fail(error, status, "libheif cannot decode it (%.*s)", line, cause.message);
}

/* ---- container ---- */

enum { MAX_BOXES = 1024, MAX_META_BYTES = 16 << 20 };

static uint64_t big_number(const uint8_t *data, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | data[i];
    return value;
}

/* The box at `offset`: its size, and whether it describes items; 0 at the end of the file. */
static uint64_t read_box(struct input *input, uint64_t offset, bool *is_meta)
{
    uint8_t head[16];
    if (input_read_at(input, offset, head, sizeof head) < sizeof head)
        return 0;
    *is_meta = !memcmp(head + 4, "meta", 4);
    uint64_t size = big_number(head, 4), rest = input->size - offset;
    if (size == 1)
        size = big_number(head + 8, 8);
    return size < 8 || size > rest ? rest : size;
}

static enum doppel_status check_meta_input(struct input *input, uint64_t offset, uint64_t size,
                                           struct doppel_error *error)
{
    if (size > MAX_META_BYTES)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "describes its pictures in %llu MiB",
                           (unsigned long long)(size >> 20));
    uint8_t *meta = malloc((size_t)size);
    if (!meta)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decode it");
    bool found = memmem(meta, input_read_at(input, offset, meta, (size_t)size), "iovl", 4);
    free(meta);
    return found ? doppel_fail(error, DOPPEL_E_UNSUPPORTED, "is a HEIF picture laid over others")
                 : DOPPEL_OK;
}

/* An overlay of items declares the size of its canvas where no limit reaches it, and libheif 1.15
 * computes the canvas's bytes in 32 bits: such files are not given to it, nor those in which one
 * might lie farther on than is looked. */
static enum doppel_status check_boxes(struct input *input, struct doppel_error *error)
{
    uint64_t offset = 0;
    for (int i = 0; i < MAX_BOXES; i++) {
        bool is_meta = false;
        uint64_t size = read_box(input, offset, &is_meta);
        enum doppel_status status = DOPPEL_OK;
        if (!size)
            return DOPPEL_OK;
        if (is_meta)
            status = check_meta_input(input, offset, size, error);
        if (status != DOPPEL_OK)
            return status;
        offset += size;
    }
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "holds more than %d boxes", MAX_BOXES);
}

static enum doppel_status open_image(struct heif_input *reader, struct doppel_error *error)
{
    enum doppel_status status = check_boxes(reader->input, error);
    if (status != DOPPEL_OK)
        return status;
    reader->context = heif_context_alloc();
    if (!reader->context)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decode it");
    heif_context_set_max_decoding_threads(reader->context, 0);
    uint64_t side = reader->options->limits.max_pixels;
    heif_context_set_maximum_image_size_limit(reader->context, side < 65536 ? (int)side : 65536);
    struct heif_error cause =
        heif_context_read_from_reader(reader->context, &file_reader, reader, NULL);
    if (cause.code == heif_error_Ok)
        cause = heif_context_get_primary_image_handle(reader->context, &reader->handle);
    return cause.code == heif_error_Ok ? DOPPEL_OK : fail_heif_error(cause, error);
}

static enum doppel_status check_size(const struct heif_input *reader, struct doppel_error *error)
{
    const struct doppel_media_limits *limits = &reader->options->limits;
    int width = heif_image_handle_get_width(reader->handle);
    int height = heif_image_handle_get_height(reader->handle);
    if (width < 0 || height < 0)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "declares no size");
    enum doppel_status status = check_pixels(limits, (uint64_t)width, (uint64_t)height, error);
    if (status != DOPPEL_OK)
        return status;
    /* The size that the codec's own stream declares may be another: that one only the process's
     * limit bounds, as libheif has no say in it. Counted are the codec's picture, libheif's copy of
     * it, and its RGB or RGBA: seen with libheif 1.15. */
    uint64_t bytes = heif_image_handle_get_luma_bits_per_pixel(reader->handle) > 8 ? 2 : 1;
    uint64_t planes = heif_image_handle_has_alpha_channel(reader->handle) ? 12 : 6;
    return check_memory(limits, (uint64_t)width * (uint64_t)height * bytes * planes, error);
}

/* ---- pixels ---- */

static bool has_alpha(const struct heif_input *reader)
{
    return !reader->options->from_rgb && heif_image_handle_has_alpha_channel(reader->handle);
}

/* libheif makes RGB in any case: planes are what it has without a further copy, but they come
 * without their alpha. */
static enum doppel_status decode_image(struct heif_input *reader, struct doppel_error *error)
{
    struct heif_decoding_options *options = heif_decoding_options_alloc();
    if (!options)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decode it");
    options->convert_hdr_to_8bit = 1;
    enum heif_chroma chroma = has_alpha(reader) ? heif_chroma_interleaved_RGBA : heif_chroma_444;
    struct heif_error cause =
        heif_decode_image(reader->handle, &reader->image, heif_colorspace_RGB, chroma, options);
    heif_decoding_options_free(options);
    return cause.code == heif_error_Ok ? DOPPEL_OK : fail_heif_error(cause, error);
}

struct plane {
    const uint8_t *data;
    int stride;
};

/* A plane of the picture's size, `bits` a pixel, or none. */
static struct plane plane_of(const struct heif_input *reader, enum heif_channel channel, int bits)
{
    struct plane plane = {0};
    /* libheif asserts that a channel which is asked about is there. */
    if (heif_image_has_channel(reader->image, channel) &&
        heif_image_get_bits_per_pixel(reader->image, channel) == bits &&
        heif_image_get_width(reader->image, channel) == (int)reader->rows.full_width &&
        heif_image_get_height(reader->image, channel) == (int)reader->rows.full_height)
        plane.data = heif_image_get_plane_readonly(reader->image, channel, &plane.stride);
    return plane;
}

static enum doppel_status unconverted(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "holds colours that libheif cannot convert");
}

static enum doppel_status take_rgba(struct heif_input *reader, struct doppel_error *error)
{
    struct plane rgba = plane_of(reader, heif_channel_interleaved, 32);
    if (!rgba.data)
        return unconverted(error);
    for (uint32_t y = 0; y < reader->rows.full_height; y++, rgba.data += rgba.stride) {
        luma_row(rgba.data, reader->rows.full_width, 4, false, reader->row);
        rows_take(&reader->rows, reader->row);
    }
    return DOPPEL_OK;
}

static enum doppel_status take_planes(struct heif_input *reader, struct doppel_error *error)
{
    struct plane red = plane_of(reader, heif_channel_R, 8);
    struct plane green = plane_of(reader, heif_channel_G, 8);
    struct plane blue = plane_of(reader, heif_channel_B, 8);
    if (!red.data || !green.data || !blue.data)
        return unconverted(error);
    for (uint32_t y = 0; y < reader->rows.full_height; y++) {
        for (uint32_t x = 0; x < reader->rows.full_width; x++)
            reader->row[x] = luma_of(red.data[x], green.data[x], blue.data[x]);
        rows_take(&reader->rows, reader->row);
        red.data += red.stride;
        green.data += green.stride;
        blue.data += blue.stride;
    }
    return DOPPEL_OK;
}

/* ---- colours ---- */

static void put_over_white(struct plane rgba, uint32_t width, uint8_t *out)
{
    for (uint32_t x = 0; x < width; x++, rgba.data += 4)
        for (int i = 0; i < 3; i++)
            *out++ = over_white(rgba.data[i], rgba.data[3]);
}

/* @param pixels full_width × full_height of RGB */
static enum doppel_status put_rgb(struct heif_input *reader, uint8_t *pixels,
                                  struct doppel_error *error)
{
    static const enum heif_channel channels[] = {heif_channel_R, heif_channel_G, heif_channel_B};
    uint32_t width = reader->rows.full_width, height = reader->rows.full_height;
    if (has_alpha(reader)) {
        struct plane rgba = plane_of(reader, heif_channel_interleaved, 32);
        for (uint32_t y = 0; rgba.data && y < height; y++, rgba.data += rgba.stride)
            put_over_white(rgba, width, pixels + (size_t)3 * y * width);
        return rgba.data ? DOPPEL_OK : unconverted(error);
    }
    for (size_t i = 0; i < 3; i++) {
        struct plane plane = plane_of(reader, channels[i], 8);
        if (!plane.data)
            return unconverted(error);
        for (uint32_t y = 0; y < height; y++, plane.data += plane.stride)
            for (uint32_t x = 0; x < width; x++)
                pixels[((size_t)y * width + x) * 3 + i] = plane.data[x];
    }
    return DOPPEL_OK;
}

static enum doppel_status take_rgb(struct heif_input *reader, struct image *out,
                                   struct doppel_error *error)
{
    int width = heif_image_get_primary_width(reader->image);
    int height = heif_image_get_primary_height(reader->image);
    if (width <= 0 || height <= 0)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "holds no picture");
    reader->rows.full_width = (uint32_t)width;
    reader->rows.full_height = (uint32_t)height;
    size_t bytes = (size_t)width * (size_t)height * 3;
    enum doppel_status status = check_memory(&reader->options->limits, bytes, error);
    if (status)
        return status;
    uint8_t *pixels = malloc(bytes);
    if (!pixels)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decode it");
    status = put_rgb(reader, pixels, error);
    if (status) {
        free(pixels);
        return status;
    }
    *out = (struct image){.pixels = pixels,
                          .width = (uint32_t)width,
                          .height = (uint32_t)height,
                          .full_width = (uint32_t)width,
                          .full_height = (uint32_t)height};
    return DOPPEL_OK;
}

/* ---- all ---- */

static enum doppel_status begin_rows(struct heif_input *reader, struct doppel_error *error)
{
    int width = heif_image_get_primary_width(reader->image);
    int height = heif_image_get_primary_height(reader->image);
    if (width <= 0 || height <= 0)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "holds no picture");
    reader->row = malloc((size_t)width);
    if (!reader->row)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decode it");
    return rows_begin(&reader->rows, reader->options, (uint32_t)width, (uint32_t)height, error);
}

static enum doppel_status take_luma(struct heif_input *reader, struct image *out,
                                    struct doppel_error *error)
{
    enum doppel_status status = begin_rows(reader, error);
    if (status == DOPPEL_OK)
        status = has_alpha(reader) ? take_rgba(reader, error) : take_planes(reader, error);
    return status ? status : rows_finish(&reader->rows, "HEIF", out, error);
}

/* What the EXIF block says but the orientation, which the container has itself. It begins with the
 * place of its TIFF head. */
static void read_heif_exif(const struct heif_input *reader, struct image *out)
{
    enum { MOST_EXIF = 1 << 20, PLACE_BYTES = 4 };
    heif_item_id id;
    if (heif_image_handle_get_list_of_metadata_block_IDs(reader->handle, "Exif", &id, 1) != 1)
        return;
    size_t size = heif_image_handle_get_metadata_size(reader->handle, id);
    uint8_t *data = size > PLACE_BYTES && size <= MOST_EXIF ? malloc(size) : NULL;
    if (data && heif_image_handle_get_metadata(reader->handle, id, data).code == heif_error_Ok) {
        uint64_t at = big_number(data, PLACE_BYTES);
        if (at <= size - PLACE_BYTES)
            exif_read_origin(data + PLACE_BYTES + at, size - PLACE_BYTES - (size_t)at,
                             &out->origin);
    }
    free(data);
}

static enum doppel_status decode_reader(struct heif_input *reader, bool colours, struct image *out,
                                        struct doppel_error *error)
{
    enum doppel_status status = open_image(reader, error);
    if (status == DOPPEL_OK)
        status = check_size(reader, error);
    if (status == DOPPEL_OK)
        status = decode_image(reader, error);
    if (status == DOPPEL_OK)
        status = (colours ? take_rgb : take_luma)(reader, out, error);
    if (status == DOPPEL_OK)
        read_heif_exif(reader, out);
    rows_free(&reader->rows);
    free(reader->row);
    heif_image_release(reader->image);
    heif_image_handle_release(reader->handle);
    heif_context_free(reader->context);
    return status;
}

enum doppel_status decode_heif(struct input *input, const struct doppel_luma_options *options,
                               struct image *out, struct doppel_error *error)
{
    struct heif_input reader = {.input = input, .options = options};
    return decode_reader(&reader, false, out, error);
}

enum doppel_status decode_heif_rgb(struct input *input, const struct doppel_luma_options *options,
                                   struct image *out, struct doppel_error *error)
{
    struct heif_input reader = {.input = input, .options = options};
    return decode_reader(&reader, true, out, error);
}
