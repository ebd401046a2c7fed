/* Following a line: what the frames that meet there tell, and where they tell most. */
#include <math.h>
#include <stdlib.h>

#include "match/video/search.h"

enum {
    NEIGHBOURS = 5, /* runs of the item that are looked at, at most, for one moment */
    REMEMBERED = 4  /* frames that counted, from which a new one must differ */
};

/* Seconds: one sample, and what rounding of times takes. */
static const double WITHIN = DOPPEL_VIDEO_STEP_MS / 1000.0 + .05;

/* Of middles there is one a second: the nearest one may be too far. */
static const double WITHIN_OF_MIDDLES = .2;

/* From this novelty on a frame is one that counted. */
static const double COUNTED = .25;

/* What a second counts, of frames that have ceased to be the same and do not move. */
static const double AGAINST_A_SECOND = .4;

static const float BARRED = -1e9f;

static size_t most_steps(const struct video_overlay *overlay)
{
    return overlay->task->query->count + overlay->item->count + 1;
}

bool video_path_init(struct video_path *path, const struct video_overlay *overlay)
{
    *path = (struct video_path){.steps = malloc(most_steps(overlay) * sizeof *path->steps)};
    return path->steps;
}

void video_path_free(struct video_path *path)
{
    free(path->steps);
}

/* ---- what a step tells ---- */

struct path_memory {
    uint32_t runs[REMEMBERED], others[REMEMBERED];
    size_t count;
};

struct follower {
    const struct video_overlay *overlay;
    const struct video_line *line;
    struct video_path *path;
    struct path_memory memory;
    size_t most; /* steps that there is room for */
};

static uint32_t distance_of_video_overlay(const struct video_overlay *overlay, uint32_t run,
                                          uint32_t other)
{
    return video_code_distance(&overlay->reading->codes[run], &overlay->item->frames[other],
                               video_met_part(&overlay->reading->view.view));
}

/* By how many bits a step has moved from those that counted: the least and the most of both videos,
 * from the nearest of them. */
static void moved_from(const struct follower *follower, uint32_t run, uint32_t other,
                       uint32_t *out_least, uint32_t *out_most)
{
    const struct video_overlay *overlay = follower->overlay;
    const struct path_memory *memory = &follower->memory;
    *out_least = *out_most = 256;
    for (size_t i = 0; i < memory->count && i < REMEMBERED; i++) {
        uint32_t a = doppel_code_distance(&overlay->reading->codes[run],
                                          &overlay->reading->codes[memory->runs[i]], 256);
        uint32_t b = doppel_code_distance(&overlay->item->frames[other].code,
                                          &overlay->item->frames[memory->others[i]].code, 256);
        uint32_t least = a < b ? a : b, most = a < b ? b : a;
        *out_least = least < *out_least ? least : *out_least;
        *out_most = most < *out_most ? most : *out_most;
    }
}

static float weight_of_video_overlay(const struct video_overlay *overlay, uint32_t run)
{
    const struct video_reading *reading = overlay->reading;
    double weight = overlay->task->rarity[run];
    if (reading->structure)
        weight *= video_score_weight(&reading->view, reading->structure[run]);
    return (float)weight;
}

static void weigh_follower(struct follower *follower, struct video_step *step)
{
    const struct video_overlay *overlay = follower->overlay;
    uint32_t least, most;
    moved_from(follower, step->run, step->other, &least, &most);
    step->weight = weight_of_video_overlay(overlay, step->run);
    double told = video_score_frame(step->distance);
    double novelty = video_score_novelty(told < 0 ? most : least);
    if (told < 0)
        novelty = fmax(novelty, fmin(AGAINST_A_SECOND * (step->end - step->start + .25), 1));
    else
        told *= step->weight;
    step->novelty = (float)novelty;
    step->score = (float)(told * novelty);
    if (novelty < COUNTED)
        return;
    size_t place = follower->memory.count++ % REMEMBERED;
    follower->memory.runs[place] = step->run;
    follower->memory.others[place] = step->other;
}

/* ---- steps ---- */

/* The moment of the query's run, at `middle` seconds of the item; `near` is a run that does not end
 * before. */
