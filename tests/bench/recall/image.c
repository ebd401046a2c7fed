/* Pictures of image_recall: reading, writing, scaling. */
#include "image.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <png.h>
#include <webp/decode.h>
#include <webp/encode.h>

struct image image_new(int width, int height)
{
    struct image image = {width, height, NULL};
    image.pixels = calloc((size_t)width * (size_t)height, sizeof *image.pixels);
    if (!image.pixels)
        abort();
    return image;
}

void image_free(struct image *image)
{
    free(image->pixels);
    *image = (struct image){0};
}

struct image image_copy(const struct image *image)
{
    return image_crop(image, 0, 0, image->width, image->height);
}

struct image image_crop(const struct image *image, int x, int y, int width, int height)
{
    struct image out = image_new(width, height);
    for (int row = 0; row < height; row++)
        memcpy(out.pixels + (size_t)row * (size_t)width,
               image->pixels + (size_t)(y + row) * (size_t)image->width + x,
               (size_t)width * sizeof *out.pixels);
    return out;
}

struct image image_resize(const struct image *image, int width, int height)
{
    struct image out = image_new(width, height);
    cairo_t *cr = draw_begin(&out);
    draw_image(cr, image, 0, 0, width, height);
    draw_end(cr);
    return out;
}

/* ---- cairo ---- */

static cairo_surface_t *surface_of(const struct image *image)
{
    return cairo_image_surface_create_for_data((unsigned char *)image->pixels, CAIRO_FORMAT_RGB24,
                                               image->width, image->height, image->width * 4);
}

cairo_t *draw_begin(struct image *image)
{
    cairo_surface_t *surface = surface_of(image);
    cairo_t *cr = cairo_create(surface);
    cairo_surface_destroy(surface);
    return cr;
}

void draw_end(cairo_t *cr)
{
    cairo_surface_flush(cairo_get_target(cr));
    cairo_destroy(cr);
}

void draw_image(cairo_t *cr, const struct image *image, double x, double y, double width,
                double height)
{
    cairo_surface_t *surface = surface_of(image);
    cairo_save(cr);
    cairo_rectangle(cr, x, y, width, height);
    cairo_clip(cr);
    cairo_translate(cr, x, y);
    cairo_scale(cr, width / image->width, height / image->height);
    cairo_set_source_surface(cr, surface, 0, 0);
    cairo_pattern_set_extend(cairo_get_source(cr), CAIRO_EXTEND_PAD);
    cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_GOOD);
    cairo_paint(cr);
    cairo_restore(cr);
    cairo_surface_destroy(surface);
}

/* ---- reading ---- */

struct jpeg_escape {
    struct jpeg_error_mgr manager;
    jmp_buf back;
};

static void jpeg_escape_exit(j_common_ptr info)
{
    longjmp(((struct jpeg_escape *)info->err)->back, 1);
}

static void jpeg_silence(j_common_ptr info)
{
    (void)info;
}

static void jpeg_escape_init(struct jpeg_escape *escape)
{
    jpeg_std_error(&escape->manager);
    escape->manager.error_exit = jpeg_escape_exit;
    escape->manager.output_message = jpeg_silence;
}

static void load_jpeg(FILE *file, int max_side, struct image *volatile out)
{
    struct jpeg_decompress_struct info;
    struct jpeg_escape escape;
    info.err = &escape.manager;
    jpeg_escape_init(&escape);
    jpeg_create_decompress(&info);
    if (setjmp(escape.back) == 0) {
        jpeg_stdio_src(&info, file);
        jpeg_read_header(&info, TRUE);
        info.out_color_space = JCS_EXT_BGRX;
        while (info.scale_denom < 8 && (int)(info.image_width / (2 * info.scale_denom)) > max_side)
            info.scale_denom *= 2;
        jpeg_start_decompress(&info);
        *out = image_new((int)info.output_width, (int)info.output_height);
        while (info.output_scanline < info.output_height) {
            JSAMPROW row =
                (JSAMPROW)(out->pixels + (size_t)info.output_scanline * info.output_width);
            jpeg_read_scanlines(&info, &row, 1);
        }
    } else if (out->pixels && info.output_scanline < info.output_height) {
        image_free(out);
    }
    jpeg_destroy_decompress(&info);
}

