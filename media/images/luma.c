/* From an open file to a grey plane: probe, decode, turn upright. */
#include <stdlib.h>
#include <string.h>

#include "core/digest.h"
#include "media/decode.h"

enum { PROBE_BYTES = 4096 };

struct doppel_luma_options doppel_luma_options_default(void)
{
    return (struct doppel_luma_options){.limits = doppel_media_limits_default(), .min_side = 192};
}

void doppel_luma_free(struct doppel_luma *luma)
{
    if (!luma)
        return;
    free(luma->pixels);
    *luma = (struct doppel_luma){0};
}

static decoder *decoder_of(enum doppel_format format)
{
    static decoder *const decoders[] = {
        [DOPPEL_FORMAT_JPEG] = decode_jpeg, [DOPPEL_FORMAT_PNG] = decode_png,
#ifdef HAVE_WEBP
        [DOPPEL_FORMAT_WEBP] = decode_webp,
#endif
#ifdef HAVE_HEIF
        [DOPPEL_FORMAT_HEIC] = decode_heif, [DOPPEL_FORMAT_AVIF] = decode_heif,
#endif
#ifdef HAVE_FFMPEG
        [DOPPEL_FORMAT_GIF] = decode_gif,   [DOPPEL_FORMAT_BMP] = decode_bmp,
        [DOPPEL_FORMAT_TGA] = decode_tga,   [DOPPEL_FORMAT_JXL] = decode_jxl,
#endif
#ifdef HAVE_TIFF
        [DOPPEL_FORMAT_TIFF] = decode_tiff,
#endif
#ifdef HAVE_RAW
        [DOPPEL_FORMAT_RAW] = decode_raw,
#endif
    };
    size_t index = (size_t)format;
    return index < sizeof decoders / sizeof *decoders ? decoders[index] : NULL;
}

/* What reads a format that not every build reads. */
static const char *library_of_format(enum doppel_format format)
{
    switch (format) {
    case DOPPEL_FORMAT_WEBP:
        return "libwebp";
    case DOPPEL_FORMAT_HEIC:
    case DOPPEL_FORMAT_AVIF:
        return "libheif";
    case DOPPEL_FORMAT_RAW:
        return "libraw";
    case DOPPEL_FORMAT_TIFF:
        return "libtiff";
    default:
        return "FFmpeg";
    }
}

static enum doppel_status find_format(struct input *input, enum doppel_format *out,
                                      struct doppel_error *error)
{
    uint8_t head[PROBE_BYTES];
    size_t size = input_read_at(input, 0, head, sizeof head);
    if (input->error)
        return doppel_fail(error, DOPPEL_E_IO, "cannot be read: %s", strerror(input->error));
    enum doppel_kind kind = doppel_media_probe(head, size, out);
    if (kind == DOPPEL_KIND_UNKNOWN)
        return doppel_fail(error, DOPPEL_E_FORMAT, "is of no known format");
    if (kind != DOPPEL_KIND_IMAGE)
        return doppel_fail(error, DOPPEL_E_FORMAT, "is no picture but %s", doppel_kind_name(kind));
    return DOPPEL_OK;
}

/* What is shown otherwise is another picture. */
static struct doppel_digest turned_digest(const struct image *image)
{
    uint8_t bytes[sizeof image->digest + 1];
    if (image->orientation <= 1 || digest_is_none(&image->digest))
        return image->digest;
    memcpy(bytes, &image->digest, sizeof image->digest);
    bytes[sizeof image->digest] = (uint8_t)image->orientation;
    return doppel_digest_bytes(bytes, sizeof bytes);
}

static enum doppel_status read_image(struct input *input, const struct doppel_luma_options *options,
                                     enum doppel_format format, struct doppel_luma *out,
                                     struct doppel_error *error)
{
    decoder *decode = decoder_of(format);
    if (!decode)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "this doppel reads no %s: it was built without %s",
                           doppel_format_name(format), library_of_format(format));
    struct image image = {0};
    enum doppel_status status = decode(input, options, &image, error);
    image.digest = turned_digest(&image);
    if (options->from_rgb)
        image.orientation = 1; /* Pillow leaves a picture as it is stored */
    uint32_t there = image.there ? image.there : image.full_height;
    bool turned = image.orientation >= 5;
    if (status == DOPPEL_OK)
        status = orientation_apply(&image, &options->limits, error);
    if (input->error) /* and not what a decoder made of it */
        status = doppel_fail(error, DOPPEL_E_IO, "cannot be read: %s", strerror(input->error));
    if (status != DOPPEL_OK) {
        free(image.pixels);
        return status;
    }
    *out = (struct doppel_luma){
        .plane = {image.pixels, image.width, image.height, image.width},
        .pixels = image.pixels,
        .width = image.full_width,
        .height = image.full_height,
        .there_width = turned ? there : image.full_width,
        .there_height = turned ? image.full_height : there,
        .coarse = image.coarse,
        .damaged = image.damaged,
        .format = format,
        .digest = image.digest,
        .origin = image.origin,
    };
    return DOPPEL_OK;
}

enum doppel_status doppel_media_read_luma(int fd, const struct doppel_luma_options *options,
                                          struct doppel_luma *out, struct doppel_error *error)
{
    struct doppel_luma_options defaults = doppel_luma_options_default();
    if (!options)
        options = &defaults;
    struct input *input = malloc(sizeof *input);
    if (!input)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a file");
    memset(input, 0, offsetof(struct input, window));
    enum doppel_format format = DOPPEL_FORMAT_UNKNOWN;
    enum doppel_status status = input_open(input, fd, &options->limits, error);
    if (status == DOPPEL_OK)
        status = find_format(input, &format, error);
    if (status == DOPPEL_OK)
        status = read_image(input, options, format, out, error);
    free(input);
    return status;
}
