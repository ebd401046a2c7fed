/* Centres of cells, and how near they are. */
#ifndef DOPPEL_VECTOR_CENTRES_H
#define DOPPEL_VECTOR_CENTRES_H

#include "vector/prefix.h"

/* Points among prefixes. A score is larger the nearer a centre is: the square of a vector's prefix
 * less its score is the square of their distance, all in units of which PREFIX_ONE² are 1. */
struct centres {
    struct prefix_blocks blocks; /* `error` is what a score begins with */
    uint32_t count, blocks_count;
};

/* Prefixes in the order of their vectors. */
struct prefix_list {
    const int8_t *values; /* width of each */
    uint32_t width;
    size_t count;
};

/* Of so many cells at most, by k-means on a sample, from prefixes that are not all the same.
 * @param out given (centres_free) */
enum doppel_status centres_make(const struct prefix_list *prefixes, uint32_t count,
                                struct centres *out, struct doppel_error *error);
void centres_free(struct centres *centres);

/* How many scores of a vector there are, with some behind the last centre that are the lowest. */
static inline size_t centres_stride(const struct centres *centres)
{
    return (size_t)centres->blocks_count * PREFIX_BLOCK;
}

/* @param count 1 to PREFIX_QUERIES vectors, `width` values each
 * @param scores centres_stride() of each, of PREFIX_QUERIES */
void centres_score(const struct centres *centres, const int8_t *values, size_t count,
                   int16_t *scores);

/* The same of vectors at places of blocks. */
void centres_score_places(const struct centres *centres, const struct prefix_blocks *blocks,
                          size_t at, size_t count, int16_t *scores);

/* The square of the length of a centre, PREFIX_ONE² being 1. */
static inline int32_t centre_square(const struct centres *centres, uint32_t centre)
{
    return -centres->blocks.error[centre];
}

/* Of the vector at one place, and one centre. */
int16_t centre_score(const struct centres *centres, const struct prefix_blocks *blocks, size_t at,
                     uint32_t centre);

static inline int16_t highest_of_block(const int16_t *scores)
{
    int16_t highest = scores[0];
    for (size_t i = 1; i < PREFIX_BLOCK; i++)
        highest = scores[i] > highest ? scores[i] : highest;
    return highest;
}

/* The highest score's centre, the first of several. */
uint32_t centre_nearest(const struct centres *centres, const int16_t *scores);

enum { CENTRES_RANK_MOST = 256 };

/* The score that only fewer than `rank` exceed, 1 being the highest; -2^15 when there are no more
 * than `rank` centres, or the rank is 0 or above CENTRES_RANK_MOST. */
int16_t score_of_rank(const struct centres *centres, const int16_t *scores, uint32_t rank);

#endif
