/* An item's strong peaks, had piece by piece and looked up by place. */
#include "match/audio/view.h"

#include <math.h>
#include <stdlib.h>

enum {
    STEPS = DOPPEL_AUDIO_TIME_STEPS,
    AHEAD = 15 * DOPPEL_AUDIO_RATE / DOPPEL_AUDIO_HOP * STEPS, /* had beyond what is asked for */
    HOP_MOST = 32 /* peaks of a hop: more are of no real audio, and would only cost time */
};

static void forget_viewed_item(struct item_view *view)
{
    free(view->peaks);
    free(view->starts);
    view->peaks = NULL;
    view->starts = NULL;
    view->count = view->hops = 0;
    view->from = view->to = 0;
}

void view_free(struct item_view *view)
{
    forget_viewed_item(view);
    view->known = false;
}

static size_t hop_of(const struct item_view *view, double time)
{
    return (size_t)((time - view->from) / STEPS);
}

/* Keep the peaks of the range, HOP_MOST of a hop at most, and say where each hop begins. */
static bool arrange(struct item_view *view, struct doppel_audio_track *track)
{
    view->hops = hop_of(view, view->to) + 1;
    view->starts = calloc(view->hops + 1, sizeof *view->starts);
    if (!view->starts)
        return false;
    uint32_t kept = 0, last = 0;
    for (size_t i = 0; i < track->count; i++) {
        const struct doppel_audio_peak *peak = &track->peaks[i];
        if (peak->time < view->from || peak->time >= view->to || peak->time < last)
            continue;
        last = peak->time;
        size_t hop = hop_of(view, peak->time);
        if (view->starts[hop + 1] == HOP_MOST)
            continue;
        view->starts[hop + 1]++;
        track->peaks[kept++] = *peak;
    }
    for (size_t hop = 0; hop < view->hops; hop++)
        view->starts[hop + 1] += view->starts[hop];
    view->peaks = track->peaks;
    view->count = kept;
    return true;
}

static double within_times(double time)
{
    return fmin(fmax(floor(time), 0), (double)UINT32_MAX);
}

bool view_cover(struct item_view *view, uint64_t id, double from, double to,
                enum doppel_status *out_status)
{
    from = within_times(from);
    to = within_times(to + 1);
    if (view->known && view->id == id && from >= view->from && to <= view->to)
        return true;
    forget_viewed_item(view);
    view->known = false;
    view->id = id;
    view->from = within_times(from - AHEAD);
    view->to = within_times(to + AHEAD);
    struct doppel_audio_track track = {0};
    if (!view->source(view->context, id, (uint32_t)view->from, (uint32_t)view->to, &track))
        return false;
    view->duration = (double)track.duration_ms / 1000;
    if (!arrange(view, &track)) {
        doppel_audio_track_free(&track);
        forget_viewed_item(view);
        *out_status = DOPPEL_E_MEMORY;
        return false;
    }
    view->known = true;
    return true;
}

const struct doppel_audio_peak *view_near(const struct item_view *view, double time,
                                          double frequency)
{
    const struct doppel_audio_peak *best = NULL;
    double best_away = INFINITY, first = fmax(time - MEET_TIME, view->from);
    double last = fmin(time + MEET_TIME, view->to - 1);
    if (!(first <= last))
        return NULL;
    for (size_t i = view->starts[hop_of(view, first)]; i < view->starts[hop_of(view, last) + 1];
         i++) {
        double late = fabs(view->peaks[i].time - time) / MEET_TIME;
        double high = fabs(view->peaks[i].frequency - frequency) / MEET_FREQUENCY;
        if (late > 1 || high > 1 || late + high >= best_away)
            continue;
        best_away = late + high;
        best = &view->peaks[i];
    }
    return best;
}
