/* One side of a join: its codes, sorted by the prefix of a chunk. */
#ifndef DOPPEL_INDEX_JOIN_SIDE_H
#define DOPPEL_INDEX_JOIN_SIDE_H

#include <stdbool.h>
#include <stddef.h>

#include "index/join/plan.h"

/* Readable beyond the last code: blocks are compared whole. */
enum { JOIN_PAD = 16 };

struct join_side {
    size_t count, stride; /* stride: from one word of a code to the next */
    uint32_t *lanes;      /* 32 bits of each code: a sketch, or the code itself */
    uint64_t *planes;     /* the words of the codes, word by word; NULL of 32-bit codes */
    uint32_t *numbers;
    uint32_t *starts; /* where each bucket begins, and the end */
};

/** Room for the codes of a side at any chunk of the plan; false when there is no memory. */
bool join_side_make(const struct join_plan *plan, size_t count, struct join_side *out);
void join_side_free(struct join_side *side);

/** Read the codes and sort them. @return false when not the same codes come twice */
bool join_side_sort(const struct join_plan *plan, const struct join_chunk *chunk,
                    const struct doppel_index_codes *codes, struct join_side *side);

#endif
