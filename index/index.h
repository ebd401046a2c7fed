/**
 * doppel/index.h: the shared index. Exact multi-index Hamming search over binary codes, banded
 * search over signatures, postings of keys, vectors by their cosine; in memory, or in segment
 * files. Stands on core and vector: no database (durability is doppel/store.h's).
 *
 * An index is a small head, which takes what is inserted, and immutable segments, into which the
 * head is flushed and which are merged in tiers. Removed payloads are remembered until a merge
 * drops their codes. An index holds one kind of table:
 *
 * - Hamming: codes of 32, 64, 128 or 256 bits; a search finds *every* code within a radius.
 * - Bands: signatures of 16-bit lanes; the distance is the number of lanes that differ; a search
 *   finds those within the radius that share a whole band with the query.
 * - Postings: 32-bit keys at positions of items; a lookup finds the positions of equal keys.
 * - Vectors of float32: the distance is (1 - cosine) × 2^30, rounded; a search finds every one
 *   within a radius, or, from cells, the share of them that it asks for.
 *
 * With each code or item goes a payload, an opaque 64-bit value of the caller's; the same payload
 * may have many codes.
 *
 * A code is some 64-bit words, word 0 first: bits/64 of them (a 32-bit code is the low half of one
 * word, the high half is not looked at), or lanes/4 (lane i is bits 16 × (i % 4) on of word i / 4).
 * A vector is its floats, two a word, with a float 0 behind an odd number of them; it need not have
 * length 1. One of zeros has no direction, and is never found.
 *
 * Threads: one thread at a time may insert, remove, load and flush, and one may compact, while any
 * number search; each call sees the index as it was at one moment.
 */
#ifndef DOPPEL_INDEX_H
#define DOPPEL_INDEX_H

#include <stdbool.h>

#include <doppel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doppel_index;

enum doppel_index_table {
    DOPPEL_INDEX_HAMMING = 1,
    DOPPEL_INDEX_BANDS = 2,
    DOPPEL_INDEX_POSTINGS = 3,
    DOPPEL_INDEX_VECTORS = 4
};

struct doppel_index_options {
    enum doppel_index_table table; /**< default Hamming */
    uint32_t bits; /**< Hamming: width of a code, 32, 64, 128 or 256; default 64. Vectors: 32 ×
                      their dimension, which is at most DOPPEL_VECTOR_DIMENSION_MAX */
    uint32_t
        design_radius; /**< Hamming: the radius to be fastest at; others stay exact; default 8 */
    uint32_t lanes, bands, rows; /**< bands: lanes of a signature, a multiple of 4, and bands of
                                    `rows` lanes each; default 128, 25, 5 */
    uint32_t key_bits;           /**< postings: keys are below 2^key_bits; default 25 */
    bool compact;                /**< Hamming: fewer bytes a code, slower; default false */
    uint32_t head_codes; /**< codes, removals or postings in the head at which an index in memory
                            flushes it by itself; one with files is flushed by its owner only;
                            default 65536 */
};

DOPPEL_API struct doppel_index_options doppel_index_options_default(void);

/* ---- life ---- */

/** An index in memory. @param out given (doppel_index_free). DOPPEL_OK; DOPPEL_E_ARGUMENT; _MEMORY.
 */
DOPPEL_API enum doppel_status doppel_index_new(const struct doppel_index_options *options,
                                               struct doppel_index **out,
                                               struct doppel_error *error);

/** Where an index keeps its segments when they are files. */
struct doppel_index_files {
    const char *folder;       /**< that is there; copied */
    const char *const *names; /**< of the live segments, oldest first; borrowed during the call */
    size_t count;
    bool durable;    /**< segments survive power loss once they are published */
    bool read_only;  /**< nothing is written: flush, load and compact are DOPPEL_E_ARGUMENT */
    bool unsearched; /**< what is inserted before the first flush is not made ready for searches,
                        which take longer until then */
    /**
     * Called when the set of segments is about to change, from the thread that flushes, loads or
     * compacts, never by two at once: make it lasting that `names`, oldest first, are the segments
     * from now on. After a flush or a load they hold all that the head held when it began. When it
     * fails, the index stays as it was, the call fails with its status, and the new file is
     * removed; when it succeeds, files that are live no more are removed as soon as no search of
     * this process reads them. NULL: the caller asks doppel_index_names.
     */
    enum doppel_status (*publish)(void *context, const char *const *names, size_t count,
                                  struct doppel_error *error);
    void *context;
};

