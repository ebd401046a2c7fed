/* The buckets of a partition one after the other, and in them identical codes only once: they are
 * found by hashing. */
#include "index/hamming/gather.h"

#include <stdlib.h>
#include <string.h>

/* Memory for one partition at a time. */
struct workspace {
    uint64_t *items;
    size_t item_room;
    uint32_t *places; /* in a bucket, by hash; 0: empty, else the place + 1 */
    size_t place_room;
    uint32_t *starts; /* of the partition's buckets */
};

static bool reserve_to_dedupe(void **memory, size_t *room, size_t wanted, size_t bytes)
{
    if (*memory && wanted <= *room)
        return true;
    free(*memory);
    *memory = malloc(wanted * bytes);
    *room = *memory ? wanted : 0;
    return *memory != NULL;
}

static size_t hash_room(size_t codes)
{
    size_t room = 64;
    while (room < codes * 2)
        room *= 2;
    return room;
}

static inline uint64_t hash_code(const uint64_t *code, uint32_t words)
{
    uint64_t hash = 0;
    for (uint32_t word = 0; word < words; word++)
        hash = (hash ^ code[word]) * UINT64_C(0x9e3779b97f4a7c15);
    return hash >> 32;
}

static inline bool same_code(const uint64_t *a, const uint64_t *b, uint32_t words)
{
    uint64_t differ = 0;
    for (uint32_t word = 0; word < words; word++)
        differ |= a[word] ^ b[word];
    return differ == 0;
}

static inline void copy_item(uint64_t *to, const uint64_t *from, uint32_t words)
{
    for (uint32_t word = 0; word <= words; word++)
        to[word] = from[word];
}

/* Sort the items of a partition by bucket, into the workspace. */
static void sort_partition(const struct hamming_shape *shape, const uint64_t *items, size_t count,
                           struct workspace *work)
{
    uint32_t buckets = UINT32_C(1) << partition_shift(shape), low = buckets - 1;
    uint32_t *starts = work->starts, stride = shape->words + 1;
    memset(starts, 0, (buckets + 1) * sizeof *starts);
    for (size_t i = 0; i < count; i++)
        starts[(chunk_value(items + i * stride, shape, 0) & low) + 1]++;
    for (uint32_t i = 0; i < buckets; i++)
        starts[i + 1] += starts[i];
    for (size_t i = 0; i < count; i++) {
        const uint64_t *item = items + i * stride;
        size_t at = starts[chunk_value(item, shape, 0) & low]++;
        copy_item(work->items + at * stride, item, shape->words);
    }
    memmove(starts + 1, starts, buckets * sizeof *starts);
    starts[0] = 0;
}

/* Add the items of a bucket to those that are kept. */
static bool keep_bucket(struct gathered *out, const struct workspace *work, size_t start,
                        size_t end)
{
    const uint32_t words = out->shape.words, stride = words + 1;
    const size_t mask = hash_room(end - start) - 1;
    uint64_t *kept = out->items + out->distinct * stride;
    uint32_t base = (uint32_t)out->distinct, count = 0;
    memset(work->places, 0, (mask + 1) * sizeof *work->places);
    for (size_t i = start; i < end; i++) {
        const uint64_t *item = work->items + i * stride;
        size_t at = hash_code(item, words) & mask;
        while (work->places[at] &&
               !same_code(item, kept + (size_t)(work->places[at] - 1) * stride, words))
            at = (at + 1) & mask;
        if (work->places[at]) {
            struct repeat repeat = {item[words], base + work->places[at] - 1};
            if (!array_push(&out->again, repeat))
                return false;
            continue;
        }
        copy_item(kept + (size_t)count * stride, item, words);
        work->places[at] = ++count;
    }
    out->distinct += count;
    return true;
}

static bool order_partition(struct gathered *out, struct workspace *work, uint64_t start,
                            uint64_t end)
{
    const struct hamming_shape shape = out->shape;
    uint32_t stride = shape.words + 1;
    size_t count = (size_t)(end - start);
    if (!reserve_to_dedupe((void **)&work->items, &work->item_room, count * stride,
                           sizeof *work->items))
        return false;
    sort_partition(&shape, out->items + start * stride, count, work);
    for (size_t i = 0; i < (size_t)1 << partition_shift(&shape); i++) {
        size_t first = work->starts[i], last = work->starts[i + 1];
        if (first == last)
            continue;
        if (!reserve_to_dedupe((void **)&work->places, &work->place_room, hash_room(last - first),
                               sizeof *work->places) ||
            !keep_bucket(out, work, first, last))
            return false;
    }
    return true;
}

static int compare_repeats(const void *a, const void *b)
{
    const struct repeat *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->payload < y->payload ? -1 : x->payload > y->payload;
}

/* The least payload of each code comes first, the others ascending after it. */
static void order_repeats(struct gathered *out)
{
    struct repeat *again = out->again.items;
    size_t count = out->again.count, words = out->shape.words;
    if (count)
        qsort(again, count, sizeof *again, compare_repeats);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && again[i].id == again[i - 1].id)
            continue;
        out->repeated++;
        uint64_t *least = out->items + again[i].id * (words + 1) + words, first = *least;
        if (again[i].payload >= first)
            continue;
        *least = again[i].payload;
        size_t at = i;
        for (; at + 1 < count && again[at + 1].id == again[at].id && again[at + 1].payload < first;
             at++)
            again[at].payload = again[at + 1].payload;
        again[at].payload = first;
    }
}

bool gathered_order(struct gathered *gathered, const uint64_t *starts)
{
    struct workspace work = {0};
    work.starts =
        malloc(((size_t)(1u << partition_shift(&gathered->shape)) + 1) * sizeof *work.starts);
    if (!work.starts)
        return false;
    bool done = true;
    for (uint32_t i = 0; done && i < partition_count(&gathered->shape); i++)
        done = order_partition(gathered, &work, starts[i], starts[i + 1]);
    free(work.items);
    free(work.places);
    free(work.starts);
    if (done)
        order_repeats(gathered);
    return done;
}
