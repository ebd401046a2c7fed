/* Sets of numbers of which the lowest are known, a fair sample: whether one may be a part of
 * another one, however much larger that is. */
#ifndef DOPPEL_CORE_HELD_SET_H
#define DOPPEL_CORE_HELD_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So many of the lowest numbers of a part are its keys: nearly all of them are in what holds it. */
enum { PART_KEYS = 8 };

/* What is held of a set. */
struct held_set {
    const uint32_t *values; /* ascending; borrowed */
    size_t count;
    uint32_t below; /* all of the set that are below it are held, and none above */
};

/* @param values ascending, each once: all of a set, or the lowest. @param below hold none above */
struct held_set held_set_of(const uint32_t *values, size_t count, uint32_t below);

/* How many keys it has: fewer, where it has fewer numbers. */
size_t part_key_count(const struct held_set *part);

/* So many of some numbers of a part its whole has at least: by chance fewer in one of 200 pairs at
 * the limit. */
double part_least_shared(double containment, double values);

/* Whether a set may hold such a share of another one. */
bool may_hold(const struct held_set *whole, const struct held_set *part, double containment);

#endif
