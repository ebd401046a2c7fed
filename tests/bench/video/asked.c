/* Asks the set, and compares its answer with the truth. */
#include "asked.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench.h"

static const double OFF_AT_MOST = 1; /* seconds */
static const double SLOPE_OFF_AT_MOST = .01;

/** What the visitor works with. */
struct judging {
    const struct asking *asking;
    const struct truth *truth;
    struct asked *asked;
};

/* ---- places ---- */

static double overlap(const struct truth *truth, const struct doppel_segment *segment)
{
    return fmin(truth->a_end, segment->a_end) - fmax(truth->a_start, segment->a_start);
}

/* By how much a segment puts the query's middle too late in the item. */
static double offset_error(const struct truth *truth, const struct doppel_segment *segment)
{
    double a = (segment->a_start + segment->a_end) / 2;
    double b = (segment->b_start + segment->b_end) / 2;
    return b - (truth->b_start + (a - truth->a_start) * truth->speed);
}

static const struct doppel_segment *best_segment(const struct truth *truth,
                                                 const struct doppel_match *match)
{
    const struct doppel_segment *best = NULL;
    for (size_t i = 0; i < match->segment_count; i++) {
        const struct doppel_segment *segment = &match->segments[i];
        bool right = fabs(offset_error(truth, segment)) < OFF_AT_MOST;
        bool best_right = best && fabs(offset_error(truth, best)) < OFF_AT_MOST;
        if (!best || right > best_right ||
            (right == best_right && overlap(truth, segment) > overlap(truth, best)))
            best = segment;
    }
    return best;
}

static void judge_right(struct judging *judging, const struct doppel_found *found)
{
    const struct truth *truth = judging->truth;
    struct asked *asked = judging->asked;
    asked->score = found->match.score;
    asked->view = found->match.view;
    if (found->borderline)
        return;
    asked->item = true;
    asked->uncertain = found->match.time_uncertain;
    asked->mirrored = found->match.transform.mirrored == truth->mirrored;
    const struct doppel_segment *segment = best_segment(truth, &found->match);
    if (!segment)
        return;
    asked->segment = *segment;
    asked->slope = fabs(segment->speed / truth->speed - 1) <= SLOPE_OFF_AT_MOST;
    for (size_t i = 0; i < found->match.segment_count && !asked->uncertain; i++)
        asked->contradictory += found->match.segments[i].a_start < truth->a_end &&
                                found->match.segments[i].a_end > truth->a_start &&
                                fabs(offset_error(truth, &found->match.segments[i])) >= OFF_AT_MOST;
    asked->place = overlap(truth, segment) > 0 &&
                   (fabs(offset_error(truth, segment)) < OFF_AT_MOST || asked->uncertain);
}

static bool judge(void *context, const struct doppel_found *found)
{
    struct judging *judging = context;
    struct asked *asked = judging->asked;
    const char *name = judging->asking->clips->list[found->id].name;
    if (!strcmp(name, judging->truth->clip)) {
        judge_right(judging, found);
    } else if (!named_in(judging->truth->also, name)) {
        asked->wrong += !found->borderline;
        if (!(asked->wrong_score >= found->match.score)) {
            asked->wrong_score = found->match.score;
            asked->wrong_video = (size_t)found->id;
        }
    }
    return true;
}

/* ---- ends ---- */

static struct end start_error(const struct truth *truth, const struct doppel_segment *segment)
{
    return (struct end){segment->a_start - truth->a_start, segment->b_start - truth->b_start};
}

static struct end end_error(const struct truth *truth, const struct doppel_segment *segment)
{
    return (struct end){segment->a_end - truth->a_end, segment->b_end - truth->b_end};
}

static const struct doppel_video_box WHOLE = {0, 0, 1, 1};

static bool frames_near(const struct clip *clip, const struct doppel_video_box *box, double seconds,
                        struct doppel_video_track *out)
{
    static const double AROUND = 1.5; /* seconds */
    double from = fmax(0, seconds - AROUND), to = seconds + AROUND;
    bool empty = box->right <= box->left || box->bottom <= box->top;
    return video_frames(clip->path, (uint32_t)(1000 * from), (uint32_t)(1000 * to),
                        empty ? &WHOLE : box, out);
}

static void refine_end(const struct clip *query, const struct clip *item, struct asked *asked,
                       bool last)
{
    struct doppel_segment *segment = &asked->segment;
    const struct doppel_video_view *view = &asked->view;
    struct doppel_video_box box = query->track.box, other = item->track.box;
    struct doppel_video_track near_query = {0}, near_item = {0};
    if (view->rectangle)
        box = query->track.rectangles[view->rectangle - 1];
    if (view->middle)
        (void)doppel_video_middle_box(&query->track, &box);
    if (view->item_middle)
        (void)doppel_video_middle_box(&item->track, &other);
    if (view->item_whole)
        other = WHOLE;
    if (frames_near(query, &box, last ? segment->a_end : segment->a_start, &near_query) &&
        frames_near(item, &other, last ? segment->b_end : segment->b_start, &near_item)) {
        struct doppel_video_end end = {&near_query, &near_item, &asked->view, last};
        doppel_match_video_refine(&end, segment);
    }
    doppel_video_track_free(&near_query);
    doppel_video_track_free(&near_item);
}

static void measure_ends(const struct asking *asking, const struct clip *query,
                         const struct truth *truth, struct asked *asked)
{
    const struct clip *item = videos_named(asking->clips, truth->clip);
    asked->first = start_error(truth, &asked->segment);
    asked->last = end_error(truth, &asked->segment);
    if (!asking->refine || !item)
        return;
    refine_end(query, item, asked, false);
    refine_end(query, item, asked, true);
    asked->refined_first = start_error(truth, &asked->segment);
    asked->refined_last = end_error(truth, &asked->segment);
}

/* What a comparison says of two that a search does not bring together. */
static double compare_pair(const struct asking *asking, const struct clip *query,
                           const struct truth *truth)
{
    const struct clip *item = videos_named(asking->clips, truth->clip);
    struct doppel_match match = {0};
    struct doppel_error error = {0};
    if (!item ||
        doppel_match_videos(&query->track, &item->track, &asking->search, &match, &error) ||
        !match.segment_count)
        return NAN;
    free((void *)match.segments);
    return match.score;
}

struct asked ask(const struct asking *asking, const struct clip *query, const struct truth *truth)
{
    struct asked asked = {.score = NAN, .wrong_score = NAN, .compared = NAN};
    struct judging judging = {asking, truth, &asked};
    struct doppel_error error = {0};
    double start = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    if (query->read &&
        doppel_videos_find(asking->set, &query->track, &asking->search, judge, &judging, &error))
        fprintf(stderr, "%s: %s\n", query->path, error.message);
    asked.seconds = bench_seconds(CLOCK_THREAD_CPUTIME_ID) - start;
    if (asking->compare && !asked.item && query->read)
        asked.compared = compare_pair(asking, query, truth);
    if (asked.place)
        measure_ends(asking, query, truth, &asked);
    return asked;
}