/**
 * An index whose segments are files of a folder; the head stays in memory: what is inserted and not
 * flushed is the caller's to repeat (doppel/store.h does). Nothing is read whole.
 * @param out given (doppel_index_free); files are not removed by that
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT; _NOT_FOUND (a name is no file); _CORRUPT; _VERSION;
 * _FORMAT (no segment, or one of other options); _IO; _MEMORY
 */
DOPPEL_API enum doppel_status doppel_index_open(const struct doppel_index_options *options,
                                                const struct doppel_index_files *files,
                                                struct doppel_index **out,
                                                struct doppel_error *error);

/** When nobody uses it any more. NULL is fine. */
DOPPEL_API void doppel_index_free(struct doppel_index *index);

struct doppel_index_info {
    uint64_t codes;      /**< or postings; those of removed payloads count until a merge */
    uint64_t distinct;   /**< Hamming: codes without repeats within a segment or the head */
    uint64_t head_codes; /**< of these in the head */
    uint64_t removed;    /**< payloads remembered as removed, of head and segments */
    uint64_t bytes;      /**< of segments, and of the head in memory */
    uint64_t damaged;    /**< segments in which damage was met */
    size_t segments;
};

/** Thread-safe. */
DOPPEL_API struct doppel_index_info doppel_index_info(const struct doppel_index *index);

/**
 * Read its segment files into memory, in large pages where the system has them: what is looked up
 * first in files that lie on the disk takes milliseconds a query, and small pages miss the TLB. On
 * Linux before 5.14 nothing is read.
 *
 * @param cancelled asked now and then whether to end; may be NULL. Thread-safe.
 */
DOPPEL_API void doppel_index_read_in(const struct doppel_index *index,
                                     bool (*cancelled)(void *context), void *context);

/** Codes, or postings; those of removed payloads count until a flush or merge drops them.
 * Thread-safe. */
DOPPEL_API uint64_t doppel_index_count(const struct doppel_index *index);

/** Names of the live segment files, oldest first. @param out given: one piece of memory (free).
 * DOPPEL_OK; DOPPEL_E_MEMORY. Thread-safe. */
DOPPEL_API enum doppel_status doppel_index_names(const struct doppel_index *index,
                                                 const char *const **out, size_t *out_count,
                                                 struct doppel_error *error);

/**
 * Insert `count` codes. Hamming and bands. A search sees all of them or none.
 * @param codes    count × words; borrowed
 * @param payloads count of them; borrowed
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT (an index of postings); DOPPEL_E_MEMORY (then nothing was
 * inserted)
 */
DOPPEL_API enum doppel_status doppel_index_insert(struct doppel_index *index, const uint64_t *codes,
                                                  const uint64_t *payloads, size_t count,
                                                  struct doppel_error *error);

/** A key at a position of its item, which is below the item's length. */
struct doppel_index_posting {
    uint32_t key;
    uint32_t position;
};

struct doppel_index_item {
    uint64_t payload;
    uint32_t length; /**< of the item on the axis; positions are below it */
    uint32_t count;
    const struct doppel_index_posting *postings; /**< borrowed; in any order */
};

/** Insert an item of postings. DOPPEL_OK; DOPPEL_E_ARGUMENT (another table; a position beyond the
 * length or a key beyond key_bits); DOPPEL_E_LIMIT (2^32 positions in the head); DOPPEL_E_MEMORY */
DOPPEL_API enum doppel_status doppel_index_insert_item(struct doppel_index *index,
                                                       const struct doppel_index_item *item,
                                                       struct doppel_error *error);

/** Remove all codes or items of these payloads that have been inserted so far; unknown ones are
 * fine. DOPPEL_OK; DOPPEL_E_MEMORY (then nothing was removed) */
DOPPEL_API enum doppel_status doppel_index_remove(struct doppel_index *index,
                                                  const uint64_t *payloads, size_t count,
                                                  struct doppel_error *error);

/** Codes to be loaded. They are read several times over; the same must come each time. Or items of
 * postings, which are read once. */
struct doppel_index_load {
    uint64_t count;
    /** Read the next at most `max` codes and their payloads. @return how many; 0 at the end */
    size_t (*read)(void *context, uint64_t *codes, uint64_t *payloads, size_t max);
    void (*rewind)(void *context); /**< begin again; called before each pass */
    void *context;
    /** The next item, its postings borrowed until the next call. @return false at the end */
    bool (*read_item)(void *context, struct doppel_index_item *out);
};

