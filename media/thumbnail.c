/* From an open file to a small picture of a film. */
#include "media/readers.h"

enum { SHORTEST = 16, LONGEST = 1024 };

enum doppel_status doppel_media_read_thumbnail(int fd, uint32_t time_ms, uint32_t longest,
                                               uint8_t **out, size_t *out_size,
                                               struct doppel_error *error)
{
    if (longest < SHORTEST || longest > LONGEST)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a thumbnail of %u pixels: only %d to %d",
                           longest, SHORTEST, LONGEST);
#ifdef HAVE_FFMPEG
    return read_thumbnail(fd, time_ms, longest, out, out_size, error);
#else
    (void)fd, (void)time_ms, (void)out, (void)out_size;
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "is a film, which this build cannot decode");
#endif
}
