/*
 * A Hamming table as its files see it.
 *
 * The bits of a code are permuted; chunk k is bits k × prefix … of the permuted code, and table k
 * has a bucket for each of its values. A bucket is a slot of `groups` groups of 16 lanes of 32
 * bits, each a cache line; a lane holds the remainder of a code: the bits that follow the chunk,
 * cyclically. Lanes 0 and 1 hold where the bucket begins in its table's order and how many codes it
 * has; when they are more than fit, lane 2 says at which group of the spill the rest begins.
 *
 * A code's number (id) is its place in the order of table 0. Tail k has an entry for each code in
 * the order of table k: its id (but for table 0) and the bits that the remainder left out. Codes
 * wider than 64 bits lie apart instead, in order of id, and are read whole.
 */
#ifndef DOPPEL_INDEX_HAMMING_TABLE_H
#define DOPPEL_INDEX_HAMMING_TABLE_H

#include <stdatomic.h>

#include "index/hamming/hamming.h"
#include "index/hamming/kernels.h"
#include "index/hamming/permute.h"

enum {
    HAMMING_VERSION = 2,
    HAMMING_OLD_VERSION = 1, /* the same but for wide codes */
    CHUNKS_MAX = 32,
    WORDS_MAX = 4, /* 64-bit words of a code */
    PREFIX_MIN = 8,
    PREFIX_MAX = 24,
    GROUPS_MAX = 128,
    HAMMING_DISTINCT_MAX = INT32_MAX
};

enum hamming_part {
    PART_SLOTS,
    PART_SPILL,
    PART_TAILS,
    PART_CODES,
    PART_PAYLOADS,      /* of each code the least */
    PART_REPEATED,      /* a bit for each id; none when no code is repeated */
    PART_REPEATED_IDS,  /* 32 bits each, ascending */
    PART_REPEATED_ENDS, /* 64 bits each: where an id's further payloads end; they begin where the
                           last one's end */
    PART_MORE,          /* further payloads, ascending for each id */
    PART_PERMUTATION,   /* a byte for each bit: where it goes */
    PART_SHELLS /* shells_max × chunks: 16 × the codes in a shell around a code, 32 bits */
};

enum hamming_parameter {
    PARAMETER_VERSION,
    PARAMETER_BITS,
    PARAMETER_RADIUS,
    PARAMETER_CHUNKS,
    PARAMETER_PREFIX,
    PARAMETER_GROUPS,
    PARAMETER_DISTINCT,
    PARAMETER_CODES,
    PARAMETER_PAYLOAD_BYTES,
    PARAMETER_REPEATED
};

/* What follows from the parameters alone. */
struct hamming_shape {
    uint32_t bits, words, chunks, prefix;
    uint32_t groups;      /* of a slot */
    uint32_t slot_words;  /* of 32 bits */
    uint32_t extra_bytes; /* 0, 2 or 4 in each entry of a tail; none when codes lie apart */
    bool apart;           /* codes lie apart */
    bool shared;   /* what remainders leave out is the same for all tables: only table 0 has it */
    uint32_t ring; /* of codes that do not lie apart: the bits that are turned */
};

struct hamming_shape hamming_shape(uint32_t bits, uint32_t chunks, uint32_t prefix,
                                   uint32_t groups);

/** Bits of a code that a slot tells: those of the chunk, and the remainder. */
static inline uint32_t window_bits(const struct hamming_shape *shape)
{
    return shape->prefix + 32;
}

/** What chunk and remainder may differ by, about: were all shares the same. */
uint32_t window_usual(const struct hamming_shape *shape, uint32_t radius);

/** Bytes of an entry of a table's tail. */
static inline size_t tail_bytes(const struct hamming_shape *shape, unsigned chunk)
{
    if (chunk == 0)
        return shape->extra_bytes;
    return (shape->shared ? 0 : shape->extra_bytes) + sizeof(uint32_t);
}

/** Where the tail of a table begins within its part. */
static inline size_t tail_offset(const struct hamming_shape *shape, unsigned chunk,
                                 uint64_t distinct)
{
    return chunk ? (size_t)distinct * (tail_bytes(shape, 0) + (chunk - 1) * tail_bytes(shape, 1))
                 : 0;
}

