/* Raw files of cameras to luma: the preview that the camera put into them, which is a JPEG; where
 * it is too small, the sensor's data at half their size. */
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "media/images/raw_file.h"

/* Previews with a shorter side than this are icons, some with black edges in them. */
enum { LEAST_PREVIEW_SIDE = 256 };

/* An input of the bytes of the preview alone. @param out given (free) */
static enum doppel_status open_preview(const struct input *input, const struct raw_head *head,
                                       struct input **out, struct doppel_error *error)
{
    struct input *preview = malloc(sizeof *preview);
    if (!preview)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a preview");
    memset(preview, 0, offsetof(struct input, window));
    preview->fd = input->fd;
    preview->base = input->base + head->preview_at;
    uint64_t left = input->size - head->preview_at;
    preview->size = head->preview_bytes < left ? head->preview_bytes : left;
    *out = preview;
    return DOPPEL_OK;
}

static bool is_jpeg(struct input *input)
{
    static const uint8_t begin[] = {0xff, 0xd8, 0xff};
    uint8_t head[sizeof begin];
    return input_read_at(input, 0, head, sizeof head) == sizeof head &&
           !memcmp(head, begin, sizeof begin);
}

/* DOPPEL_E_NOT_FOUND: there is none that is large enough. */
static enum doppel_status decode_preview(const struct input *input, const struct raw_head *head,
                                         decoder *decode, const struct doppel_luma_options *options,
                                         struct image *out)
{
    struct image image = {0};
    struct input *preview = NULL;
    enum doppel_status status = DOPPEL_E_NOT_FOUND;
    if (!head->preview_at || head->preview_at >= input->size)
        return status;
    TRY(open_preview(input, head, &preview, NULL));
    status = DOPPEL_E_NOT_FOUND;
    if (is_jpeg(preview))
        status = decode(preview, options, &image, NULL);
    if (!status &&
        (image.full_width < LEAST_PREVIEW_SIDE || image.full_height < LEAST_PREVIEW_SIDE)) {
        free(image.pixels);
        status = DOPPEL_E_NOT_FOUND;
    }
    if (!status)
        *out = image;
done:
    free(preview);
    return status;
}

static enum doppel_status develop(struct raw_file *file, const struct raw_head *head,
                                  const struct doppel_luma_options *options, struct image *out,
                                  struct doppel_error *error)
{
    struct rows rows = {0};
    const uint8_t *pixels = NULL;
    uint32_t width = 0, height = 0;
    enum doppel_status status;
    TRY(check_memory(&options->limits, head->sensor_bytes, error));
    TRY(raw_develop(file, &pixels, &width, &height, error));
    TRY(rows_begin(&rows, options, width, height, error));
    for (uint32_t y = 0; y < height; y++)
        rows_take_samples(&rows, pixels + (size_t)3 * y * width, 3, true);
    TRY(rows_finish(&rows, "raw file", out, error));
done:
    rows_free(&rows);
    return status;
}

/* When, with what and where it was taken: most are TIFFs, which say more than libraw hands on. */
static void read_raw_origin(struct input *input, const struct raw_head *head,
                            struct doppel_image_origin *out)
{
    enum { MOST_EXIF = 256 << 10 };
    struct doppel_image_origin exif = {0};
    uint8_t *data = malloc(MOST_EXIF);
    if (data)
        exif_read_origin(data, input_read_at(input, 0, data, MOST_EXIF), &exif);
    free(data);
    const struct doppel_image_origin *from = exif.taken_s ? &exif : &head->origin;
    memcpy(out->camera, from->camera, sizeof out->camera);
    out->taken_s = from->taken_s;
    out->taken_fraction = from->taken_fraction;
    out->latitude_e7 = from->latitude_e7;
    out->longitude_e7 = from->longitude_e7;
    out->jpeg_quality = out->earlier_quality = 0; /* those of a preview are not the file's */
}

/* As large as it is developed where the preview is whole, and turned as the camera was held where
 * the preview does not say. */
static void describe_raw(const struct raw_head *head, struct image *out)
{
    bool whole = !out->there || out->there == out->full_height;
    if (whole && out->full_height < head->height) {
        out->full_width = head->width;
        out->full_height = head->height;
        out->there = 0;
    }
    if (!out->orientation)
        out->orientation = head->orientation;
}

enum doppel_status decode_raw(struct input *input, const struct doppel_luma_options *options,
                              struct image *out, struct doppel_error *error)
{
    struct raw_file *file = NULL;
    struct raw_head head;
    struct image image = {0};
    enum doppel_status status = raw_open(input, &file, &head, error);
    if (status)
        return status;
    TRY(check_pixels(&options->limits, head.width, head.height, error));
    if (decode_preview(input, &head, decode_jpeg, options, &image))
        TRY(develop(file, &head, options, &image, error));
    describe_raw(&head, &image);
    read_raw_origin(input, &head, &image.origin);
    *out = image;
done:
    raw_close(file);
    return status;
}

enum doppel_status decode_raw_rgb(struct input *input, const struct doppel_luma_options *options,
                                  struct image *out, struct doppel_error *error)
{
    struct raw_file *file = NULL;
    struct raw_head head;
    enum doppel_status status = raw_open(input, &file, &head, error);
    if (status)
        return status;
    status = decode_preview(input, &head, decode_jpeg_rgb, options, out);
    if (!status && !out->orientation)
        out->orientation = head.orientation;
    raw_close(file);
    return status ? doppel_fail(error, status, "has no preview") : DOPPEL_OK;
}
