/* A growable array: ARRAY(type) name; array_push(&name, value). Zero-initialised it is empty. */
#ifndef DOPPEL_CORE_ARRAY_H
#define DOPPEL_CORE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define ARRAY(type)                                                                                \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count, capacity;                                                                    \
    }

/** Make room for one more; false when there is no memory (the array is as it was). */
#define array_reserve(array)                                                                       \
    array_grow((void **)&(array)->items, (array)->count, &(array)->capacity, sizeof *(array)->items)

/** Append a value; false when there is no memory. */
#define array_push(array, value)                                                                   \
    (array_reserve(array) && ((array)->items[(array)->count++] = (value), true))

#define array_free(array)                                                                          \
    (free((array)->items), (array)->items = NULL, (array)->count = (array)->capacity = 0)

static inline bool array_grow(void **items, size_t count, size_t *capacity, size_t item_size)
{
    if (count < *capacity)
        return true;
    size_t wanted = *capacity ? *capacity * 2 : 16;
    size_t bytes;
    if (wanted < *capacity || __builtin_mul_overflow(wanted, item_size, &bytes))
        return false;
    void *grown = realloc(*items, bytes);
    if (!grown)
        return false;
    *items = grown;
    *capacity = wanted;
    return true;
}

#endif