/**
 * Insert many codes, straight into a segment. What the head holds is flushed before. Memory: at
 * most half as much as the new segment beside it. Of items: segments of some millions of postings
 * each, which are merged into one; when that fails, some of them may have been inserted.
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT; _IO; _MEMORY; a status of `publish`: then nothing was
 * inserted
 */
DOPPEL_API enum doppel_status doppel_index_bulk(struct doppel_index *index,
                                                const struct doppel_index_load *load,
                                                struct doppel_error *error);

/** Make a segment of the head: what was inserted and removed since the last time. Nothing to do is
 * fine. As doppel_index_bulk. */
DOPPEL_API enum doppel_status doppel_index_flush(struct doppel_index *index,
                                                 struct doppel_error *error);

/**
 * Merge segments, and drop the codes of removed payloads from them: where a tier is full, or all
 * into one. Does not touch the head. An index in memory merges tiers by itself when it flushes. May
 * run in one thread while others search and another inserts, removes and flushes.
 * @return as doppel_index_bulk, and DOPPEL_E_CORRUPT when a segment to be merged is damaged
 */
DOPPEL_API enum doppel_status doppel_index_compact(struct doppel_index *index, bool all,
                                                   struct doppel_error *error);

/** Check all checksums of all segment files. DOPPEL_OK; DOPPEL_E_CORRUPT with the first damaged
 * file. Thread-safe. */
DOPPEL_API enum doppel_status doppel_index_verify(const struct doppel_index *index,
                                                  struct doppel_error *error);

/**
 * Read some codes, at even distances among all that there are, oldest first: a sample, the same one
 * of the same index.
 * @param codes room for `most` codes; NULL: payloads alone
 * @param payloads room for `most`
 * @param out_count how many were read: all, if there are no more than `most`, and fewer where some
 * were removed
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT: an index of postings; _CORRUPT. Thread-safe.
 */
DOPPEL_API enum doppel_status doppel_index_sample(const struct doppel_index *index, size_t most,
                                                  uint64_t *codes, uint64_t *payloads,
                                                  size_t *out_count, struct doppel_error *error);

/* ---- search: Hamming, bands and vectors ---- */

struct doppel_index_hit {
    uint64_t payload;
    uint32_t distance;
    uint32_t query; /**< number of the query within the call */
};

/** Return false to end the search early. Called from the calling thread only, ordered by query,
 * distance, payload. */
typedef bool doppel_index_visitor(void *context, const struct doppel_index_hit *hit);

/** The distance of two vectors whose directions are opposite. */
#define DOPPEL_INDEX_DISTANCE_MOST (UINT32_C(1) << 31)

/** The distance of vectors of a cosine, and back, to within 2^-24. Thread-safe. */
DOPPEL_API uint32_t doppel_index_distance_of_cosine(float cosine);
DOPPEL_API float doppel_index_cosine_of_distance(uint32_t distance);

/** What searches cost. */
struct doppel_index_counts {
    uint64_t lookups;    /**< buckets visited */
    uint64_t candidates; /**< codes whose distance was computed */
};

/** What to search for. Zero what is not wanted. */
struct doppel_index_request {
    const uint64_t *queries; /**< count × words; borrowed */
    size_t count;            /**< below 2^32 */
    uint32_t radius;         /**< bits, or lanes, that may differ */
    uint32_t bands, rows;    /**< bands: to share one of these, which the table need not have been
                                made for: then it looks at every signature; 0: its own */
    float recall;            /**< vectors: the share of what is near to find, 0.5 to 1, as a sample
                                of those in the index says; 0: all of it */
    bool every;              /**< bands: whether or not they share one; as for other bands */
    size_t nearest;          /**< k: only the k nearest of those, ties by payload; 0: all. Bands: of
                                those that share a band */
    size_t cap; /**< at most so many hits a query, the nearest; 0: all. As `nearest`; the smaller of
                   the two holds */
    bool (*filter)(void *context, uint64_t payload); /**< false: not this one; from any thread */
    void *filter_context;
    uint32_t threads;                   /**< 0 and 1: the calling one */
    struct doppel_index_counts *counts; /**< added to; NULL: not counted */
};

