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
    shape.slot_words = groups * LANES;
    shape.ring = bits;
    if (bits == 64) {
        shape.extra_bytes = prefix >= 16 ? 2 : 4;
        shape.shared = chunks * prefix <= prefix + 32;
    }
    if (shape.shared)
        shape.ring = chunks * prefix;
    return shape;
}

uint32_t window_usual(const struct hamming_shape *shape, uint32_t radius)
{
    uint32_t chunks = (window_bits(shape) + shape->prefix - 1) / shape->prefix;
    if (chunks >= shape->chunks)
        return radius;
    uint32_t units = ((radius + 1) * chunks + shape->chunks - 1) / shape->chunks;
    return units - 1;
}

uint64_t code_unturn(const struct turned *turned, const struct hamming_shape *shape, unsigned chunk)
{
    uint64_t rest = turned->rest | (uint64_t)turned->extra << 32;
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
        bucket.spill = table->spill + first * LANES;
        segment_touch(table->segment, bucket.spill, groups * LANES * sizeof(uint32_t));
    }
    bucket.start = start;
    bucket.count = count;
    return bucket;
}

uint32_t bucket_rest(const struct bucket *bucket, uint32_t index)
{
    if (index < bucket->inside)
        return bucket->slot[index + bucket->header];
    return bucket->spill[index - bucket->inside];
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
