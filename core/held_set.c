/* Whether a set may hold another one, by the lowest numbers of both. */
#include "core/held_set.h"

#include <math.h>

struct held_set held_set_of(const uint32_t *values, size_t count, uint32_t below)
{
    struct held_set held = {values, 0, below};
    while (held.count < count && values[held.count] < below)
        held.count++;
    if (held.count && held.count == count)
        held.below = values[count - 1] + 1;
    return held;
}

size_t part_key_count(const struct held_set *part)
{
    return part->count < PART_KEYS ? part->count : PART_KEYS;
}

double part_least_shared(double containment, double values)
{
    double spread = sqrt(fmax(0, containment * (1 - containment)) * values);
    double least = floor(containment * values - 2.6 * spread);
    return least > 1 ? least : 1;
}

/* Where a value stands from `at` on, or the next greater one: by steps that double. */
static size_t place_of_value(const struct held_set *set, size_t at, uint32_t value)
{
    size_t low = at, step = 1;
    while (at < set->count && set->values[at] < value) {
        low = at + 1;
        at += step;
        step *= 2;
    }
    size_t high = at < set->count ? at : set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->values[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool may_hold(const struct held_set *whole, const struct held_set *part, double containment)
{
    uint32_t below = whole->below < part->below ? whole->below : part->below;
    size_t all = part->below <= below ? part->count : place_of_value(part, 0, below), at = 0;
    double left = (double)all - part_least_shared(containment, (double)all); /* may miss */
    for (size_t i = 0; i < all && left >= 0; i++) {
        at = place_of_value(whole, at, part->values[i]);
        left -= at == whole->count || whole->values[at] != part->values[i];
    }
    return all && left >= 0;
}
