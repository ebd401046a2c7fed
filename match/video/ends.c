/* When videos begin and cease to be the same: between samples, in black, between keyframes. */
#include <math.h>

#include "match/video/search.h"

/* Seconds between a video's end and its first or last frame that are taken as shown. */
static const double EDGE = .6;

/* Seconds. */
static const double HALF_SAMPLE = DOPPEL_VIDEO_STEP_MS / 2000.0;

static double start_of_video_track(const struct doppel_video_track *track, uint32_t run)
{
    return video_seconds(track->frames[run].start_ms);
}

static double end_of_video_track(const struct doppel_video_track *track, uint32_t run)
{
    return video_seconds(track->frames[run].end_ms);
}

/* ---- of one video ---- */

double video_duration(const struct doppel_video_track *track)
{
    double last = track->count ? end_of_video_track(track, (uint32_t)track->count - 1) : 0;
    return fmax(video_seconds(track->duration_ms), last);
}

double video_shown_from(const struct doppel_video_track *track, uint32_t run)
{
    double start = start_of_video_track(track, run);
    if (!run)
        return start <= EDGE ? 0 : start - HALF_SAMPLE;
    double gap = start - end_of_video_track(track, run - 1);
    return start - (gap <= VIDEO_SAMPLED ? gap / 2 : HALF_SAMPLE);
}

double video_shown_until(const struct doppel_video_track *track, uint32_t run)
{
    double end = end_of_video_track(track, run);
    if (run + 1 == track->count)
        return video_duration(track) - end <= EDGE ? video_duration(track) : end + HALF_SAMPLE;
    double gap = start_of_video_track(track, run + 1) - end;
    return end + (gap <= VIDEO_SAMPLED ? gap / 2 : HALF_SAMPLE);
}

uint32_t video_run_at(const struct doppel_video_track *track, double time)
{
    size_t low = 0, high = track->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (video_shown_until(track, (uint32_t)middle) < time)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint32_t)low;
}

double video_shown(const struct doppel_video_track *track)
{
    if (!track->count)
        return video_duration(track);
    return video_shown_until(track, (uint32_t)track->count - 1) - video_shown_from(track, 0);
}

void video_mark_runs(const struct doppel_video_track *track, double from, double until, bool *marks)
{
    for (uint32_t run = 0; run < track->count; run++)
        marks[run] |=
            end_of_video_track(track, run) >= from && start_of_video_track(track, run) <= until;
}

/* As video_shown_from, with the black frames before the run. */
static double dark_from(const struct doppel_video_track *track, uint32_t run)
{
    if (!run)
        return 0;
    double before = end_of_video_track(track, run - 1) + HALF_SAMPLE;
    return fmin(before, video_shown_from(track, run));
}

static double dark_until(const struct doppel_video_track *track, uint32_t run)
{
    if (run + 1 == track->count)
        return video_duration(track);
    double after = start_of_video_track(track, run + 1) - HALF_SAMPLE;
    return fmax(after, video_shown_until(track, run));
}

/* ---- of two ---- */

/* A video beside another one, whose times are its own × speed + offset. */
struct end_side {
    const struct doppel_video_track *track, *other;
    double offset, speed;
    uint32_t first, last; /* runs that are the same */
};

/* A video of keyframes says nothing of the time between them: the other one's beginning may lie
 * there. @return in the video's time */
static double keyframe_from(const struct end_side *side)
{
    double begins = -side->offset / side->speed; /* the other video */
    if (!side->first || end_of_video_track(side->track, side->first - 1) < begins)
        return fmax(begins, 0);
    return (end_of_video_track(side->track, side->first - 1) +
            start_of_video_track(side->track, side->first)) /
           2;
}

static double keyframe_until(const struct end_side *side)
{
    double ends = (video_duration(side->other) - side->offset) / side->speed;
    double own = video_duration(side->track);
    if (side->last + 1 == side->track->count ||
        start_of_video_track(side->track, side->last + 1) > ends)
        return fmin(ends, own);
    return (end_of_video_track(side->track, side->last) +
            start_of_video_track(side->track, side->last + 1)) /
           2;
}

/* From when on, and until when, a video may be the same, as far as it can tell itself. */
static double from_of(const struct end_side *side)
{
    if (side->track->keyframes_only)
        return keyframe_from(side);
    return side->other->keyframes_only ? 0 : dark_from(side->track, side->first);
}

static double until_of(const struct end_side *side)
{
    if (side->track->keyframes_only)
        return keyframe_until(side);
    return side->other->keyframes_only ? video_duration(side->track)
                                       : dark_until(side->track, side->last);
}

struct doppel_segment video_ends(const struct video_path *path, const struct video_overlay *overlay,
                                 const struct video_line *line)
{
    const struct doppel_video_track *query = overlay->task->query, *item = overlay->item;
    const struct video_step *first = &path->steps[path->first], *last = &path->steps[path->end - 1];
    struct end_side a = {query, item, line->offset, line->speed, first->run, last->run};
    struct end_side b = {item,         query,      -line->offset / line->speed, 1 / line->speed,
                         first->other, last->other};
    double from = fmax(from_of(&a), video_line_back(line, from_of(&b)));
    double until = fmin(until_of(&a), video_line_back(line, until_of(&b)));
    from = fmax(fmin(from, first->start), 0);
    until = fmax(until, last->end);
    return (struct doppel_segment){.a_start = from,
                                   .a_end = until,
                                   .b_start = fmax(video_line_at(line, from), 0),
                                   .b_end = fmin(video_line_at(line, until), video_duration(item)),
                                   .speed = line->speed};
}

struct doppel_segment video_scenes(const struct video_path *path,
                                   const struct video_overlay *overlay)
{
    const struct doppel_video_track *query = overlay->task->query, *item = overlay->item;
    struct doppel_segment segment = {.a_start = HUGE_VAL, .b_start = HUGE_VAL, .speed = 1};
    for (size_t i = path->first; i < path->end; i++) {
        const struct video_step *step = &path->steps[i];
        segment.a_start = fmin(segment.a_start, video_shown_from(query, step->run));
        segment.a_end = fmax(segment.a_end, video_shown_until(query, step->run));
        segment.b_start = fmin(segment.b_start, video_shown_from(item, step->other));
        segment.b_end = fmax(segment.b_end, video_shown_until(item, step->other));
    }
    return segment;
}
