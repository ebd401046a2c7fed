/* Some vectors, compared with those of a cell. */
#ifndef DOPPEL_VECTOR_SCAN_H
#define DOPPEL_VECTOR_SCAN_H

#include "vector/cells.h"

enum { SCAN_BLOCKS = 256 };

/* What was found: the cosine of the vectors at two places. @return false: no more */
typedef bool scan_visitor(void *context, uint32_t a, uint32_t b, float cosine);

/* What makes a pair. */
struct scan_threshold {
    float min_cosine;
    const float *levels;     /* by place; NULL: cosines decide alone */
    float min_score, lowest; /* lowest: of the levels */
    /* By place: the error bound of a prefix, less half of what its level is above the lowest. So a
     * bound of the cosine becomes one of the score. NULL without levels, and where scores are so
     * low that they do not fit */
    const int16_t *errors;
};

/* The least cosine of a pair of such levels; it may be above 1. */
static inline float scan_least(const struct scan_threshold *threshold, float level_a, float level_b)
{
    const float least = threshold->min_score + (level_a + level_b) / 2;
    return threshold->levels && least > threshold->min_cosine ? least : threshold->min_cosine;
}

/* The same, at most 1, for bounds. */
static inline float scan_least_bound(const struct scan_threshold *threshold, float level_a,
                                     float level_b)
{
    const float least = scan_least(threshold, level_a, level_b);
    return least < 1 ? least : 1;
}

struct cell_scan {
    struct prefix_spread queries[PREFIX_QUERIES];
    const struct vector_cells *cells;
    const struct vector_kernels *kernels;
    struct scan_threshold threshold;
    struct prefix_blocks blocks; /* of the cells, with errors of the threshold */
    bool heads;                  /* most pairs are told apart by their first dimensions */
    scan_visitor *visitor;
    void *context;
    uint32_t places[PREFIX_QUERIES], count;        /* of what was taken */
    struct rounded_vector rounded[PREFIX_QUERIES]; /* of them, where there was a candidate */
    int8_t *bytes;                                 /* of these, with zeros up to a multiple of 32 */
    uint32_t is_rounded;                           /* a bit for each */
    struct prefix_hit hits[SCAN_BLOCKS];
    uint64_t compared, candidates;
};

/* @param out given (cell_scan_free); its `heads`, visitor and context are the caller's to set */
enum doppel_status cell_scan_make(const struct vector_cells *cells,
                                  const struct scan_threshold *threshold, struct cell_scan **out,
                                  struct doppel_error *error);
void cell_scan_free(struct cell_scan *scan);

/* Up to PREFIX_QUERIES vectors, which the visitor gets as the first of two. */
void cell_scan_take(struct cell_scan *scan, const uint32_t *places, uint32_t count);

/* Compare them with places `from` to `to`. @return false when the visitor did */
bool cell_scan_run(struct cell_scan *scan, uint32_t from, uint32_t to);

#endif
