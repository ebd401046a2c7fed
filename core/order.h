/* Numbers in ascending order: for qsort and bsearch; and for so few that qsort is slower. */
#ifndef DOPPEL_CORE_ORDER_H
#define DOPPEL_CORE_ORDER_H

#include <stddef.h>
#include <stdint.h>

#define DEFINE_ORDER(name, type)                                                                   \
    static inline int compare_##name(const void *a, const void *b)                                 \
    {                                                                                              \
        type left = *(const type *)a, right = *(const type *)b;                                    \
        return (left > right) - (left < right);                                                    \
    }                                                                                              \
    static inline void insertion_sort_##name(type *items, size_t count)                            \
    {                                                                                              \
        for (size_t i = 1; i < count; i++) {                                                       \
            type item = items[i];                                                                  \
            size_t at = i;                                                                         \
            for (; at && items[at - 1] > item; at--)                                               \
                items[at] = items[at - 1];                                                         \
            items[at] = item;                                                                      \
        }                                                                                          \
    }

DEFINE_ORDER(u32, uint32_t)
DEFINE_ORDER(u64, uint64_t)
DEFINE_ORDER(double, double)

#endif
