/* Filling the slots, the spill and the tails, partition by partition so that they stay in cache. */
#include "index/hamming/fill.h"

#include <math.h>
#include <string.h>

static uint32_t capacity_of(const struct hamming_shape *shape)
{
    return shape->groups * LANES - HEADER;
}

static uint64_t spilled_groups(const struct hamming_shape *shape, uint32_t count)
{
    uint32_t capacity = capacity_of(shape);
    return count <= capacity ? 0 : (count - (capacity - 1) + LANES - 1) / LANES;
}

uint64_t count_buckets(const struct gathered *from, uint32_t *counts)
{
    const struct hamming_shape shape = from->shape;
    size_t buckets = (size_t)shape.chunks << shape.prefix;
    uint64_t groups = 0;
    memset(counts, 0, buckets * sizeof *counts);
    for (uint64_t id = 0; id < from->distinct; id++)
        for (unsigned chunk = 0; chunk < shape.chunks; chunk++) {
            const uint64_t *code = from->items + id * (shape.words + 1);
            counts[((size_t)chunk << shape.prefix) + chunk_value(code, &shape, chunk)]++;
        }
    for (size_t bucket = 0; bucket < buckets; bucket++)
        groups += spilled_groups(&shape, counts[bucket]);
    return groups;
}

/* A table that is being filled. */
struct table_filling {
    struct hamming_shape shape;
    unsigned chunk;
    uint32_t *slots, *spill;
    uint8_t *tail;
    uint32_t *counts; /* codes in each bucket so far */
};

/* Write the headers of a table's slots; its counts become 0. */
static void fill_headers(struct table_filling *filling, uint64_t *spill_at)
{
    const struct hamming_shape *shape = &filling->shape;
    uint32_t start = 0;
    for (size_t bucket = 0; bucket < (size_t)1 << shape->prefix; bucket++) {
        uint32_t *slot = filling->slots + bucket * shape->slot_words;
        uint32_t count = filling->counts[bucket];
        slot[0] = start;
        slot[1] = count;
        if (count > capacity_of(shape))
            slot[2] = (uint32_t)*spill_at;
        *spill_at += spilled_groups(shape, count);
        start += count;
        filling->counts[bucket] = 0;
    }
}

/* Where code `index` of a bucket has its remainder. */
static inline uint32_t *rest_place(const struct table_filling *filling,
                                   const struct hamming_shape *shape, uint32_t *slot,
                                   uint32_t index)
{
    bool spills = slot[1] > capacity_of(shape);
    uint32_t lane = index + HEADER + spills, inside = capacity_of(shape) - spills;
    if (spills && index >= inside) {
        slot = filling->spill + (size_t)slot[2] * LANES;
        lane = index - inside;
    }
    return slot + lane;
}

static inline __attribute__((always_inline)) void fill_code(struct table_filling *filling,
                                                            const struct hamming_shape *shape,
                                                            uint32_t id,
                                                            const struct turned *turned)
{
    uint32_t *slot = filling->slots + (size_t)turned->prefix * shape->slot_words;
    uint32_t index = filling->counts[turned->prefix]++;
    *rest_place(filling, shape, slot, index) = turned->rest;
    uint8_t *tail = filling->tail + (size_t)(slot[0] + index) * tail_bytes(shape, filling->chunk);
    if (filling->chunk)
        memcpy(tail + tail_bytes(shape, filling->chunk) - sizeof id, &id, sizeof id);
    if (filling->chunk && shape->shared)
        return;
    uint16_t extra = (uint16_t)turned->extra;
    if (shape->extra_bytes == sizeof extra)
        memcpy(tail, &extra, sizeof extra);
    else if (shape->extra_bytes)
        memcpy(tail, &turned->extra, sizeof turned->extra);
}

/* Codes on their way to their buckets: id, prefix, remainder and what it leaves out. */
static uint32_t entry_words(const struct hamming_shape *shape)
{
    return 3 + (shape->extra_bytes > 0);
}

static inline void entry_put(uint32_t *entry, const struct hamming_shape *shape, uint32_t id,
                             const struct turned *turned)
{
    entry[0] = id;
    entry[1] = turned->prefix;
    entry[2] = turned->rest;
    if (shape->extra_bytes)
        entry[3] = turned->extra;
}

