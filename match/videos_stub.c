/* Not built yet. */
#include <doppel/match.h>

#include <stdlib.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

struct doppel_video_search doppel_video_search_default(void)
{
    struct doppel_video_search nothing = {0};
    return nothing;
}

enum doppel_status doppel_videos_new(struct doppel_videos **out, struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "not built yet");
}

enum doppel_status doppel_videos_over(const struct doppel_index *index, doppel_video_source *source,
                                      void *context, struct doppel_videos **out,
                                      struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "not built yet");
}

void doppel_videos_free(struct doppel_videos *videos)
{
}

struct doppel_index_options doppel_videos_index_options(void)
{
    struct doppel_index_options nothing = {0};
    return nothing;
}

enum doppel_status doppel_video_codes(uint64_t id, const struct doppel_video_track *track,
                                      uint64_t **out_codes, uint64_t **out_payloads,
                                      struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "not built yet");
}

enum doppel_status doppel_videos_add(struct doppel_videos *videos, uint64_t id,
                                     const struct doppel_video_track *track,
                                     struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "not built yet");
}

enum doppel_status doppel_videos_remove(struct doppel_videos *videos, uint64_t id,
                                        struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "not built yet");
}

uint64_t doppel_videos_frames(const struct doppel_videos *videos)
{
    uint64_t nothing = {0};
    return nothing;
}

enum doppel_status doppel_videos_find(const struct doppel_videos *videos,
                                      const struct doppel_video_track *query,
                                      const struct doppel_video_search *options,
                                      doppel_found_visitor *visitor, void *context,
                                      struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "not built yet");
}

enum doppel_status doppel_videos_find_picture(const struct doppel_videos *videos,
                                              const struct doppel_match_item *picture,
                                              const struct doppel_video_search *options,
                                              doppel_found_visitor *visitor, void *context,
                                              struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "not built yet");
}

enum doppel_status doppel_match_videos(const struct doppel_video_track *query,
                                       const struct doppel_video_track *item,
                                       const struct doppel_video_search *options,
                                       struct doppel_match *out_match, struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "not built yet");
}

enum doppel_status doppel_match_picture_in_video(const struct doppel_match_item *picture,
                                                 const struct doppel_video_track *item,
                                                 const struct doppel_video_search *options,
                                                 struct doppel_match *out_match,
                                                 struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "not built yet");
}
