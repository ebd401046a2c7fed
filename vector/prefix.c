/* Rounding, and bounds on what it does. */
#include "vector/prefix.h"

#include <math.h>
#include <string.h>

#include "vector/numbers.h"

/* What sums of floats may have lost, and rounding to whole units, up to it. */
static const double float_slack = 2e-5;

static int16_t whole_units(double value)
{
    const double up = ceil(value) + 1;
    return up > INT16_MAX ? INT16_MAX : (int16_t)up;
}

/* With x = v + d rounded to v, and y = w + e: x·y ≤ v·w + |d| + |e| + |d||e|, as none is longer
 * than 1; and |d||e| is no more than half of the sum of their squares. */
static double error_of_dot(double rounded_off)
{
    return rounded_off + rounded_off * rounded_off / 2;
}

static int16_t length_left(double square)
{
    return whole_units(sqrt(square < 1 ? 1 - square + float_slack : float_slack) * PREFIX_REST_ONE);
}

void prefix_make(const float *components, uint32_t width, struct prefix *out)
{
    float square = 0, lost = 0;
    for (uint32_t j = 0; j < width; j++) {
        const float x = components[j];
        float value = nearest_whole(x * PREFIX_ONE);
        value = value > PREFIX_MOST ? PREFIX_MOST : value < -PREFIX_MOST ? -PREFIX_MOST : value;
        const float off = x - value / PREFIX_ONE;
        out->values[j] = (int8_t)value;
        square += x * x;
        lost += off * off;
        if (j + 1 == PREFIX_HEAD)
            out->head_rest = length_left((double)square);
    }
    out->rest = length_left((double)square);
    out->error = whole_units((error_of_dot(sqrt((double)lost)) + float_slack) * PREFIX_DOT_ONE);
}

int32_t prefix_square(const int8_t *values, uint32_t width)
{
    int32_t square = 0;
    for (uint32_t j = 0; j < width; j++)
        square += values[j] * values[j];
    return square;
}

/* Where a component lies: see struct prefix_blocks. */
static size_t component_place(size_t at, uint32_t width, uint32_t j)
{
    return at / PREFIX_BLOCK * PREFIX_BLOCK * width + j / 2 * 2 * PREFIX_BLOCK +
           at % PREFIX_BLOCK * 2 + j % 2;
}

void prefix_put(const int8_t *values, uint32_t width, uint8_t *codes, size_t at)
{
    for (uint32_t j = 0; j < width; j++)
        codes[component_place(at, width, j)] = (uint8_t)(values[j] + PREFIX_ZERO);
}

void prefix_values(const struct prefix_blocks *blocks, size_t at, int8_t *values)
{
    for (uint32_t j = 0; j < blocks->dimensions; j++)
        values[j] =
            (int8_t)(blocks->codes[component_place(at, blocks->dimensions, j)] - PREFIX_ZERO);
}

void prefix_spread(const int8_t *values, uint32_t width, struct prefix_spread *out)
{
    int head = 0, all = 0;
    for (uint32_t j = 0; j < width; j += 2) {
        const int8_t two[] = {(int8_t)(2 * values[j]), (int8_t)(2 * values[j + 1])};
        for (uint32_t lane = 0; lane < PREFIX_BLOCK; lane++)
            memcpy(out->pairs[j / 2][lane], two, sizeof two);
        all += two[0] + two[1];
        head = j < PREFIX_HEAD ? all : head;
    }
    out->head_start = (int16_t)(-PREFIX_ZERO * head);
    out->tail_start = (int16_t)(-PREFIX_ZERO * (all - head));
}

int16_t prefix_below(float min_cosine, int16_t error)
{
    enum { ROUNDING = 3 }; /* of products of shares, and of what follows */
    const double below = floor((double)min_cosine * PREFIX_DOT_ONE) - error - ROUNDING;
    return below < INT16_MIN ? INT16_MIN : (int16_t)below;
}
