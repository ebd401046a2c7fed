/* From labelled pairs and their similarities to what each threshold would do, the threshold to
 * recommend, and the curves of it as SVG. */
#ifndef DOPPEL_REPORT_THRESHOLD_SWEEP_H
#define DOPPEL_REPORT_THRESHOLD_SWEEP_H

#include <stdbool.h>
#include <stddef.h>

#include <doppel/core.h>

/* A labelled pair, as it was compared. */
struct scored_pair {
    double similarity; /* it matches at this threshold and lower ones; < 0: at none */
    bool same;         /* says the label */
    bool by_default;   /* it matches where no threshold is given */
};

struct scored_pairs {
    struct scored_pair *items;
    size_t count, capacity;
};

/* Pairs that match: of those that are the same, and of the others. */
struct sweep_counts {
    size_t caught, wrong;
};

/* Thresholds of 0, .01, .02 … 1. */
enum { SWEEP_STEPS = 101 };

struct threshold_sweep {
    size_t duplicates, distinct; /* pairs, by their labels */
    struct sweep_counts steps[SWEEP_STEPS];
    struct sweep_counts by_default; /* without a threshold */
};

/* What is best: the default threshold, or a step, or neither. */
enum { RECOMMEND_DEFAULT = -1, RECOMMEND_NONE = -2 };

double sweep_threshold(int step);

struct threshold_sweep sweep_of(const struct scored_pairs *pairs);

/**
 * The step with the most duplicates caught, of those at which at most `max_false` of the distinct
 * pairs match; of equal ones that with the fewest of these, then the middle one. The default, if it
 * keeps within `max_false` too and catches as many.
 */
int sweep_recommend(const struct threshold_sweep *sweep, double max_false);

/* One of the charts that stand below each other. */
struct sweep_panel {
    const char *title; /* ASCII, without <, > and & */
    const struct threshold_sweep *sweep;
    int recommended; /* as sweep_recommend says */
};

/** Write them to a file, as SVG. DOPPEL_E_IO. */
enum doppel_status sweep_chart_write(const char *path, const struct sweep_panel *panels,
                                     size_t count, struct doppel_error *error);

#endif
