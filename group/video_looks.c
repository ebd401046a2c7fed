/* What videos of a group show of one picture: how much of it, and of their frame, by how their
 * representative met them. Which is kept follows from that (library/ledger/looks.c). */
#include "group/timed.h"

#include <math.h>
#include <stdlib.h>

#include "compare/video.h"

/* Of two videos that met: how much of the item's frame the picture of each shows, and the share of
 * its own frame that is picture. */
struct video_shares {
    double query_scene, item_scene;
    double query_share, item_share;
};

static double box_area(const struct doppel_video_box *box)
{
    return (double)(box->right - box->left) * (box->bottom - box->top);
}

static double middle_area(const struct doppel_video_track *track)
{
    struct doppel_video_box box = track->box;
    (void)doppel_video_middle_box(track, &box);
    return box_area(&box);
}

/* What met of the query is as large in the item as its warp says; what else it shows is beside. */
static struct video_shares shown_by_view(const struct doppel_video_track *query,
                                         const struct doppel_video_track *item,
                                         const struct doppel_video_view *view)
{
    const bool in_rectangle = view->rectangle && view->rectangle <= query->rectangle_count;
    const double picture =
        box_area(in_rectangle ? &query->rectangles[view->rectangle - 1] : &query->box);
    const double met = view->middle ? middle_area(query) : picture;
    const double item_picture = box_area(&item->box);
    const double item_met = view->item_whole    ? 1
                            : view->item_middle ? middle_area(item)
                                                : item_picture;
    struct video_shares shown = {
        .query_scene = item_met / ((double)view->warp.scale_x * view->warp.scale_y) * picture / met,
        .item_scene = item_picture,
        .query_share = picture,
        .item_share = item_picture};
    if (view->item_whole) { /* bars of the item lie in the query's picture */
        shown.query_scene *= item_picture;
        shown.query_share *= item_picture;
    }
    return shown;
}

/* @param leader its representative, which may have looked for it. @param out_share of its
 * frame that is picture, where it is less */
static void look_at_video(const struct group_lead *lead, const struct doppel_video_track *video,
                          const struct doppel_video_track *leader, struct doppel_image_look *out,
                          double *out_share)
{
    const struct doppel_video_track *query = lead->turned ? leader : video;
    const struct doppel_video_track *item = lead->turned ? video : leader;
    struct doppel_match match = lead->match;
    if (!copy_segments(&match))
        return;
    if (lead->turned)
        turn_match(&match);
    const struct doppel_segment *longest = longest_segment(&match);
    if (longest)
        doppel_match_fit_view(query, item, longest, &match);
    struct video_shares shown = shown_by_view(query, item, &match.view);
    free((void *)match.segments);
    double scene = shown.query_scene / shown.item_scene;
    out->known = isfinite(scene) && scene > 0;
    out->scene = lead->turned ? 1 / scene : scene;
    out->share = out->trimmed = lead->turned ? shown.item_share : shown.query_share;
    out->orientation = match.view.mirrored;
    *out_share = fmin(*out_share, lead->turned ? shown.query_share : shown.item_share);
}

void videos_look(const struct grouping *grouping, const struct led_item *members, size_t count,
                 struct doppel_image_look *out)
{
    struct doppel_video_track leader, video;
    double share = 1;
    if (!videos_load_frames(grouping, members[0].leader, &leader))
        return;
    for (size_t i = 0; i < count; i++) {
        const uint32_t content = grouping_first_of(grouping, members[i].item);
        const struct group_lead *lead = timed_lead(grouping, content);
        out[i].first_share = 1;
        if (!lead || lead->leader != members[i].leader || lead->match.has_places ||
            !videos_load_frames(grouping, content, &video))
            continue;
        look_at_video(lead, &video, &leader, &out[i], &share);
        doppel_video_track_free(&video);
    }
    for (size_t i = 0; i < count; i++)
        if (grouping_first_of(grouping, members[i].item) == members[i].leader)
            out[i] = (struct doppel_image_look){
                .known = true, .share = share, .trimmed = share, .first_share = 1, .scene = 1};
    doppel_video_track_free(&leader);
}
