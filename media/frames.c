/* From an open file to the pictures of a video. */
#include "media/readers.h"

struct doppel_frames_options doppel_frames_options_default(void)
{
    struct doppel_frames_options options = {.limits = doppel_media_limits_default(),
                                            .step_ms = 250};
    options.limits.max_bytes = UINT64_MAX;
    return options;
}

enum doppel_status doppel_media_read_frames(int fd, const struct doppel_frames_options *options,
                                            doppel_frames_visitor *visitor, void *context,
                                            struct doppel_frames_info *out_info,
                                            struct doppel_error *error)
{
    struct doppel_frames_options defaults = doppel_frames_options_default();
    if (!options)
        options = &defaults;
#ifdef HAVE_FFMPEG
    return read_video(fd, options, visitor, context, out_info, error);
#else
    (void)fd, (void)visitor, (void)context, (void)out_info;
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "is a video, which this build cannot decode");
#endif
}
