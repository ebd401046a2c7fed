/* Finding the videos of a set that a video is, holds, is held by, or overlaps: stage by stage of
 * views, at two radii, for the frames that are not answered yet. */
#include <math.h>
#include <stdlib.h>

#include "match/video/search.h"

enum {
    MOST_MISSES = 24, /* items in a row in which nothing is found */
    STAGES = 3,       /* of views */
    ANSWERED_RUNS = 2 /* or fewer open: the query is answered */
};

/* The last one is for what is no match alone: where what is below the threshold is wanted. */
static const uint32_t RADII[] = {VIDEO_RADIUS, VIDEO_RADIUS_FAR, VIDEO_RADIUS_NEAR_MISS};

/* Of the runs of a query, those that may stay open when something was found. */
static const double MAY_STAY_OPEN = .05;

/* ---- findings ---- */

void video_findings_free(video_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        array_free(&findings->items[i].stretches);
    array_free(findings);
}

static double score_of_video_finding(const struct video_finding *finding)
{
    double best = -HUGE_VAL;
    for (size_t i = 0; i < finding->stretches.count; i++)
        best = fmax(best, finding->stretches.items[i].score);
    return best;
}

static int better_video_first(const void *a, const void *b)
{
    const struct video_finding *x = a, *y = b;
    double of_x = score_of_video_finding(x), of_y = score_of_video_finding(y);
    if (x->rejected != y->rejected)
        return x->rejected ? 1 : -1;
    if (of_x != of_y)
        return of_x > of_y ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

enum doppel_status video_findings_visit(video_findings *findings, const struct video_visit *visit,
                                        struct doppel_error *error)
{
    size_t near_misses = visit->near_misses;
    if (findings->count)
        qsort(findings->items, findings->count, sizeof *findings->items, better_video_first);
    for (size_t i = 0; i < findings->count; i++) {
        const struct video_finding *finding = &findings->items[i];
        if (!finding->stretches.count) /* its lines told nothing */
            continue;
        if (finding->rejected && !near_misses--)
            break;
        struct doppel_segment *segments = malloc(finding->stretches.count * sizeof *segments);
        if (!segments)
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to describe what was found");
        struct doppel_found found = {.id = finding->id, .borderline = finding->rejected};
        video_describe(&finding->stretches, visit->query, finding->seconds, segments, &found.match);
        bool goes_on = visit->visitor(visit->context, &found);
        free(segments);
        if (!goes_on)
            return doppel_fail(error, DOPPEL_E_CANCELLED, "the search was ended by its caller");
    }
    return DOPPEL_OK;
}

/* The finding of an item, a new one where there is none. NULL: no memory */
static struct video_finding *finding_of(video_findings *findings, uint64_t id)
{
    for (size_t i = 0; i < findings->count; i++)
        if (findings->items[i].id == id)
            return &findings->items[i];
    struct video_finding finding = {.id = id};
    return array_push(findings, finding) ? &findings->items[findings->count - 1] : NULL;
}

/* ---- candidates ---- */

/* The lines of one item. */
struct video_lines {
    const struct video_candidate *first;
    size_t count;
};

static int by_weight(const void *a, const void *b)
{
    const struct video_candidate *x = ((const struct video_lines *)a)->first;
    const struct video_candidate *y = ((const struct video_lines *)b)->first;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* @param candidates by id. @param out room for as many. @return items */
static size_t group(const video_candidates *candidates, struct video_lines *out)
{
    size_t count = 0;
    for (size_t i = 0; i < candidates->count; i++) {
        const struct video_candidate *candidate = &candidates->items[i];
        if (i && candidate[-1].id == candidate->id)
            out[count - 1].count++;
        else
            out[count++] = (struct video_lines){candidate, 1};
    }
    if (count)
        qsort(out, count, sizeof *out, by_weight);
    return count;
}

static bool verify_video_task(struct video_task *task, const video_candidates *candidates,
                              video_findings *findings)
{
    struct video_lines *items = malloc((candidates->count + 1) * sizeof *items);
    size_t count = items ? group(candidates, items) : 0, misses = 0;
    bool done = items;
    for (size_t i = 0; done && i < count && misses < MOST_MISSES; i++) {
        struct video_finding *finding = finding_of(findings, items[i].first->id);
        done = finding && video_verify_item(task, items[i].first, items[i].count, finding);
        misses = done && finding->stretches.count && !finding->rejected ? 0 : misses + 1;
    }
    free(items);
    return done;
}

/* Fit views to the best of the weak lines, whoever's they are. */
static bool verify_weak_lines(struct video_task *task, video_findings *findings)
{
    size_t count = video_task_choose_weak(task);
    bool done = true;
    for (size_t i = 0; done && i < count; i++) {
        struct video_finding *finding = finding_of(findings, task->weak.items[i].id);
        done = finding && video_verify_weak(task, &task->weak.items[i], finding);
    }
    task->weak.count = 0;
    return done;
}

/* ---- stages ---- */

/* Note which runs are in what was found. @return whether nearly all are */
static bool is_answered_video_task(struct video_task *task, const video_findings *findings)
{
    const struct doppel_video_track *query = task->query;
    size_t open = 0;
    bool found = false;
    for (size_t i = 0; i < findings->count; i++) {
        const struct video_finding *finding = &findings->items[i];
        for (size_t j = 0; j < finding->stretches.count && !finding->rejected; j++) {
            const struct doppel_segment *segment = &finding->stretches.items[j].segment;
            found = true;
            video_mark_runs(query, segment->a_start, segment->a_end, task->answered);
        }
    }
    for (size_t run = 0; run < query->count; run++)
        open += !task->answered[run];
    double most = fmax(ANSWERED_RUNS, MAY_STAY_OPEN * (double)query->count);
    return !open || (found && (double)open <= most);
}

/* Whether to look up what is open yet, so far from the codes. */
static bool is_worth_looking(struct video_task *task, const video_findings *findings,
                             uint32_t radius)
{
    const size_t wanted = task->options->near_misses;
    if (radius == VIDEO_RADIUS_NEAR_MISS &&
        (wanted == VIDEO_ANY_NEAR_MISS || findings->count >= wanted))
        return false;
    return !is_answered_video_task(task, findings);
}

static enum doppel_status search_video_task(struct video_task *task, unsigned stage,
                                            uint32_t radius, video_findings *findings,
                                            struct doppel_error *error)
{
    size_t first = 0, end;
    while (first < task->view_count && task->views[first].stage < stage)
        first++;
    for (end = first; end < task->view_count && task->views[end].stage == stage;)
        end++;
    if (first == end)
        return DOPPEL_OK;
    struct video_hits hits = {0};
    video_candidates candidates = {0};
    enum doppel_status status = videos_look_up(task, first, end, radius, &hits, error);
    if (!status &&
        !(videos_vote(task, &hits, &candidates) && verify_video_task(task, &candidates, findings) &&
          verify_weak_lines(task, findings)))
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory to search videos");
    array_free(&candidates);
    free(hits.items);
    return status;
}

enum doppel_status doppel_videos_find(const struct doppel_videos *videos,
                                      const struct doppel_video_track *query,
                                      const struct doppel_video_search *options,
                                      doppel_found_visitor *visitor, void *context,
                                      struct doppel_error *error)
{
    if (!video_track_is_in_order(query))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "the frames of the video are not by time");
    struct video_task task = {.videos = videos, .query = query, .options = options};
    const struct video_visit visit = {query, options->near_misses, visitor, context};
    video_findings findings = {0};
    enum doppel_status status = DOPPEL_OK;
    if (!video_task_init(&task))
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %zu frames", query->count);
    for (unsigned stage = 0; !status && stage < STAGES; stage++)
        for (size_t i = 0; !status && i < sizeof RADII / sizeof *RADII; i++)
            if (is_worth_looking(&task, &findings, RADII[i]))
                status = search_video_task(&task, stage, RADII[i], &findings, error);
    if (!status)
        status = video_findings_visit(&findings, &visit, error);
    video_findings_free(&findings);
    video_task_free(&task);
    return status;
}
