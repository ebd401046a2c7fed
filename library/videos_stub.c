/* Not built yet. */
#include <doppel/library.h>

#include <stdlib.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

enum doppel_status doppel_library_videos(struct doppel_library *library,
                                         const struct doppel_videos **out,
                                         struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "not built yet");
}
