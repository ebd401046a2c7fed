/* Segments of a match: their order, what they cover, and what two items are to each other so. */
#include "match/segments.h"

#include <math.h>
#include <stdlib.h>

/* From this share on an item counts as whole: silence may have been cut off, and black frames
 * within a video have no codes. */
static const double WHOLE = 0.9;

static int compare_segment_places(const void *a, const void *b)
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

void segments_sort(struct doppel_segment *segments, size_t count)
{
    if (count)
        qsort(segments, count, sizeof *segments, compare_segment_places);
}

/* What segments cover, ordered by where they start there. */
static double covered(const struct doppel_segment *segments, size_t count, bool item)
{
    double sum = 0, until = 0;
    for (size_t i = 0; i < count; i++) {
        double start = fmax(item ? segments[i].b_start : segments[i].a_start, until);
        double end = item ? segments[i].b_end : segments[i].a_end;
        sum += fmax(end - start, 0);
        until = fmax(until, end);
    }
    return sum;
}

static double covered_share(double covered_length, double length, double unknown)
{
    return length > 0 ? fmin(covered_length / length, 1) : unknown;
}

void segments_describe(struct doppel_segment *segments, size_t count,
                       const struct segment_lengths *lengths, struct doppel_match *match)
{
    if (count)
        qsort(segments, count, sizeof *segments, by_item_place);
    double of_item = covered(segments, count, true);
    segments_sort(segments, count);
    double of_query = covered(segments, count, false);
    match->item_coverage = covered_share(of_item, lengths->item, lengths->unknown);
    match->query_coverage = covered_share(of_query, lengths->query, lengths->unknown);
    match->relation = relation_by_coverage(
        covered_share(of_query + lengths->slack, lengths->query, lengths->unknown),
        covered_share(of_item + lengths->slack, lengths->item, lengths->unknown), WHOLE);
    match->segments = segments;
    match->segment_count = count;
}

enum doppel_relation relation_by_coverage(double query_coverage, double item_coverage, double whole)
{
    if (query_coverage >= whole)
        return item_coverage >= whole ? DOPPEL_RELATION_SAME : DOPPEL_RELATION_CONTAINED;
    return item_coverage >= whole ? DOPPEL_RELATION_CONTAINS : DOPPEL_RELATION_OVERLAPS;
}
