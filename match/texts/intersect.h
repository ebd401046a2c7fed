/* How much two sorted sets have in common. */
#ifndef DOPPEL_MATCH_TEXTS_INTERSECT_H
#define DOPPEL_MATCH_TEXTS_INTERSECT_H

#include <stddef.h>
#include <stdint.h>

/** How many values two sets share. Both ascend, each value once. Thread-safe. */
size_t count_common(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count);

#endif