static void step_at(struct follower *follower, uint32_t run, double middle, uint32_t near,
                    struct video_step *step)
{
    const struct video_overlay *overlay = follower->overlay;
    const struct doppel_video_track *item = overlay->item;
    const enum video_part part = video_met_part(&overlay->reading->view.view);
    const double within = part == VIDEO_PART_MIDDLE ? WITHIN_OF_MIDDLES : WITHIN;
    uint32_t first = near, best = UINT32_MAX;
    while (first && near - first < NEIGHBOURS / 2 &&
           video_seconds(item->frames[first - 1].end_ms) >= middle - within)
        first--;
    for (uint32_t i = first; i < item->count && i - first < NEIGHBOURS; i++) {
        if (video_seconds(item->frames[i].start_ms) > middle + within)
            break;
        if (video_seconds(item->frames[i].end_ms) < middle - within ||
            !video_part_code(&item->frames[i], part))
            continue;
        uint32_t distance = distance_of_video_overlay(overlay, run, i);
        if (distance >= best)
            continue;
        best = distance;
        step->other = i;
    }
    if (best == UINT32_MAX || follower->path->count == follower->most)
        return;
    step->run = run;
    step->distance = best;
    if (overlay->used_query[run] && overlay->used_item[step->other])
        step->score = BARRED;
    else
        weigh_follower(follower, step);
    follower->path->steps[follower->path->count++] = *step;
}

/* All moments of a run of the query. @param first of the item's runs, the first that does not end
 * before it; their number when there is none */
static void follow_run(struct follower *follower, uint32_t run, uint32_t first)
{
    const struct doppel_video_frame *frame = &follower->overlay->task->query->frames[run];
    const struct doppel_video_track *item = follower->overlay->item;
    const struct video_line *line = follower->line;
    double start = video_line_at(line, video_seconds(frame->start_ms));
    double end = video_line_at(line, video_seconds(frame->end_ms));
    if (first == item->count ||
        video_seconds(item->frames[first].start_ms) > end) { /* between two */
        struct video_step step = {.start = video_seconds(frame->start_ms),
                                  .end = video_seconds(frame->end_ms)};
        step_at(follower, run, (start + end) / 2, first == item->count ? first - 1 : first, &step);
        return;
    }
    for (uint32_t i = first; i < item->count && video_seconds(item->frames[i].start_ms) <= end;
         i++) {
        double from = fmax(video_seconds(item->frames[i].start_ms), start);
        double to = fmin(video_seconds(item->frames[i].end_ms), end);
        struct video_step step = {.start = video_line_back(line, from),
                                  .end = video_line_back(line, to)};
        step_at(follower, run, (from + to) / 2, i, &step);
    }
}

/* The run of steps with the greatest sum (Kadane's), and what is still the same at its ends. */
static void find_best(struct video_path *path)
{
    double sum = 0;
    size_t first = 0;
    path->first = path->end = 0;
    path->score = path->moved = 0;
    for (size_t i = 0; i < path->count; i++) {
        if (sum <= 0) {
            sum = 0;
            first = i;
        }
        sum += path->steps[i].score;
        if (sum > path->score) {
            path->score = sum;
            path->first = first;
            path->end = i + 1;
        }
    }
    if (path->first == path->end)
        return;
    while (path->first && path->steps[path->first - 1].score >= 0)
        path->first--;
    while (path->end < path->count && path->steps[path->end].score >= 0)
        path->end++;
    for (size_t i = path->first; i < path->end; i++)
        path->moved += path->steps[i].score > 0 ? path->steps[i].novelty : 0;
}

void video_path_follow(struct video_path *path, const struct video_overlay *overlay,
                       const struct video_line *line)
{
    const struct doppel_video_track *query = overlay->task->query, *item = overlay->item;
    struct follower follower = {
        .overlay = overlay, .line = line, .path = path, .most = most_steps(overlay)};
    uint32_t first = 0;
    path->count = 0;
    for (uint32_t run = 0; item->count && run < query->count; run++) {
        double start = video_line_at(line, video_seconds(query->frames[run].start_ms));
        while (first < item->count && video_seconds(item->frames[first].end_ms) < start)
            first++;
        if (overlay->reading->there[run])
            follow_run(&follower, run, first);
    }
    find_best(path);
}
