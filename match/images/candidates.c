/* The pictures that a picture's look-ups hit, each once, however many of its codes were hit. */
#include "match/images/images_internal.h"

#include <stdlib.h>

bool candidates_make(struct candidates *candidates, size_t limit)
{
    *candidates = (struct candidates){.seen = calloc(limit / 64 + 1, sizeof(uint64_t))};
    return candidates->seen != NULL;
}

void candidates_free(struct candidates *candidates)
{
    free(candidates->seen);
    array_free(&candidates->list);
}

bool candidates_add(struct candidates *candidates, uint32_t number)
{
    uint64_t bit = UINT64_C(1) << number % 64, *word = &candidates->seen[number / 64];
    if (*word & bit)
        return true;
    *word |= bit;
    return array_push(&candidates->list, number);
}
