/* How a join is to be done: which chunks, which prefix, which shares of the radius. */
#ifndef DOPPEL_INDEX_JOIN_PLAN_H
#define DOPPEL_INDEX_JOIN_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include <doppel/index.h>

enum { JOIN_CHUNKS_MAX = 32, JOIN_WORDS_MAX = 4, JOIN_PREFIX_MAX = 22 };

/* A run of bits of the code; its first `prefix` bits sort the codes into buckets. */
struct join_chunk {
    uint32_t offset, prefix;
    int32_t share; /* bits of the prefix that may differ; -1: the chunk is not needed */
};

struct join_plan {
    uint32_t bits, words, radius;
    /* Compare 32 bits after the prefix, then the whole code of those that are near; else the whole
     * code at once. */
    bool sketches;
    uint32_t chunks;
    struct join_chunk chunk[JOIN_CHUNKS_MAX];
};

/** The cheapest way: by the sizes of buckets expected of codes like those of a sample. One chunk
 * without a prefix, which compares all with all, where that is cheaper.
 * @return DOPPEL_OK; DOPPEL_E_MEMORY */
enum doppel_status join_plan_make(const struct doppel_index_pairing *pairing,
                                  struct join_plan *out);

/** 64 bits of a code from bit `offset` on, around its end; of 32-bit codes 32. */
static inline uint64_t join_window(const uint64_t *code, uint32_t words, uint32_t offset)
{
    uint32_t word = offset / 64, shift = offset % 64;
    uint64_t low = code[word] >> shift;
    return shift ? low | code[word + 1 < words ? word + 1 : 0] << (64 - shift) : low;
}

static inline uint64_t join_prefix(const uint64_t *code, uint32_t words,
                                   const struct join_chunk *chunk)
{
    return join_window(code, words, chunk->offset) & ((UINT64_C(1) << chunk->prefix) - 1);
}

#endif
