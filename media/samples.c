/* From an open file or stream to samples. */
#include "media/readers.h"

struct doppel_samples_options doppel_samples_options_default(void)
{
    return (struct doppel_samples_options){
        .limits = doppel_media_limits_default(),
        .pcm_rate = 44100,
        .pcm_channels = 2,
    };
}

enum doppel_status doppel_media_read_samples(int fd, const struct doppel_samples_options *options,
                                             doppel_samples_visitor *visitor, void *context,
                                             struct doppel_samples_info *out_info,
                                             struct doppel_error *error)
{
    struct doppel_samples_options defaults = doppel_samples_options_default();
    if (!options)
        options = &defaults;
#ifdef HAVE_FFMPEG
    return read_audio(fd, options, visitor, context, out_info, error);
#else
    (void)fd, (void)visitor, (void)context, (void)out_info;
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "is audio, which this build cannot decode");
#endif
}
