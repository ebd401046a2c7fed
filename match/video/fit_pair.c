/* How one of two videos that match lies in the other, more closely than it took to find it: the
 * view fitted along a segment, as a part of the other, and the other way round. */
#include <math.h>
#include <stdlib.h>

#include "match/video/search.h"

enum {
    MOST_RUNS = 24, /* of the query that are looked at */
    NEAR_BITS = 24  /* frames that are as near lie alike */
};

/* The runs that meet along a segment. @param out room for MOST_RUNS. @return how many there are */
static size_t pairs_along(const struct doppel_video_track *query,
                          const struct doppel_video_track *item,
                          const struct doppel_segment *segment, struct video_pair *out)
{
    const double length = segment->a_end - segment->a_start;
    uint32_t last = UINT32_MAX;
    size_t count = 0;
    for (size_t i = 0; i < MOST_RUNS && length > 0 && item->count; i++) {
        const double part = ((double)i + .5) / MOST_RUNS;
        const uint32_t run = video_run_at(query, segment->a_start + part * length);
        uint32_t other =
            video_run_at(item, segment->b_start + part * (segment->b_end - segment->b_start));
        if (run == last || run >= query->count)
            continue;
        other = other < item->count ? other : (uint32_t)item->count - 1;
        const uint32_t first = other ? other - 1 : 0;
        const uint32_t end = other + 1 < item->count ? other + 2 : other + 1;
        out[count++] = (struct video_pair){last = run, first, end - first};
    }
    return count;
}

/* @return the mean distance in the view; HUGE_VAL: nothing is known of it */
static double fit_along(const struct doppel_video_track *query,
                        const struct doppel_video_track *item, const struct doppel_segment *segment,
                        struct doppel_video_view *view)
{
    const struct doppel_video_search options = doppel_video_search_default();
    struct video_pair pairs[MOST_RUNS];
    struct video_view fitted = {.view = *view};
    const size_t count = pairs_along(query, item, segment, pairs);
    if (!count || !video_view_cells(query, 0, view->rectangle))
        return HUGE_VAL;
    if (video_view_improve(query, item, pairs, count, &options, &fitted))
        *view = fitted.view;
    return video_view_distance(query, item, pairs, count, view);
}

void doppel_match_fit_view(const struct doppel_video_track *query,
                           const struct doppel_video_track *item,
                           const struct doppel_segment *segment, struct doppel_match *match)
{
    struct doppel_video_view there = match->view, back = video_turned_view(&there);
    const struct doppel_video_warp *warp = &there.warp;
    const bool plain = !there.middle && !there.item_middle && !there.item_whole;
    if (!plain || warp->scale_x != 1 || warp->scale_y != 1 || warp->degrees != 0 ||
        match->distance <= NEAR_BITS)
        return;
    const struct doppel_segment turned = {.a_start = segment->b_start,
                                          .a_end = segment->b_end,
                                          .b_start = segment->a_start,
                                          .b_end = segment->a_end};
    const double near_there = fit_along(query, item, segment, &there);
    const double near_back = there.rectangle ? HUGE_VAL : fit_along(item, query, &turned, &back);
    if (near_there < HUGE_VAL || near_back < HUGE_VAL)
        match->view = near_back < near_there ? video_turned_view(&back) : there;
}
