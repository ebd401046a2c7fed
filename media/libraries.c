/* The libraries that decode: all that they load or open later is loaded now; and their versions. */
#include <doppel/media.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* jpeglib.h wants it first */
#include <jpeglib.h>
#include <png.h>

#ifdef HAVE_WEBP
#include <webp/decode.h>
#endif
#ifdef HAVE_HEIF
#include <libheif/heif.h>
#endif
#ifdef HAVE_RAW
#include <libraw/libraw_version.h>
#endif
#ifdef HAVE_TIFF
#include <tiffio.h>
#endif
#ifdef HAVE_FFMPEG
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/cpu.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>
#endif
#ifdef HAVE_CHROMAPRINT
#include <chromaprint.h>
#endif

struct version_list {
    char *text;
    size_t size, used;
};

static void DOPPEL_PRINTF(2, 3) add_version(struct version_list *list, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(list->text + list->used, list->size - list->used, format, arguments);
    va_end(arguments);
    if (length > 0 && (size_t)length < list->size - list->used)
        list->used += (size_t)length;
    else
        list->text[list->used] = '\0';
}

#ifdef HAVE_FFMPEG
static void add_ffmpeg(struct version_list *list)
{
    const struct {
        const char *name;
        unsigned version;
    } libraries[] = {{"libavcodec", avcodec_version()},
                     {"libavformat", avformat_version()},
                     {"libavutil", avutil_version()},
                     {"libswresample", swresample_version()},
                     {"libswscale", swscale_version()}};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        add_version(list, "%s %u.%u.%u\n", libraries[i].name,
                    AV_VERSION_MAJOR(libraries[i].version), AV_VERSION_MINOR(libraries[i].version),
                    AV_VERSION_MICRO(libraries[i].version));
}
#endif

void doppel_media_prepare(char *out, size_t size)
{
    struct version_list list = {out, size, 0};
    out[0] = '\0';
    tzset(); /* dates in containers: the file of the time zone is read once */
    add_version(&list, "libjpeg-turbo %d.%d.%d\n", LIBJPEG_TURBO_VERSION_NUMBER / 1000000,
                LIBJPEG_TURBO_VERSION_NUMBER / 1000 % 1000, LIBJPEG_TURBO_VERSION_NUMBER % 1000);
    add_version(&list, "libpng %s\n", png_get_libpng_ver(NULL));
#ifdef HAVE_WEBP
    int webp = WebPGetDecoderVersion();
    add_version(&list, "libwebp %d.%d.%d\n", webp >> 16, webp >> 8 & 255, webp & 255);
#endif
#ifdef HAVE_HEIF
#if LIBHEIF_HAVE_VERSION(1, 13, 0)
    heif_init(NULL); /* its decoders may be files of their own */
#endif
    add_version(&list, "libheif %s\n", heif_get_version());
#endif
#ifdef HAVE_RAW
    add_version(&list, "libraw %d.%d.%d\n", LIBRAW_MAJOR_VERSION, LIBRAW_MINOR_VERSION,
                LIBRAW_PATCH_VERSION);
#endif
#ifdef HAVE_TIFF
    const char *tiff = TIFFGetVersion(); /* "LIBTIFF, Version 4.5.0", and its licence below */
    add_version(&list, "libtiff %.*s\n", (int)strcspn(tiff + strcspn(tiff, "0123456789"), "\n"),
                tiff + strcspn(tiff, "0123456789"));
#endif
#ifdef HAVE_FFMPEG
    av_get_cpu_flags();
    av_cpu_count();
    add_ffmpeg(&list);
#endif
#ifdef HAVE_CHROMAPRINT
    add_version(&list, "libchromaprint %s\n", chromaprint_get_version());
#endif
}
