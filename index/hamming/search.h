/* What a search and a k-NN search share: lookups planned for several queries at once, then run. */
#ifndef DOPPEL_INDEX_HAMMING_SEARCH_H
#define DOPPEL_INDEX_HAMMING_SEARCH_H

#include "index/hamming/table.h"

enum {
    ACTIVE_MAX = 16, /* queries at once */
    BLOCK = 4096,    /* lookups planned before they are run */
    JOBS_MAX = 512,
    PASSES_MAX = 4096, /* more than a slot holds */
    FOUND_MAX = 1024
};

/* A query at work. A code found in a round through chunk k is new unless, for some chunk j, it
 * differs from the query in at most `before[j]` bits (in a round before), or `share[j]`, j < k, and
 * in at most `windows[j]` together with the remainder. */
struct active {
    struct query *query;
    uint32_t limit;           /* distance */
    int32_t known;            /* codes up to this distance have been found */
    uint64_t code[WORDS_MAX]; /* permuted */
    struct turned turned[CHUNKS_MAX];
    uint32_t sizes[CHUNKS_MAX]; /* of its own buckets */
    int8_t before[CHUNKS_MAX], share[CHUNKS_MAX];
    uint32_t windows[CHUNKS_MAX]; /* what chunk and remainder may differ by */
    size_t nearest;               /* k; 0: all */
};

struct found {
    uint32_t id;
    uint16_t active, distance;
};

struct hamming_scratch {
    uint32_t lookups[BLOCK + LOOKUPS_AHEAD], lookup_count;
    struct lookup_job jobs[JOBS_MAX];
    uint8_t job_active[JOBS_MAX], job_chunk[JOBS_MAX];
    uint32_t job_count;
    uint32_t pass_positions[PASSES_MAX + LANES], pass_buckets[PASSES_MAX + LANES];
    uint32_t pass_marks[PASSES_MAX + LANES], pass_ids[PASSES_MAX];
    uint32_t spilled[BLOCK];
    struct found found[FOUND_MAX];
    uint32_t found_count;
    struct active active[ACTIVE_MAX];
    struct hamming_counts counts;
    bool checking;       /* the segment has blocks that no one has touched */
    bool checking_slots; /* some of them are of the slots */
    bool on_disk;        /* what the lookups need is not in memory */
    bool no_memory;
};

/** Begin a query: permute it, find its own buckets' sizes. */
void active_begin(const struct hamming *table, struct hamming_scratch *scratch, unsigned number,
                  struct query *query);
void active_sizes(const struct hamming *table, struct active *active);

/** Plan the shells `first` to `last` of a chunk. */
void plan_shells(const struct hamming *table, struct hamming_scratch *scratch, unsigned number,
                 unsigned chunk, int32_t first, int32_t last);

/** Plan all buckets of table 0; of codes that lie apart, these are read at once. */
void plan_scan(const struct hamming *table, struct hamming_scratch *scratch, unsigned number);
void scan_apart(const struct hamming *table, struct hamming_scratch *scratch, unsigned number);

/** Run what is planned; what is found goes to the queries' hits. */
void plan_run(const struct hamming *table, struct hamming_scratch *scratch);

/** Whether the codes that passed are within their queries' limits, and new; the queue is empty
 * afterwards. */
void passes_verify(const struct hamming *table, struct hamming_scratch *scratch,
                   struct pass_queue *queue);

/** Whether a permuted code was found in an earlier round, or is through a chunk before this one. */
bool is_found_before(const struct hamming *table, const struct active *active, unsigned chunk,
                     const uint64_t *code);

/** A code within its query's limit, and new. */
void found_push(const struct hamming *table, struct hamming_scratch *scratch, uint32_t id,
                uint32_t distance, unsigned number);

/** Hand what was found to the queries. */
void found_deliver(const struct hamming *table, struct hamming_scratch *scratch);

/** After all: DOPPEL_OK, or what went wrong. */
enum doppel_status search_status(const struct hamming *table, const struct hamming_scratch *scratch,
                                 struct hamming_counts *counts, struct doppel_error *error);

/** Offer a hit to the k nearest, a heap with the farthest on top. */
void nearest_offer(struct active *active, const struct doppel_index_hit *hit,
                   struct hamming_scratch *scratch);

#endif
