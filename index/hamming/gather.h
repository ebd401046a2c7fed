/* What a Hamming table is built from: codes permuted, in the order of table 0, each once, and their
 * payloads. */
#ifndef DOPPEL_INDEX_HAMMING_GATHER_H
#define DOPPEL_INDEX_HAMMING_GATHER_H

#include "core/array.h"
#include "index/hamming/table.h"

struct repeat {
    uint64_t payload;
    uint32_t id;
};

/* Items are a code and its payload. Once the payloads are in the segment, only the codes are left:
 * those of 64 bits or less moved together where the items were, wider ones in the segment; the rest
 * of the items is room to work in. */
struct gathered {
    struct hamming_shape shape;
    uint8_t places[256]; /* the permutation */
    uint64_t count;      /* codes, with repeats */
    uint64_t distinct, repeated;
    uint64_t *items;       /* distinct × (words + 1); the payload of each is the least */
    const uint64_t *codes; /* distinct × words, once they are apart */
    uint32_t *work;        /* work_words, from then on */
    size_t work_words;
    ARRAY(struct repeat) again; /* the others, ascending by id and payload */
};

enum doppel_status gather(const struct hamming_options *options, struct code_stream *stream,
                          struct gathered *out, struct doppel_error *error);
void gathered_free(struct gathered *gathered);

/** Sort the items of each partition by bucket and keep each code once.
 * @param starts where partitions begin, and one more; false without memory */
bool gathered_order(struct gathered *gathered, const uint64_t *starts);

/* Buckets are filled by partitions, so that what is being filled stays in the cache. */
enum { PARTITION_BITS = 9, PARTITIONS_MAX = 1 << PARTITION_BITS };

static inline uint32_t partition_shift(const struct hamming_shape *shape)
{
    return shape->prefix > PARTITION_BITS ? shape->prefix - PARTITION_BITS : 0;
}

static inline uint32_t partition_count(const struct hamming_shape *shape)
{
    return UINT32_C(1) << (shape->prefix - partition_shift(shape));
}

#endif
