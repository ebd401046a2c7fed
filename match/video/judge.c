/* Judging the lines of one item: following them, taking what is found, and going on beside it. */
#include <math.h>
#include <stdlib.h>

#include "match/video/search.h"

enum {
    MOST_MISSES = 4,    /* lines of an item that are followed in vain */
    MOST_STRETCHES = 64 /* of an item */
};

/* Scores from which on a line that is too weak is looked at in other views. */
static const double WORTH_IMPROVING = 1;

struct stretch_judge {
    struct video_task *task;
    struct video_item item;
    struct video_finding *finding;
    bool *used_query, *used_item;
    struct video_path path;
    struct video_stretch near; /* the best that was not enough */
    bool has_near;
};

static void mark_verified(struct stretch_judge *judge)
{
    for (size_t i = judge->path.first; i < judge->path.end; i++) {
        const struct video_step *step = &judge->path.steps[i];
        if (step->score < 0)
            continue;
        judge->used_query[step->run] = true;
        judge->used_item[step->other] = true;
    }
}

static void mark_stretch(struct stretch_judge *judge, const struct doppel_segment *segment)
{
    video_mark_runs(judge->task->query, segment->a_start, segment->a_end, judge->used_query);
    video_mark_runs(&judge->item.track, segment->b_start, segment->b_end, judge->used_item);
}

/* Whether a stretch is no chance. Of an item that is found already, chance has the choice of its
 * own frames only, not of the whole set's. */
static bool is_enough(const struct stretch_judge *judge, const struct video_stretch *stretch)
{
    double frames = (double)judge->task->frames + 1, own = (double)judge->item.track.count + 1;
    bool is_found = judge->finding->stretches.count;
    double fewer_choices = is_found && !stretch->uncertain ? fmax(log10(frames / own), 0) : 0;
    return stretch->score + fewer_choices >= -log10(judge->task->options->max_expected);
}

/* Whether a path lies in what was found already. */
static bool is_used(const struct stretch_judge *judge)
{
    for (size_t i = judge->path.first; i < judge->path.end; i++)
        if (judge->used_query[judge->path.steps[i].run] ||
            judge->used_item[judge->path.steps[i].other])
            return true;
    return false;
}

/* Take what is found along a line, stretch by stretch. @return false: no memory */
static bool take_verified(struct stretch_judge *judge, const struct video_overlay *overlay,
                          const struct video_line *line, size_t *out_taken)
{
    video_stretches *stretches = &judge->finding->stretches;
    *out_taken = 0;
    while (judge->path.first < judge->path.end && stretches->count < MOST_STRETCHES) {
        struct video_stretch stretch = video_stretch_of(&judge->path, overlay, line);
        if (stretch.uncertain && is_used(judge))
            return true;
        if (!is_enough(judge, &stretch)) {
            if (!judge->has_near || stretch.score > judge->near.score)
                judge->near = stretch;
            judge->has_near = true;
            return true;
        }
        if (!array_push(stretches, stretch))
            return false;
        ++*out_taken;
        mark_verified(judge);
        video_path_follow(&judge->path, overlay, line);
    }
    return true;
}

/* Look for a better view along a line. @return false: none, or no memory */
static bool improve(struct stretch_judge *judge, struct video_view *view)
{
    const struct video_path *path = &judge->path;
    struct video_pair *pairs = malloc((path->end - path->first + 1) * sizeof *pairs);
    size_t count = 0;
    for (size_t i = path->first; pairs && i < path->end; i++) {
        uint32_t other = path->steps[i].other, first = other ? other - 1 : 0;
        uint32_t end = other + 1 < judge->item.track.count ? other + 2 : other + 1;
        pairs[count++] = (struct video_pair){path->steps[i].run, first, end - first};
    }
    bool improved = count && video_view_improve(judge->task->query, &judge->item.track, pairs,
                                                count, judge->task->options, view);
    free(pairs);
    return improved;
}

