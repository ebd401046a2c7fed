/*
 * Which runs are reported. Those on one line that touch are one. Music is like itself a beat, a bar
 * or an octave further on, so that a run has shadows: of the same item, elsewhere in it. A run is
 * left out when better runs of its item cover both its stretch of the query and its stretch of the
 * item; and when it shares its stretch of either with a better one nearby, which has far more
 * evidence for each second, or is no longer than a note. What recurs in earnest has about as much
 * of it at each place, and stays.
 */
#include <math.h>
#include <stdlib.h>

#include "match/audio/segments.h"

enum { PROBES = 20 };

static const double SAME = 0.9;    /* of two runs: that they are one */
static const double TOUCH = 2;     /* seconds between runs that are one */
static const double NEARBY = 300;  /* seconds: within a piece of music */
static const double SHADOW = 0.35; /* of the better one's evidence a second */
static const double SHORT = 1;     /* second: that much of music is a note */
static const double COVERED = 0.9; /* of a stretch */
static const double STEPS_A_SECOND =
    (double)DOPPEL_AUDIO_RATE * DOPPEL_AUDIO_TIME_STEPS / DOPPEL_AUDIO_HOP;

/* ---- one line ---- */

static int compare_segment_starts(const void *a, const void *b)
{
    const struct run *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    if (x->a_start != y->a_start)
        return x->a_start < y->a_start ? -1 : 1;
    return (x->b_start > y->b_start) - (x->b_start < y->b_start);
}

static bool is_one_line(const struct run *earlier, const struct run *later)
{
    double time, place = run_place_near(earlier, later->first.time, &time);
    double silent = later->first.time - time;
    if (silent > TOUCH * STEPS_A_SECOND)
        return false;
    place += silent * earlier->last.speed;
    return fabs(place - later->first.place) <= 2 * MEET_TIME;
}

static double length(const struct run *run)
{
    return fmax(run->a_end - run->a_start, 1e-3);
}

/* The same twice, found from two pieces or from both sides: the better one. */
static bool keep_better_run(struct run *run, const struct run *later, double both)
{
    if (both < SAME * length(run) || both < SAME * length(later))
        return false;
    double rate = fmin(run->rate, later->rate);
    if (later->evidence > run->evidence)
        *run = *later;
    run->rate = rate;
    return true;
}

static void join_run(struct run *run, const struct run *later)
{
    double both = fmax(fmin(run->a_end, later->a_end) - later->a_start, 0);
    if (keep_better_run(run, later, both))
        return;
    double share = 1 - both / length(later);
    run->evidence += share * later->evidence;
    run->strong += (uint32_t)lround(share * later->strong);
    run->met += share * later->met;
    run->by_chance += share * later->by_chance;
    run->rate = fmin(run->rate, later->rate);
    if (later->last.time <= run->last.time)
        return;
    run->last = later->last;
    run->a_end = later->a_end;
    run->b_end = later->b_end;
    double span = run->last.time - run->first.time;
    run->speed = span > 0 ? (run->last.place - run->first.place) / span : run->speed;
    run->speed_error = fmin(run->speed_error, later->speed_error);
}

/* Runs by start. */
static void join_lines(run_array *runs)
{
    size_t kept = 0;
    for (size_t i = 0; i < runs->count; i++) {
        struct run run = runs->items[i];
        bool joined = false;
        for (size_t k = kept; k-- && !joined;) {
            struct run *earlier = &runs->items[k];
            if (earlier->id != run.id)
                break;
            joined = is_one_line(earlier, &run);
            if (joined)
                join_run(earlier, &run);
        }
        if (!joined)
            runs->items[kept++] = run;
    }
    runs->count = kept;
}

/* ---- shadows ---- */

static double together(double a_start, double a_end, double b_start, double b_end)
{
    return fmax(fmin(a_end, b_end) - fmax(a_start, b_start), 0);
}

static bool is_shadow(const struct run *run, const struct run *better)
{
    double query = together(run->a_start, run->a_end, better->a_start, better->a_end);
    double item = together(run->b_start, run->b_end, better->b_start, better->b_end);
    double time, place = run_place_near(better, run->first.time, &time);
    place += (run->first.time - time) * better->last.speed;
    bool near = fabs(place - run->first.place) <= NEARBY * STEPS_A_SECOND;
    bool shared = 2 * query > length(run) || 2 * item > run->b_end - run->b_start;
    bool weak = run->evidence / length(run) < SHADOW * better->evidence / length(better);
    return near && shared && (weak || length(run) < SHORT);
}

/* The share of a stretch that runs cover in the query, or in the item. */
static double share_covered(const struct run *runs, size_t count, const struct run *run, bool item)
{
    double start = item ? run->b_start : run->a_start, end = item ? run->b_end : run->a_end;
    int covered = 0;
    for (int i = 0; i < PROBES; i++) {
        double at = start + (end - start) * (i + 0.5) / PROBES;
        bool within = false;
        for (size_t k = 0; k < count && !within; k++)
            within = item ? runs[k].b_start <= at && at <= runs[k].b_end
                          : runs[k].a_start <= at && at <= runs[k].a_end;
        covered += within;
    }
    return (double)covered / PROBES;
}

static bool is_any_shadow(const struct run *run, const struct run *better, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_shadow(run, &better[i]))
            return true;
    return false;
}

static bool is_implied_run(const struct run *run, const struct run *better, size_t count)
{
    return count && share_covered(better, count, run, false) >= COVERED &&
           share_covered(better, count, run, true) >= COVERED;
}

static int by_evidence(const void *a, const void *b)
{
    const struct run *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    if (x->evidence != y->evidence)
        return x->evidence > y->evidence ? -1 : 1;
    return compare_segment_starts(a, b);
}

static void leave_out(run_array *runs, bool implied_too)
{
    size_t kept = 0, first = 0;
    for (size_t i = 0; i < runs->count; i++) {
        struct run run = runs->items[i];
        if (kept && runs->items[kept - 1].id != run.id)
            first = kept;
        const struct run *better = runs->items + first;
        if (is_any_shadow(&run, better, kept - first) ||
            (implied_too && is_implied_run(&run, better, kept - first)))
            continue;
        runs->items[kept++] = run;
    }
    runs->count = kept;
}

static void settle_overlaps(run_array *runs, bool implied_too)
{
    if (!runs->count)
        return;
    qsort(runs->items, runs->count, sizeof *runs->items, compare_segment_starts);
    join_lines(runs);
    qsort(runs->items, runs->count, sizeof *runs->items, by_evidence);
    leave_out(runs, implied_too);
}

void runs_settle(run_array *runs)
{
    settle_overlaps(runs, true);
}

void runs_leave_shadows_out(run_array *runs)
{
    settle_overlaps(runs, false);
}
