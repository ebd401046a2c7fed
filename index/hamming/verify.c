/* From codes that passed by chunk and remainder to hits: the rest of the code, whether it was found
 * before, its payloads. */
#include "index/hamming/search.h"

#include <string.h>

static uint32_t code_distance(const uint64_t *a, const uint64_t *b, uint32_t words)
{
    uint32_t distance = 0;
    for (uint32_t word = 0; word < words; word++)
        distance += (uint32_t)__builtin_popcountll(a[word] ^ b[word]);
    return distance;
}

/* As the kernels see it: chunk and remainder. */
static bool is_in_window(const struct hamming_shape *shape, const struct active *active,
                         unsigned chunk, const uint64_t *code)
{
    if (active->windows[chunk] >= active->limit)
        return true;
    const struct turned *sought = &active->turned[chunk], turned = code_turn(code, shape, chunk);
    uint32_t distance = (uint32_t)__builtin_popcount(turned.prefix ^ sought->prefix);
    distance += (uint32_t)__builtin_popcount(turned.rest ^ sought->rest);
    return distance <= active->windows[chunk];
}

bool is_found_before(const struct hamming *table, const struct active *active, unsigned chunk,
                     const uint64_t *code)
{
    for (unsigned other = 0; other < table->shape.chunks; other++) {
        int32_t reach = other < chunk ? active->share[other] : active->before[other];
        if (reach < 0)
            continue;
        uint32_t value = chunk_value(code, &table->shape, other);
        if (__builtin_popcount(value ^ active->turned[other].prefix) <= reach &&
            is_in_window(&table->shape, active, other, code))
            return true;
    }
    return false;
}

void found_push(const struct hamming *table, struct hamming_scratch *scratch, uint32_t id,
                uint32_t distance, unsigned number)
{
    if (scratch->found_count == FOUND_MAX)
        found_deliver(table, scratch);
    __builtin_prefetch(table->payloads + (size_t)id * table->payload_bytes);
    if (table->repeated)
        __builtin_prefetch(table->repeated_bits + id / 64);
    scratch->found[scratch->found_count++] =
        (struct found){id, (uint16_t)number, (uint16_t)distance};
}

/* A code that passed, as it lies in the queue. */
struct verify_pass {
    uint32_t position, bucket, distance;
    uint32_t id; /* when what is left of the code lies by id */
    unsigned active, chunk;
};

static inline struct verify_pass pass_at(const struct hamming_scratch *scratch,
                                         const struct pass_queue *queue, size_t i)
{
    uint32_t job = queue->marks[i] >> 16;
    return (struct verify_pass){queue->positions[i],      queue->buckets[i],
                                queue->marks[i] & 0xffff, scratch->pass_ids[i],
                                scratch->job_active[job], scratch->job_chunk[job]};
}

/* How far ahead the next line of a code is fetched. */
enum { PASSES_AHEAD = 16 };

static size_t passes_ahead(const struct pass_queue *queue)
{
    return queue->count < PASSES_AHEAD ? queue->count : PASSES_AHEAD;
}

static inline const uint8_t *tail_at(const struct hamming *table, const struct verify_pass *pass)
{
    return table->tails[pass->chunk] +
           (size_t)pass->position * tail_bytes(&table->shape, pass->chunk);
}

/* The id of a code, from its tail. */
static inline uint32_t id_at(const struct hamming *table, const struct verify_pass *pass)
{
    uint32_t id = pass->position;
    size_t bytes = tail_bytes(&table->shape, pass->chunk);
    if (pass->chunk)
        memcpy(&id, tail_at(table, pass) + bytes - sizeof id, sizeof id);
    return id;
}

/* Where what is left of the code lies. */
static inline const void *left_at(const struct hamming *table, const struct verify_pass *pass)
{
    if (table->shape.apart)
        return table->apart + (size_t)pass->id * table->shape.words;
    if (table->shape.shared)
        return table->tails[0] + (size_t)pass->id * table->shape.extra_bytes;
    return tail_at(table, pass);
}

static inline size_t left_bytes(const struct hamming *table, const struct verify_pass *pass)
{
    const struct hamming_shape *shape = &table->shape;
    return shape->apart    ? shape->words * sizeof(uint64_t)
           : shape->shared ? shape->extra_bytes
                           : tail_bytes(shape, pass->chunk);
}

/* Begin to read from the disk what is going to be looked at of each: the tail, or what is left of
 * the code, where that lies by id. */
static void want_passes(const struct hamming *table, const struct hamming_scratch *scratch,
                        const struct pass_queue *queue, bool by_id)
{
    for (size_t i = 0; i < queue->count && scratch->on_disk; i++) {
        struct verify_pass pass = pass_at(scratch, queue, i);
        if ((by_id ? pass.id : pass.position) < table->distinct)
            segment_want(table->segment, by_id ? left_at(table, &pass) : tail_at(table, &pass),
                         by_id ? left_bytes(table, &pass) : tail_bytes(&table->shape, pass.chunk));
    }
}

