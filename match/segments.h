/* Segments of a match: their order, what they cover, and what two items are to each other so. */
#ifndef DOPPEL_MATCH_SEGMENTS_H
#define DOPPEL_MATCH_SEGMENTS_H

#include <doppel/match.h>

/* In order of their places in the query, then in the item. */
void segments_sort(struct doppel_segment *segments, size_t count);

/* What two items last, in the unit of their segments. */
struct segment_lengths {
    double query, item;
    double unknown; /* the coverage of one that lasts nothing */
    double slack;   /* by so much what they share may be longer than is known */
};

/* Sort segments and describe a match by them: its segments, coverages and relation. @param segments
 * borrowed by the match */
void segments_describe(struct doppel_segment *segments, size_t count,
                       const struct segment_lengths *lengths, struct doppel_match *match);

/* @param whole the coverage from which on an item counts as whole */
enum doppel_relation relation_by_coverage(double query_coverage, double item_coverage,
                                          double whole);

#endif
