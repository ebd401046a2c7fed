/* HEIC and AVIF files, through libheif's encoders where this machine has them. */
#include "make.h"

#include <assert.h>
#include <string.h>

#include <libheif/heif.h>

/* Read by LeakSanitizer where it is on: leaks of the codecs behind libheif are not ours to mend
 * (x265 3.5 at every start, dav1d 1.0 on damaged streams). */
__attribute__((weak)) const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
    return "leak:libx265\nleak:libdav1d\n";
}

static struct heif_error append(struct heif_context *context, const void *data, size_t size,
                                void *user)
{
    (void)context;
    file_append(user, data, size);
    return (struct heif_error){heif_error_Ok, heif_suberror_Unspecified, ""};
}

static struct heif_image *image_of(const struct scene *scene)
{
    struct heif_image *image = NULL;
    int stride, width = (int)scene->width, height = (int)scene->height;
    heif_image_create(width, height, heif_colorspace_RGB, heif_chroma_interleaved_RGBA, &image);
    heif_image_add_plane(image, heif_channel_interleaved, width, height, 8);
    uint8_t *plane = heif_image_get_plane(image, heif_channel_interleaved, &stride);
    for (uint32_t y = 0; y < scene->height; y++)
        memcpy(plane + (size_t)y * (size_t)stride, scene->rgba + (size_t)y * scene->width * 4,
               (size_t)scene->width * 4);
    return image;
}

static void encode(struct heif_context *context, struct heif_encoder *encoder,
                   const struct scene *scene, unsigned orientation, const struct file *exif)
{
    struct heif_image_handle *handle = NULL;
    struct heif_encoding_options *options = heif_encoding_options_alloc();
    options->image_orientation = (enum heif_orientation)orientation;
    heif_encoder_set_lossy_quality(encoder, 90);
    heif_encoder_set_parameter(encoder, "preset", "ultrafast"); /* x265 */
    heif_encoder_set_parameter(encoder, "speed", "9");          /* aom */
    struct heif_image *image = image_of(scene);
    struct heif_error cause = heif_context_encode_image(context, image, encoder, options, &handle);
    assert(cause.code == heif_error_Ok);
    (void)cause;
    if (exif)
        heif_context_add_exif_metadata(context, handle, exif->data, (int)exif->size);
    heif_image_handle_release(handle);
    heif_image_release(image);
    heif_encoding_options_free(options);
}

struct file make_heif(const struct scene *scene, enum doppel_format format, unsigned orientation)
{
    return make_heif_with_exif(scene, format, orientation, NULL);
}

struct file make_heif_with_exif(const struct scene *scene, enum doppel_format format,
                                unsigned orientation, const struct file *exif)
{
    struct file file = {0};
    struct heif_context *context = heif_context_alloc();
    struct heif_encoder *encoder = NULL;
    heif_context_get_encoder_for_format(
        context, format == DOPPEL_FORMAT_AVIF ? heif_compression_AV1 : heif_compression_HEVC,
        &encoder);
    if (encoder) {
        encode(context, encoder, scene, orientation, exif);
        struct heif_writer writer = {1, append};
        heif_context_write(context, &writer, &file);
        heif_encoder_release(encoder);
    }
    heif_context_free(context);
    return file;
}
