/*
 * The passages that recur within a recording: it is looked for in itself, later. Of a passage that
 * comes back several times each place is reported with the next one only, and what repeats without
 * a break is reported period by period, so that a loop gives no more segments than it has periods.
 */
#include <math.h>
#include <stdlib.h>

#include "match/segments.h"
#include "match/audio/describe.h"

/* Seconds: what comes back sooner is a rhythm, and what is shorter no passage. */
static const double MIN_LAG = 2, MIN_LENGTH = 1.5;

/* Of a passage; and how long, of its length, passages are that can stand for it. */
static const double COVERED = 0.8, ALIKE = 0.45;

static double lag(const struct doppel_segment *segment)
{
    return segment->b_start - segment->a_start;
}

/* Push a run, cut into periods where it overlaps itself. */
static bool push_repeat_run(segment_array *out, const struct run *run, double limit)
{
    double period = run->b_start - run->a_start, length = run->a_end - run->a_start;
    if (run->rate > limit || period < MIN_LAG)
        return true;
    for (double at = 0; at + MIN_LENGTH <= length; at += period) {
        double end = fmin(at + period, length);
        struct doppel_segment segment = {.a_start = run->a_start + at,
                                         .a_end = run->a_start + end,
                                         .b_start = run->b_start + at,
                                         .b_end = run->b_start + end,
                                         .speed = 1};
        if (!array_push(out, segment))
            return false;
    }
    return true;
}

static int by_lag(const void *a, const void *b)
{
    const struct doppel_segment *x = a, *y = b;
    if (lag(x) != lag(y))
        return lag(x) < lag(y) ? -1 : 1;
    return (x->a_start > y->a_start) - (x->a_start < y->a_start);
}

/* Whether passages about as long as this one say where it, or what recurs of it, is next. */
static bool is_covered(const segment_array *kept, const struct doppel_segment *segment, bool later)
{
    enum { PROBES = 20 };
    double start = later ? segment->b_start : segment->a_start;
    double length = segment->a_end - segment->a_start;
    int covered = 0;
    for (int i = 0; i < PROBES; i++) {
        double at = start + length * (i + 0.5) / PROBES;
        bool within = false;
        for (size_t k = 0; k < kept->count && !within; k++) {
            const struct doppel_segment *other = &kept->items[k];
            double from = later ? other->b_start : other->a_start;
            double own = other->a_end - other->a_start;
            within = own >= ALIKE * length && from <= at && at <= from + own;
        }
        covered += within;
    }
    return covered >= COVERED * PROBES;
}

/* Leave out what follows from others: a passage with a place that is not its next one. */
static void keep_next(segment_array *segments)
{
    segment_array kept = {segments->items, 0, segments->capacity};
    if (segments->count)
        qsort(segments->items, segments->count, sizeof *segments->items, by_lag);
    for (size_t i = 0; i < segments->count; i++) {
        struct doppel_segment segment = segments->items[i];
        if (is_covered(&kept, &segment, false) && is_covered(&kept, &segment, true))
            continue;
        kept.items[kept.count++] = segment;
    }
    segments->count = kept.count;
    segments_sort(segments->items, segments->count);
}

static enum doppel_status find_later(const struct doppel_recording *recording,
                                     const struct doppel_audio_options *options, run_array *out,
                                     struct doppel_error *error)
{
    struct doppel_recordings *recordings;
    enum doppel_status status = doppel_recordings_new(&recordings, error);
    if (status)
        return status;
    struct doppel_audio_options same_speed = *options;
    same_speed.same_speed = true;
    double far = 2.0 * UINT32_MAX,
           least = MIN_LAG * DOPPEL_AUDIO_RATE * DOPPEL_AUDIO_TIME_STEPS / DOPPEL_AUDIO_HOP;
    struct alignment_skip earlier = {.id = 1, .offset = -far, .within = far + least};
    struct hunt hunt = {.recordings = recordings,
                        .query = recording,
                        .options = &same_speed,
                        .skip = &earlier,
                        .next_only = true};
    status = doppel_recordings_add(recordings, 1, recording, error);
    if (!status)
        status = runs_find(&hunt, out, error);
    doppel_recordings_free(recordings);
    return status;
}

enum doppel_status doppel_match_repeats(const struct doppel_recording *recording,
                                        const struct doppel_audio_options *options,
                                        struct doppel_segment **out, size_t *out_count,
                                        struct doppel_error *error)
{
    run_array runs = {0};
    segment_array segments = {0};
    if (!audio_in_order(recording))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "peaks of a recording are not in order of time");
    struct doppel_recording mended = audio_mended(recording);
    enum doppel_status status = find_later(&mended, options, &runs, error);
    bool done = !status;
    if (done)
        runs_leave_shadows_out(&runs);
    for (size_t i = 0; i < runs.count && done; i++)
        done = push_repeat_run(&segments, &runs.items[i], options->max_false_positives);
    array_free(&runs);
    if (!status && !done)
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the repeats of a recording");
    if (status) {
        array_free(&segments);
        return status;
    }
    keep_next(&segments);
    *out = segments.items;
    *out_count = segments.count;
    return DOPPEL_OK;
}
