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
    LANES = 16,
    HEADER = 2,        /* lanes of a slot before its codes; one more when it spills */
    LOOKUPS_AHEAD = 64 /* lookups must be readable so far after the last */
};

/* Codes that passed, in three rows. Kernels write whole vectors: LANES more than `room` must fit.
 */
struct pass_queue {
    uint32_t *positions; /* in the order of their table */
    uint32_t *buckets;   /* of all tables' */
    uint32_t *marks;     /* job << 16 | distance of chunk and remainder */
    size_t count, room;
    uint32_t *spilled; /* lookups whose bucket goes on in the spill, room for all of a job */
    size_t spilled_count;
    uint64_t seen; /* codes whose remainder was compared */
};

/* The lanes of a group that hold codes of a bucket, and the position of lane 0. */
struct lanes {
    int32_t from, to;
    uint32_t position, bucket;
};

/* Lookups of one query in one table. */
struct lookup_job {
    const uint32_t *lookups; /* buckets, of all tables' */
    uint32_t count;
    uint32_t home;  /* the query's own bucket */
    uint32_t limit; /* distance */
    uint16_t number;
    uint32_t rest; /* the query's remainder */
};

struct code_slots {
    const uint32_t *words, *spill;
    uint32_t groups; /* of a slot */
    uint32_t ahead;  /* lookups between the fetch of a bucket and its use */
};

/** Look up from `first` on. @return where it stopped for want of room in the queue, or count */
typedef size_t lookup_kernel(const struct code_slots *slots, const struct lookup_job *job,
                             size_t first, struct pass_queue *queue);

/** The same for groups of the spill: `count` codes, of which the first has `position`. */
struct spill_run {
    const uint32_t *groups;
    uint32_t bucket, position, count;
};
typedef void spill_kernel(const struct lookup_job *job, const struct spill_run *run,
                          struct pass_queue *queue);

typedef struct hamming_kernel {
    lookup_kernel *lookup;
    spill_kernel *spill;
} hamming_kernel;

/** The fastest kernel of this processor, by core/cpu.h. */
const hamming_kernel *hamming_kernel_choose(void);

extern const hamming_kernel hamming_kernel_portable, hamming_kernel_avx2, hamming_kernel_avx512;

/* Append the lanes of `near` that hold codes. */
static inline void lanes_append(uint32_t near, const uint32_t *distances, const struct lanes *lanes,
                                uint32_t mark, struct pass_queue *queue)
{
    for (; near; near &= near - 1) {
        int32_t lane = __builtin_ctz(near);
        if (lane < lanes->from || lane >= lanes->to)
            continue;
        queue->positions[queue->count] = lanes->position + (uint32_t)lane;
        queue->buckets[queue->count] = lanes->bucket;
        queue->marks[queue->count++] = mark + distances[lane];
    }
}

#endif
