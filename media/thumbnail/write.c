/* A thumbnail as a JPEG, through libjpeg. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

#include "media/thumbnail/thumbnail.h"

enum { QUALITY = 75 };

struct thumbnail_writer {
    struct jpeg_compress_struct cinfo;
    struct jpeg_error_mgr errors;
    jmp_buf on_error;
    unsigned char *bytes;
    unsigned long size;
};

static void leave_jpeg_writer(j_common_ptr cinfo)
{
    struct thumbnail_writer *writer = cinfo->client_data;
    longjmp(writer->on_error, 1);
}

static void say_nothing(j_common_ptr cinfo)
{
    (void)cinfo;
}

/* libjpeg leaves by longjmp; all state is in `writer`. */
static bool compress_writer(struct thumbnail_writer *writer, const struct thumbnail *thumbnail)
{
    j_compress_ptr cinfo = &writer->cinfo;
    if (setjmp(writer->on_error))
        return false;
    jpeg_create_compress(cinfo);
    jpeg_mem_dest(cinfo, &writer->bytes, &writer->size);
    cinfo->image_width = thumbnail->width;
    cinfo->image_height = thumbnail->height;
    cinfo->input_components = (int)thumbnail->channels;
    cinfo->in_color_space = thumbnail->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(cinfo);
    jpeg_set_quality(cinfo, QUALITY, TRUE);
    cinfo->optimize_coding = TRUE;
    jpeg_start_compress(cinfo, TRUE);
    size_t stride = (size_t)thumbnail->width * thumbnail->channels;
    while (cinfo->next_scanline < cinfo->image_height) {
        JSAMPROW row = (JSAMPROW)(uintptr_t)(thumbnail->samples + cinfo->next_scanline * stride);
        jpeg_write_scanlines(cinfo, &row, 1);
    }
    jpeg_finish_compress(cinfo);
    return true;
}

enum doppel_status thumbnail_write(const struct thumbnail *thumbnail, uint8_t **out,
                                   size_t *out_size, struct doppel_error *error)
{
    struct thumbnail_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a thumbnail");
    writer->cinfo.err = jpeg_std_error(&writer->errors);
    writer->cinfo.client_data = writer;
    writer->errors.error_exit = leave_jpeg_writer;
    writer->errors.output_message = say_nothing;
    bool good = compress_writer(writer, thumbnail);
    jpeg_destroy_compress(&writer->cinfo);
    if (good) {
        *out = writer->bytes;
        *out_size = writer->size;
    } else {
        free(writer->bytes);
    }
    free(writer);
    return good ? DOPPEL_OK : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a thumbnail");
}

enum doppel_status doppel_media_write_jpeg(const struct doppel_plane *plane, uint8_t **out,
                                           size_t *out_size, struct doppel_error *error)
{
    const struct thumbnail grey = {plane->data, plane->width, plane->height, 1};
    return thumbnail_write(&grey, out, out_size, error);
}
