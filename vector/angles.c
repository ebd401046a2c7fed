/* The triangle inequality of angles, on their cosines. */
#include "vector/angles.h"

#include <math.h>

/* What sums and roots of floats may have lost. */
static const float float_slack = 1e-5F;

enum {
    DOT_SLACK = 2,      /* units: those of a cell are whole, and of such sums */
    DOTS_MOST = 1 << 20 /* units: more than any */
};

/* The length of a centre by that of a vector of length 1, in the units of a dot product; 0: it has
 * no direction. */
static float dot_of_one(const struct centres *centres, uint32_t centre)
{
    return sqrtf((float)centre_square(centres, centre)) * PREFIX_ONE;
}

struct cosine_range cosine_of_dot(const struct centres *centres, uint32_t centre, int32_t dot,
                                  float slack)
{
    const float one = dot_of_one(centres, centre);
    if (!(one > 0))
        return (struct cosine_range){-1, 1};
    const float cosine = (float)dot / one, by = slack + float_slack + DOT_SLACK / one;
    return (struct cosine_range){cosine - by, cosine + by};
}

struct cosine_range cosine_of_score(const struct centres *centres, uint32_t centre, int16_t score,
                                    float slack)
{
    const int32_t dot = ((int32_t)score + centre_square(centres, centre)) / 2;
    struct cosine_range range = cosine_of_dot(centres, centre, dot, slack);
    if (score == INT16_MIN) /* or lower: a score is no less */
        range.low = -1;
    return range;
}

/* Whatever a file says. */
static int32_t whole_dot(float dot)
{
    return !(dot > -DOTS_MOST) ? -DOTS_MOST : dot < DOTS_MOST ? (int32_t)dot : DOTS_MOST;
}

struct dot_range dots_of_cosines(const struct centres *centres, uint32_t centre,
                                 struct cosine_range range)
{
    const float one = dot_of_one(centres, centre);
    if (!(one > 0))
        return (struct dot_range){-DOTS_MOST, DOTS_MOST};
    return (struct dot_range){whole_dot(floorf((range.low - float_slack) * one - DOT_SLACK)),
                              whole_dot(ceilf((range.high + float_slack) * one + DOT_SLACK))};
}

static float sine_of_cosine(float cosine)
{
    return cosine < 1 && cosine > -1 ? sqrtf(1 - cosine * cosine) : 0;
}

struct cosine_range cosines_within(struct cosine_range range, float min_cosine)
{
    const float apart = sine_of_cosine(min_cosine);
    return (struct cosine_range){
        range.low > -min_cosine ? range.low * min_cosine - sine_of_cosine(range.low) * apart : -1,
        range.high < min_cosine ? range.high * min_cosine + sine_of_cosine(range.high) * apart : 1};
}
