/*
 * The inner loop of the Hamming table: look buckets up, and pass on the codes of which what is
 * known so far (chunk and remainder) is within the radius. The portable kernel is the definition;
 * the others give the same answers in the same order.
 */
#ifndef DOPPEL_INDEX_HAMMING_KERNELS_H
#define DOPPEL_INDEX_HAMMING_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PLANES_MAX = 4,
    LANES = 16,
    HEADER = 2,        /* lanes of a slot before its codes; one more when it spills */
    LOOKUPS_AHEAD = 32 /* lookups must be readable so far after the last */
};

/* A code that passed. */
struct pass {
    uint32_t position; /* in the order of its table */
    uint32_t bucket;   /* of all tables' */
    uint16_t job;      /* its number */
    uint16_t distance; /* of chunk and remainder */
};

struct pass_queue {
    struct pass *items;
    size_t count, room;
    uint32_t *spilled; /* lookups whose bucket goes on in the spill, room for all of a job */
    size_t spilled_count;
    uint64_t seen; /* codes whose remainder was compared */
};

/* Lookups of one query in one table. */
struct lookup_job {
    const uint32_t *lookups; /* buckets, of all tables' */
    uint32_t count;
    uint32_t home;  /* the query's own bucket */
    uint32_t limit; /* distance */
    uint16_t number;
    const uint8_t *tail; /* of the table, to be fetched ahead for those that pass */
    size_t tail_bytes;
    uint32_t rest[PLANES_MAX]; /* the query's remainder */
};

struct slots {
    const uint32_t *words, *spill;
    uint32_t slot_words, groups, planes;
    uint32_t ahead; /* lookups between the fetch of a bucket and its use */
};

/** Look up from `first` on. @return where it stopped for want of room in the queue, or count */
typedef size_t lookup_kernel(const struct slots *slots, const struct lookup_job *job, size_t first,
                             struct pass_queue *queue);

/** The same for groups of the spill: `count` codes, of which the first has `position`. */
struct spill_run {
    const uint32_t *groups;
    uint32_t bucket, position, count;
};
typedef void spill_kernel(const struct slots *slots, const struct lookup_job *job,
                          const struct spill_run *run, struct pass_queue *queue);

typedef struct hamming_kernel {
    lookup_kernel *lookup;
    spill_kernel *spill;
} hamming_kernel;

/** The fastest kernel of this processor, by core/cpu.h. */
const hamming_kernel *hamming_kernel_choose(void);

extern const hamming_kernel hamming_kernel_portable, hamming_kernel_avx2, hamming_kernel_avx512;

static inline void pass_push(struct pass_queue *queue, const struct lookup_job *job,
                             uint32_t bucket, uint32_t position, uint32_t distance)
{
    __builtin_prefetch(job->tail + (size_t)position * job->tail_bytes);
    queue->items[queue->count++] = (struct pass){position, bucket, job->number, (uint16_t)distance};
}

#endif
