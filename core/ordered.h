/* Numbered pieces of work on several threads; their results are handed over in order. */
#ifndef DOPPEL_CORE_ORDERED_H
#define DOPPEL_CORE_ORDERED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ordered {
    void *context;
    uint32_t threads; /* 0 and 1: all in the calling thread */
    size_t pieces;
    /** Do piece number `piece` and leave its result in place `slot`; on any thread. */
    void (*work)(void *context, size_t piece, size_t slot);
    /** Hand over the result in `slot`, which is free afterwards; on the calling thread, in order of
     * piece; false ends the run. */
    bool (*deliver)(void *context, size_t piece, size_t slot);
};

/** How many slots a run needs: at most 2 × threads. */
size_t ordered_slots(const struct ordered *run);

/** Do all pieces. Fewer threads than wanted are no failure. @return false when `deliver` ended it.
 */
bool ordered_run(const struct ordered *run);

#endif
