/*
 * Building a postings table from a stream of items. A first pass counts the postings of each range
 * of keys; then ranges that fit the memory together are gathered by a pass each, and sorted range
 * by range within the cache.
 */
#include <stdlib.h>

#include "core/order.h"
#include "core/try.h"
#include "index/postings/postings_internal.h"

enum { RANGE_BITS = 16, FEW = 48, DIGIT_BITS = 10, LEAST_RECORDS = 1 << 20 };

/* A key in the high half, a position on the axis in the low one. */
typedef uint64_t record;

struct postings_sorting {
    struct posting_stream *stream;
    uint32_t key_bits, range_shift; /* key >> range_shift is its range */
    uint64_t capacity;              /* records */
    uint64_t ranges, *starts;       /* of each range among all records; ranges + 1 */
    uint64_t *next;                 /* of each range: where its next record goes */
    record *records;                /* of the ranges from `first` up to `end` */
    uint64_t first, end;
    record *scratch;     /* of the largest range */
    uint32_t *positions; /* likewise */
    struct list_items items;
    bool sorted; /* the records are all, and in order */
};

static enum doppel_status no_memory_to_sort(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to build a postings table");
}

static enum doppel_status changed(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_ARGUMENT, "a stream of postings changed meanwhile");
}

/* ---- first pass ---- */

static enum doppel_status count_item(struct postings_sorting *sorting, uint32_t length,
                                     const struct doppel_index_posting *postings, size_t count,
                                     struct doppel_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if ((uint64_t)postings[i].key >> sorting->key_bits || postings[i].position >= length)
            return doppel_fail(error, DOPPEL_E_ARGUMENT,
                               "posting %zu of an item has key %u of %u bits, position %u of %u", i,
                               postings[i].key, sorting->key_bits, postings[i].position, length);
        sorting->starts[(postings[i].key >> sorting->range_shift) + 1]++;
    }
    return DOPPEL_OK;
}

static enum doppel_status count_items_sorting(struct postings_sorting *sorting,
                                              struct doppel_error *error)
{
    struct posting_stream *stream = sorting->stream;
    struct list_items *items = &sorting->items;
    const struct doppel_index_posting *postings;
    uint64_t payload, axis = 0;
    uint32_t length;
    size_t count;
    enum doppel_status status = DOPPEL_OK;
    stream->rewind(stream->context);
    while (!status && stream->read(stream->context, &payload, &length, &postings, &count)) {
        if (items->count == stream->items)
            return changed(error);
        items->payloads[items->count] = payload;
        items->starts[items->count++] = (uint32_t)axis;
        axis += length;
        if (axis > UINT32_MAX)
            return doppel_fail(error, DOPPEL_E_LIMIT,
                               "the items of a segment are longer than 2^32: split them");
        status = count_item(sorting, length, postings, count, error);
    }
    items->starts[items->count] = (uint32_t)axis;
    for (uint64_t i = 0; i < sorting->ranges; i++)
        sorting->starts[i + 1] += sorting->starts[i];
    return status;
}

/* ---- a pass for some ranges ---- */

static bool gather_item(struct postings_sorting *sorting, uint32_t start,
                        const struct doppel_index_posting *postings, size_t count)
{
    uint64_t ranges = sorting->end - sorting->first;
    const uint64_t *ends = sorting->starts + 1;
    uint64_t before = sorting->starts[sorting->first];
    for (size_t i = 0; i < count; i++) {
        uint64_t range = (postings[i].key >> sorting->range_shift) - sorting->first;
        if (range >= ranges)
            continue;
        range += sorting->first;
        if (range >= sorting->ranges || sorting->next[range] == ends[range])
            return false;
        sorting->records[sorting->next[range]++ - before] =
            (uint64_t)postings[i].key << 32 | (start + postings[i].position);
    }
    return true;
}

static enum doppel_status gather_sorting(struct postings_sorting *sorting,
                                         struct doppel_error *error)
{
    struct posting_stream *stream = sorting->stream;
    const struct doppel_index_posting *postings;
    uint64_t payload, item = 0;
    uint32_t length;
    size_t count;
    memcpy(sorting->next + sorting->first, sorting->starts + sorting->first,
           (sorting->end - sorting->first) * sizeof *sorting->next);
    stream->rewind(stream->context);
    while (stream->read(stream->context, &payload, &length, &postings, &count)) {
        if (item == sorting->items.count ||
            length != sorting->items.starts[item + 1] - sorting->items.starts[item] ||
            !gather_item(sorting, sorting->items.starts[item], postings, count))
            return changed(error);
        item++;
    }
    for (uint64_t range = sorting->first; range < sorting->end; range++)
        if (sorting->next[range] != sorting->starts[range + 1])
            return changed(error);
    return DOPPEL_OK;
}

/* ---- sorting a range ---- */

static int compare_postings(const void *a, const void *b)
{
    record left = *(const record *)a, right = *(const record *)b;
    return (left > right) - (left < right);
}

/* By one digit of the key, keeping the order of equal ones. */
static void sort_digit(const record *from, size_t count, uint32_t shift, uint32_t bits, record *to)
{
    size_t starts[(1 << DIGIT_BITS) + 1] = {0};
    uint64_t mask = (1ull << bits) - 1;
    for (size_t i = 0; i < count; i++)
        starts[(from[i] >> shift & mask) + 1]++;
    for (size_t i = 0; i < mask; i++)
        starts[i + 1] += starts[i];
    for (size_t i = 0; i < count; i++)
        to[starts[from[i] >> shift & mask]++] = from[i];
}

/* Items come in order, and so, mostly, do the positions of a key: what is not in order after
 * sorting by key is sorted whole. */
