/* Building a Hamming table: the slots, spill and tails of each chunk from codes that are gathered.
 */
#include "index/hamming_gather.h"

#include <stdlib.h>
#include <string.h>

/* Where the buckets of one table begin, or how full they are while it is filled. */
struct counts {
    uint32_t *of;
    uint64_t spill_groups;
};

static uint32_t capacity_of(const struct hamming_shape *shape)
{
    return shape->groups * LANES - HEADER;
}

static uint64_t spilled_groups(const struct hamming_shape *shape, uint32_t count)
{
    uint32_t capacity = capacity_of(shape);
    return count <= capacity ? 0 : (count - (capacity - 1) + LANES - 1) / LANES;
}

static void count_chunk(const struct gathered *from, unsigned chunk, struct counts *counts)
{
    size_t buckets = (size_t)1 << from->shape.prefix;
    memset(counts->of, 0, buckets * sizeof *counts->of);
    for (uint64_t id = 0; id < from->distinct; id++)
        counts->of[chunk_value(from->codes + id * from->shape.words, &from->shape, chunk)]++;
    counts->spill_groups = 0;
    for (size_t bucket = 0; bucket < buckets; bucket++)
        counts->spill_groups += spilled_groups(&from->shape, counts->of[bucket]);
}

static void plan_segment(const struct gathered *from, const struct hamming_options *options,
                         uint64_t spill_groups, struct segment_plan *plan)
{
    const struct hamming_shape *shape = &from->shape;
    uint32_t bytes = from->largest_payload > UINT32_MAX ? 8 : 4;
    *plan = (struct segment_plan){.table = SEGMENT_HAMMING};
    uint64_t *parameters = plan->parameters, *sizes = plan->part_bytes;
    parameters[PARAMETER_VERSION] = HAMMING_VERSION;
    parameters[PARAMETER_BITS] = shape->bits;
    parameters[PARAMETER_RADIUS] = options->design_radius;
    parameters[PARAMETER_CHUNKS] = shape->chunks;
    parameters[PARAMETER_PREFIX] = shape->prefix;
    parameters[PARAMETER_GROUPS] = shape->groups;
    parameters[PARAMETER_DISTINCT] = from->distinct;
    parameters[PARAMETER_CODES] = from->codes_count;
    parameters[PARAMETER_PAYLOAD_BYTES] = bytes;
    parameters[PARAMETER_REPEATED] = from->repeated;
    sizes[PART_SLOTS] = ((uint64_t)shape->chunks << shape->prefix) * shape->slot_words * 4;
    sizes[PART_SPILL] = spill_groups * shape->planes * LANES * 4;
    sizes[PART_TAILS] = tail_offset(shape, shape->chunks, from->distinct);
    sizes[PART_CODES] = shape->apart ? from->distinct * shape->words * 8 : 0;
    sizes[PART_PAYLOADS] = from->distinct * bytes;
    sizes[PART_REPEATED] = from->repeated ? (from->distinct + 63) / 64 * 8 : 0;
    sizes[PART_REPEATED_IDS] = from->repeated * 4;
    sizes[PART_REPEATED_ENDS] = from->repeated * 8;
    sizes[PART_MORE] = from->more_count * bytes;
    sizes[PART_PERMUTATION] = shape->bits;
    sizes[PART_SHELLS] = (uint64_t)shape->chunks * (shape->prefix + 1) * 4;
}

/* Write the headers of one table's slots; `counts` becomes how full each bucket is: empty. */
static void fill_headers(const struct hamming_shape *shape, struct counts *counts, uint32_t *slots,
                         uint64_t *spill_at)
{
    uint32_t start = 0;
    for (size_t bucket = 0; bucket < (size_t)1 << shape->prefix; bucket++) {
        uint32_t *slot = slots + bucket * shape->slot_words, count = counts->of[bucket];
        slot[0] = start;
        slot[1] = count;
        if (count > capacity_of(shape))
            slot[2] = (uint32_t)*spill_at;
        *spill_at += spilled_groups(shape, count);
        start += count;
        counts->of[bucket] = 0;
    }
}

/* Where code `index` of a bucket has its remainder. */
static uint32_t *rest_place(const struct hamming_shape *shape, uint32_t *slot, uint32_t *spill,
                            uint32_t index)
{
    bool spills = slot[1] > capacity_of(shape);
    uint32_t header = HEADER + spills, inside = capacity_of(shape) - spills;
    uint32_t *groups = slot, lane = index + header, words = shape->planes * LANES;
    if (spills && index >= inside) {
        groups = spill + (size_t)slot[2] * words;
        lane = index - inside;
    }
    return groups + (size_t)lane / LANES * words + lane % LANES;
}

