/* Not built yet. */
#include <doppel/match.h>

#include <stdlib.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

enum doppel_status doppel_videos_find_picture(const struct doppel_videos *videos,
                                              const struct doppel_match_item *picture,
                                              const struct doppel_video_search *options,
                                              doppel_found_visitor *visitor, void *context,
                                              struct doppel_error *error)
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
