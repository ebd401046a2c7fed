/*
 * A peer: multi-index hashing as it is usually built: chunks of about log2(N) bits, an inverted
 * list of ids for each value, floor(r / m) differing bits looked up in every chunk, candidates
 * told apart by a bitmap and verified against the codes. Source: Norouzi, Punjani, Fleet, "Fast
 * Search in Hamming Space with Multi-Index Hashing" (2012).
 */
#include <stdlib.h>
#include <string.h>

#include "index/index_bench.h"

enum { CHUNK_BITS_MAX = 22, CHUNKS_MAX = 12 };

struct chunk {
    uint32_t from, bits;
    uint32_t *starts; /* of each value's ids; one more at the end */
    uint32_t *ids;
};

struct norouzi {
    const struct codes *codes;
    uint32_t chunk_count;
    struct chunk chunks[CHUNKS_MAX];
    uint64_t *seen; /* a bit a code, all 0 between queries */
    uint32_t *candidates;
};

static uint32_t chunk_value(const struct chunk *chunk, const uint64_t *code)
{
    uint32_t word = chunk->from / 64, shift = chunk->from % 64;
    uint64_t value = code[word] >> shift;
    if (shift + chunk->bits > 64)
        value |= code[word + 1] << (64 - shift);
    return (uint32_t)(value & (((uint64_t)1 << chunk->bits) - 1));
}

static void fill_chunk(struct chunk *chunk, const struct codes *codes)
{
    size_t values = (size_t)1 << chunk->bits;
    chunk->starts = need(calloc(values + 2, sizeof *chunk->starts));
    chunk->ids = need(malloc((codes->count + 1) * sizeof *chunk->ids));
    for (size_t i = 0; i < codes->count; i++)
        chunk->starts[chunk_value(chunk, codes->codes + i * codes->words) + 2]++;
    for (size_t i = 2; i < values + 2; i++)
        chunk->starts[i] += chunk->starts[i - 1];
    for (size_t i = 0; i < codes->count; i++)
        chunk->ids[chunk->starts[chunk_value(chunk, codes->codes + i * codes->words) + 1]++] =
            (uint32_t)i;
}

static size_t take_bucket(struct norouzi *index, const struct chunk *chunk, uint32_t value,
                          size_t candidates)
{
    for (uint32_t at = chunk->starts[value]; at < chunk->starts[value + 1]; at++) {
        uint32_t id = chunk->ids[at];
        uint64_t bit = (uint64_t)1 << id % 64;
        if (index->seen[id / 64] & bit)
            continue;
        index->seen[id / 64] |= bit;
        index->candidates[candidates++] = id;
    }
    return candidates;
}

/* All values that differ from the query's in at most `flips` bits, by Gosper's enumeration. */
static size_t take_chunk(struct norouzi *index, const struct chunk *chunk, uint32_t value,
                         uint32_t flips, size_t candidates)
{
    candidates = take_bucket(index, chunk, value, candidates);
    for (uint32_t weight = 1; weight <= flips && weight <= chunk->bits; weight++)
        for (uint64_t mask = ((uint64_t)1 << weight) - 1; mask < (uint64_t)1 << chunk->bits;) {
            candidates = take_bucket(index, chunk, value ^ (uint32_t)mask, candidates);
            uint64_t lowest = mask & -mask, carried = mask + lowest;
            mask = carried | ((mask ^ carried) >> (2 + __builtin_ctzll(mask)));
        }
    return candidates;
}

static uint32_t distance(const uint64_t *a, const uint64_t *b, size_t words)
{
    uint32_t bits = 0;
    for (size_t w = 0; w < words; w++)
        bits += (uint32_t)__builtin_popcountll(a[w] ^ b[w]);
    return bits;
}

static void search(void *self, const uint64_t *query, uint32_t radius, hit_array *out)
{
    struct norouzi *index = self;
    const struct codes *codes = index->codes;
    size_t candidates = 0;
    for (uint32_t i = 0; i < index->chunk_count; i++)
        candidates = take_chunk(index, &index->chunks[i], chunk_value(&index->chunks[i], query),
                                radius / index->chunk_count, candidates);
    for (size_t i = 0; i < candidates; i++) {
        uint32_t id = index->candidates[i];
        uint32_t bits = distance(codes->codes + id * codes->words, query, codes->words);
        index->seen[id / 64] = 0;
        if (bits <= radius)
            (void)array_push(out, ((struct doppel_index_hit){codes->payloads[id], bits, 0}));
    }
}

static void release(void *self)
{
    struct norouzi *index = self;
    for (uint32_t i = 0; i < index->chunk_count; i++) {
        free(index->chunks[i].starts);
        free(index->chunks[i].ids);
    }
    free(index->seen);
    free(index->candidates);
    free(index);
}

struct finder finder_norouzi(const struct codes *codes)
{
    struct finder finder = {.name = "norouzi-style", .search = search, .free = release};
    double start = thread_seconds();
    struct norouzi *index = need(calloc(1, sizeof *index));
    index->codes = codes;
    index->chunk_count = (codes->bits + CHUNK_BITS_MAX - 1) / CHUNK_BITS_MAX;
    index->seen = need(calloc(codes->count / 64 + 1, sizeof *index->seen));
    index->candidates = need(malloc((codes->count + 1) * sizeof *index->candidates));
    finder.bytes = codes->count * (codes->words + 1) * 8; /* codes and payloads */
    for (uint32_t i = 0; i < index->chunk_count; i++) {
        struct chunk *chunk = &index->chunks[i];
        chunk->from = codes->bits * i / index->chunk_count;
        chunk->bits = codes->bits * (i + 1) / index->chunk_count - chunk->from;
        fill_chunk(chunk, codes);
        finder.bytes += 4 * (codes->count + ((uint64_t)1 << chunk->bits));
    }
    finder.self = index;
    finder.build_seconds = thread_seconds() - start;
    return finder;
}
