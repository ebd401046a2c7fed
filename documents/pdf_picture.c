/* Pages of a PDF as pictures, by poppler and cairo. */
#include "documents/pdf_picture.h"

#include <cairo.h>
#include <math.h>
#include <stdlib.h>

/* A0 at 150 dpi has 35 million. */
enum { MOST_PIXELS = 16 << 20, MOST_SIDE = 30000, POINTS_AN_INCH = 72 };

/* Of the page, pictures of one that was scanned cover more. */
static const double picture_share = 0.5;

/* Pixels a point: fewer where the page is huge. */
static double choose_page_scale(double width, double height, uint32_t dpi)
{
    double scale = (double)dpi / POINTS_AN_INCH;
    double most = sqrt(MOST_PIXELS / (width * height));
    scale = fmin(scale, most);
    return fmin(scale, MOST_SIDE / fmax(width, height));
}

static uint8_t grey_of_pixel(uint32_t pixel)
{
    uint32_t red = pixel >> 16 & 255, green = pixel >> 8 & 255, blue = pixel & 255;
    return (uint8_t)((19595 * red + 38470 * green + 7471 * blue + 32768) >> 16);
}

static uint8_t *grey_of_surface(cairo_surface_t *surface, uint32_t width, uint32_t height)
{
    cairo_surface_flush(surface);
    const uint8_t *data = cairo_image_surface_get_data(surface);
    size_t stride = (size_t)cairo_image_surface_get_stride(surface);
    uint8_t *pixels = data ? malloc((size_t)width * height) : NULL;
    for (size_t y = 0; pixels && y < height; y++) {
        const uint32_t *row = (const uint32_t *)(const void *)(data + y * stride);
        for (size_t x = 0; x < width; x++)
            pixels[y * width + x] = grey_of_pixel(row[x]);
    }
    return pixels;
}

static void size_of_page(PopplerPage *page, double *width, double *height)
{
    poppler_page_get_size(page, width, height);
    *width = isfinite(*width) && *width > 1 ? *width : 1;
    *height = isfinite(*height) && *height > 1 ? *height : 1;
}

/* @param scale pixels a point */
static enum doppel_status draw_at_scale(PopplerPage *page, double scale, struct pdf_picture *out,
                                        struct doppel_error *error)
{
    double width, height;
    size_of_page(page, &width, &height);
    uint32_t columns = (uint32_t)fmax(1, ceil(width * scale));
    uint32_t rows = (uint32_t)fmax(1, ceil(height * scale));
    cairo_surface_t *surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)columns, (int)rows);
    cairo_t *cairo = cairo_create(surface);
    cairo_set_source_rgb(cairo, 1, 1, 1);
    cairo_paint(cairo);
    cairo_scale(cairo, scale, scale);
    poppler_page_render(page, cairo);
    cairo_destroy(cairo);
    uint8_t *pixels = grey_of_surface(surface, columns, rows);
    cairo_surface_destroy(surface);
    if (!pixels)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a page of %u x %u pixels",
                           columns, rows);
    *out = (struct pdf_picture){
        pixels, {pixels, columns, rows, columns}, (uint32_t)fmax(1, scale * POINTS_AN_INCH)};
    return DOPPEL_OK;
}

enum doppel_status pdf_draw(PopplerPage *page, uint32_t dpi, struct pdf_picture *out,
                            struct doppel_error *error)
{
    double width, height;
    size_of_page(page, &width, &height);
    return draw_at_scale(page, choose_page_scale(width, height, dpi), out, error);
}

enum doppel_status pdf_draw_side(PopplerPage *page, uint32_t side, struct pdf_picture *out,
                                 struct doppel_error *error)
{
    double width, height;
    size_of_page(page, &width, &height);
    return draw_at_scale(page, side / fmax(width, height), out, error);
}

bool pdf_page_is_picture(PopplerPage *page)
{
    double width, height, covered = 0;
    poppler_page_get_size(page, &width, &height);
    GList *images = poppler_page_get_image_mapping(page);
    for (const GList *at = images; at; at = at->next) {
        const PopplerRectangle *area = &((const PopplerImageMapping *)at->data)->area;
        covered += fabs((area->x2 - area->x1) * (area->y2 - area->y1));
    }
    poppler_page_free_image_mapping(images);
    return covered >= picture_share * width * height;
}
