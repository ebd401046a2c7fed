/* The ways to look at a query: as it is, mirrored. */
#include "match/videos_room.h"

static const struct doppel_video_warp IDENTITY = {.scale_x = 1, .scale_y = 1};

size_t video_views(const struct doppel_video_track *query,
                   const struct doppel_video_search *options,
                   struct video_view out[VIDEO_VIEWS_MAX])
{
    (void)query;
    (void)options;
    for (int mirrored = 0; mirrored < 2; mirrored++)
        out[mirrored] = (struct video_view){.view = {.mirrored = mirrored, .warp = IDENTITY}};
    return 2;
}

bool video_view_code(const struct doppel_video_track *query, size_t run,
                     const struct doppel_video_view *view, struct doppel_code *out)
{
    *out = doppel_image_orient(&query->frames[run].code, view->mirrored);
    return true;
}

bool video_view_improve(const struct doppel_video_track *query,
                        const struct doppel_video_track *item, const struct video_pair *pairs,
                        size_t count, const struct doppel_video_search *options,
                        struct video_view *view)
{
    (void)query;
    (void)item;
    (void)pairs;
    (void)count;
    (void)options;
    (void)view;
    return false;
}
