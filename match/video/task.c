/* A search of videos: the query, the ways to look at it, and its codes in some of these. */
#include <math.h>
#include <stdlib.h>

#include "match/video/search.h"

/* Views that are fitted in one look, to the likeliest lines: each takes 1 to 2 ms. */
enum { FITS = 10, THOROUGH_FITS = 80 };

bool video_task_init(struct video_task *task)
{
    size_t count = task->query->count;
    task->frames = task->videos ? doppel_videos_frames(task->videos) : 0;
    task->views = malloc(VIDEO_VIEWS_MAX * sizeof *task->views);
    task->rarity = malloc((count + 1) * sizeof *task->rarity);
    task->answered = calloc(count + 1, sizeof *task->answered);
    if (!task->views || !task->rarity || !task->answered)
        return false;
    for (size_t i = 0; i < count; i++)
        task->rarity[i] = 1;
    task->view_count = video_views(task->query, task->options, task->views);
    return true;
}

/* ---- weak lines ---- */

/* Seconds by which lines differ, at most, that are the same for a fit. */
static const double SAME_WEAK = .5;

static int better_weak_first(const void *a, const void *b)
{
    const struct video_weak *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->line.offset > y->line.offset) - (x->line.offset < y->line.offset);
}

static bool is_same_weak(const struct video_weak *a, const struct video_weak *b, double seconds)
{
    return a->id == b->id && a->view.view.mirrored == b->view.view.mirrored &&
           a->view.view.rectangle == b->view.view.rectangle &&
           a->view.view.middle == b->view.view.middle &&
           video_met_part(&a->view.view) == video_met_part(&b->view.view) &&
           fabs(a->line.offset - b->line.offset) <= SAME_WEAK &&
           fabs(video_line_at(&a->line, seconds) - video_line_at(&b->line, seconds)) <= SAME_WEAK;
}

size_t video_task_choose_weak(struct video_task *task)
{
    const size_t most = task->options->thorough ? THOROUGH_FITS : FITS;
    const double seconds = video_duration(task->query);
    video_weaks *weak = &task->weak;
    size_t chosen = 0;
    if (weak->count)
        qsort(weak->items, weak->count, sizeof *weak->items, better_weak_first);
    for (size_t i = 0; i < weak->count && chosen < most; i++) {
        size_t known = 0;
        while (known < task->fitted.count &&
               !is_same_weak(&task->fitted.items[known], &weak->items[i], seconds))
            known++;
        if (known < task->fitted.count || !array_push(&task->fitted, weak->items[i]))
            continue;
        weak->items[chosen++] = weak->items[i];
    }
    return chosen;
}

void video_task_free(struct video_task *task)
{
    for (size_t i = 0; i < VIDEO_READINGS; i++) {
        free(task->readings[i].codes);
        free(task->readings[i].there);
    }
    for (size_t i = 0; i < sizeof task->structure / sizeof *task->structure; i++)
        free(task->structure[i]);
    array_free(&task->weak);
    array_free(&task->fitted);
    free(task->views);
    free(task->rarity);
    free(task->answered);
}

static bool is_same_view(const struct doppel_video_view *a, const struct doppel_video_view *b)
{
    return a->mirrored == b->mirrored && a->rectangle == b->rectangle && a->middle == b->middle &&
           a->warp.scale_x == b->warp.scale_x && a->warp.scale_y == b->warp.scale_y &&
           a->warp.shift_x == b->warp.shift_x && a->warp.shift_y == b->warp.shift_y &&
           a->warp.degrees == b->warp.degrees;
}

/* Where codes of a view are, or the place that was used least recently. */
static struct video_reading *task_place(struct video_task *task,
                                        const struct doppel_video_view *view)
{
    struct video_reading *oldest = &task->readings[0];
    for (size_t i = 0; i < VIDEO_READINGS; i++) {
        struct video_reading *reading = &task->readings[i];
        if (reading->age && is_same_view(&reading->view.view, view))
            return reading;
        oldest = reading->age < oldest->age ? reading : oldest;
    }
    oldest->age = 0;
    return oldest;
}

/* How much structure the frames of a part have, measured once. NULL: not known */
static const float *task_structure(struct video_task *task, unsigned rectangle)
{
    float **structure = &task->structure[rectangle];
    if (*structure || !video_view_cells(task->query, 0, rectangle))
        return *structure;
    *structure = malloc((task->query->count + 1) * sizeof **structure);
    for (size_t i = 0; *structure && i < task->query->count; i++)
        (*structure)[i] = video_score_structure(video_view_cells(task->query, i, rectangle));
    return *structure;
}

const struct video_reading *video_task_read(struct video_task *task, const struct video_view *view)
{
    struct video_reading *reading = task_place(task, &view->view);
    size_t count = task->query->count;
    if (!reading->codes)
        reading->codes = malloc((count + 1) * sizeof *reading->codes);
    if (!reading->there)
        reading->there = malloc((count + 1) * sizeof *reading->there);
    if (!reading->codes || !reading->there)
        return NULL;
    for (size_t i = 0; !reading->age && i < count; i++)
        reading->there[i] = video_view_code(task->query, i, &view->view, &reading->codes[i]);
    reading->structure = task_structure(task, view->view.rectangle);
    reading->view = *view;
    reading->age = ++task->clock;
    return reading;
}
