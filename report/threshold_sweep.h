/* From judged pairs to what each limit of the similarity would do, and the limit to recommend. */
#ifndef DOPPEL_REPORT_THRESHOLD_SWEEP_H
#define DOPPEL_REPORT_THRESHOLD_SWEEP_H

#include <stdbool.h>
#include <stddef.h>

/* A labelled pair as it was judged. */
struct judged {
    double similarity; /* it matches at this limit and lower ones; < 0: at none */
    bool same;         /* says the label */
    bool usual;        /* it matches where no limit is given */
};

struct judged_list {
    struct judged *items;
    size_t count, capacity;
};

/* Pairs that match: of those that are the same, and of the others. */
struct outcome {
    size_t caught, wrong;
};

/* Limits of 0, .01, .02 … 1. */
enum { LADDER_STEPS = 101 };

struct ladder {
    size_t duplicates, distinct; /* pairs, by their labels */
    struct outcome steps[LADDER_STEPS];
    struct outcome usual; /* without a limit */
};

/* What is best: the usual rule, or a step, or neither. */
enum { RECOMMEND_USUAL = -1, RECOMMEND_NONE = -2 };

double ladder_limit(int step);

struct ladder ladder_of(const struct judged_list *list);

/**
 * The step with the most duplicates caught, of those at which at most `max_false` of the distinct
 * pairs match; of equal ones that with the fewest of these, then the middle one. The usual rule, if
 * it keeps within `max_false` too and catches as many.
 */
int ladder_recommend(const struct ladder *ladder, double max_false);

#endif
