/*
 * Slots: codes in memory that are searched by multi-index, for the head. A code is cut into chunks
 * of at most 13 bits; bucket b of a chunk is a chain of slots, of one cache line each, with 32 bits
 * of each code that lie behind the chunk, by which most candidates are told to be far without
 * looking at them. Codes are added, never taken out.
 */
#ifndef DOPPEL_INDEX_SLOTS_H
#define DOPPEL_INDEX_SLOTS_H

#include "index/scan_codes.h"

enum {
    SLOT_LANES = 14,
    SLOTS_MAX_CHUNKS = 20,
    SLOTS_MAX_CODES = 1 << 17 /* a multiple of SCAN_GROUP; a head of more is on its way into a
                                 segment: the rest is scanned */
};

/* Aligned to 64 bytes. */
struct slot {
    uint32_t remainders[SLOT_LANES];
    uint32_t count;
    uint32_t next; /* in the chain; 0: none */
};

struct slot_chunk {
    uint32_t start, bits; /* in the code; the bucket is the low ones of these bits */
    uint32_t first;       /* slot, of bucket 0 */
};

struct slots {
    uint32_t bits, chunk_count; /* of a code */
    struct slot_chunk chunks[SLOTS_MAX_CHUNKS];
    struct slot *slots; /* a first one for each bucket, then what they overflow to */
    uint32_t (*ids)[SLOT_LANES];
    uint32_t count, capacity; /* slots */
    uint32_t codes;           /* that are in them */
    uint32_t room;            /* codes for which there are buckets enough */
};

/** Add the codes from number slots->codes up to `end`, or SLOTS_MAX_CODES, of those in groups.
 * False without memory: some are missing then, and those after slots->codes are to be scanned. */
bool slots_add(struct slots *slots, uint32_t bits, const uint64_t *groups, uint32_t end);

/** Append to the query's hits the codes within its radius, of the first slots->codes, when that is
 * likely to be cheaper than a scan of these. @return whether it did; else nothing was appended.
 * `*out_failed`: no memory for hits */
bool slots_search(const struct slots *slots, const struct scan_codes *codes,
                  const struct query *query, struct doppel_index_counts *counts, bool *out_failed);

void slots_free(struct slots *slots);
uint64_t slots_bytes(const struct slots *slots);

/* ---- kernels ---- */

/* Lanes of slots that are near. */
struct slot_matches {
    uint32_t *found; /* slot × 16 + lane; room for SLOT_LANES a slot */
    size_t count;
    uint32_t *next; /* of the slots that have one; room for one a slot */
    size_t next_count;
};

/** Look at `count` slots: at which lanes do the remainders differ from the query's in at most
 * `limit` bits? Sets both counts. */
typedef void slot_kernel(const struct slot *slots, const uint32_t *numbers, size_t count,
                         uint32_t query, uint32_t limit, struct slot_matches *out);

slot_kernel slot_kernel_portable, slot_kernel_avx2, slot_kernel_avx512;

/** The fastest of this processor, by core/cpu.h. */
slot_kernel *slot_kernel_choose(void);

#endif