static void fill_chunk(const struct gathered *from, struct segment *segment, unsigned chunk,
                       struct counts *counts, uint64_t *spill_at)
{
    const struct hamming_shape *shape = &from->shape;
    uint32_t *slots = (uint32_t *)(void *)segment_fill(segment, PART_SLOTS) +
                      ((size_t)chunk << shape->prefix) * shape->slot_words;
    uint32_t *spill = (uint32_t *)(void *)segment_fill(segment, PART_SPILL);
    uint8_t *tails = segment_fill(segment, PART_TAILS) + tail_offset(shape, chunk, from->distinct);
    size_t bytes = tail_bytes(shape, chunk);
    fill_headers(shape, counts, slots, spill_at);
    for (uint64_t id = 0; id < from->distinct; id++) {
        struct turned turned = code_turn(from->codes + id * shape->words, shape, chunk);
        uint32_t *slot = slots + (size_t)turned.prefix * shape->slot_words;
        uint32_t index = counts->of[turned.prefix]++, number = (uint32_t)id;
        uint32_t *rest = rest_place(shape, slot, spill, index);
        for (uint32_t plane = 0; plane < shape->planes; plane++)
            rest[plane * LANES] = turned.rest[plane];
        uint8_t *tail = tails + (size_t)(slot[0] + index) * bytes;
        memcpy(tail, &turned.extra, shape->extra_bytes);
        if (chunk)
            memcpy(tail + shape->extra_bytes, &number, sizeof number);
    }
}

static void fill_payloads(const struct gathered *from, struct segment *segment)
{
    uint64_t bytes = segment->plan.parameters[PARAMETER_PAYLOAD_BYTES];
    uint8_t *first = segment_fill(segment, PART_PAYLOADS), *more = segment_fill(segment, PART_MORE);
    for (uint64_t i = 0; i < from->distinct; i++)
        memcpy(first + i * bytes, &from->payloads[i], bytes);
    for (uint64_t i = 0; i < from->more_count; i++)
        memcpy(more + i * bytes, &from->more[i], bytes);
    if (!from->repeated)
        return;
    memcpy(segment_fill(segment, PART_REPEATED_IDS), from->ids, from->repeated * 4);
    memcpy(segment_fill(segment, PART_REPEATED_ENDS), from->ends, from->repeated * 8);
    uint64_t *bits = (uint64_t *)(void *)segment_fill(segment, PART_REPEATED);
    for (uint64_t i = 0; i < from->repeated; i++)
        bits[from->ids[i] / 64] |= UINT64_C(1) << from->ids[i] % 64;
}

/* How many codes there are in the shells around a code: of uniform ones. */
static void fill_shells(const struct gathered *from, struct segment *segment)
{
    uint32_t prefix = from->shape.prefix;
    uint32_t *shells = (uint32_t *)(void *)segment_fill(segment, PART_SHELLS);
    for (unsigned chunk = 0; chunk < from->shape.chunks; chunk++) {
        double codes = 16. * (double)from->distinct / (double)(UINT64_C(1) << prefix);
        for (uint32_t ones = 0; ones <= prefix; ones++) {
            *shells++ = codes < UINT32_MAX ? (uint32_t)codes : UINT32_MAX;
            codes = codes * (prefix - ones) / (ones + 1);
        }
    }
}

static void fill_segment(const struct gathered *from, struct segment *segment,
                         struct counts *counts)
{
    uint64_t spill_at = 0;
    for (unsigned chunk = 0; chunk < from->shape.chunks; chunk++) {
        count_chunk(from, chunk, counts);
        fill_chunk(from, segment, chunk, counts, &spill_at);
    }
    if (from->shape.apart)
        memcpy(segment_fill(segment, PART_CODES), from->codes,
               from->distinct * from->shape.words * 8);
    memcpy(segment_fill(segment, PART_PERMUTATION), from->places, from->shape.bits);
    fill_payloads(from, segment);
    fill_shells(from, segment);
}

enum doppel_status hamming_build(const struct hamming_options *options, struct code_stream *stream,
                                 const struct segment_target *target, struct segment **out,
                                 struct doppel_error *error)
{
    struct gathered from;
    struct segment_plan plan;
    struct segment *segment = NULL;
    enum doppel_status status = gather(options, stream, &from, error);
    if (status != DOPPEL_OK)
        return status;
    struct counts counts = {.of = malloc(sizeof *counts.of << from.shape.prefix)};
    if (!counts.of) {
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory to build a Hamming table");
        goto done;
    }
    uint64_t spill_groups = 0;
    for (unsigned chunk = 0; chunk < from.shape.chunks; chunk++) {
        count_chunk(&from, chunk, &counts);
        spill_groups += counts.spill_groups;
    }
    plan_segment(&from, options, spill_groups, &plan);
    if ((status = segment_create(&plan, target, &segment, error)) != DOPPEL_OK)
        goto done;
    fill_segment(&from, segment, &counts);
    status = segment_seal(segment, error);
    if (status == DOPPEL_OK)
        *out = segment;
    else
        segment_release(segment);
done:
    free(counts.of);
    gathered_free(&from);
    return status;
}
