/* Sorting by digits, the lowest first. */
#include "core/radix_sort.h"

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

static void sort_by_radix_digit(const uint64_t *items, uint64_t *out, size_t count, unsigned shift)
{
    size_t starts[DIGITS + 1] = {0};
    for (size_t i = 0; i < count; i++)
        starts[(items[i] >> shift & (DIGITS - 1)) + 1]++;
    for (size_t i = 0; i < DIGITS; i++)
        starts[i + 1] += starts[i];
    for (size_t i = 0; i < count; i++)
        out[starts[items[i] >> shift & (DIGITS - 1)]++] = items[i];
}

uint64_t *radix_sort(uint64_t *items, uint64_t *scratch, size_t count, unsigned first, unsigned end)
{
    for (unsigned shift = first; shift < end && count > 1; shift += DIGIT_BITS) {
        sort_by_radix_digit(items, scratch, count, shift);
        uint64_t *sorted = scratch;
        scratch = items;
        items = sorted;
    }
    return items;
}
