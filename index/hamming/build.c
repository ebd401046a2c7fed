/* Building a Hamming table from codes that are gathered: the segment's size, what is not slots. */
#include "index/hamming/fill.h"

#include <stdlib.h>
#include <string.h>

static uint64_t payload_of_gathered(const struct gathered *from, uint64_t id)
{
    return from->items[id * (from->shape.words + 1) + from->shape.words];
}

static uint32_t bytes_for_payloads(const struct gathered *from)
{
    uint64_t all = 0;
    for (uint64_t i = 0; i < from->distinct; i++)
        all |= payload_of_gathered(from, i);
    for (size_t i = 0; i < from->again.count; i++)
        all |= from->again.items[i].payload;
    return all > UINT32_MAX ? 8 : 4;
}

static void plan_segment(const struct gathered *from, const struct hamming_options *options,
                         uint64_t spill_groups, struct segment_plan *plan)
{
    const struct hamming_shape *shape = &from->shape;
    uint32_t bytes = bytes_for_payloads(from);
    *plan = (struct segment_plan){.table = SEGMENT_HAMMING};
    uint64_t *parameters = plan->parameters, *sizes = plan->part_bytes;
    parameters[PARAMETER_VERSION] = HAMMING_VERSION;
    parameters[PARAMETER_BITS] = shape->bits;
    parameters[PARAMETER_RADIUS] = options->design_radius;
    parameters[PARAMETER_CHUNKS] = shape->chunks;
    parameters[PARAMETER_PREFIX] = shape->prefix;
    parameters[PARAMETER_GROUPS] = shape->groups;
    parameters[PARAMETER_DISTINCT] = from->distinct;
    parameters[PARAMETER_CODES] = from->count;
    parameters[PARAMETER_PAYLOAD_BYTES] = bytes;
    parameters[PARAMETER_REPEATED] = from->repeated;
    sizes[PART_SLOTS] = ((uint64_t)shape->chunks << shape->prefix) * shape->slot_words * 4;
    sizes[PART_SPILL] = spill_groups * LANES * 4;
    sizes[PART_TAILS] = tail_offset(shape, shape->chunks, from->distinct);
    sizes[PART_CODES] = shape->apart ? from->distinct * shape->words * 8 : 0;
    sizes[PART_PAYLOADS] = from->distinct * bytes;
    sizes[PART_REPEATED] = from->repeated ? (from->distinct + 63) / 64 * 8 : 0;
    sizes[PART_REPEATED_IDS] = from->repeated * 4;
    sizes[PART_REPEATED_ENDS] = from->repeated * 8;
    sizes[PART_MORE] = from->again.count * bytes;
    sizes[PART_PERMUTATION] = shape->bits;
    sizes[PART_SHELLS] = (uint64_t)shape->chunks * (shape->prefix + 1) * 4;
}

static void put_payload(uint8_t *at, uint64_t payload, uint64_t bytes)
{
    memcpy(at, &payload, bytes == 4 ? 4 : 8);
}

static void fill_payloads(const struct gathered *from, struct segment *segment)
{
    uint64_t bytes = segment->plan.parameters[PARAMETER_PAYLOAD_BYTES];
    uint8_t *first = segment_fill(segment, PART_PAYLOADS);
    for (uint64_t i = 0; i < from->distinct; i++)
        put_payload(first + i * bytes, payload_of_gathered(from, i), bytes);
}

static void fill_repeats(const struct gathered *from, struct segment *segment)
{
    uint64_t bytes = segment->plan.parameters[PARAMETER_PAYLOAD_BYTES], *bits, *ends;
    uint8_t *more = segment_fill(segment, PART_MORE);
    uint32_t *ids = (uint32_t *)(void *)segment_fill(segment, PART_REPEATED_IDS);
    bits = (uint64_t *)(void *)segment_fill(segment, PART_REPEATED);
    ends = (uint64_t *)(void *)segment_fill(segment, PART_REPEATED_ENDS);
    size_t codes = 0;
    for (size_t i = 0; i < from->again.count; i++) {
        const struct repeat *repeat = &from->again.items[i];
        put_payload(more + i * bytes, repeat->payload, bytes);
        if (i == 0 || repeat->id != repeat[-1].id)
            ids[codes++] = repeat->id;
        ends[codes - 1] = i + 1;
        bits[repeat->id / 64] |= UINT64_C(1) << repeat->id % 64;
    }
}

/* Part codes from payloads, which are no longer needed. */
static void part_codes(struct gathered *from, uint64_t *out)
{
    const uint32_t words = from->shape.words;
    for (uint64_t id = 0; id < from->distinct; id++)
        for (uint32_t word = 0; word < words; word++)
            out[id * words + word] = from->items[id * (words + 1) + word];
    uint64_t *work = from->items + (out == from->items ? from->distinct * words : 0);
    from->codes = out;
    from->work = (uint32_t *)work;
    from->work_words = (size_t)(from->items + from->count * (words + 1) - work) * 2;
}

/* What is not slots and tails. */
static void fill_rest(struct gathered *from, struct segment *segment)
{
    memcpy(segment_fill(segment, PART_PERMUTATION), from->places, from->shape.bits);
    fill_payloads(from, segment);
    fill_repeats(from, segment);
    array_free(&from->again);
    part_codes(from, from->shape.apart ? (uint64_t *)(void *)segment_fill(segment, PART_CODES)
                                       : from->items);
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
    uint32_t *counts = malloc(sizeof *counts * from.shape.chunks << from.shape.prefix);
    if (!counts) {
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory to build a Hamming table");
        goto done;
    }
    plan_segment(&from, options, count_buckets(&from, counts), &plan);
    if ((status = segment_create(&plan, target, &segment, error)) != DOPPEL_OK)
        goto done;
    fill_rest(&from, segment);
    fill_chunks(&from, segment, counts);
    status = segment_seal(segment, error);
    if (status == DOPPEL_OK)
        *out = segment;
    else
        segment_release(segment);
done:
    free(counts);
    gathered_free(&from);
    return status;
}