static inline struct turned entry_get(const uint32_t *entry, const struct hamming_shape *shape)
{
    struct turned turned = {.prefix = entry[1], .rest = entry[2]};
    if (shape->extra_bytes)
        turned.extra = entry[3];
    return turned;
}

/* Consecutive partitions, the last one excluded, and where the entries of each begin. */
struct slice {
    uint32_t first, last;
    bool gathered; /* there is room for its entries and one more */
    size_t starts[PARTITIONS_MAX + 1];
};

/* As many partitions from `first` on as there is room for; one that has no room is alone. */
static void slice_choose(const struct table_filling *filling, const uint32_t *sizes, uint32_t first,
                         size_t room, struct slice *slice)
{
    slice->first = slice->last = first;
    slice->starts[first] = 0;
    for (; slice->last < partition_count(&filling->shape); slice->last++) {
        size_t sum = slice->starts[slice->last] + sizes[slice->last];
        if (slice->last > first && sum >= room)
            break;
        slice->starts[slice->last + 1] = sum;
    }
    slice->gathered = slice->starts[slice->last] < room;
}

/* Read all codes and move those of a slice to their partitions. Others go to the place behind all
 * entries: a branch would often be mispredicted. */
static inline __attribute__((always_inline)) void slice_gather(const struct gathered *from,
                                                               const struct hamming_shape *shape,
                                                               unsigned chunk,
                                                               const struct slice *slice,
                                                               uint32_t *entries)
{
    const uint32_t shift = partition_shift(shape), words = entry_words(shape);
    uint32_t *next[PARTITIONS_MAX], steps[PARTITIONS_MAX];
    for (uint32_t i = 0; i < partition_count(shape); i++) {
        bool inside = i >= slice->first && i < slice->last;
        next[i] = entries + slice->starts[inside ? i : slice->last] * words;
        steps[i] = inside ? words : 0;
    }
    for (uint64_t id = 0; id < from->distinct; id++) {
        struct turned turned = code_turn(from->codes + id * shape->words, shape, chunk);
        uint32_t partition = turned.prefix >> shift;
        entry_put(next[partition], shape, (uint32_t)id, &turned);
        next[partition] += steps[partition];
    }
}

/* Read all codes and fill in those of a slice, directly. */
static inline __attribute__((always_inline)) void slice_fill_directly(
    const struct gathered *from, struct table_filling *filling, const struct hamming_shape *shape,
    const struct slice *slice)
{
    const uint32_t shift = partition_shift(shape);
    for (uint64_t id = 0; id < from->distinct; id++) {
        struct turned turned = code_turn(from->codes + id * shape->words, shape, filling->chunk);
        if ((turned.prefix >> shift) - slice->first < slice->last - slice->first)
            fill_code(filling, shape, (uint32_t)id, &turned);
    }
}

/* Fill in a slice, partition by partition if there is room for that.
 * @param bits a constant, for the compiler */
static inline __attribute__((always_inline)) void slice_fill_as(const struct gathered *from,
                                                                struct table_filling *filling,
                                                                const struct slice *slice,
                                                                const uint32_t bits)
{
    struct hamming_shape shape = filling->shape;
    shape.bits = bits;
    shape.words = (bits + 63) / 64;
    const uint32_t words = entry_words(&shape);
    if (!slice->gathered) {
        slice_fill_directly(from, filling, &shape, slice);
        return;
    }
    slice_gather(from, &shape, filling->chunk, slice, from->work);
    for (size_t i = 0; i < slice->starts[slice->last]; i++) {
        const uint32_t *entry = from->work + i * words;
        struct turned turned = entry_get(entry, &shape);
        fill_code(filling, &shape, entry[0], &turned);
    }
}

static void fill_slice(const struct gathered *from, struct table_filling *filling,
                       const struct slice *slice)
{
    switch (filling->shape.bits) {
    case 32:
        slice_fill_as(from, filling, slice, 32);
        break;
    case 64:
        slice_fill_as(from, filling, slice, 64);
        break;
    case 128:
        slice_fill_as(from, filling, slice, 128);
        break;
    default:
        slice_fill_as(from, filling, slice, 256);
    }
}

