/* What the files of the room share: how an index holds its codes. */
#ifndef DOPPEL_INDEX_INDEX_ROOM_H
#define DOPPEL_INDEX_INDEX_ROOM_H

#include <doppel/index.h>

#include "index/scan.h"

struct doppel_index {
    struct doppel_index_options options;
    size_t words; /* a code */
    size_t count, capacity;
    uint64_t *groups; /* as scan.h has them */
    bool wide;        /* payloads are 64 bits each, not 32: some need it */
    void *payloads;
};

static inline uint64_t index_payload(const struct doppel_index *index, size_t position)
{
    return index->wide ? ((const uint64_t *)index->payloads)[position]
                       : ((const uint32_t *)index->payloads)[position];
}

#endif
