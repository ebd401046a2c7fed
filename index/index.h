/**
 * doppel/index.h: exact Hamming search over binary codes.
 *
 * An index holds codes of one width, each with a payload, an opaque 64-bit value of the caller's.
 * It answers "all codes within radius r" and "the k nearest" exactly: the same answers as a linear
 * scan. Stands on core alone: no database.
 *
 * One writer; any number of threads may search while nobody writes.
 */
#ifndef DOPPEL_INDEX_H
#define DOPPEL_INDEX_H

#include <stdbool.h>

#include <doppel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doppel_index;

struct doppel_index_options {
    uint32_t bits;          /**< width of a code: 64 or 256; default 64 */
    uint32_t design_radius; /**< the radius to be fastest at; others stay exact; default 16 */
    uint32_t threads;       /**< used by searches of many queries and by self-joins; default 1 */
};

DOPPEL_API struct doppel_index_options doppel_index_options_default(void);

struct doppel_index_hit {
    uint64_t payload;
    uint32_t distance;
    uint32_t query; /**< number of the query within the call */
};

struct doppel_index_posting {
    uint32_t key;
    uint32_t position; /**< within its item */
};

/** Return false to end the search early. Called from the calling thread only, ordered by query,
 * distance, payload. */
typedef bool doppel_index_visitor(void *context, const struct doppel_index_hit *hit);

/** @param out given (doppel_index_free). DOPPEL_E_ARGUMENT, DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_index_new(const struct doppel_index_options *options,
                                               struct doppel_index **out,
                                               struct doppel_error *error);

DOPPEL_API void doppel_index_free(struct doppel_index *index);

/** Codes in the index. */
DOPPEL_API size_t doppel_index_count(const struct doppel_index *index);

/**
 * Insert `count` codes.
 * @param codes    count × bits/64 words, word 0 of code 0 first; borrowed
 * @param payloads count of them; the same payload may have many codes; borrowed
 * @return DOPPEL_OK; DOPPEL_E_MEMORY (then nothing was inserted)
 */
DOPPEL_API enum doppel_status doppel_index_insert(struct doppel_index *index, const uint64_t *codes,
                                                  const uint64_t *payloads, size_t count,
                                                  struct doppel_error *error);

/** Make room for `count` codes in all, which spares growing in steps. Without memory for it nothing
 * happens: inserting will tell. */
DOPPEL_API void doppel_index_reserve(struct doppel_index *index, size_t count);

/** Remove all codes of a payload. @return how many there were. */
DOPPEL_API size_t doppel_index_remove(struct doppel_index *index, uint64_t payload);

/**
 * Visit every code within `radius` of each of `count` queries, each once, ordered by query,
 * distance, payload.
 * @param queries count × bits/64 words; borrowed
 * @return DOPPEL_OK; DOPPEL_E_MEMORY; DOPPEL_E_CANCELLED when the visitor returned false
 */
DOPPEL_API enum doppel_status doppel_index_search(const struct doppel_index *index,
                                                  const uint64_t *queries, size_t count,
                                                  uint32_t radius, doppel_index_visitor *visitor,
                                                  void *context, struct doppel_error *error);

/** Visit the `k` nearest of each query, nearest first, ties by payload. As doppel_index_search
 * otherwise. */
DOPPEL_API enum doppel_status doppel_index_knn(const struct doppel_index *index,
                                               const uint64_t *queries, size_t count, size_t k,
                                               doppel_index_visitor *visitor, void *context,
                                               struct doppel_error *error);

/* ---- joins: the near pairs of many codes at once ---- */

/** Codes to be joined, each with a number of the caller's, which need not be unique. They are read
 * several times over, and the same must come each time. */
struct doppel_index_codes {
    size_t count;
    /** Read the next at most `max` codes (words as in the index) and their numbers. @return how
     * many; 0 at the end */
    size_t (*read)(void *context, uint64_t *codes, uint32_t *numbers, size_t max);
    void (*rewind)(void *context); /**< begin again */
    void *context;
};

/** Two codes within the radius, by their numbers. */
struct doppel_index_pair {
    uint32_t a, b;
    uint32_t distance;
};

/** Drop pairs that are not wanted, before they are collected. @return how many were kept, at the
 * beginning of `pairs`. From any thread; the same pairs may come again. */
typedef size_t doppel_index_pair_filter(void *context, struct doppel_index_pair *pairs,
                                        size_t count);

/** What to join. Zero what is not wanted. */
struct doppel_index_pairing {
    uint32_t bits; /**< 32, 64, 128 or 256 */
    uint32_t radius;
    const struct doppel_index_codes *left;
    const struct doppel_index_codes *right; /**< NULL: pairs of two codes of `left`, each once */
    doppel_index_pair_filter *filter;
    void *filter_context;
    uint32_t threads; /**< 0 and 1: the calling one */
};

/** Visit some pairs; false ends the join. From the calling thread. */
typedef bool doppel_index_pair_visitor(void *context, const struct doppel_index_pair *pairs,
                                       size_t count);

/**
 * Find all pairs of codes within a radius, one of `left` (a) and one of `right` (b); exact, each
 * once. For many codes against many it takes a small part of the time of searching for each. The
 * order is the same for any number of threads. Memory: at most 16 bytes a code of 64 bits.
 * DOPPEL_E_ARGUMENT, _MEMORY, _CANCELLED (by the visitor).
 */
DOPPEL_API enum doppel_status doppel_index_pair_up(const struct doppel_index_pairing *pairing,
                                                   doppel_index_pair_visitor *visitor,
                                                   void *context, struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
