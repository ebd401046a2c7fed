/* Searches by linear scan of codes that lie in groups (scan.h), with their payloads: blocks that
 * stay in the cache, scanned for each of several queries. */
#ifndef DOPPEL_INDEX_SCAN_CODES_H
#define DOPPEL_INDEX_SCAN_CODES_H

#include "core/digest.h"
#include "index/hits.h"
#include "index/scan.h"
#include "index/segment/segment.h"

/* What is kept of a code of 256 bits apart from its word 0: half a cache line. */
struct scan_record {
    uint64_t words[3]; /* 1 to 3 */
    uint64_t payload;
};

/* So many records that are checked together: few are read, at random, of which each would bring a
 * page with it that has to be checked. */
enum { SCAN_BLOCK_RECORDS = 15 };
struct scan_block {
    struct scan_record records[SCAN_BLOCK_RECORDS];
    uint64_t sum, none[3];
};
_Static_assert(sizeof(struct scan_block) == 512, "it lies on cache lines of its own");

static inline uint64_t scan_block_sum(const struct scan_block *block)
{
    return checksum64(block->records, sizeof block->records);
}

struct scan_codes {
    const uint64_t *groups;          /* whole ones; with blocks, of word 0 alone */
    const struct scan_block *blocks; /* NULL: all words lie in the groups */
    const uint64_t *marks;           /* with blocks: a bit for each code */
    const void *payloads;            /* 64 bits each, or 32 */
    bool narrow;
    uint32_t bits;
    size_t count;
    const uint32_t *deaths; /* code i counts unless 0 < deaths[i] ≤ clock; NULL: all count */
    uint32_t clock;
    const struct segment *segment; /* that they lie in; NULL: in none */
};

static inline size_t code_words(uint32_t bits)
{
    return (bits + 63) / 64;
}

static inline const void *scan_payload_at(const struct scan_codes *codes, size_t i)
{
    return codes->narrow ? (const void *)((const uint32_t *)codes->payloads + i)
                         : (const void *)((const uint64_t *)codes->payloads + i);
}

static inline uint64_t scan_payload(const struct scan_codes *codes, size_t i)
{
    const void *at = scan_payload_at(codes, i);
    return codes->narrow ? *(const uint32_t *)at : *(const uint64_t *)at;
}

/** Words of marks for so many codes. */
static inline size_t scan_mark_words(size_t count)
{
    return (count + 63) / 64;
}

/** Where word 0 of code i lies among groups; word w is SCAN_GROUP × w further. */
static inline size_t scan_place(size_t i, size_t words)
{
    return i / SCAN_GROUP * SCAN_GROUP * words + i % SCAN_GROUP;
}

static inline bool scan_is_alive(const struct scan_codes *codes, size_t i)
{
    return !codes->deaths || !codes->deaths[i] || codes->deaths[i] > codes->clock;
}

/** A part of them, from 0, of so many that are about equal; of such without blocks. */
struct scan_codes scan_codes_share(const struct scan_codes *codes, size_t part, size_t parts);

/** Code i, and its payload: one of few, or of all in turn. Damage is remembered, as by
 * segment_touch. */
void scan_get(const struct scan_codes *codes, size_t i, uint64_t *out_code, uint64_t *out_payload);
void scan_read(const struct scan_codes *codes, size_t i, uint64_t *out_code, uint64_t *out_payload);

/** Append to each query's hits the codes within its radius. @return false without memory */
bool scan_within(const struct scan_codes *codes, struct query *queries, size_t count);

/** Keep in each query's hits the k nearest of those that are there and of the codes, sorted. */
bool scan_nearest(const struct scan_codes *codes, struct query *queries, size_t count, size_t k);

#endif