static void fill_chunk(const struct gathered *from, struct table_filling *filling,
                       uint64_t *spill_at)
{
    const struct hamming_shape *shape = &filling->shape;
    uint32_t sizes[PARTITIONS_MAX] = {0}, shift = partition_shift(shape);
    size_t room = from->work_words / entry_words(shape);
    for (size_t bucket = 0; bucket < (size_t)1 << shape->prefix; bucket++)
        sizes[bucket >> shift] += filling->counts[bucket];
    fill_headers(filling, spill_at);
    struct slice slice = {.last = partition_count(shape)};
    if (filling->chunk == 0) { /* the codes are in order */
        fill_slice(from, filling, &slice);
        return;
    }
    for (slice.last = 0; slice.last < partition_count(shape);) {
        slice_choose(filling, sizes, slice.last, room, &slice);
        fill_slice(from, filling, &slice);
    }
}

/* Codes in the buckets that differ from a bucket in `ones` bits. */
static uint64_t shell_codes(const struct hamming_shape *shape, const uint32_t *slots,
                            uint32_t bucket, uint32_t ones)
{
    if (ones == 0)
        return slots[(size_t)bucket * shape->slot_words + 1];
    uint64_t codes = 0;
    for (uint64_t mask = (UINT64_C(1) << ones) - 1; mask >> shape->prefix == 0;) {
        codes += slots[(size_t)(bucket ^ mask) * shape->slot_words + 1];
        uint64_t low = mask & -mask, carried = mask + low; /* the next with as many ones */
        mask = carried | ((mask ^ carried) / low) >> 2;
    }
    return codes;
}

/* How many codes there are in the shells around a code: counted for some codes and the smaller
 * shells, as much denser than uniform codes beyond. */
static void fill_shells(const struct gathered *from, struct segment *segment, unsigned chunk)
{
    enum { SAMPLE = 128, CODES_A_SAMPLE = 512, LOOKUPS = 1500 };
    const struct hamming_shape *shape = &from->shape;
    uint32_t prefix = shape->prefix;
    const uint32_t *slots = (uint32_t *)(void *)segment_fill(segment, PART_SLOTS) +
                            ((size_t)chunk << prefix) * shape->slot_words;
    uint32_t *shells =
        (uint32_t *)(void *)segment_fill(segment, PART_SHELLS) + chunk * (prefix + 1);
    uint64_t count = from->distinct / CODES_A_SAMPLE + 1;
    count = count < SAMPLE ? count : SAMPLE;
    double uniform = (double)from->distinct / exp2(prefix), density = 1, lookups = 1;
    for (uint32_t ones = 0; ones <= prefix && from->distinct; ones++) {
        uint64_t sum = 0;
        for (uint64_t i = 0; i < count && lookups <= LOOKUPS; i++) {
            uint64_t id = from->distinct / count * i;
            const uint64_t *code = from->codes + id * shape->words;
            sum += shell_codes(shape, slots, chunk_value(code, shape, chunk), ones);
        }
        if (lookups <= LOOKUPS)
            density = (double)sum / (double)count / uniform;
        double codes = 16 * uniform * density;
        shells[ones] = codes < UINT32_MAX ? (uint32_t)codes : UINT32_MAX;
        uniform = uniform * (prefix - ones) / (ones + 1);
        lookups = lookups * (prefix - ones) / (ones + 1);
    }
}

void fill_chunks(const struct gathered *from, struct segment *segment, uint32_t *counts)
{
    const struct hamming_shape *shape = &from->shape;
    uint64_t spill_at = 0;
    for (unsigned chunk = 0; chunk < shape->chunks; chunk++) {
        struct table_filling filling = {
            .shape = *shape,
            .chunk = chunk,
            .slots = (uint32_t *)(void *)segment_fill(segment, PART_SLOTS) +
                     ((size_t)chunk << shape->prefix) * shape->slot_words,
            .spill = (uint32_t *)(void *)segment_fill(segment, PART_SPILL),
            .tail = segment_fill(segment, PART_TAILS) + tail_offset(shape, chunk, from->distinct),
            .counts = counts + ((size_t)chunk << shape->prefix),
        };
        fill_chunk(from, &filling, &spill_at);
        fill_shells(from, segment, chunk);
    }
}
