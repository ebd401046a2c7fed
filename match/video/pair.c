/* What two videos share: each looked for in a set of the other. A picture in one video likewise. */
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "match/segments.h"
#include "match/video/search.h"

/* From this share of a video that is found on, the other way round tells nothing new. */
static const double ENOUGH = 0.9;

struct answer {
    struct doppel_match match; /* its segments are given */
    bool known, out_of_memory;
};

static bool keep_better_pair(void *context, const struct doppel_found *found)
{
    struct answer *answer = context;
    size_t bytes = found->match.segment_count * sizeof *found->match.segments;
    struct doppel_segment *segments = found->borderline ? NULL : malloc(bytes);
    answer->out_of_memory = !found->borderline && !segments;
    answer->known = !answer->out_of_memory;
    answer->match = found->match;
    answer->match.segments = segments;
    answer->match.segment_count = segments ? found->match.segment_count : 0;
    if (segments)
        memcpy(segments, found->match.segments, bytes);
    return !answer->out_of_memory;
}

/* Close what was visited. */
static enum doppel_status finish_pair_match(enum doppel_status status, struct answer *answer,
                                            struct doppel_error *error)
{
    if (!answer->known)
        video_describe(&(video_stretches){0}, NULL, 0, NULL, &answer->match);
    return status == DOPPEL_E_CANCELLED
               ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for segments")
               : status;
}

/* A set of one video. */
static enum doppel_status set_of_video_track(const struct doppel_video_track *item,
                                             struct doppel_videos **out, struct doppel_error *error)
{
    enum doppel_status status = doppel_videos_new(out, error);
    return status ? status : doppel_videos_add(*out, 0, item, error);
}

static enum doppel_status search_video_track(const struct doppel_video_track *query,
                                             const struct doppel_video_track *item,
                                             const struct doppel_video_search *options,
                                             struct answer *out, struct doppel_error *error)
{
    struct doppel_video_search with_near = *options;
    struct doppel_videos *videos = NULL;
    with_near.near_misses = VIDEO_ANY_NEAR_MISS;
    enum doppel_status status = set_of_video_track(item, &videos, error);
    if (!status)
        status = doppel_videos_find(videos, query, &with_near, keep_better_pair, out, error);
    doppel_videos_free(videos);
    return finish_pair_match(status, out, error);
}

/* ---- the other way round ---- */

struct doppel_video_view video_turned_view(const struct doppel_video_view *view)
{
    struct doppel_video_view out = {.mirrored = view->mirrored,
                                    .middle = view->item_middle,
                                    .item_middle = view->middle,
                                    .warp = {.scale_x = 1, .scale_y = 1}};
    const struct doppel_video_warp *warp = &view->warp;
    if (view->rectangle || !(warp->scale_x > 0) || !(warp->scale_y > 0))
        return out;
    out.warp.scale_x = 1 / warp->scale_x;
    out.warp.scale_y = 1 / warp->scale_y;
    out.warp.shift_x = -warp->shift_x / warp->scale_x;
    out.warp.shift_y = -warp->shift_y / warp->scale_y;
    out.warp.degrees = -warp->degrees;
    return out;
}

static void turn_pair_match(struct doppel_match *match)
{
    struct doppel_segment *segments = (struct doppel_segment *)match->segments;
    double coverage = match->query_coverage;
    struct doppel_place place = match->query_place;
    match->query_coverage = match->item_coverage;
    match->item_coverage = coverage;
    match->query_place = match->item_place;
    match->item_place = place;
    if (match->relation == DOPPEL_RELATION_CONTAINS)
        match->relation = DOPPEL_RELATION_CONTAINED;
    else if (match->relation == DOPPEL_RELATION_CONTAINED)
        match->relation = DOPPEL_RELATION_CONTAINS;
    if (match->transform.speed > 0)
        match->transform.speed = 1 / match->transform.speed;
    match->view = video_turned_view(&match->view);
    for (size_t i = 0; i < match->segment_count; i++) {
        struct doppel_segment was = segments[i];
        segments[i] = (struct doppel_segment){.a_start = was.b_start,
                                              .a_end = was.b_end,
                                              .b_start = was.a_start,
                                              .b_end = was.a_end,
                                              .speed = 1 / was.speed,
                                              .repeat = was.repeat};
    }
    segments_sort(segments, match->segment_count);
}

static bool is_better_match(const struct doppel_match *a, const struct doppel_match *b)
{
    return (a->segment_count > 0) != (b->segment_count > 0) ? a->segment_count > 0
                                                            : a->score > b->score;
}

enum doppel_status doppel_match_videos(const struct doppel_video_track *query,
                                       const struct doppel_video_track *item,
                                       const struct doppel_video_search *options,
                                       struct doppel_match *out_match, struct doppel_error *error)
{
    struct answer there = {0}, back = {0};
    enum doppel_status status;
    TRY(search_video_track(query, item, options, &there, error));
    bool is_found = there.match.segment_count &&
                    (there.match.query_coverage >= ENOUGH || there.match.item_coverage >= ENOUGH);
    if (!is_found)
        TRY(search_video_track(item, query, options, &back, error));
    if (back.known && (!there.known || is_better_match(&back.match, &there.match))) {
        struct answer other = there;
        there = back;
        back = other;
        turn_pair_match(&there.match);
    }
done:
    free((void *)back.match.segments);
    if (status)
        free((void *)there.match.segments);
    else
        *out_match = there.match;
    return status;
}

enum doppel_status doppel_match_image_in_video(const struct doppel_match_item *image,
                                               const struct doppel_video_track *item,
                                               const struct doppel_video_search *options,
                                               struct doppel_match *out_match,
                                               struct doppel_error *error)
{
    struct doppel_video_search with_near = *options;
    struct doppel_videos *videos = NULL;
    struct answer answer = {0};
    with_near.near_misses = VIDEO_ANY_NEAR_MISS;
    enum doppel_status status = set_of_video_track(item, &videos, error);
    if (!status)
        status =
            doppel_videos_find_image(videos, image, &with_near, keep_better_pair, &answer, error);
    doppel_videos_free(videos);
    status = finish_pair_match(status, &answer, error);
    if (!status)
        *out_match = answer.match;
    return status;
}
