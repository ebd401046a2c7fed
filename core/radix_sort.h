/* Sorting many numbers by some of their bits, in as many passes as those have digits of 11 bits. */
#ifndef DOPPEL_CORE_RADIX_SORT_H
#define DOPPEL_CORE_RADIX_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Numbers in order of their bits from `first` up to `end`; where these are equal, in the order they
 * came in. @param scratch room for as many. @return where they are now: in `items` or in `scratch`
 */
uint64_t *radix_sort(uint64_t *items, uint64_t *scratch, size_t count, unsigned first,
                     unsigned end);

#endif
