/* What the analyzers cannot see: doppel_fail gives back the status that it is given, and an array
 * with room has memory. */
#ifndef DOPPEL_TESTS_STATIC_MODEL_H
#define DOPPEL_TESTS_STATIC_MODEL_H

#include <doppel/core.h>

#include "core/array.h"

#define doppel_fail(error, status, ...)                                                            \
    ((doppel_fail)(error, status, __VA_ARGS__), (enum doppel_status)(status))
#define array_grow(items, count, capacity, size)                                                   \
    (array_grow(items, count, capacity, size) && *(items))

#endif
