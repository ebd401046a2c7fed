/* From the path of a line to a stretch of both videos, and from stretches to a match. */
#include <math.h>

#include "match/segments.h"
#include "match/video/search.h"

/* Smaller rates are reported as this one: they mean nothing more. */
static const double LEAST_RATE = 1e-300;

/* Frames that have to have moved for a time to be known: the first is none. */
static const double MOVED = 1.5;

/* How long its last frame is shown is not known closer: to a GIF of a second that matters. */
static const double HALF_SAMPLE = DOPPEL_VIDEO_STEP_MS / 2000.0;

/* The share of a frame up to which a rectangle is a picture in a picture. */
static const double MOST_INSET = .75;

/* The median of the distances along the path. */
static uint32_t median_distance(const struct video_path *path)
{
    size_t counts[257] = {0}, below = 0;
    for (size_t i = path->first; i < path->end; i++)
        counts[path->steps[i].distance <= 256 ? path->steps[i].distance : 256]++;
    uint32_t distance = 0;
    while ((below += counts[distance]) * 2 < path->end - path->first)
        distance++;
    return distance;
}

static double weight_of_video_path(const struct video_path *path)
{
    double weight = 1;
    for (size_t i = path->first; i < path->end; i++)
        weight = fmin(weight, path->steps[i].weight);
    return weight;
}

struct video_stretch video_stretch_of(const struct video_path *path,
                                      const struct video_overlay *overlay,
                                      const struct video_line *line)
{
    const struct video_task *task = overlay->task;
    struct doppel_video_search options = *task->options;
    struct video_stretch stretch = {.uncertain = path->moved < MOVED,
                                    .view = overlay->reading->view.view,
                                    .ambiguous = line->open,
                                    .distance = median_distance(path)};
    double told = path->score;
    if (stretch.uncertain) {
        options.same_speed = true; /* it had no choice of speeds */
        told = video_score_still(stretch.distance) * weight_of_video_path(path);
        stretch.segment = video_scenes(path, overlay);
    } else {
        stretch.segment = video_ends(path, overlay, line);
    }
    stretch.score = told - video_score_choices(task->frames, &options, &overlay->reading->view);
    return stretch;
}

/* ---- the match ---- */

static const struct video_stretch *best_of(const video_stretches *stretches)
{
    const struct video_stretch *best = &stretches->items[0];
    for (size_t i = 1; i < stretches->count; i++)
        best = stretches->items[i].score > best->score ? &stretches->items[i] : best;
    return best;
}

/* A picture in a picture: the query shows more than the item, however much of its time they share.
 */
static void describe_place(const struct doppel_video_track *query, struct doppel_match *match)
{
    uint8_t number = match->view.rectangle;
    if (!number || number > query->rectangle_count)
        return;
    const struct doppel_video_box *box = &query->rectangles[number - 1];
    if ((box->right - box->left) * (box->bottom - box->top) > MOST_INSET)
        return; /* nearly the full frame */
    match->has_places = true;
    match->query_place = (struct doppel_place){box->left, box->top, box->right, box->bottom, 0};
    match->item_place = (struct doppel_place){0, 0, 1, 1, 0};
    if (match->relation == DOPPEL_RELATION_SAME)
        match->relation = DOPPEL_RELATION_CONTAINS;
    else if (match->relation == DOPPEL_RELATION_CONTAINED)
        match->relation = DOPPEL_RELATION_OVERLAPS;
}

void video_describe(const video_stretches *stretches, const struct doppel_video_track *query,
                    double item_seconds, struct doppel_segment *segments, struct doppel_match *out)
{
    *out = (struct doppel_match){.kind = DOPPEL_KIND_VIDEO,
                                 .scheme = DOPPEL_SCHEME_FRAMES64,
                                 .relation = DOPPEL_RELATION_OVERLAPS,
                                 .verified = DOPPEL_VERIFIED_ALIGNMENT,
                                 .bits = 256,
                                 .distance = 256,
                                 .false_positive_rate = -1,
                                 .view.warp = {.scale_x = 1, .scale_y = 1}};
    size_t count = stretches->count;
    if (!count)
        return;
    const struct video_stretch *best = best_of(stretches);
    const struct doppel_video_warp *warp = &best->view.warp;
    const struct segment_lengths lengths = {query ? video_shown(query) : 0, item_seconds, 1,
                                            HALF_SAMPLE};
    for (size_t i = 0; i < count; i++)
        segments[i] = stretches->items[i].segment;
    segments_describe(segments, count, &lengths, out);
    out->has_coverage = true;
    out->score = best->score;
    out->false_positive_rate = fmin(fmax(pow(10, -best->score), LEAST_RATE), 1);
    out->distance = best->distance;
    out->similarity = fmax(1 - best->distance / 128.0, 0);
    out->transform.mirrored = best->view.mirrored;
    out->transform.cropped = warp->scale_x > 1 || warp->scale_y > 1 || best->view.item_middle;
    out->transform.speed = best->segment.speed == 1 ? 0 : best->segment.speed;
    out->time_uncertain = best->uncertain || best->ambiguous;
    out->view = best->view;
    if (query)
        describe_place(query, out);
}