static void find_ids(const struct hamming *table, struct hamming_scratch *scratch,
                     const struct pass_queue *queue)
{
    const size_t ahead = passes_ahead(queue);
    for (size_t i = 0; i < queue->count + ahead; i++) {
        if (i < queue->count) {
            struct verify_pass pass = pass_at(scratch, queue, i);
            __builtin_prefetch(tail_at(table, &pass));
        }
        if (i < ahead)
            continue;
        struct verify_pass pass = pass_at(scratch, queue, i - ahead);
        scratch->pass_ids[i - ahead] = UINT32_MAX;
        if (pass.position >= table->distinct)
            continue;
        if (scratch->checking)
            segment_touch(table->segment, tail_at(table, &pass),
                          tail_bytes(&table->shape, pass.chunk));
        scratch->pass_ids[i - ahead] = id_at(table, &pass);
    }
}

static void verify_apart(const struct hamming *table, struct hamming_scratch *scratch,
                         const struct verify_pass *pass)
{
    const uint32_t words = table->shape.words;
    if (pass->id >= table->distinct)
        return;
    const struct active *active = &scratch->active[pass->active];
    const uint64_t *code = table->apart + (size_t)pass->id * words;
    if (scratch->checking)
        segment_touch(table->segment, code, words * sizeof *code);
    uint32_t distance = code_distance(code, active->code, words);
    if (distance <= active->limit && (int32_t)distance > active->known &&
        !is_found_before(table, active, pass->chunk, code))
        found_push(table, scratch, pass->id, distance, pass->active);
}

/* A code within the limit, put together again from chunk, remainder and tail. */
static bool is_old_turned(const struct hamming *table, const struct active *active,
                          const struct verify_pass *pass, uint32_t extra)
{
    struct bucket bucket = hamming_bucket(table, pass->bucket);
    uint32_t index = pass->position - bucket.start;
    if (index >= bucket.count)
        return true;
    struct turned turned = {.prefix = pass->bucket & ((UINT32_C(1) << table->shape.prefix) - 1),
                            .extra = extra};
    turned.rest = bucket_rest(&bucket, index);
    uint64_t code = code_unturn(&turned, &table->shape, pass->chunk);
    return is_found_before(table, active, pass->chunk, &code);
}

static void verify_tail(const struct hamming *table, struct hamming_scratch *scratch,
                        const struct verify_pass *pass)
{
    const struct hamming_shape *shape = &table->shape;
    if (pass->position >= table->distinct || (shape->shared && pass->id >= table->distinct))
        return;
    const struct active *active = &scratch->active[pass->active];
    const void *left = left_at(table, pass);
    if (scratch->checking)
        segment_touch(table->segment, left, left_bytes(table, pass));
    uint32_t extra = 0;
    if (shape->extra_bytes == 2)
        memcpy(&extra, left, 2);
    else if (shape->extra_bytes)
        memcpy(&extra, left, 4);
    uint32_t distance =
        pass->distance + (uint32_t)__builtin_popcount(extra ^ active->turned[pass->chunk].extra);
    if (distance > active->limit || (int32_t)distance <= active->known)
        return;
    uint32_t id = shape->shared ? pass->id : id_at(table, pass);
    if (id < table->distinct && !is_old_turned(table, active, pass, extra))
        found_push(table, scratch, id, distance, pass->active);
}

void passes_verify(const struct hamming *table, struct hamming_scratch *scratch,
                   struct pass_queue *queue)
{
    const bool apart = table->shape.apart;
    const size_t ahead = passes_ahead(queue);
    const bool few = ahead == queue->count; /* most likely hits */
    want_passes(table, scratch, queue, false);
    if (apart || table->shape.shared) {
        find_ids(table, scratch, queue);
        want_passes(table, scratch, queue, true);
    }
    for (size_t i = 0; i < queue->count + ahead; i++) {
        if (i < queue->count) {
            struct verify_pass pass = pass_at(scratch, queue, i);
            __builtin_prefetch(left_at(table, &pass));
            if (few && pass.chunk == 0)
                __builtin_prefetch(table->payloads + (size_t)pass.position * table->payload_bytes);
        }
        if (i < ahead)
            continue;
        struct verify_pass pass = pass_at(scratch, queue, i - ahead);
        if (apart)
            verify_apart(table, scratch, &pass);
        else
            verify_tail(table, scratch, &pass);
    }
    queue->count = 0;
}

static void deliver_hamming_scratch(struct hamming_scratch *scratch, struct active *active,
                                    uint64_t payload, uint32_t distance)
{
    struct doppel_index_hit hit = {payload, distance, active->query->number};
    if (active->nearest)
        nearest_offer(active, &hit, scratch);
    else if (!array_push(active->query->hits, hit))
        scratch->no_memory = true;
}

void found_deliver(const struct hamming *table, struct hamming_scratch *scratch)
{
    uint32_t bytes = table->payload_bytes;
    for (uint32_t i = 0; i < scratch->found_count && !scratch->no_memory; i++) {
        const struct found *found = &scratch->found[i];
        struct active *active = &scratch->active[found->active];
        const uint8_t *payload = table->payloads + (size_t)found->id * bytes, *more = NULL;
        if (scratch->checking)
            segment_touch(table->segment, payload, bytes);
        deliver_hamming_scratch(scratch, active, payload_load(payload, bytes), found->distance);
        uint64_t count = hamming_more(table, found->id, &more);
        for (uint64_t j = 0; j < count && !scratch->no_memory; j++)
            deliver_hamming_scratch(scratch, active, payload_load(more + j * bytes, bytes),
                                    found->distance);
    }
    scratch->found_count = 0;
}
