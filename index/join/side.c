/* Sorting codes by a prefix: bucket sizes are counted, then every code goes to its place. */
#include "index/join/side.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 512 };

static uint32_t widest_prefix(const struct join_plan *plan)
{
    uint32_t widest = 0;
    for (uint32_t i = 0; i < plan->chunks; i++)
        if (plan->chunk[i].prefix > widest)
            widest = plan->chunk[i].prefix;
    return widest;
}

bool join_side_make(const struct join_plan *plan, size_t count, struct join_side *out)
{
    size_t stride = count + JOIN_PAD;
    struct join_side side = {.count = count, .stride = stride};
    bool lanes = plan->bits == 32 || plan->sketches;
    side.numbers = malloc(stride * sizeof *side.numbers);
    side.starts = malloc((((size_t)1 << widest_prefix(plan)) + 2) * sizeof *side.starts);
    if (lanes)
        side.lanes = calloc(stride, sizeof *side.lanes);
    if (plan->bits > 32)
        side.planes = calloc(stride * plan->words, sizeof *side.planes);
    if (!side.numbers || !side.starts || (lanes && !side.lanes) ||
        (plan->bits > 32 && !side.planes)) {
        join_side_free(&side);
        return false;
    }
    *out = side;
    return true;
}

void join_side_free(struct join_side *side)
{
    free(side->lanes);
    free(side->planes);
    free(side->numbers);
    free(side->starts);
    *side = (struct join_side){0};
}

/* Count into starts[bucket + 2], so that starts[bucket + 1] becomes the place to write at, and ends
 * as the beginning of the next. */
static bool count_buckets_join_plan(const struct join_plan *plan, const struct join_chunk *chunk,
                                    const struct doppel_index_codes *codes, struct join_side *side)
{
    uint64_t batch[BATCH * JOIN_WORDS_MAX];
    uint32_t numbers[BATCH];
    size_t buckets = (size_t)1 << chunk->prefix, read = 0, got;
    memset(side->starts, 0, (buckets + 2) * sizeof *side->starts);
    codes->rewind(codes->context);
    while ((got = codes->read(codes->context, batch, numbers, BATCH)) > 0) {
        for (size_t i = 0; i < got; i++)
            side->starts[join_prefix(batch + i * plan->words, plan->words, chunk) + 2]++;
        read += got;
    }
    for (size_t bucket = 2; bucket < buckets + 2; bucket++)
        side->starts[bucket] += side->starts[bucket - 1];
    return read == side->count;
}

static inline void put_join_plan(const struct join_plan *plan, const struct join_chunk *chunk,
                                 const uint64_t *code, size_t at, struct join_side *side)
{
    if (plan->bits == 32)
        side->lanes[at] = (uint32_t)code[0];
    else if (plan->sketches)
        side->lanes[at] =
            (uint32_t)(join_window(code, plan->words, chunk->offset) >> chunk->prefix);
    for (uint32_t word = 0; side->planes && word < plan->words; word++)
        side->planes[word * side->stride + at] = code[word];
}

bool join_side_sort(const struct join_plan *plan, const struct join_chunk *chunk,
                    const struct doppel_index_codes *codes, struct join_side *side)
{
    uint64_t batch[BATCH * JOIN_WORDS_MAX];
    uint32_t numbers[BATCH];
    size_t got, written = 0;
    if (!count_buckets_join_plan(plan, chunk, codes, side))
        return false;
    codes->rewind(codes->context);
    while ((got = codes->read(codes->context, batch, numbers, BATCH)) > 0) {
        for (size_t i = 0; i < got; i++) {
            const uint64_t *code = batch + i * plan->words;
            size_t at = side->starts[join_prefix(code, plan->words, chunk) + 1]++;
            if (at >= side->count)
                return false;
            put_join_plan(plan, chunk, code, at, side);
            side->numbers[at] = numbers[i];
        }
        written += got;
    }
    return written == side->count;
}
