/* Angles to a centre, by their cosines: two vectors whose angles to it differ by more than some
 * angle are farther apart than that. */
#ifndef DOPPEL_VECTOR_ANGLES_H
#define DOPPEL_VECTOR_ANGLES_H

#include "vector/centres.h"

/* Cosines from `low` to `high`. */
struct cosine_range {
    float low, high;
};

static inline struct cosine_range cosine_range_join(struct cosine_range a, struct cosine_range b)
{
    return (struct cosine_range){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}

/* Those that a vector of such a dot product with a centre may have with its direction: all, when
 * the centre has none. @param slack what rounding may have done to it, as a length */
struct cosine_range cosine_of_dot(const struct centres *centres, uint32_t centre, int32_t dot,
                                  float slack);

/* The same by its score. */
struct cosine_range cosine_of_score(const struct centres *centres, uint32_t centre, int16_t score,
                                    float slack);

/* The dot products with a centre that vectors with such cosines have. */
struct dot_range {
    int32_t low, high;
} dots_of_cosines(const struct centres *centres, uint32_t centre, struct cosine_range range);

/* The cosines that others can have with a direction that have `min_cosine` with one of a range: by
 * the triangle inequality of angles. */
struct cosine_range cosines_within(struct cosine_range range, float min_cosine);

#endif
