/* From the runs of one item to a match. */
#include "match/sounds_describe.h"

#include <math.h>
#include <stdlib.h>

/* From this share of a sound on it counts as whole: the other one may have cut silence off. */
static const double WHOLE = 0.9;

/* What an audio clock may be off without being told. */
static const double SPEED_WITHIN = 5e-4;

static int by_place(const void *a, const void *b)
{
    const struct doppel_segment *x = a, *y = b;
    if (x->a_start != y->a_start)
        return x->a_start < y->a_start ? -1 : 1;
    return (x->b_start > y->b_start) - (x->b_start < y->b_start);
}

static int by_item_place(const void *a, const void *b)
{
    const struct doppel_segment *x = a, *y = b;
    return (x->b_start > y->b_start) - (x->b_start < y->b_start);
}

/* The share of a sound that segments, ordered by where they start in it, cover. */
static double coverage(const segment_array *segments, bool item, double duration)
{
    double covered = 0, until = 0;
    for (size_t i = 0; i < segments->count; i++) {
        const struct doppel_segment *segment = &segments->items[i];
        double start = fmax(item ? segment->b_start : segment->a_start, until);
        double end = item ? segment->b_end : segment->a_end;
        covered += fmax(end - start, 0);
        until = fmax(until, end);
    }
    return duration > 0 ? fmin(covered / duration, 1) : 0;
}

static bool is_one(const struct run *run, double scale)
{
    return fabs(scale - 1) <= 3 * run->speed_error + SPEED_WITHIN;
}

static struct doppel_segment segment_of(const struct run *run)
{
    return (struct doppel_segment){.a_start = run->a_start,
                                   .a_end = run->a_end,
                                   .b_start = run->b_start,
                                   .b_end = run->b_end,
                                   .speed = is_one(run, run->speed) ? 1 : run->speed};
}

static enum doppel_relation relation_of(double query_coverage, double item_coverage)
{
    if (query_coverage >= WHOLE)
        return item_coverage >= WHOLE ? DOPPEL_RELATION_SAME : DOPPEL_RELATION_CONTAINED;
    return item_coverage >= WHOLE ? DOPPEL_RELATION_CONTAINS : DOPPEL_RELATION_OVERLAPS;
}

/* Of the query's strong peaks in the runs, the share that the item has, so scaled that 0 is what
 * chance gives. */
static double similarity(const struct run *runs, size_t count, double max_rate)
{
    double strong = 0, met = 0, by_chance = 0;
    for (size_t i = 0; i < count; i++) {
        if (runs[i].rate > max_rate)
            continue;
        strong += runs[i].strong;
        met += runs[i].met;
        by_chance += runs[i].by_chance;
    }
    if (met >= strong)
        return strong > 0;
    return fmax((met - by_chance) / (strong - by_chance), 0);
}

static void cover(segment_array *segments, double query_duration, double item_duration,
                  struct doppel_match *match)
{
    qsort(segments->items, segments->count, sizeof *segments->items, by_item_place);
    match->item_coverage = coverage(segments, true, item_duration);
    qsort(segments->items, segments->count, sizeof *segments->items, by_place);
    match->query_coverage = coverage(segments, false, query_duration);
    match->has_coverage = query_duration > 0 && item_duration > 0;
    match->relation = relation_of(match->query_coverage, match->item_coverage);
    match->segments = segments->items;
    match->segment_count = segments->count;
}

bool runs_describe(const struct run *runs, size_t count, double query_duration, double max_rate,
                   segment_array *segments, struct doppel_match *out, bool *out_within)
{
    const struct run *best = &runs[0];
    bool within = false;
    for (size_t i = 0; i < count; i++) {
        within |= runs[i].rate <= max_rate;
        if (runs[i].rate < best->rate)
            best = &runs[i];
    }
    segments->count = 0;
    for (size_t i = 0; i < count; i++)
        if ((within ? runs[i].rate <= max_rate : &runs[i] == best) &&
            !array_push(segments, segment_of(&runs[i])))
            return false;
    struct doppel_match match = {.kind = DOPPEL_KIND_AUDIO,
                                 .scheme = DOPPEL_SCHEME_PEAKS32,
                                 .verified = DOPPEL_VERIFIED_ALIGNMENT,
                                 .score = -log10(best->rate),
                                 .false_positive_rate = best->rate};
    match.similarity = within ? similarity(runs, count, max_rate) : similarity(best, 1, 1);
    match.transform.speed = is_one(best, best->speed) ? 0 : best->speed;
    match.transform.pitch = is_one(best, best->pitch) ? 0 : best->pitch;
    cover(segments, query_duration, best->item_duration, &match);
    *out = match;
    *out_within = within;
    return true;
}
