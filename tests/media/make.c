/* Scenes, files in memory, EXIF blocks. */
#include "make.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/bytes.h"

static void paint(enum scene_kind kind, double u, double v, uint8_t *out)
{
    double red = 127 + 120 * sin(3 * u + 2 * v), green = 20 + 200 * u * v + 30 * (1 - v);
    double blue = 128 + 100 * cos(4 * u * u - v);
    if (kind == SCENE_GREY)
        green = blue = red;
    if (kind == SCENE_TWO)
        red = green = blue = ((int)(u * 5) + (int)(v * v * 7)) % 2 ? 255 : 0;
    out[0] = (uint8_t)red;
    out[1] = (uint8_t)green;
    out[2] = (uint8_t)blue;
    out[3] = kind == SCENE_ALPHA ? (uint8_t)(255 * (1 - u)) : 255;
}

struct scene scene_make(enum scene_kind kind, uint32_t width, uint32_t height)
{
    struct scene scene = {width, height, malloc((size_t)width * height * 4)};
    assert(scene.rgba);
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            paint(kind, (x + .5) / width, (y + .5) / height,
                  scene.rgba + ((size_t)y * width + x) * 4);
    return scene;
}

void scene_free(struct scene *scene)
{
    free(scene->rgba);
    *scene = (struct scene){0};
}

double scene_luma(const struct scene *scene, uint32_t x, uint32_t y)
{
    const uint8_t *p = scene->rgba + ((size_t)y * scene->width + x) * 4;
    double luma = .299 * p[0] + .587 * p[1] + .114 * p[2], alpha = p[3] / 255.;
    return luma * alpha + 255 * (1 - alpha);
}

void file_free(struct file *file)
{
    free(file->data);
    *file = (struct file){0};
}

void file_append(struct file *file, const void *data, size_t size)
{
    uint8_t *grown = realloc(file->data, file->size + size + 1);
    assert(grown);
    memcpy(grown + file->size, data, size);
    file->data = grown;
    file->size += size;
}

struct file file_of(const void *data, size_t size)
{
    struct file file = {0};
    file_append(&file, data, size);
    return file;
}

int file_open(const void *data, size_t size)
{
    int fd = memfd_create("test", MFD_CLOEXEC);
    assert(fd >= 0);
    ssize_t written = pwrite(fd, data, size, 0);
    assert(written == (ssize_t)size);
    (void)written;
    return fd;
}

static void put_tag(uint8_t *out, bool big_endian, unsigned tag, unsigned type, uint32_t count)
{
    uint8_t entry[8];
    put_u16(entry, (uint16_t)tag);
    put_u16(entry + 2, (uint16_t)type);
    put_u32(entry + 4, count);
    static const unsigned char swapped[] = {1, 0, 3, 2, 7, 6, 5, 4};
    for (int i = 0; i < 8; i++)
        out[i] = entry[big_endian ? swapped[i] : i];
}

void exif_make(unsigned orientation, bool big_endian, uint8_t out[EXIF_BYTES])
{
    memset(out, 0, EXIF_BYTES);
    memcpy(out, big_endian ? "MM\0*\0\0\0\x08\0\x01" : "II*\0\x08\0\0\0\x01\0", 10);
    put_tag(out + 10, big_endian, 0x0112, 3, 1);
    out[18 + big_endian] = (uint8_t)orientation;
}

struct file make_any(enum doppel_format format, const struct scene *scene)
{
    switch (format) {
    case DOPPEL_FORMAT_JPEG:
        return make_jpeg(scene, &(struct jpeg_how){0});
    case DOPPEL_FORMAT_PNG:
        return make_png(scene, &(struct png_how){.colour_type = 6});
#ifdef HAVE_WEBP
    case DOPPEL_FORMAT_WEBP:
        return make_webp(scene, &(struct webp_how){0});
#endif
#ifdef HAVE_HEIF
    case DOPPEL_FORMAT_HEIC:
    case DOPPEL_FORMAT_AVIF:
        return make_heif(scene, format, 1);
#endif
#ifdef HAVE_FFMPEG
    case DOPPEL_FORMAT_GIF:
    case DOPPEL_FORMAT_BMP:
    case DOPPEL_FORMAT_TIFF:
    case DOPPEL_FORMAT_TGA:
    case DOPPEL_FORMAT_JXL:
        return make_lavc(scene, format, NULL);
#endif
#ifdef HAVE_RAW
    case DOPPEL_FORMAT_RAW:
        return make_raw(scene, &(struct raw_how){0});
#endif
    default:
        return (struct file){0};
    }
}
