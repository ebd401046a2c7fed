/* A frame of a video as a picture of its own: its thumbnail, read as an image is. */
#include "intake/video_still.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/files/write_all.h"
#include "core/try.h"
#include "intake/intake_internal.h"

/* As large as any view of an image needs. */
enum { STILL_PIXELS = 512 };

/* @return -1: errno says why */
static int open_bytes(const uint8_t *bytes, size_t size)
{
    int fd = memfd_create("still", MFD_CLOEXEC);
    if (fd < 0 || (write_all(fd, bytes, size) && lseek(fd, 0, SEEK_SET) == 0))
        return fd;
    close(fd);
    return -1;
}

static enum doppel_status read_jpeg(struct video_looks *looks, const struct video_look *look,
                                    struct doppel_record *out, struct doppel_error *error)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64);
    struct doppel_outcome outcome;
    int fd = open_bytes(look->bytes, look->size);
    if (fd < 0)
        return doppel_fail(error, DOPPEL_E_IO, "a temporary file: %s", strerror(errno));
    enum doppel_status status = video_looks_read(looks, fd, scheme, &outcome, error);
    if (status)
        return status;
    if (outcome.error.status == DOPPEL_OK && !record_take_outcome(scheme, out, &outcome)) {
        doppel_record_free(out);
        *out = (struct doppel_record){0};
    }
    doppel_outcome_free(&outcome);
    return DOPPEL_OK;
}

enum doppel_status video_still_read(struct video_looks *looks, const struct video_file *file,
                                    double seconds, struct doppel_record *out,
                                    struct doppel_error *error)
{
    struct video_look look = {.file = file,
                              .task = DOPPEL_VIDEO_THUMBNAIL,
                              .from_ms = (uint32_t)lround(fmax(0, seconds) * 1000),
                              .to_ms = STILL_PIXELS};
    *out = (struct doppel_record){0};
    enum doppel_status status = video_looks_take(looks, &look, 1, error);
    if (!status && look.bytes)
        status = read_jpeg(looks, &look, out, error);
    free(look.bytes);
    return status;
}
