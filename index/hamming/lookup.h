/* The loop around the kernels' vectors, included by each of them after it has defined
 *   struct needle               a query's remainder, spread over vectors
 *   needle_prepare(rest, planes)
 *   groups_near(groups, count, needle, limit, planes)
 *                               whether a lane of 1, 2 or 4 groups is within the limit
 *   group_pass(group, lanes, needle, limit, mark, queue, planes)
 *                               append those that are */
#include "index/hamming/kernels.h"

static inline void slot_fetch(const struct code_slots *slots, uint32_t bucket)
{
    const uint32_t *slot = slots->words + (size_t)bucket * slots->slot_words;
    for (uint32_t at = 0; at < slots->slot_words; at += LANES)
        __builtin_prefetch(slot + at);
}

/* The first lines; the processor sees where it goes from there. */
static inline void spill_fetch(const struct code_slots *slots, const uint32_t *slot, uint32_t codes,
                               const unsigned planes)
{
    enum { LINES_MAX = 6 };
    const uint32_t *line = slots->spill + (size_t)slot[2] * planes * LANES;
    uint32_t lines = (codes / LANES + 1) * planes;
    for (uint32_t i = 0; i < lines && i < LINES_MAX; i++)
        __builtin_prefetch(line + i * LANES);
}

/* With more bits than this few random remainders pass: groups are then tested together first. */
static inline bool passes_are_rare(uint32_t limit, const unsigned planes)
{
    static const uint8_t limits[PLANES_MAX + 1] = {0, 7, 20, 33, 47};
    return limit <= limits[planes];
}

/* Groups one after the other; lanes count on from group to group. */
static inline void groups_pass(const uint32_t *groups, uint32_t count, struct lanes lanes,
                               const struct needle *needle, uint32_t limit, uint32_t mark,
                               struct pass_queue *queue, const unsigned planes)
{
    for (uint32_t i = 0; i < count; i++, groups += planes * LANES) {
        group_pass(groups, &lanes, needle, limit, mark, queue, planes);
        lanes.from -= LANES;
        lanes.to -= LANES;
        lanes.position += LANES;
    }
}

static inline void groups_look(const uint32_t *groups, uint32_t count, struct lanes lanes,
                               const struct needle *needle, uint32_t limit, uint32_t mark,
                               struct pass_queue *queue, const unsigned planes)
{
    if (!passes_are_rare(limit, planes)) {
        groups_pass(groups, count, lanes, needle, limit, mark, queue, planes);
        return;
    }
    while (count > 0) {
        uint32_t some = count >= 4 ? 4 : count >= 2 ? 2 : 1;
        if (__builtin_expect(groups_near(groups, some, needle, limit, planes), 0))
            groups_pass(groups, some, lanes, needle, limit, mark, queue, planes);
        groups += some * planes * LANES;
        lanes.from -= (int32_t)(some * LANES);
        lanes.to -= (int32_t)(some * LANES);
        lanes.position += some * LANES;
        count -= some;
    }
}

static inline size_t lookup_planes(const struct code_slots *slots, const struct lookup_job *job,
                                   size_t first, struct pass_queue *queue, const unsigned planes)
{
    const struct needle needle = needle_prepare(job->rest, planes);
    const uint32_t capacity = slots->groups * LANES - HEADER, count = job->count;
    const uint32_t mark = (uint32_t)job->number << 16;
    uint64_t seen = 0;
    size_t i = first;
    for (; i < count && queue->room - queue->count >= capacity; i++) {
        slot_fetch(slots, job->lookups[i + slots->ahead]);
        uint32_t bucket = job->lookups[i];
        uint32_t chunk = (uint32_t)__builtin_popcount(bucket ^ job->home);
        if (chunk > job->limit)
            continue;
        const uint32_t *slot = slots->words + (size_t)bucket * slots->slot_words;
        uint32_t codes = slot[1], header = HEADER;
        if (__builtin_expect(codes > capacity, 0)) {
            spill_fetch(slots, slot, codes - capacity, planes);
            queue->spilled[queue->spilled_count++] = bucket;
            codes = capacity - 1;
            header = HEADER + 1;
        }
        seen += codes;
        struct lanes lanes = {(int32_t)header, (int32_t)(codes + header), slot[0] - header, bucket};
        groups_look(slot, slots->groups, lanes, &needle, job->limit - chunk, mark + chunk, queue,
                    planes);
    }
    queue->seen += seen;
    return i;
}

static inline void spill_planes(const struct lookup_job *job, const struct spill_run *run,
                                struct pass_queue *queue, const unsigned planes)
{
    const struct needle needle = needle_prepare(job->rest, planes);
    uint32_t chunk = (uint32_t)__builtin_popcount(run->bucket ^ job->home);
    struct lanes lanes = {0, (int32_t)run->count, run->position, run->bucket};
    groups_look(run->groups, (run->count + LANES - 1) / LANES, lanes, &needle, job->limit - chunk,
                ((uint32_t)job->number << 16) + chunk, queue, planes);
}

static size_t lookup(const struct code_slots *slots, const struct lookup_job *job, size_t first,
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

static void spill(const struct code_slots *slots, const struct lookup_job *job,
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
