/* The loop around the kernels' vectors, included by each of them after it has defined
 *   struct needle               a query's remainder, spread over a vector
 *   needle_prepare(rest)
 *   groups_near(groups, count, needle, limit)
 *                               whether a lane of 1, 2 or 4 groups is within the limit
 *   group_pass(group, lanes, needle, limit, mark, queue)
 *                               append those that are */
#include "index/hamming/kernels.h"

static inline void slot_fetch(const struct code_slots *slots, uint32_t bucket)
{
    const uint32_t *slot = slots->words + (size_t)bucket * slots->groups * LANES;
    for (uint32_t at = 0; at < slots->groups * LANES; at += LANES)
        __builtin_prefetch(slot + at);
}

/* The first lines; the processor sees where it goes from there. */
static inline void spill_fetch(const struct code_slots *slots, const uint32_t *slot, uint32_t codes)
{
    enum { LINES_MAX = 6 };
    const uint32_t *line = slots->spill + (size_t)slot[2] * LANES;
    uint32_t lines = codes / LANES + 1;
    for (uint32_t i = 0; i < lines && i < LINES_MAX; i++)
        __builtin_prefetch(line + i * LANES);
}

/* Of remainders at random few are within so many bits: groups are then tested together first. */
enum { FEW_PASS = 7 };

/* Groups one after the other; lanes count on from group to group. */
static inline void groups_pass(const uint32_t *groups, uint32_t count, struct lanes lanes,
                               const struct needle *needle, uint32_t limit, uint32_t mark,
                               struct pass_queue *queue)
{
    for (uint32_t i = 0; i < count; i++, groups += LANES) {
        group_pass(groups, &lanes, needle, limit, mark, queue);
        lanes.from -= LANES;
        lanes.to -= LANES;
        lanes.position += LANES;
    }
}

static inline void groups_look(const uint32_t *groups, uint32_t count, struct lanes lanes,
                               const struct needle *needle, uint32_t limit, uint32_t mark,
                               struct pass_queue *queue)
{
    if (limit > FEW_PASS) {
        groups_pass(groups, count, lanes, needle, limit, mark, queue);
        return;
    }
    while (count > 0) {
        uint32_t some = count >= 4 ? 4 : count >= 2 ? 2 : 1;
        if (__builtin_expect(groups_near(groups, some, needle, limit), 0))
            groups_pass(groups, some, lanes, needle, limit, mark, queue);
        groups += some * LANES;
        lanes.from -= (int32_t)(some * LANES);
        lanes.to -= (int32_t)(some * LANES);
        lanes.position += some * LANES;
        count -= some;
    }
}

static size_t lookup(const struct code_slots *slots, const struct lookup_job *job, size_t first,
                     struct pass_queue *queue)
{
    const struct needle needle = needle_prepare(job->rest);
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
        const uint32_t *slot = slots->words + (size_t)bucket * slots->groups * LANES;
        uint32_t codes = slot[1], header = HEADER;
        if (__builtin_expect(codes > capacity, 0)) {
            spill_fetch(slots, slot, codes - capacity);
            queue->spilled[queue->spilled_count++] = bucket;
            codes = capacity - 1;
            header = HEADER + 1;
        }
        seen += codes;
        struct lanes lanes = {(int32_t)header, (int32_t)(codes + header), slot[0] - header, bucket};
        groups_look(slot, slots->groups, lanes, &needle, job->limit - chunk, mark + chunk, queue);
    }
    queue->seen += seen;
    return i;
}

static void spill(const struct lookup_job *job, const struct spill_run *run,
                  struct pass_queue *queue)
{
    const struct needle needle = needle_prepare(job->rest);
    uint32_t chunk = (uint32_t)__builtin_popcount(run->bucket ^ job->home);
    struct lanes lanes = {0, (int32_t)run->count, run->position, run->bucket};
    groups_look(run->groups, (run->count + LANES - 1) / LANES, lanes, &needle, job->limit - chunk,
                ((uint32_t)job->number << 16) + chunk, queue);
}
