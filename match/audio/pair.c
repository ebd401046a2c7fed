/*
 * What two recordings share. Each is looked for in the other one: the query's weaker peaks are
 * used, too, so that a noisy audio is found in a clean one better than the other way round. Which
 * one is first does not matter, so that swapping the two swaps the answer.
 */
#include <math.h>
#include <stdlib.h>

#include "core/try.h"
#include "match/audio/describe.h"

static enum doppel_status set_of_recording(const struct doppel_recording *recording,
                                           struct doppel_recordings **out,
                                           struct doppel_error *error)
{
    struct doppel_recordings *recordings;
    enum doppel_status status = doppel_recordings_new(&recordings, error);
    if (status)
        return status;
    status = doppel_recordings_add(recordings, 1, recording, error);
    if (status)
        doppel_recordings_free(recordings);
    else
        *out = recordings;
    return status;
}

static enum doppel_status find_in(const struct doppel_recording *query,
                                  const struct doppel_recording *item,
                                  const struct doppel_audio_options *options, run_array *out,
                                  struct doppel_error *error)
{
    struct doppel_recordings *recordings = NULL;
    enum doppel_status status = set_of_recording(item, &recordings, error);
    struct hunt hunt = {.recordings = recordings, .query = query, .options = options};
    if (!status)
        status = runs_find(&hunt, out, error);
    for (size_t i = 0; i < out->count; i++) {
        struct run *run = &out->items[i];
        run->item_duration = item->duration;
        run->rate = fmin(2 * run->rate, 1); /* two directions are tried */
    }
    doppel_recordings_free(recordings);
    return status;
}

static struct line turned_line(const struct line *line)
{
    return (struct line){line->place, line->time, 1 / line->speed, 1 / line->pitch};
}

static void turn_run(struct run *run, double item_duration)
{
    struct run was = *run;
    run->a_start = was.b_start;
    run->a_end = was.b_end;
    run->b_start = was.a_start;
    run->b_end = was.a_end;
    run->first = turned_line(&was.first);
    run->last = turned_line(&was.last);
    run->speed = 1 / was.speed;
    run->pitch = 1 / was.pitch;
    run->speed_error = was.speed_error / (was.speed * was.speed);
    run->item_duration = item_duration;
}

static enum doppel_status find_both_ways(const struct doppel_recording *one,
                                         const struct doppel_recording *other,
                                         const struct doppel_audio_options *options, run_array *out,
                                         struct doppel_error *error)
{
    run_array back = {0};
    enum doppel_status status;
    TRY(find_in(one, other, options, out, error));
    TRY(find_in(other, one, options, &back, error));
    for (size_t i = 0; i < back.count; i++) {
        turn_run(&back.items[i], other->duration);
        if (!array_push(out, back.items[i]))
            TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory to compare two recordings"));
    }
    runs_settle(out);
done:
    array_free(&back);
    return status;
}

/* ---- an order ---- */

static int compare_peaks(const struct doppel_audio_peak *a, const struct doppel_audio_peak *b)
{
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    if (a->frequency != b->frequency)
        return a->frequency < b->frequency ? -1 : 1;
    return a->strong - b->strong;
}

/* < 0, 0 and > 0 as of strings: an order that does not depend on which one is the query. */
static int compare_recording(const struct doppel_recording *a, const struct doppel_recording *b)
{
    if (a->duration != b->duration)
        return a->duration > b->duration ? -1 : 1;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    for (size_t i = 0; i < a->count; i++) {
        int order = compare_peaks(&a->peaks[i], &b->peaks[i]);
        if (order)
            return order;
    }
    return 0;
}

/* ---- one and the same ---- */

/* Of each peak, that it is at the same step of time and frequency: far more than there is. */
static const double SAME_PEAK = 1e-2;

static bool match_itself(const struct doppel_recording *recording, run_array *out)
{
    uint32_t strong = 0;
    for (size_t i = 0; i < recording->count; i++)
        strong += recording->peaks[i].strong;
    struct line line = {0, 0, 1, 1}, last = line;
    last.time = last.place = recording->peaks[recording->count - 1].time;
    struct run run = {.id = 1,
                      .item_duration = recording->duration,
                      .a_end = recording->duration,
                      .b_end = recording->duration,
                      .first = line,
                      .last = last,
                      .speed = 1,
                      .pitch = 1,
                      .strong = strong ? strong : 1,
                      .met = strong ? strong : 1};
    run.evidence = -(double)recording->count * log(SAME_PEAK);
    run.rate = fmax(exp(-run.evidence), 1e-300);
    return array_push(out, run);
}

/* ---- the answer ---- */

static bool describe_recordings(const run_array *runs, const struct doppel_recording *query,
                                const struct doppel_audio_options *options,
                                struct doppel_match *out)
{
    segment_array segments = {0};
    bool within = false;
    *out = (struct doppel_match){.kind = DOPPEL_KIND_AUDIO,
                                 .scheme = DOPPEL_SCHEME_PEAKS32,
                                 .verified = DOPPEL_VERIFIED_ALIGNMENT,
                                 .relation = DOPPEL_RELATION_OVERLAPS,
                                 .false_positive_rate = -1,
                                 .has_coverage = true};
    if (!runs->count)
        return true;
    if (!runs_describe(runs->items, runs->count, query->duration, options->max_false_positives,
                       &segments, out, &within)) {
        array_free(&segments);
        return false;
    }
    if (within)
        return true;
    array_free(&segments);
    out->segments = NULL;
    out->segment_count = 0;
    return true;
}

enum doppel_status doppel_match_recordings(const struct doppel_recording *query,
                                           const struct doppel_recording *item,
                                           const struct doppel_audio_options *options,
                                           struct doppel_match *out_match,
                                           struct doppel_error *error)
{
    run_array runs = {0};
    struct doppel_match match;
    enum doppel_status status = DOPPEL_OK;
    if (!audio_in_order(query) || !audio_in_order(item))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "peaks of a recording are not in order of time");
    struct doppel_recording one = audio_mended(query), other = audio_mended(item);
    int order = compare_recording(&one, &other);
    if (order < 0)
        TRY(find_both_ways(&one, &other, options, &runs, error));
    else if (order > 0)
        TRY(find_both_ways(&other, &one, options, &runs, error));
    else if (one.count && !match_itself(&one, &runs))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory to compare two recordings"));
    for (size_t i = 0; i < runs.count && order > 0; i++)
        turn_run(&runs.items[i], other.duration);
    if (!describe_recordings(&runs, &one, options, &match))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory to compare two recordings"));
    *out_match = match;
done:
    array_free(&runs);
    return status;
}
