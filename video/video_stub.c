/* Not built yet. */
#include <doppel/video.h>

#include <stdlib.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

struct doppel_video_options doppel_video_options_default(void)
{
    struct doppel_video_options nothing = {0};
    return nothing;
}

enum doppel_status doppel_video_new(const struct doppel_video_options *options,
                                    struct doppel_video **out, struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "not built yet");
}

void doppel_video_free(struct doppel_video *video)
{
}

enum doppel_status doppel_video_push(struct doppel_video *video, const struct doppel_plane *plane,
                                     uint32_t time_ms, struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "not built yet");
}

enum doppel_status doppel_video_finish(struct doppel_video *video, struct doppel_video_track *out,
                                       struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "not built yet");
}

enum doppel_status doppel_video_track_write(const struct doppel_video_track *track,
                                            enum doppel_video_parts parts, uint8_t **out,
                                            size_t *out_size, struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "not built yet");
}

enum doppel_status doppel_video_track_read(const uint8_t *data, size_t size,
                                           enum doppel_video_parts parts,
                                           struct doppel_video_track *out,
                                           struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "not built yet");
}

struct doppel_code doppel_video_warped_code(const uint8_t *cells,
                                            const struct doppel_video_warp *warp)
{
    struct doppel_code nothing = {0};
    return nothing;
}
