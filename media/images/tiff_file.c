/* A TIFF in memory, as libtiff asks for it, and what libtiff says of it. */
#include "media/images/tiff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tmsize_t read_tiff_bytes(thandle_t handle, void *out, tmsize_t wanted)
{
    struct tiff_file *file = handle;
    uint64_t left = file->at < file->size ? file->size - file->at : 0;
    size_t size = wanted < 0 ? 0 : (uint64_t)wanted < left ? (size_t)wanted : (size_t)left;
    if (size)
        memcpy(out, file->data + file->at, size);
    file->at += size;
    return (tmsize_t)size;
}

static tmsize_t write_nothing(thandle_t handle, void *bytes, tmsize_t size)
{
    (void)handle, (void)bytes, (void)size;
    return 0;
}

static toff_t seek_in_file(thandle_t handle, toff_t offset, int from)
{
    struct tiff_file *file = handle;
    file->at = from == SEEK_CUR   ? file->at + offset
               : from == SEEK_END ? file->size + offset
                                  : offset;
    return file->at;
}

static int close_nothing(thandle_t handle)
{
    (void)handle;
    return 0;
}

static toff_t size_of_file(thandle_t handle)
{
    return ((struct tiff_file *)handle)->size;
}

static int map_tiff(thandle_t handle, void **out, toff_t *out_size)
{
    struct tiff_file *file = handle;
    *out = file->data;
    *out_size = file->size;
    return 1;
}

static void unmap_nothing(thandle_t handle, void *bytes, toff_t size)
{
    (void)handle, (void)bytes, (void)size;
}

/* The first complaint says what is wrong; the others follow from it. That a tag is passed over,
 * which nobody needs, is none. */
static int note_reason(TIFF *tiff, void *context, const char *module, const char *format,
                       va_list arguments)
{
    struct tiff_file *file = context;
    (void)tiff, (void)module;
    if (!*file->reason && !strstr(format, "tag is not read"))
        vsnprintf(file->reason, sizeof file->reason, format, arguments);
    return 1;
}

static int ignore_warning(TIFF *tiff, void *context, const char *module, const char *format,
                          va_list arguments)
{
    (void)tiff, (void)context, (void)module, (void)format, (void)arguments;
    return 1;
}

enum doppel_status tiff_fail(const struct tiff_file *file, struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_CORRUPT, "the TIFF is cut short or damaged (%s)",
                       *file->reason ? file->reason : "no picture in it");
}

enum doppel_status tiff_open(struct input *input, const struct doppel_media_limits *limits,
                             struct tiff_file *out, struct doppel_error *error)
{
    *out = (struct tiff_file){0};
    size_t size = 0;
    enum doppel_status status = check_memory(limits, input->size, error);
    if (!status)
        status = input_load(input, input->size, 0, &out->data, &size, error);
    if (status)
        return status;
    out->size = size;
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decode the TIFF");
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)limits->max_memory);
    TIFFOpenOptionsSetErrorHandlerExtR(options, note_reason, out);
    TIFFOpenOptionsSetWarningHandlerExtR(options, ignore_warning, NULL);
    out->tiff = TIFFClientOpenExt("", "r", out, read_tiff_bytes, write_nothing, seek_in_file,
                                  close_nothing, size_of_file, map_tiff, unmap_nothing, options);
    TIFFOpenOptionsFree(options);
    return out->tiff ? DOPPEL_OK : tiff_fail(out, error);
}

void tiff_close(struct tiff_file *file)
{
    if (file->tiff)
        TIFFClose(file->tiff);
    free(file->data);
}
