/* How codes lie in a Hamming table: turning them, finding them in a bucket, their payloads. */
#include "index/hamming/table.h"

#include <string.h>

struct hamming_shape hamming_shape(uint32_t bits, uint32_t chunks, uint32_t prefix, uint32_t groups)
{
    struct hamming_shape shape = {.bits = bits,
                                  .words = (bits + 63) / 64,
                                  .chunks = chunks,
                                  .prefix = prefix,
                                  .groups = groups,
                                  .apart = bits > 64};
    shape.planes = bits <= 64 ? 1 : bits == 128 ? PLANES_128 : PLANES_256;
    shape.slot_words = groups * shape.planes * LANES;
    shape.ring = bits;
    if (bits == 64) {
        shape.extra_bytes = prefix >= 16 ? 2 : 4;
        shape.shared = chunks * prefix <= prefix + 32;
    }
    if (shape.shared)
        shape.ring = chunks * prefix;
    return shape;
}

uint64_t code_unturn(const struct turned *turned, const struct hamming_shape *shape, unsigned chunk)
{
    uint64_t rest = turned->rest[0] | (uint64_t)turned->extra << 32;
    uint32_t back = shape->ring - chunk * shape->prefix;
    return ring_turn(turned->prefix | rest << shape->prefix, shape->ring, back % shape->ring);
}

struct bucket hamming_bucket(const struct hamming *table, uint64_t number)
{
    const struct hamming_shape *shape = &table->shape;
    struct bucket bucket = {.slot = table->slots + number * shape->slot_words, .header = HEADER};
    segment_touch(table->segment, bucket.slot, shape->slot_words * sizeof(uint32_t));
    uint32_t start = bucket.slot[0], count = bucket.slot[1];
    uint32_t capacity = shape->groups * LANES - HEADER;
    if ((uint64_t)start + count > table->distinct)
        return bucket;
    bucket.inside = count;
    if (count > capacity) {
        bucket.inside = capacity - 1;
        bucket.header = HEADER + 1;
        uint64_t first = bucket.slot[2], groups = (count - bucket.inside + LANES - 1) / LANES;
        if (first + groups > table->spill_groups)
            return (struct bucket){.slot = bucket.slot};
        size_t words = (size_t)shape->planes * LANES;
        bucket.spill = table->spill + first * words;
        segment_touch(table->segment, bucket.spill, groups * words * sizeof(uint32_t));
    }
    bucket.start = start;
    bucket.count = count;
    return bucket;
}

void bucket_rest(const struct hamming *table, const struct bucket *bucket, uint32_t index,
                 uint32_t *out_rest)
{
    uint32_t planes = table->shape.planes;
    bool inside = index < bucket->inside;
    uint32_t lane = inside ? index + bucket->header : index - bucket->inside;
    const uint32_t *group =
        (inside ? bucket->slot : bucket->spill) + (size_t)lane / LANES * planes * LANES;
    for (uint32_t plane = 0; plane < planes; plane++)
        out_rest[plane] = group[plane * LANES + lane % LANES];
}

uint64_t hamming_more(const struct hamming *table, uint32_t id, const uint8_t **out_more)
{
    if (!table->repeated)
        return 0;
    const struct segment *segment = table->segment;
    segment_touch(segment, table->repeated_bits + id / 64, 8);
    if (!(table->repeated_bits[id / 64] >> id % 64 & 1))
        return 0;
    uint64_t low = 0, high = table->repeated;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        segment_touch(segment, table->repeated_ids + middle, 4);
        if (table->repeated_ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == table->repeated)
        return 0;
    segment_touch(segment, table->repeated_ends + (low ? low - 1 : 0), low ? 16 : 8);
    uint64_t first = low ? table->repeated_ends[low - 1] : 0, end = table->repeated_ends[low];
    if (first > end || end > table->more)
        return 0;
    *out_more = table->more_payloads + first * table->payload_bytes;
    segment_touch(segment, *out_more, (end - first) * table->payload_bytes);
    return end - first;
}
