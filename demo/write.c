/* A drawn picture into a file. */
#include "draw.h"

#include <stdio.h>

#include <jpeglib.h>
#include <png.h>

/* libjpeg's own error handler ends the program: right for a demo and for tests. */
bool write_jpeg_to(FILE *file, const struct image *image, int quality)
{
    struct jpeg_error_mgr errors;
    struct jpeg_compress_struct jpeg = {.err = jpeg_std_error(&errors)};
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = image->width;
    jpeg.image_height = image->height;
    jpeg.input_components = 3;
    jpeg.in_color_space = JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, quality, TRUE);
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < jpeg.image_height) {
        JSAMPROW row = image->pixels + (size_t)jpeg.next_scanline * image->width * 3;
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    return !ferror(file);
}

bool write_jpeg(const char *path, const struct image *image, int quality)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    bool written = write_jpeg_to(file, image, quality);
    return fclose(file) == 0 && written;
}

bool write_png(const char *path, const struct image *image)
{
    png_image png = {.version = PNG_IMAGE_VERSION,
                     .width = image->width,
                     .height = image->height,
                     .format = PNG_FORMAT_RGB};
    return png_image_write_to_file(&png, path, 0, image->pixels, 0, NULL) != 0;
}
