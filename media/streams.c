/* From an open file or stream to samples, AcoustID's fingerprint, or the frames of a video. */
#include "media/readers.h"
#ifdef HAVE_WEBP
#include "media/video/webp_frames.h"
#endif

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
#ifdef HAVE_WEBP
    if (!options->stream && is_animated_webp(fd))
        return doppel_fail(error, DOPPEL_E_FORMAT, "has no audio in it");
#endif
#ifdef HAVE_FFMPEG
    return read_audio(fd, options, visitor, context, out_info, error);
#else
    (void)fd, (void)visitor, (void)context, (void)out_info;
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                       "this doppel reads no audio: it was built without FFmpeg");
#endif
}

enum doppel_status doppel_media_read_chromaprint(int fd,
                                                 const struct doppel_samples_options *options,
                                                 struct doppel_chromaprint *out,
                                                 struct doppel_error *error)
{
#ifdef HAVE_CHROMAPRINT
    struct doppel_samples_options chosen = options ? *options : doppel_samples_options_default();
    chosen.stream = false;
    return read_chromaprint(fd, &chosen, out, error);
#else
    (void)fd, (void)options, (void)out;
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                       "this doppel makes no Chromaprints: it was built without libchromaprint");
#endif
}

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
#ifdef HAVE_WEBP
    if (is_animated_webp(fd))
        return read_webp_frames(fd, options, visitor, context, out_info, error);
#endif
#ifdef HAVE_FFMPEG
    return read_video(fd, options, visitor, context, out_info, error);
#else
    (void)fd, (void)visitor, (void)context, (void)out_info;
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                       "this doppel reads no videos: it was built without FFmpeg");
#endif
}
