/* Positions of codes. */
#ifndef DOPPEL_CORE_POSITIONS_H
#define DOPPEL_CORE_POSITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <doppel/core.h>

/** Whether each position is there once, in order, and below `end`: as the views of a picture are.
 */
static inline bool positions_ascend(const struct doppel_fingerprint *fingerprint, uint32_t end)
{
    for (uint32_t i = 0; i < fingerprint->count; i++)
        if (fingerprint->positions[i] >= end ||
            (i && fingerprint->positions[i] <= fingerprint->positions[i - 1]))
            return false;
    return true;
}

#endif
