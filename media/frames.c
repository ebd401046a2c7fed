/* Not built yet. */
#include <doppel/media.h>

#include <stdlib.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

struct doppel_frames_options doppel_frames_options_default(void)
{
    struct doppel_frames_options nothing = {0};
    return nothing;
}

enum doppel_status doppel_media_read_frames(int fd, const struct doppel_frames_options *options,
                                            doppel_frames_visitor *visitor, void *context,
                                            struct doppel_frames_info *out_info,
                                            struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "not built yet");
}
