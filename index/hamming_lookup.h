/* The loop around the kernels' vectors, included by each of them after it has defined
 *   struct needle               a query's remainder, spread over vectors
 *   needle_prepare(rest, planes)
 *   group_within(group, needle, limit, planes)   a bit for each lane within the limit */
#include "index/hamming_kernels.h"

static inline uint32_t lane_distance(const uint32_t *group, unsigned lane, const uint32_t *rest,
                                     const unsigned planes)
{
    uint32_t distance = 0;
    for (unsigned plane = 0; plane < planes; plane++)
        distance += (uint32_t)__builtin_popcount(group[plane * LANES + lane] ^ rest[plane]);
    return distance;
}

/* Pass on the lanes of a group; `position` is lane 0's. */
static inline void group_pass(const struct lookup_job *job, const uint32_t *group, uint32_t lanes,
                              uint32_t bucket, uint32_t position, uint32_t distance,
                              struct pass_queue *queue, const unsigned planes)
{
    for (; lanes; lanes &= lanes - 1) {
        unsigned lane = (unsigned)__builtin_ctz(lanes);
        pass_push(queue, job, bucket, position + lane,
                  distance + lane_distance(group, lane, job->rest, planes));
    }
}

static inline void slot_fetch(const struct slots *slots, uint32_t bucket)
{
    const uint32_t *slot = slots->words + (size_t)bucket * slots->slot_words;
    for (uint32_t at = 0; at < slots->slot_words; at += LANES)
        __builtin_prefetch(slot + at);
}

static inline size_t lookup_planes(const struct slots *slots, const struct lookup_job *job,
                                   size_t first, struct pass_queue *queue, const unsigned planes)
{
    const struct needle needle = needle_prepare(job->rest, planes);
    const uint32_t capacity = slots->groups * LANES - HEADER;
    for (size_t i = first; i < job->count; i++) {
        if (queue->room - queue->count < capacity)
            return i;
        slot_fetch(slots, job->lookups[i + slots->ahead]);
        uint32_t bucket = job->lookups[i];
        uint32_t chunk = (uint32_t)__builtin_popcount(bucket ^ job->home);
        if (chunk > job->limit)
            continue;
        const uint32_t *group = slots->words + (size_t)bucket * slots->slot_words;
        uint32_t start = group[0], count = group[1], header = HEADER;
        if (__builtin_expect(count > capacity, 0)) {
            __builtin_prefetch(slots->spill + (size_t)group[2] * planes * LANES);
            queue->spilled[queue->spilled_count++] = bucket;
            count = capacity - 1;
            header = HEADER + 1;
        }
        queue->seen += count;
        uint32_t limit = job->limit - chunk, end = count + header, lanes = ~UINT32_C(0) << header;
        start -= header;
        for (;; group += planes * LANES, start += LANES, end -= LANES, lanes = ~UINT32_C(0)) {
            if (end < LANES)
                lanes &= (UINT32_C(1) << end) - 1;
            lanes &= group_within(group, &needle, limit, planes);
            if (__builtin_expect(lanes != 0, 0))
                group_pass(job, group, lanes, bucket, start, chunk, queue, planes);
            if (end <= LANES)
                break;
        }
    }
    return job->count;
}

static inline void spill_planes(const struct lookup_job *job, const struct spill_run *run,
                                struct pass_queue *queue, const unsigned planes)
{
    const struct needle needle = needle_prepare(job->rest, planes);
    uint32_t chunk = (uint32_t)__builtin_popcount(run->bucket ^ job->home);
    for (uint32_t done = 0; done < run->count; done += LANES) {
        const uint32_t *group = run->groups + (size_t)done * planes;
        uint32_t left = run->count - done;
        uint32_t lanes = group_within(group, &needle, job->limit - chunk, planes);
        if (left < LANES)
            lanes &= (UINT32_C(1) << left) - 1;
        group_pass(job, group, lanes, run->bucket, run->position + done, chunk, queue, planes);
    }
}

static size_t lookup(const struct slots *slots, const struct lookup_job *job, size_t first,
                     struct pass_queue *queue)
{
    switch (slots->planes) {
    case 1:
        return lookup_planes(slots, job, first, queue, 1);
    case 2:
        return lookup_planes(slots, job, first, queue, 2);
    case 3:
        return lookup_planes(slots, job, first, queue, 3);
    default:
        return lookup_planes(slots, job, first, queue, 4);
    }
}

static void spill(const struct slots *slots, const struct lookup_job *job,
                  const struct spill_run *run, struct pass_queue *queue)
{
    switch (slots->planes) {
    case 1:
        spill_planes(job, run, queue, 1);
        break;
    case 2:
        spill_planes(job, run, queue, 2);
        break;
    case 3:
        spill_planes(job, run, queue, 3);
        break;
    default:
        spill_planes(job, run, queue, 4);
    }
}