/* Follow a line in a view, moved to where it is best. @return false: no memory */
static bool follow_stretch(struct stretch_judge *judge, const struct video_view *view,
                           struct video_line *line, size_t *out_taken)
{
    struct video_overlay overlay = {.task = judge->task,
                                    .reading = video_task_read(judge->task, view),
                                    .item = &judge->item.track,
                                    .used_query = judge->used_query,
                                    .used_item = judge->used_item};
    if (!overlay.reading)
        return false;
    video_line_polish(line, &overlay, &judge->path);
    return take_verified(judge, &overlay, line, out_taken);
}

static bool follow_candidate(struct stretch_judge *judge, const struct video_candidate *candidate)
{
    struct video_task *task = judge->task;
    struct video_weak weak = {
        .id = candidate->id, .line = candidate->line, .view = task->views[candidate->view]};
    weak.view.view.item_middle = candidate->part == VIDEO_PART_MIDDLE;
    weak.view.view.item_whole = candidate->part == VIDEO_PART_WHOLE;
    size_t taken;
    if (!follow_stretch(judge, &weak.view, &weak.line, &taken))
        return false;
    weak.score = judge->path.score;
    if (taken || task->options->plain || weak.score < WORTH_IMPROVING)
        return true;
    return array_push(&task->weak, weak);
}

/* ---- an item ---- */

static bool init_verifier(struct stretch_judge *judge)
{
    judge->finding->seconds = video_shown(&judge->item.track);
    struct video_overlay overlay = {.task = judge->task, .item = &judge->item.track};
    video_stretches *stretches = &judge->finding->stretches;
    judge->used_query = calloc(judge->task->query->count + 1, sizeof *judge->used_query);
    judge->used_item = calloc(judge->item.track.count + 1, sizeof *judge->used_item);
    if (!judge->used_query || !judge->used_item || !video_path_init(&judge->path, &overlay))
        return false;
    if (judge->finding->rejected) {
        judge->has_near = true;
        judge->near = stretches->items[--stretches->count];
        judge->finding->rejected = false;
    }
    for (size_t i = 0; i < stretches->count; i++)
        mark_stretch(judge, &stretches->items[i].segment);
    return true;
}

/* What is below the threshold is emitted where nothing was found. */
static bool keep_near(struct stretch_judge *judge)
{
    video_stretches *stretches = &judge->finding->stretches;
    if (stretches->count || !judge->has_near)
        return true;
    judge->finding->rejected = true;
    return array_push(stretches, judge->near);
}

static void settle_finding(struct stretch_judge *judge)
{
    video_stretches_settle(&judge->finding->stretches);
    video_stretches_reconcile(&judge->finding->stretches, judge->task->query, &judge->item.track);
}

static void free_verifier(struct stretch_judge *judge)
{
    video_path_free(&judge->path);
    free(judge->used_query);
    free(judge->used_item);
    videos_item_free(&judge->item);
}

bool video_verify_weak(struct video_task *task, const struct video_weak *weak,
                       struct video_finding *finding)
{
    struct stretch_judge judge = {.task = task, .finding = finding};
    struct video_weak fitted = *weak;
    if (!videos_item(task->videos, finding->id, &judge.item))
        return true;
    size_t taken;
    bool done = init_verifier(&judge) && follow_stretch(&judge, &fitted.view, &fitted.line, &taken);
    if (done && improve(&judge, &fitted.view))
        done = follow_stretch(&judge, &fitted.view, &fitted.line, &taken);
    settle_finding(&judge);
    done = done && keep_near(&judge);
    free_verifier(&judge);
    return done;
}

bool video_verify_item(struct video_task *task, const struct video_candidate *candidates,
                       size_t count, struct video_finding *finding)
{
    struct stretch_judge judge = {.task = task, .finding = finding};
    if (!videos_item(task->videos, finding->id, &judge.item))
        return true;
    bool done = init_verifier(&judge);
    for (size_t i = 0, misses = 0; done && i < count && misses < MOST_MISSES; i++) {
        size_t before = finding->stretches.count;
        done = follow_candidate(&judge, &candidates[i]);
        misses += finding->stretches.count == before;
    }
    settle_finding(&judge);
    done = done && keep_near(&judge);
    free_verifier(&judge);
    return done;
}
