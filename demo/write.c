/* A drawn picture into a file. */
#include "draw.h"

#include <stdio.h>

#include <jpeglib.h>
#include <png.h>

/* libjpeg's own error handler ends the program: right for a demo and for tests. */
bool write_jpeg(const char *path, const struct picture *picture, int quality)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    struct jpeg_error_mgr errors;
    struct jpeg_compress_struct jpeg = {.err = jpeg_std_error(&errors)};
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = picture->width;
    jpeg.image_height = picture->height;
    jpeg.input_components = 3;
    jpeg.in_color_space = JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, quality, TRUE);
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < jpeg.image_height) {
        JSAMPROW row = picture->pixels + (size_t)jpeg.next_scanline * picture->width * 3;
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    return fclose(file) == 0;
}

bool write_png(const char *path, const struct picture *picture)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = picture->width,
                       .height = picture->height,
                       .format = PNG_FORMAT_RGB};
    return png_image_write_to_file(&image, path, 0, picture->pixels, 0, NULL) != 0;
}
