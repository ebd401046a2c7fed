/* From the runs of one item to a match. */
#include "match/audio/describe.h"

#include <math.h>

#include "match/segments.h"

/* What an audio clock may be off without being noticed. */
static const double SPEED_WITHIN = 5e-4;

static bool is_one_run(const struct run *run, double scale)
{
    return fabs(scale - 1) <= 3 * run->speed_error + SPEED_WITHIN;
}

static struct doppel_segment segment_of_run(const struct run *run)
{
    return (struct doppel_segment){.a_start = run->a_start,
                                   .a_end = run->a_end,
                                   .b_start = run->b_start,
                                   .b_end = run->b_end,
                                   .speed = is_one_run(run, run->speed) ? 1 : run->speed};
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
            !array_push(segments, segment_of_run(&runs[i])))
            return false;
    struct doppel_match match = {.kind = DOPPEL_KIND_AUDIO,
                                 .scheme = DOPPEL_SCHEME_PEAKS32,
                                 .verified = DOPPEL_VERIFIED_ALIGNMENT,
                                 .score = -log10(best->rate),
                                 .false_positive_rate = best->rate};
    match.similarity = within ? similarity(runs, count, max_rate) : similarity(best, 1, 1);
    match.transform.speed = is_one_run(best, best->speed) ? 0 : best->speed;
    match.transform.pitch = is_one_run(best, best->pitch) ? 0 : best->pitch;
    const struct segment_lengths lengths = {query_duration, best->item_duration, 0, 0};
    match.has_coverage = query_duration > 0 && best->item_duration > 0;
    segments_describe(segments->items, segments->count, &lengths, &match);
    if (match_is_shared(&match, query_duration, best->item_duration))
        match.relation = DOPPEL_RELATION_SHARED;
    *out = match;
    *out_within = within;
    return true;
}
