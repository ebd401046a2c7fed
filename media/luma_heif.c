/* HEIC and AVIF to luma through libheif, which also turns and crops as the container says. */
#include <libheif/heif.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "media/decode.h"
#include "media/rgb.h"

struct reader {
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
    return ((struct reader *)user)->position;
}

static int read_data(void *out, size_t size, void *user)
{
    struct reader *reader = user;
    if (input_read_at(reader->input, (uint64_t)reader->position, out, size) != size)
        return 1;
    reader->position += (int64_t)size;
    return 0;
}

static int seek_to(int64_t position, void *user)
{
    if (position < 0)
        return 1;
    ((struct reader *)user)->position = position;
    return 0;
}

static enum heif_reader_grow_status has_size(int64_t size, void *user)
{
    const struct reader *reader = user;
    bool has = size >= 0 && (uint64_t)size <= reader->input->size;
    return has ? heif_reader_grow_status_size_reached : heif_reader_grow_status_size_beyond_eof;
}

static const struct heif_reader file_reader = {1, get_position, read_data, seek_to, has_size};

/* ---- container ---- */

static enum doppel_status fail(struct heif_error cause, struct doppel_error *error)
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
    return doppel_fail(error, status, "libheif cannot decode it (%s)", cause.message);
}

static enum doppel_status open_picture(struct reader *reader, struct doppel_error *error)
{
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
    return cause.code == heif_error_Ok ? DOPPEL_OK : fail(cause, error);
}

static enum doppel_status check_size(const struct reader *reader, struct doppel_error *error)
{
    const struct doppel_media_limits *limits = &reader->options->limits;
    int width = heif_image_handle_get_width(reader->handle);
    int height = heif_image_handle_get_height(reader->handle);
    if (width < 0 || height < 0)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "declares no size");
    enum doppel_status status = check_pixels(limits, (uint64_t)width, (uint64_t)height, error);
    if (status != DOPPEL_OK)
        return status;
    /* The codec's own picture, libheif's copy of it, and what that is converted to: 1.5 to 4 bytes
     * a pixel each, twice that of more than 8 bits. */
    uint64_t bytes = heif_image_handle_get_luma_bits_per_pixel(reader->handle) > 8 ? 2 : 1;
    return check_memory(limits, (uint64_t)width * (uint64_t)height * bytes * 6, error);
}

/* ---- pixels ---- */

/* Luma is taken as it is where it is that of BT.601: matrices 5 and 6, and 2, "not told" (H.273).
 * Others, and RGB as AVIF may hold it, go through RGB. */
static bool is_own_luma(const struct reader *reader)
{
    if (reader->options->from_rgb || heif_image_handle_has_alpha_channel(reader->handle))
        return false;
    struct heif_color_profile_nclx *profile = NULL;
    heif_image_handle_get_nclx_color_profile(reader->handle, &profile);
    int matrix = profile ? (int)profile->matrix_coefficients : 2;
    heif_nclx_color_profile_free(profile);
    return matrix == 2 || matrix == 5 || matrix == 6;
}

static bool is_full_range(const struct heif_image *image)
{
    struct heif_color_profile_nclx *profile = NULL;
    heif_image_get_nclx_color_profile(image, &profile);
    bool full = !profile || profile->full_range_flag;
    heif_nclx_color_profile_free(profile);
    return full;
}

/* A sample of any depth to 8 bits of full range; narrow range is 16..235 << (bits - 8). */
static uint8_t to_8_bits(unsigned sample, int bits, bool full)
{
    int limit = (1 << bits) - 1, low = full ? 0 : 16 << (bits - 8);
    int span = full ? limit : 219 << (bits - 8);
    int value = (((int)sample - low) * 255 + span / 2) / span;
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static enum doppel_status take_luma(struct reader *reader, struct doppel_error *error)
{
    int stride, bits = heif_image_get_bits_per_pixel_range(reader->image, heif_channel_Y);
    const uint8_t *plane = heif_image_get_plane_readonly(reader->image, heif_channel_Y, &stride);
    bool full = is_full_range(reader->image);
    if (!plane || bits < 8 || bits > 16)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "holds luma of %d bits", bits);
    for (uint32_t y = 0; y < reader->rows.full_height; y++) {
        const uint8_t *in = plane + (ptrdiff_t)y * stride;
        for (uint32_t x = 0; x < reader->rows.full_width; x++) {
            unsigned sample = bits == 8 ? in[x] : (unsigned)(in[2 * x] | in[2 * x + 1] << 8);
            reader->row[x] = bits == 8 && full ? in[x] : to_8_bits(sample, bits, full);
        }
        rows_take(&reader->rows, reader->row);
    }
    return DOPPEL_OK;
}

static enum doppel_status take_rgba(struct reader *reader, struct doppel_error *error)
{
    int stride;
    const uint8_t *plane =
        heif_image_get_plane_readonly(reader->image, heif_channel_interleaved, &stride);
    if (!plane)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "holds colours that libheif cannot convert");
    for (uint32_t y = 0; y < reader->rows.full_height; y++) {
        luma_row(plane + (ptrdiff_t)y * stride, reader->rows.full_width, 4,
                 reader->options->from_rgb, reader->row);
        rows_take(&reader->rows, reader->row);
    }
    return DOPPEL_OK;
}

static enum doppel_status decode_pixels(struct reader *reader, struct doppel_error *error)
{
    bool own_luma = is_own_luma(reader);
    struct heif_error cause = heif_decode_image(
        reader->handle, &reader->image, own_luma ? heif_colorspace_undefined : heif_colorspace_RGB,
        own_luma ? heif_chroma_undefined : heif_chroma_interleaved_RGBA, NULL);
    if (cause.code != heif_error_Ok)
        return fail(cause, error);
    int width = heif_image_get_primary_width(reader->image);
    int height = heif_image_get_primary_height(reader->image);
    enum doppel_status status =
        check_pixels(&reader->options->limits, width < 0 ? 0 : (uint64_t)width,
                     height < 0 ? 0 : (uint64_t)height, error);
    if (status != DOPPEL_OK)
        return status;
    reader->row = malloc((size_t)width);
    if (!reader->row)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decode it");
    status = rows_begin(&reader->rows, reader->options, (uint32_t)width, (uint32_t)height, error);
    if (status == DOPPEL_OK)
        status = own_luma ? take_luma(reader, error) : take_rgba(reader, error);
    return status;
}

enum doppel_status decode_heif(struct input *input, const struct doppel_luma_options *options,
                               struct picture *out, struct doppel_error *error)
{
    struct reader reader = {.input = input, .options = options};
    enum doppel_status status = open_picture(&reader, error);
    if (status == DOPPEL_OK)
        status = check_size(&reader, error);
    if (status == DOPPEL_OK)
        status = decode_pixels(&reader, error);
    if (status == DOPPEL_OK)
        status = rows_finish(&reader.rows, "HEIF", out, error);
    rows_free(&reader.rows);
    free(reader.row);
    heif_image_release(reader.image);
    heif_image_handle_release(reader.handle);
    heif_context_free(reader.context);
    return status;
}