/* Masks of prefix bits, by number of ones (the shells), each ascending; made when a search needs
 * them. NULL: not yet. */
struct shell_masks {
    _Atomic(uint32_t *) shells[PREFIX_MAX + 1];
};

/** The masks of a shell; NULL without memory. */
const uint32_t *shell_masks_get(const struct hamming *table, uint32_t ones);

struct hamming {
    struct segment *segment;
    struct hamming_shape shape;
    uint32_t design_radius, payload_bytes;
    uint64_t codes, distinct, repeated, spill_groups, more;
    const uint32_t *slots, *spill;
    const uint8_t *tails[CHUNKS_MAX];
    const uint64_t *apart;
    const uint8_t *payloads, *more_payloads;
    const uint64_t *repeated_bits, *repeated_ends;
    const uint32_t *repeated_ids;
    struct permuter *permuter;
    const hamming_kernel *kernel;
    struct shell_masks *masks;
    uint32_t shells; /* how many may be looked up: beyond, all buckets are read in order */
    uint32_t shell_ends[PREFIX_MAX + 1];
    struct share_costs *costs;
};

/* A permuted code, turned so that a chunk comes first. */
struct turned {
    uint32_t prefix; /* the chunk */
    uint32_t rest;   /* its remainder */
    uint32_t extra;  /* the bits left out, when codes do not lie apart */
};

/** Turn the lowest `ring` bits of a word right. */
static inline uint64_t ring_turn(uint64_t code, uint32_t ring, uint32_t by)
{
    uint64_t mask = ring < 64 ? (UINT64_C(1) << ring) - 1 : UINT64_MAX, low = code & mask;
    uint64_t turned = by ? low >> by | low << (ring - by) : low;
    return (turned & mask) | (code & ~mask);
}

/** 32 bits of a permuted code from bit `at` on, cyclically if it has several words. */
static inline uint32_t code_bits(const uint64_t *code, const struct hamming_shape *shape,
                                 uint32_t at)
{
    if (shape->words == 1)
        return (uint32_t)(code[0] >> at);
    uint32_t word = at / 64 & (shape->words - 1), shift = at & 63;
    uint64_t low = code[word] >> shift;
    if (shift > 32)
        low |= code[(word + 1) & (shape->words - 1)] << (64 - shift);
    return (uint32_t)low;
}

static inline uint32_t chunk_value(const uint64_t *code, const struct hamming_shape *shape,
                                   unsigned chunk)
{
    return code_bits(code, shape, chunk * shape->prefix) & ((UINT32_C(1) << shape->prefix) - 1);
}

static inline struct turned code_turn(const uint64_t *code, const struct hamming_shape *shape,
                                      unsigned chunk)
{
    struct turned turned = {.prefix = chunk_value(code, shape, chunk)};
    if (shape->words == 1) {
        uint64_t rest = ring_turn(code[0], shape->ring, chunk * shape->prefix) >> shape->prefix;
        turned.rest = (uint32_t)rest;
        turned.extra = (uint32_t)(rest >> 32);
        return turned;
    }
    turned.rest = code_bits(code, shape, (chunk + 1) * shape->prefix);
    return turned;
}

/** The opposite, for codes that do not lie apart. */
uint64_t code_unturn(const struct turned *turned, const struct hamming_shape *shape,
                     unsigned chunk);

/* A bucket, its counts checked against the table; whose numbers are wrong has no codes. */
struct bucket {
    const uint32_t *slot, *spill;
    uint32_t start, count;   /* in the order of its table */
    uint32_t inside, header; /* codes in the slot; lanes before them */
};
struct bucket hamming_bucket(const struct hamming *table, uint64_t number);

/** The remainder of code `index` of a bucket. */
uint32_t bucket_rest(const struct bucket *bucket, uint32_t index);

static inline uint64_t payload_load(const uint8_t *at, uint32_t bytes)
{
    uint64_t value = 0;
    __builtin_memcpy(&value, at, bytes == 4 ? 4 : 8);
    return value;
}

/** All payloads of a code: the first is apart, the rest in *out_more. */
uint64_t hamming_more(const struct hamming *table, uint32_t id, const uint8_t **out_more);

#endif
