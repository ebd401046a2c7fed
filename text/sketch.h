/* From words and code points to shingles, and from shingles to sketches, some at a time. */
#ifndef DOPPEL_TEXT_SKETCH_H
#define DOPPEL_TEXT_SKETCH_H

#include <stdalign.h>

#include "text/text_internal.h"

enum {
    CHUNK_UNITS = 2048, /* hashed at a time: units and shingles stay in the first cache */
    KERNEL_SLACK = 64,  /* of 64-bit values that kernels may read and write after the last */
    SHINGLES_MET = 4096,
    MINHASH_COPIES = 2, /* of the bins: two shingles in a row never wait for one another */
    EMPTY_BIN = UINT32_MAX
};

/* What is fast where the processor helps; the portable ones are the definition. */
struct sketch_kernels {
    /* Hashes of `count` words: word i is bytes[start of i .. ends[i]), the first begins at `start`,
     * each other behind the end of the one before. 16 bytes after the last may be read. */
    void (*hash_words)(const uint8_t *bytes, uint32_t start, const uint32_t *ends, size_t count,
                       uint64_t *out);
    /* Hashes of the code points of valid UTF-8; how many. */
    size_t (*hash_characters)(const uint8_t *bytes, size_t size, uint64_t *out);
    /* Shingle i of `count` is made of units[i .. i + shingle). */
    void (*shingles)(const uint64_t *units, size_t count, uint32_t shingle, uint64_t *out);
    /* Lower the bins to what the hashes say. */
    void (*bins)(uint32_t *bins, uint32_t lanes, const uint64_t *hashes, size_t count);
    /* Give lanes to all bins when some are empty, but not all. */
    void (*fill)(const uint32_t *bins, uint32_t lanes, uint16_t *out);
    /* sums[i] += hashes that have bit i. */
    void (*count_bits)(const uint64_t *hashes, size_t count, int64_t sums[64]);
    /* Code points of valid UTF-8. */
    size_t (*count_characters)(const uint8_t *bytes, size_t size);
};

/* The fastest that this processor has. */
const struct sketch_kernels *sketch_kernels_choose(void);

/* ---- one-permutation MinHash ---- */

struct minhash {
    /* The least low half of the hashes of each bin; the copies one after the other. */
    alignas(64) uint32_t bins[MINHASH_COPIES * DOPPEL_TEXT_MAX_LANES];
    uint32_t lanes;
};

void minhash_begin(struct minhash *minhash, uint32_t lanes);
/** Zeros when no hash came. */
void minhash_end(struct minhash *minhash, const struct sketch_kernels *kernels, uint16_t *out);

/* ---- the set ---- */

struct shingle_set {
    uint32_t *values, *spare;
    size_t count, capacity;
    uint32_t met[SHINGLES_MET]; /* while values are counted */
};

void shingle_set_free(struct shingle_set *set);
/** Add the low halves; DOPPEL_E_MEMORY, or DOPPEL_E_LIMIT from 2^32 on. */
enum doppel_status shingle_set_add(struct shingle_set *set, const uint64_t *hashes, size_t count,
                                   struct doppel_error *error);
/** Sort, each value once. */
void shingle_set_end(struct shingle_set *set);
/** Instead of it: how many values there are. */
size_t shingle_set_distinct(struct shingle_set *set);

/* ---- all of it ---- */

struct sketcher; /* of one thread */

/** NULL when there is no memory. */
struct sketcher *sketcher_new(void);
void sketcher_free(struct sketcher *sketcher);

/** Begin a text. `options` are borrowed until its end. */
void sketcher_begin(struct sketcher *sketcher, const struct doppel_text_options *options,
                    unsigned want);
/** The next block, of one word or more. DOPPEL_E_MEMORY; DOPPEL_E_LIMIT. */
enum doppel_status sketcher_add(struct sketcher *sketcher, const struct text_block *block,
                                struct doppel_error *error);
/** Fill words, characters and what is wanted; the shingles are borrowed until the next text. */
void sketcher_end(struct sketcher *sketcher, struct doppel_text_result *out);

#endif