static void sort_range(const struct postings_sorting *sorting, record *records, size_t count)
{
    if (count <= FEW) {
        insertion_sort_u64(records, count);
        return;
    }
    uint32_t bits = sorting->range_shift, digit = bits > DIGIT_BITS ? (bits + 1) / 2 : bits;
    record *from = records, *to = sorting->scratch;
    for (uint32_t at = 0; at < bits; at += digit) {
        sort_digit(from, count, 32 + at, bits - at < digit ? bits - at : digit, to);
        record *other = from;
        from = to;
        to = other;
    }
    if (from != records)
        memcpy(records, from, count * sizeof *records);
    for (size_t i = 1; i < count; i++)
        if (records[i] < records[i - 1]) {
            qsort(records, count, sizeof *records, compare_postings);
            return;
        }
}

static enum doppel_status give_lists(const struct postings_sorting *sorting, const record *records,
                                     size_t count, const struct list_taker *taker,
                                     struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0, n; i < count && !status; i += n) {
        uint32_t key = (uint32_t)(records[i] >> 32);
        for (n = 0; i + n < count && records[i + n] >> 32 == key; n++)
            sorting->positions[n] = (uint32_t)records[i + n];
        status = taker->take(taker->context, key, sorting->positions, n, error);
    }
    return status;
}

static enum doppel_status give_ranges(struct postings_sorting *sorting,
                                      const struct list_taker *taker, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    const uint64_t *starts = sorting->starts;
    for (uint64_t range = sorting->first; range < sorting->end && !status; range++) {
        record *records = sorting->records + (starts[range] - starts[sorting->first]);
        size_t count = starts[range + 1] - starts[range];
        if (!sorting->sorted)
            sort_range(sorting, records, count);
        status = give_lists(sorting, records, count, taker, error);
    }
    return status;
}

/* A list_source. */
static enum doppel_status sort_postings_run(void *context, const struct list_taker *taker,
                                            struct doppel_error *error)
{
    struct postings_sorting *sorting = context;
    enum doppel_status status = DOPPEL_OK;
    const uint64_t *starts = sorting->starts;
    if (sorting->sorted)
        return give_ranges(sorting, taker, error);
    for (sorting->first = 0; sorting->first < sorting->ranges && !status;
         sorting->first = sorting->end) {
        sorting->end = sorting->first + 1;
        while (sorting->end < sorting->ranges &&
               starts[sorting->end + 1] - starts[sorting->first] <= sorting->capacity)
            sorting->end++;
        status = gather_sorting(sorting, error);
        if (!status)
            status = give_ranges(sorting, taker, error);
        if (!sorting->first && sorting->end == sorting->ranges) {
            sorting->sorted = true;
            return status;
        }
    }
    return status;
}

/* ---- all together ---- */

static bool make_room_to_count(struct postings_sorting *sorting)
{
    uint64_t items = sorting->stream->items;
    sorting->starts = calloc(sorting->ranges + 1, sizeof *sorting->starts);
    sorting->next = calloc(sorting->ranges, sizeof *sorting->next);
    sorting->items.payloads = calloc(items + 1, sizeof *sorting->items.payloads);
    sorting->items.starts = calloc(items + 1, sizeof *sorting->items.starts);
    return sorting->starts && sorting->next && sorting->items.payloads && sorting->items.starts;
}

/* Ranges are not divided: the largest has to fit. */
static bool make_room_to_sort(struct postings_sorting *sorting, uint64_t memory_bytes)
{
    uint64_t postings = sorting->starts[sorting->ranges], largest = 0;
    for (uint64_t i = 0; i < sorting->ranges; i++)
        if (sorting->starts[i + 1] - sorting->starts[i] > largest)
            largest = sorting->starts[i + 1] - sorting->starts[i];
    sorting->capacity = memory_bytes ? memory_bytes / sizeof(record) : postings / 5;
    if (!memory_bytes && sorting->capacity < LEAST_RECORDS)
        sorting->capacity = LEAST_RECORDS;
    if (sorting->capacity > postings)
        sorting->capacity = postings;
    if (sorting->capacity < largest)
        sorting->capacity = largest;
    sorting->records = malloc((sorting->capacity + 1) * sizeof *sorting->records);
    sorting->scratch = malloc((largest + 1) * sizeof *sorting->scratch);
    sorting->positions = malloc((largest + 1) * sizeof *sorting->positions);
    return sorting->records && sorting->scratch && sorting->positions;
}

enum doppel_status postings_build(const struct postings_options *options,
                                  struct posting_stream *stream,
                                  const struct segment_target *target, struct segment **out,
                                  struct doppel_error *error)
{
    enum doppel_status status = postings_options_check(options, error);
    if (status)
        return status;
    uint32_t key_bits = options->key_bits;
    uint32_t range_bits = key_bits < RANGE_BITS ? key_bits : RANGE_BITS;
    struct postings_sorting sorting = {.stream = stream,
                                       .key_bits = key_bits,
                                       .range_shift = key_bits - range_bits,
                                       .ranges = 1ull << range_bits};
    struct list_source source = {&sorting, sort_postings_run};
    TRY(make_room_to_count(&sorting) ? count_items_sorting(&sorting, error)
                                     : no_memory_to_sort(error));
    if (!make_room_to_sort(&sorting, options->memory_bytes))
        TRY(no_memory_to_sort(error));
    TRY(postings_write(key_bits, &sorting.items, &source, target, out, error));
done:
    list_items_free(&sorting.items);
    free(sorting.starts);
    free(sorting.next);
    free(sorting.records);
    free(sorting.scratch);
    free(sorting.positions);
    return status;
}
