/*
 * Whether two recordings are the same one, or others that share a loop or a sample. The same
 * recording, cut elsewhere, goes on until one of the two ends, or makes up much of one of them; and
 * of its peaks most are there, in all encodings. A loop lies among other instruments.
 */
#include "match/audio/describe.h"

#include <math.h>

/* Of the strong peaks: encodings down to 16 kbit/s share half and more. */
static const double SAME_SIMILARITY = 0.5;

static const double LARGE_PART = 0.5; /* of the shorter one */
static const double AT_END = 2;       /* seconds from where a recording begins or ends */
static const double ONE_LINE = 0.5;   /* seconds by which its segments may be off it */

/* What lies on one line: where it begins and ends, and how much of it is the same. */
struct line_stretch {
    struct doppel_segment span;
    double seconds;
};

static double item_ahead(const struct doppel_segment *segment)
{
    return segment->b_start - segment->a_start;
}

/* All that lies on the line of segment `number`. */
static struct line_stretch line_stretch_of(const struct doppel_match *match, size_t number)
{
    const struct doppel_segment *on = &match->segments[number];
    struct line_stretch stretch = {*on, 0};
    for (size_t i = 0; i < match->segment_count; i++) {
        const struct doppel_segment *segment = &match->segments[i];
        if (fabs(item_ahead(segment) - item_ahead(on)) > ONE_LINE)
            continue;
        stretch.seconds += segment->a_end - segment->a_start;
        stretch.span.a_start = fmin(stretch.span.a_start, segment->a_start);
        stretch.span.b_start = fmin(stretch.span.b_start, segment->b_start);
        stretch.span.a_end = fmax(stretch.span.a_end, segment->a_end);
        stretch.span.b_end = fmax(stretch.span.b_end, segment->b_end);
    }
    return stretch;
}

/* It begins where one of the two begins, and ends where one of them ends. */
static bool is_cut_by_ends(const struct doppel_segment *span, double query, double item)
{
    return fmin(span->a_start, span->b_start) <= AT_END &&
           fmin(query - span->a_end, item - span->b_end) <= AT_END;
}

bool match_is_shared(const struct doppel_match *match, double query, double item)
{
    if (match->relation != DOPPEL_RELATION_OVERLAPS || match->similarity >= SAME_SIMILARITY ||
        !match->has_coverage)
        return false;
    for (size_t i = 0; i < match->segment_count; i++) {
        struct line_stretch stretch = line_stretch_of(match, i);
        if (stretch.seconds >= LARGE_PART * fmin(query, item) ||
            is_cut_by_ends(&stretch.span, query, item))
            return false;
    }
    return match->segment_count > 0;
}

/* ---- beside others ---- */

/* Of what an item has in common with the query, the share that is heard in a better one, which has
 * so many times as much of its peaks. */
static const double EXPLAINED = 0.9, BETTER = 2;

bool matched_note(matched_array *better, const struct doppel_match *match)
{
    for (size_t i = 0; i < match->segment_count; i++) {
        const struct matched_stretch stretch = {match->segments[i].a_start,
                                                match->segments[i].a_end, match->similarity};
        if (!array_push(better, stretch))
            return false;
    }
    return true;
}

static bool is_in_better(const matched_array *better, double time, double similarity)
{
    for (size_t i = 0; i < better->count; i++) {
        const struct matched_stretch *stretch = &better->items[i];
        if (stretch->similarity >= BETTER * similarity && stretch->start <= time &&
            time <= stretch->end)
            return true;
    }
    return false;
}

bool matched_explain(const matched_array *better, const struct doppel_match *match)
{
    enum { PROBES = 10 };
    size_t explained = 0;
    if (!better->count || match->similarity >= SAME_SIMILARITY ||
        match->relation == DOPPEL_RELATION_CONTAINS)
        return false;
    for (size_t i = 0; i < match->segment_count; i++) {
        const struct doppel_segment *segment = &match->segments[i];
        for (int k = 0; k < PROBES; k++) {
            double part = (k + 0.5) / PROBES;
            double time = segment->a_start + part * (segment->a_end - segment->a_start);
            explained += is_in_better(better, time, match->similarity);
        }
    }
    return (double)explained >= EXPLAINED * PROBES * (double)match->segment_count;
}
