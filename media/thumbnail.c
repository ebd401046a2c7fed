/* Not built yet. */
#include <doppel/media.h>

#include <stdlib.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

enum doppel_status doppel_media_read_thumbnail(int fd, uint32_t time_ms, uint32_t longest,
                                               uint8_t **out, size_t *out_size,
                                               struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "not built yet");
}
