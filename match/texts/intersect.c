/* Counting the common values of two sorted sets: merged, or looked up where one is much smaller. */
#include "match/texts/intersect.h"

#include <string.h>

/* Looking up takes some 2·log2(ratio) steps that branch at random, a merge one step that does not
 * for each value of the larger set. */
enum { GALLOP_RATIO = 32 };

typedef uint32_t four_values __attribute__((vector_size(16)));

enum { FOUR = 4 };

/* Which of four values are among four others, each of which is there once. */
static inline four_values find_common(four_values x, four_values y)
{
    return (four_values)(x == y) | (four_values)(x == __builtin_shufflevector(y, y, 1, 2, 3, 0)) |
           (four_values)(x == __builtin_shufflevector(y, y, 2, 3, 0, 1)) |
           (four_values)(x == __builtin_shufflevector(y, y, 3, 0, 1, 2));
}

/* Four with four while there are so many, without branches on the values: which of two is smaller
 * cannot be foreseen. Source: Schlegel, Willhalm and Lehner, "Fast Sorted-Set Intersection using
 * SIMD Instructions" (2011). */
static size_t count_merged(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count)
{
    size_t common = 0, i = 0, j = 0;
    four_values met = {0}, x, y;
    while (i + FOUR <= a_count && j + FOUR <= b_count) {
        memcpy(&x, a + i, sizeof x);
        memcpy(&y, b + j, sizeof y);
        met -= find_common(x, y);
        uint32_t a_last = a[i + FOUR - 1], b_last = b[j + FOUR - 1];
        i += FOUR * (size_t)(a_last <= b_last);
        j += FOUR * (size_t)(b_last <= a_last);
    }
    for (int lane = 0; lane < FOUR; lane++)
        common += met[lane];
    while (i < a_count && j < b_count) {
        uint32_t left = a[i], right = b[j];
        common += left == right;
        i += left <= right;
        j += right <= left;
    }
    return common;
}

/* The first place from `from` on whose value is not below `value`: in steps that duplicate, then by
 * halves. */
static size_t gallop(const uint32_t *set, size_t count, size_t from, uint32_t value)
{
    size_t step = 1;
    while (step <= count - from && set[from + step - 1] < value) {
        from += step;
        step *= 2;
    }
    size_t length = step <= count - from ? step : count - from;
    while (length) {
        size_t half = length / 2;
        if (set[from + half] < value) {
            from += half + 1;
            length -= half + 1;
        } else {
            length = half;
        }
    }
    return from;
}

static size_t count_looked_up(const uint32_t *few, size_t few_count, const uint32_t *many,
                              size_t many_count)
{
    size_t common = 0, at = 0;
    for (size_t i = 0; i < few_count; i++) {
        at = gallop(many, many_count, at, few[i]);
        if (at == many_count)
            break;
        common += many[at] == few[i];
    }
    return common;
}

size_t count_common(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count)
{
    if (a_count / GALLOP_RATIO > b_count)
        return count_looked_up(b, b_count, a, a_count);
    if (b_count / GALLOP_RATIO > a_count)
        return count_looked_up(a, a_count, b, b_count);
    return count_merged(a, a_count, b, b_count);
}