/**
 * Visit what is found, ordered by query, distance, payload.
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT; _MEMORY; _CANCELLED when the visitor returned false;
 * _CORRUPT when a segment file is damaged: what was visited may be wrong or lack something.
 * Thread-safe.
 */
DOPPEL_API enum doppel_status doppel_index_search(const struct doppel_index *index,
                                                  const struct doppel_index_request *request,
                                                  doppel_index_visitor *visitor, void *context,
                                                  struct doppel_error *error);

/** The same as an array. @param out_hits given (free); may be NULL when there are none.
 * Thread-safe.
 */
DOPPEL_API enum doppel_status doppel_index_search_array(const struct doppel_index *index,
                                                        const struct doppel_index_request *request,
                                                        struct doppel_index_hit **out_hits,
                                                        size_t *out_count,
                                                        struct doppel_error *error);

/** As a weight of misses: .998, and at least 8 × limit rows, rounded down, but no more than 4 for
 * that; real collections have many more unrelated pairs than the integral, to which all
 * similarities are alike, takes into account. 128 lanes: limits .5 and .6 give 32 × 4, .7 gives 24
 * × 4, .8 21 × 6, .9 12 × 10. */
#define DOPPEL_INDEX_BANDS_USUAL (-1.0)

/**
 * Choose bands for signatures of `lanes` lanes, so that pairs with at least `limit` of equal lanes
 * become candidates and others do not: the integral of the misses above the limit, weighed by
 * `miss_weight`, and of the false candidates below it, weighed by 1 - miss_weight, is least.
 * @param limit 0 to 1. @param miss_weight 0 to 1, or DOPPEL_INDEX_BANDS_USUAL. @return DOPPEL_OK;
 * DOPPEL_E_ARGUMENT. Thread-safe.
 */
DOPPEL_API enum doppel_status doppel_index_bands_choose(uint32_t lanes, double limit,
                                                        double miss_weight, uint32_t *out_bands,
                                                        uint32_t *out_rows,
                                                        struct doppel_error *error);

/* ---- scans ----
 *
 * For who can compare codes in a way of its own: the codes of an index of 256 bits that was made
 * with a design radius of 256, as they lie in memory. Word 0 of all lies together. */

enum {
    DOPPEL_INDEX_SCANNED_CODES = 4096
}; /* at most: word 0 of so many fits in the nearest cache */

/** Codes are marked whose payloads have a number below this in their lowest four bits: so that who
 * seeks these alone need not look at the others. */
enum { DOPPEL_INDEX_SCANNED_MARKED = 3 };

/** Codes one after the other, as of one moment. Borrowed during the visit. */
struct doppel_index_scanned {
    const uint64_t *low; /**< word 0 of code first + i is low[i / 8 * step + i % 8]; the last 8 may
                            be more than there are */
    size_t step;         /**< a multiple of 8 */
    uint64_t first, count; /**< numbers of the codes in `part`; `first` is a multiple of 64 */
    const uint64_t *marks; /**< bit i % 64 of marks[i / 64]: code first + i is marked; NULL: it is
                                not known */
    const struct doppel_index_scanned_part *part;
};

/** Called from any thread, several at once; of codes not yet flushed, with the index locked against
 * writing. So it calls nothing of the index but what takes a run, and holds no lock of its own when
 * it calls doppel_index_scanned_removed. */
typedef void doppel_index_scan_visitor(void *context, const struct doppel_index_scanned *run);

/** Visit all codes, removed ones too. @return as doppel_index_search; DOPPEL_E_ARGUMENT of another
 * index. Thread-safe. */
DOPPEL_API enum doppel_status doppel_index_scan(const struct doppel_index *index, uint32_t threads,
                                                doppel_index_scan_visitor *visitor, void *context,
                                                struct doppel_error *error);

/** A code of the part of a run, also beside it. Codes that were inserted by one call have numbers
 * that follow each other. @param out_code 4 words @return false: there is none with this number */
DOPPEL_API bool doppel_index_scanned_get(const struct doppel_index_scanned *run, uint64_t number,
                                         uint64_t *out_code, uint64_t *out_payload);

/** What doppel_index_scanned_get is going to read. */
DOPPEL_API void doppel_index_scanned_prefetch(const struct doppel_index_scanned *run,
                                              uint64_t number);

/** Whether a code was removed. */
DOPPEL_API bool doppel_index_scanned_removed(const struct doppel_index_scanned *run,
                                             uint64_t number, uint64_t payload);

