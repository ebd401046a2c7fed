/*
 * How a band table lies in its segment, and what its files share.
 *
 * Signatures that have one payload come first, in the order of the stream; the payload of signature
 * i is payload i. Those of several payloads follow; a table says where their lists start.
 *
 * Each band has buckets, chosen by a hash of its lanes, and its own list of entries in order of
 * buckets. An entry is the number of a signature in its low bits and, in what remains of 32 bits, a
 * tag of the same hash: most entries of other values are distinguished without a look at their
 * signatures.
 */
#ifndef DOPPEL_INDEX_BANDS_BANDS_INTERNAL_H
#define DOPPEL_INDEX_BANDS_BANDS_INTERNAL_H

#include <string.h>

#include "index/bands/bands.h"

enum {
    BANDS_VERSION = 2, /* 1 had payloads of 8 bytes only */
    BANDS_BUCKET_ENTRIES = 8,
    BANDS_BUCKET_ENTRIES_IN_FILE = 32
};

enum bands_part {
    BANDS_SIGNATURES, /* words of each distinct one */
    BANDS_PAYLOADS,   /* 4 or 8 bytes each record */
    BANDS_STARTS,     /* u32: where the payloads of each repeated signature start, and the end */
    BANDS_OFFSETS,    /* u32 × (buckets + 1) each band: where a bucket starts in its entries */
    BANDS_ENTRIES     /* u32 × distinct each band */
};

enum bands_parameter {
    BANDS_PARAMETER_VERSION,
    BANDS_PARAMETER_LANES,
    BANDS_PARAMETER_BANDS,
    BANDS_PARAMETER_ROWS,
    BANDS_PARAMETER_COUNT,
    BANDS_PARAMETER_DISTINCT,
    BANDS_PARAMETER_SINGLES,
    BANDS_PARAMETER_BUCKETS,
    BANDS_PARAMETER_PAYLOAD_BYTES /* 0 in version 1: 8 */
};

struct bands_shape {
    struct bands_options options;
    uint64_t count;
    uint32_t distinct, singles, buckets; /* buckets of each band */
    uint32_t payload_bytes;
};

/** What the segment of such a table holds. */
struct segment_plan bands_plan(const struct bands_shape *shape);

/**
 * Lanes in which two signatures differ; exact when it is within `limit`. Otherwise what was counted
 * in the blocks of 32 lanes up to the one that went over it. 64 bytes from the start of each block
 * are read, whatever the number of lanes.
 */
typedef uint32_t bands_kernel(const uint64_t *a, const uint64_t *b, uint32_t lanes, uint32_t limit);

bands_kernel bands_distance_portable, bands_distance_avx2, bands_distance_avx512;

/** The fastest of this processor. */
bands_kernel *bands_kernel_choose(void);

struct bands {
    struct segment *segment;
    struct bands_shape shape;
    uint32_t words;   /* a signature */
    uint32_t id_mask; /* of an entry */
    bands_kernel *distance;
    const uint64_t *signatures;
    const uint8_t *payloads;
    const uint32_t *starts, *offsets, *entries;
};

/** The records of a signature: the payloads from one number to another. False when the table is
 * damaged. */
bool bands_records_of(const struct bands *table, uint32_t signature, uint64_t *out_first,
                      uint64_t *out_end);

static inline uint64_t bands_payload(const struct bands *table, uint64_t record)
{
    uint64_t payload = 0;
    const uint32_t bytes = table->shape.payload_bytes;
    memcpy(&payload, table->payloads + record * bytes, bytes == 4 ? 4 : 8);
    return payload;
}

/** Whether a bucket's limits lie within the band's entries, which they are untouched. */
static inline bool bands_bucket(const struct bands *table, uint32_t band, uint32_t bucket,
                                const uint32_t **out_first, const uint32_t **out_end)
{
    const uint32_t *offsets = table->offsets + (uint64_t)band * (table->shape.buckets + 1) + bucket;
    const uint32_t *entries = table->entries + (uint64_t)band * table->shape.distinct;
    segment_touch(table->segment, offsets, 2 * sizeof *offsets);
    uint32_t first = offsets[0], end = offsets[1];
    if (first > end || end > table->shape.distinct)
        return false;
    *out_first = entries + first;
    *out_end = entries + end;
    return true;
}

static inline const uint8_t *band_lanes(const uint64_t *signature, uint32_t band, uint32_t rows)
{
    return (const uint8_t *)signature + (size_t)band * rows * sizeof(uint16_t);
}

static inline bool band_equal(const uint64_t *a, const uint64_t *b, uint32_t band, uint32_t rows)
{
    return !memcmp(band_lanes(a, band, rows), band_lanes(b, band, rows), rows * sizeof(uint16_t));
}

/** Whether a whole band of two signatures is equal. */
static inline bool band_shared(const uint64_t *a, const uint64_t *b,
                               const struct bands_options *options)
{
    for (uint32_t band = 0; band < options->bands; band++)
        if (band_equal(a, b, band, options->rows))
            return true;
    return false;
}

static inline uint64_t band_mix(uint64_t value)
{
    unsigned __int128 product = (unsigned __int128)value * 0x9e3779b97f4a7c15u;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/** The hash of a band: the high half chooses the bucket, the low one is the tag. */
static inline uint64_t band_hash(const uint64_t *signature, uint32_t band, uint32_t rows)
{
    const uint8_t *at = band_lanes(signature, band, rows);
    uint64_t hash = (band + 1) * 0xd6e8feb86659fd93u, word;
    uint32_t row = 0;
    for (; row + 4 <= rows; row += 4) {
        memcpy(&word, at + row * sizeof(uint16_t), sizeof word);
        hash = band_mix(hash ^ word);
    }
    for (word = 0; row < rows; row++) {
        uint16_t lane;
        memcpy(&lane, at + row * sizeof lane, sizeof lane);
        word = word << 16 | lane;
    }
    hash = band_mix(hash ^ word) * 0xbf58476d1ce4e5b9u;
    return hash ^ hash >> 31;
}

/** A hash of the whole signature, one of many by `seed`. */
static inline uint64_t signature_hash(const uint64_t *code, uint32_t words, uint64_t seed)
{
    uint64_t even = seed * 0xd6e8feb86659fd93u, odd = ~even;
    for (uint32_t i = 0; i + 1 < words; i += 2) {
        even = band_mix(even ^ code[i]) + i;
        odd = band_mix(odd ^ code[i + 1]) + seed;
    }
    if (words % 2)
        even = band_mix(even ^ code[words - 1]);
    return band_mix(even ^ band_mix(odd)) ^ odd;
}

/** The bits of an entry that number a signature. */
static inline uint32_t bands_id_mask(uint32_t distinct)
{
    return distinct > 1 ? UINT32_MAX >> __builtin_clz(distinct - 1) : 1;
}

static inline uint32_t band_bucket(uint64_t hash, uint32_t buckets)
{
    return (uint32_t)((hash >> 32) * buckets >> 32);
}

#endif
