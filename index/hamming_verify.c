/* From codes that passed by chunk and remainder to hits: the rest of the code, whether it was found
 * before, its payloads. */
#include "index/hamming_search.h"

#include <string.h>

static uint32_t code_distance(const uint64_t *a, const uint64_t *b, uint32_t words)
{
    uint32_t distance = 0;
    for (uint32_t word = 0; word < words; word++)
        distance += (uint32_t)__builtin_popcountll(a[word] ^ b[word]);
    return distance;
}

/* Whether a permuted code is found otherwise: in an earlier round, or through an earlier chunk. */
static bool is_old(const struct hamming *table, const struct active *active, unsigned chunk,
                   const uint64_t *code)
{
    for (unsigned other = 0; other < table->shape.chunks; other++) {
        int32_t reach = other < chunk ? active->share[other] : active->before[other];
        if (reach < 0)
            continue;
        uint32_t value = chunk_value(code, &table->shape, other);
        if (__builtin_popcount(value ^ active->turned[other].prefix) <= reach)
            return true;
    }
    return false;
}

static void found_push(const struct hamming *table, struct hamming_scratch *scratch, uint32_t id,
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

/* Codes that lie apart: the id first, then the whole code, each fetched ahead. */
static void verify_apart(const struct hamming *table, struct hamming_scratch *scratch, size_t count)
{
    enum { AHEAD = 16 };
    const uint32_t words = table->shape.words;
    for (size_t i = 0; i < count + AHEAD; i++) {
        if (i < count) {
            struct pass *pass = &scratch->passes[i];
            unsigned chunk = scratch->job_chunk[pass->job];
            if (chunk && pass->position < table->distinct) {
                const uint8_t *tail = table->tails[chunk] + pass->position * sizeof(uint32_t);
                if (scratch->checking)
                    segment_touch(table->segment, tail, sizeof(uint32_t));
                memcpy(&pass->position, tail, sizeof(uint32_t));
            }
            __builtin_prefetch(table->apart + (size_t)pass->position * words);
        }
        if (i < AHEAD)
            continue;
        const struct pass *pass = &scratch->passes[i - AHEAD];
        if (pass->position >= table->distinct)
            continue;
        const struct active *active = &scratch->active[scratch->job_active[pass->job]];
        const uint64_t *code = table->apart + (size_t)pass->position * words;
        if (scratch->checking)
            segment_touch(table->segment, code, words * sizeof *code);
        uint32_t distance = code_distance(code, active->code, words);
        if (distance <= active->limit && (int32_t)distance > active->known &&
            !is_old(table, active, scratch->job_chunk[pass->job], code))
            found_push(table, scratch, pass->position, distance, scratch->job_active[pass->job]);
    }
}

/* A code within the limit, put together again from chunk, remainder and tail. */
static bool is_old_turned(const struct hamming *table, const struct active *active, unsigned chunk,
                          const struct pass *pass, uint32_t extra)
{
    struct bucket bucket = hamming_bucket(table, pass->bucket);
    uint32_t index = pass->position - bucket.start;
    if (index >= bucket.count)
        return true;
    struct turned turned = {.prefix = pass->bucket & ((UINT32_C(1) << table->shape.prefix) - 1),
                            .extra = extra};
    bucket_rest(table, &bucket, index, turned.rest);
    uint64_t code = code_unturn(&turned, &table->shape, chunk);
    return is_old(table, active, chunk, &code);
}

static void verify_tails(const struct hamming *table, struct hamming_scratch *scratch, size_t count)
{
    const uint32_t extra_bytes = table->shape.extra_bytes;
    for (size_t i = 0; i < count; i++) {
        const struct pass *pass = &scratch->passes[i];
        if (pass->position >= table->distinct)
            continue;
        unsigned chunk = scratch->job_chunk[pass->job];
        unsigned number = scratch->job_active[pass->job];
        const struct active *active = &scratch->active[number];
        size_t bytes = tail_bytes(&table->shape, chunk);
        const uint8_t *tail = table->tails[chunk] + pass->position * bytes;
        if (scratch->checking && bytes)
            segment_touch(table->segment, tail, bytes);
        uint32_t id = pass->position, extra = 0;
        if (chunk)
            memcpy(&id, tail + extra_bytes, sizeof id);
        if (extra_bytes == 2)
            memcpy(&extra, tail, 2);
        else if (extra_bytes)
            memcpy(&extra, tail, 4);
        uint32_t distance =
            pass->distance + (uint32_t)__builtin_popcount(extra ^ active->turned[chunk].extra);
        if (distance <= active->limit && (int32_t)distance > active->known &&
            id < table->distinct && !is_old_turned(table, active, chunk, pass, extra))
            found_push(table, scratch, id, distance, number);
    }
}

void passes_verify(const struct hamming *table, struct hamming_scratch *scratch, size_t count)
{
    if (table->shape.apart)
        verify_apart(table, scratch, count);
    else
        verify_tails(table, scratch, count);
}

static void deliver(struct hamming_scratch *scratch, struct active *active, uint64_t payload,
                    uint32_t distance)
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
        deliver(scratch, active, payload_load(payload, bytes), found->distance);
        uint64_t count = hamming_more(table, found->id, &more);
        for (uint64_t j = 0; j < count && !scratch->no_memory; j++)
            deliver(scratch, active, payload_load(more + j * bytes, bytes), found->distance);
    }
    scratch->found_count = 0;
}