/* ---- postings ----
 *
 * The items of all segments and the head lie one after the other on one axis of 64-bit positions.
 * An axis is the index as it was when it was taken, and stays so. */

struct doppel_index_axis;

/** @param out given (doppel_index_axis_free, before the index is freed). DOPPEL_OK;
 * DOPPEL_E_ARGUMENT (no index of postings); DOPPEL_E_MEMORY. Thread-safe. */
DOPPEL_API enum doppel_status doppel_index_axis_take(const struct doppel_index *index,
                                                     struct doppel_index_axis **out,
                                                     struct doppel_error *error);
DOPPEL_API void doppel_index_axis_free(struct doppel_index_axis *axis);

/** Lengths of all items, those of removed ones included until a merge drops them. Thread-safe. */
DOPPEL_API uint64_t doppel_index_axis_length(const struct doppel_index_axis *axis);

/** Postings of each of `count` keys, those of removed items included. @param out_lengths count of
 * them. DOPPEL_OK; DOPPEL_E_CORRUPT. Thread-safe. */
DOPPEL_API enum doppel_status doppel_index_lengths(const struct doppel_index_axis *axis,
                                                   const uint32_t *keys, size_t count,
                                                   uint64_t *out_lengths,
                                                   struct doppel_error *error);

/** A part of the positions of one key, ascending: base + positions[i]. Those of removed items may
 * be among them: doppel_index_item_at tells. Return false to end the lookup. */
typedef bool doppel_index_run_visitor(void *context, uint32_t key_number, uint64_t base,
                                      const uint32_t *positions, size_t count);

/** Visit the positions of each of `count` keys: segment by segment, in each by number of the key.
 * DOPPEL_OK; DOPPEL_E_CORRUPT; DOPPEL_E_CANCELLED. Thread-safe. */
DOPPEL_API enum doppel_status doppel_index_lookup(const struct doppel_index_axis *axis,
                                                  const uint32_t *keys, size_t count,
                                                  doppel_index_run_visitor *visitor, void *context,
                                                  struct doppel_error *error);

struct doppel_index_place {
    uint64_t payload;
    uint64_t start; /**< of the item on the axis */
    uint32_t length;
    bool removed;
};

/** The item that a position of the axis, found by a lookup, lies in. Thread-safe. */
DOPPEL_API struct doppel_index_place doppel_index_item_at(const struct doppel_index_axis *axis,
                                                          uint64_t position);

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
    uint32_t threads;                 /**< 0 and 1: the calling one */
    bool (*cancelled)(void *context); /**< asked now and then, by the calling thread; NULL: never */
    void *cancel_context;
};

/** Visit some pairs; false ends the join. From the calling thread. */
typedef bool doppel_index_pair_visitor(void *context, const struct doppel_index_pair *pairs,
                                       size_t count);

/**
 * Find all pairs of codes within a radius, one of `left` (a) and one of `right` (b); exact, each
 * once. For many codes against many it takes a small part of the time of searching for each. The
 * order is the same for any number of threads. Memory: at most 16 bytes a code of 64 bits.
 * DOPPEL_E_ARGUMENT, _MEMORY, _CANCELLED (also by the visitor).
 */
DOPPEL_API enum doppel_status doppel_index_pair_up(const struct doppel_index_pairing *pairing,
                                                   doppel_index_pair_visitor *visitor,
                                                   void *context, struct doppel_error *error);

/** Two codes of an index within the radius, by their payloads, a < b. */
struct doppel_index_joined {
    uint64_t a, b;
    uint32_t distance;
};

/** What to join. Zero what is not wanted. */
struct doppel_index_join_request {
    uint32_t radius;
    uint32_t threads;                                /**< 0 and 1: the calling one */
    bool (*filter)(void *context, uint64_t payload); /**< false: not this one */
    void *filter_context;
};

/** Return false to end the join. From the calling thread. */
typedef bool doppel_index_join_visitor(void *context, const struct doppel_index_joined *pair);

/**
 * Visit all pairs of codes of an index that are within a radius, each once, in an order that does
 * not depend on threads; codes of the same payload make no pair. Hamming only. Memory: at most 24
 * bytes a code of 64 bits, whatever there are pairs.
 * @return as doppel_index_search. Thread-safe.
 */
DOPPEL_API enum doppel_status doppel_index_join(const struct doppel_index *index,
                                                const struct doppel_index_join_request *request,
                                                doppel_index_join_visitor *visitor, void *context,
                                                struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
