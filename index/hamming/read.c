/* The codes of a Hamming table in the order in which they lie. */
#include "index/hamming/table.h"

#include <string.h>

/* Where a reader is: at payload `repeat` of code `id`, which lies in a bucket of table 0. */
struct hamming_reader {
    uint32_t id, number;
    uint64_t repeat;
    struct bucket bucket;
};

/* How many payloads the codes before the j-th repeated one have, and those before them. */
static uint64_t position_of(const struct hamming *table, uint64_t j)
{
    segment_touch(table->segment, table->repeated_ids + j, sizeof(uint32_t));
    if (j)
        segment_touch(table->segment, table->repeated_ends + j - 1, sizeof(uint64_t));
    return table->repeated_ids[j] + (j ? table->repeated_ends[j - 1] : 0);
}

/* The code and payload at a position among all payloads. */
static void seek_hamming(const struct hamming *table, uint64_t position,
                         struct hamming_reader *reader)
{
    uint64_t low = 0,
             high = table->repeated; /* repeated codes before `low` begin at or before it */
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (position_of(table, middle) <= position)
            low = middle + 1;
        else
            high = middle;
    }
    uint64_t id = position;
    reader->repeat = 0;
    if (low > 0) {
        const uint8_t *more;
        uint64_t first = table->repeated_ids[low - 1],
                 offset = position - position_of(table, low - 1);
        uint64_t count = first < table->distinct ? hamming_more(table, (uint32_t)first, &more) : 0;
        reader->repeat = offset <= count ? offset : 0;
        id = offset <= count ? first : first + (offset - count);
    }
    reader->id = id < table->distinct ? (uint32_t)id : (uint32_t)table->distinct;
}

/* The bucket of table 0 that holds an id: the last one that begins at or before it. */
static void seek_bucket(const struct hamming *table, struct hamming_reader *reader)
{
    uint32_t low = 0, high = UINT32_C(1) << table->shape.prefix;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (hamming_bucket(table, middle).start <= reader->id)
            low = middle;
        else
            high = middle;
    }
    reader->number = low;
    reader->bucket = hamming_bucket(table, low);
}

/* Put the code together at whose id the reader is. @return false when the table is damaged */
static bool code_at(const struct hamming *table, struct hamming_reader *reader, uint64_t *out)
{
    const struct hamming_shape *shape = &table->shape;
    if (shape->apart) {
        const uint64_t *code = table->apart + (size_t)reader->id * shape->words;
        segment_touch(table->segment, code, shape->words * sizeof *code);
        permute_back(table->permuter, code, out);
        return true;
    }
    while (reader->id - reader->bucket.start >= reader->bucket.count) {
        if (++reader->number >> shape->prefix)
            return false;
        reader->bucket = hamming_bucket(table, reader->number);
    }
    struct turned turned = {.prefix = reader->number};
    turned.rest = bucket_rest(&reader->bucket, reader->id - reader->bucket.start);
    const uint8_t *tail = table->tails[0] + (size_t)reader->id * shape->extra_bytes;
    segment_touch(table->segment, tail, shape->extra_bytes);
    memcpy(&turned.extra, tail, shape->extra_bytes);
    uint64_t code = code_unturn(&turned, shape, 0);
    permute_back(table->permuter, &code, out);
    return true;
}

size_t hamming_read(const struct hamming *table, uint64_t first, size_t count, uint64_t *out_codes,
                    uint64_t *out_payloads)
{
    uint32_t words = table->shape.words, bytes = table->payload_bytes;
    struct hamming_reader reader = {0};
    if (first >= table->codes)
        return 0;
    seek_hamming(table, first, &reader);
    if (!table->shape.apart)
        seek_bucket(table, &reader);
    size_t done = 0;
    for (; done < count && reader.id < table->distinct; reader.id++, reader.repeat = 0) {
        uint64_t code[WORDS_MAX];
        const uint8_t *more = NULL, *payload = table->payloads + (size_t)reader.id * bytes;
        if (!code_at(table, &reader, code))
            break;
        segment_touch(table->segment, payload, bytes);
        uint64_t payloads = 1 + hamming_more(table, reader.id, &more);
        for (; reader.repeat < payloads && done < count; reader.repeat++, done++) {
            memcpy(out_codes + done * words, code, words * sizeof *code);
            out_payloads[done] =
                payload_load(reader.repeat ? more + (reader.repeat - 1) * bytes : payload, bytes);
        }
    }
    return done;
}
