/* JPEG files, through libjpeg-turbo. */
#include "make.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

static int component_count(enum jpeg_colours colours)
{
    return colours == JPEG_GREY ? 1 : colours >= JPEG_CMYK ? 4 : 3;
}

static void set_colours(j_compress_ptr cinfo, enum jpeg_colours colours)
{
    static const J_COLOR_SPACE in[] = {JCS_RGB, JCS_GRAYSCALE, JCS_RGB, JCS_CMYK, JCS_CMYK};
    static const J_COLOR_SPACE stored[] = {JCS_YCbCr, JCS_GRAYSCALE, JCS_RGB, JCS_CMYK, JCS_YCCK};
    cinfo->input_components = component_count(colours);
    cinfo->in_color_space = in[colours];
    jpeg_set_defaults(cinfo);
    jpeg_set_colorspace(cinfo, stored[colours]);
}

/* Black is 255 - the brightest of the three, the rest is ink; stored inverted, as Adobe does. */
static void cmyk_pixel(const uint8_t *rgb, uint8_t *out)
{
    uint8_t most = rgb[0] > rgb[1] ? rgb[0] : rgb[1];
    most = most > rgb[2] ? most : rgb[2];
    for (int i = 0; i < 3; i++)
        out[i] = most ? (uint8_t)((rgb[i] * 255 + most / 2) / most) : 255;
    out[3] = most;
}

static void fill_row(const struct scene *scene, enum jpeg_colours colours, uint32_t y, uint8_t *row)
{
    int count = component_count(colours);
    for (uint32_t x = 0; x < scene->width; x++, row += count) {
        const uint8_t *pixel = scene->rgba + ((size_t)y * scene->width + x) * 4;
        if (count == 4)
            cmyk_pixel(pixel, row);
        else if (count == 1)
            *row = (uint8_t)(scene_luma(scene, x, y) + .5);
        else
            memcpy(row, pixel, 3);
    }
}

static void write_exif(j_compress_ptr cinfo, unsigned orientation)
{
    uint8_t block[6 + EXIF_BYTES] = "Exif";
    exif_make(orientation, orientation % 2, block + 6);
    jpeg_write_marker(cinfo, JPEG_APP0 + 1, block, sizeof block);
}

static void set_scans(j_compress_ptr cinfo, const struct jpeg_how *how, jpeg_scan_info scans[4])
{
    if (how->progressive)
        jpeg_simple_progression(cinfo);
    if (!how->separate_scans)
        return;
    for (int i = 0; i < cinfo->num_components; i++)
        scans[i] = (jpeg_scan_info){
            .comps_in_scan = 1, .component_index = {i}, .Ss = 0, .Se = DCTSIZE2 - 1};
    cinfo->scan_info = scans;
    cinfo->num_scans = cinfo->num_components;
}

struct file make_jpeg(const struct scene *scene, const struct jpeg_how *how)
{
    struct jpeg_compress_struct cinfo;
    struct jpeg_error_mgr errors;
    jpeg_scan_info scans[4];
    unsigned char *data = NULL;
    unsigned long size = 0;
    cinfo.err = jpeg_std_error(&errors);
    jpeg_create_compress(&cinfo);
    jpeg_mem_dest(&cinfo, &data, &size);
    cinfo.image_width = scene->width;
    cinfo.image_height = scene->height;
    set_colours(&cinfo, how->colours);
    jpeg_set_quality(&cinfo, how->quality ? how->quality : 90, TRUE);
    set_scans(&cinfo, how, scans);
    jpeg_start_compress(&cinfo, TRUE);
    if (how->orientation)
        write_exif(&cinfo, how->orientation);
    uint8_t *row = malloc((size_t)scene->width * 4);
    assert(row);
    while (cinfo.next_scanline < cinfo.image_height) {
        fill_row(scene, how->colours, cinfo.next_scanline, row);
        jpeg_write_scanlines(&cinfo, &row, 1);
    }
    jpeg_finish_compress(&cinfo);
    jpeg_destroy_compress(&cinfo);
    free(row);
    return (struct file){data, size};
}