static void load_png(FILE *file, struct image *out)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_stdio(&image, file))
        return;
    image.format = PNG_FORMAT_BGR | PNG_FORMAT_FLAG_ALPHA;
    image.format &= ~(unsigned)PNG_FORMAT_FLAG_ALPHA;
    uint8_t *bgr = malloc(PNG_IMAGE_SIZE(image));
    png_color white = {255, 255, 255};
    if (bgr && png_image_finish_read(&image, &white, bgr, 0, NULL)) {
        *out = image_new((int)image.width, (int)image.height);
        for (size_t i = 0; i < (size_t)image.width * image.height; i++)
            out->pixels[i] =
                (uint32_t)bgr[3 * i + 2] << 16 | (uint32_t)bgr[3 * i + 1] << 8 | bgr[3 * i];
    }
    free(bgr);
    png_image_free(&image);
}

static void load_webp(FILE *file, struct image *out)
{
    static const size_t max_bytes = 64 << 20;
    uint8_t *data = malloc(max_bytes);
    size_t size = data ? fread(data, 1, max_bytes, file) : 0;
    int width, height;
    if (WebPGetInfo(data, size, &width, &height)) {
        *out = image_new(width, height);
        if (!WebPDecodeBGRAInto(data, size, (uint8_t *)out->pixels,
                                (size_t)width * (size_t)height * 4, width * 4))
            image_free(out);
    }
    free(data);
}

struct image image_load(const char *path, int max_side)
{
    struct image image = {0};
    FILE *file = fopen(path, "rb");
    uint8_t head[12] = {0};
    if (file && fread(head, 1, sizeof head, file) == sizeof head) {
        rewind(file);
        if (head[0] == 0xff && head[1] == 0xd8)
            load_jpeg(file, max_side, &image);
        else if (memcmp(head, "\x89PNG", 4) == 0)
            load_png(file, &image);
        else if (memcmp(head + 8, "WEBP", 4) == 0)
            load_webp(file, &image);
    }
    if (file)
        fclose(file);
    int side = image.width > image.height ? image.width : image.height;
    if (!image.pixels || side <= max_side)
        return image;
    double scale = (double)max_side / side;
    struct image small = image_resize(&image, (int)fmax(1, round(image.width * scale)),
                                      (int)fmax(1, round(image.height * scale)));
    image_free(&image);
    return small;
}

/* ---- writing ---- */

static struct bytes encode_jpeg(const struct image *image, int quality)
{
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr errors;
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    unsigned char *data = NULL;
    unsigned long size = 0;
    jpeg_mem_dest(&info, &data, &size);
    info.image_width = (JDIMENSION)image->width;
    info.image_height = (JDIMENSION)image->height;
    info.input_components = 4;
    info.in_color_space = JCS_EXT_BGRX;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, quality, TRUE);
    jpeg_start_compress(&info, TRUE);
    while (info.next_scanline < info.image_height) {
        JSAMPROW row = (JSAMPROW)(image->pixels + (size_t)info.next_scanline * info.image_width);
        jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    return (struct bytes){data, size};
}

static struct bytes encode_webp(const struct image *image, int quality)
{
    struct image opaque = image_copy(image);
    for (size_t i = 0; i < (size_t)image->width * (size_t)image->height; i++)
        opaque.pixels[i] |= 0xff000000u;
    uint8_t *data = NULL;
    size_t size = WebPEncodeBGRA((const uint8_t *)opaque.pixels, image->width, image->height,
                                 image->width * 4, (float)quality, &data);
    image_free(&opaque);
    return (struct bytes){data, size};
}

struct bytes image_encode(const struct image *image, const struct encoding *encoding)
{
    return encoding->kind == ENCODE_WEBP ? encode_webp(image, encoding->quality)
                                         : encode_jpeg(image, encoding->quality);
}

bool image_save_png(const struct image *image, const char *path)
{
    cairo_surface_t *surface = surface_of(image);
    bool ok = cairo_surface_write_to_png(surface, path) == CAIRO_STATUS_SUCCESS;
    cairo_surface_destroy(surface);
    return ok;
}
