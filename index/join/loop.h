/* The loops that the kernels of the join share. Each kernel's file includes this, defines its
 * cell_lanes and cell_words (the near ones among ROWS codes of the left and some lanes of the
 * right, as bits), and includes join_cells.h. */
#ifndef DOPPEL_INDEX_JOIN_LOOP_H
#define DOPPEL_INDEX_JOIN_LOOP_H

#include "index/join/kernel.h"

#define INLINE static inline __attribute__((always_inline))

/* Of a bucket on the right so many codes are gone through at a time: they stay in the level-1
 * cache. */
enum { ROWS = 4, LANES32 = 16, LANES64 = 8, STRIP = 1024 };

/* Bit row × lanes + lane. */
typedef uint64_t join_cell(const struct join_block *block, size_t left, size_t right,
                           uint32_t limit);

/* Two buckets, and how near. */
struct bucket_pair {
    size_t left, left_end, right, right_end;
    uint32_t limit;
    bool same; /* a bucket with itself */
};

INLINE bool write_hits(struct join_hits *hits, uint64_t cell, struct join_hit first,
                       const struct bucket_pair *pair, size_t lanes)
{
    if (hits->count + JOIN_CELL_MAX > JOIN_HITS && !hits->flush(hits))
        return false;
    for (; cell; cell &= cell - 1) {
        uint32_t bit = (uint32_t)__builtin_ctzll(cell);
        struct join_hit hit = {first.left + bit / (uint32_t)lanes,
                               first.right + bit % (uint32_t)lanes};
        hits->items[hits->count] = hit;
        hits->count += hit.left < pair->left_end && hit.right < pair->right_end &&
                       (!pair->same || hit.left < hit.right);
    }
    return true;
}

INLINE bool compare_buckets(const struct join_block *block, const struct bucket_pair *pair,
                            size_t lanes, join_cell *cell)
{
    for (size_t strip = pair->right; strip < pair->right_end; strip += STRIP) {
        size_t end = pair->right_end - strip < STRIP ? pair->right_end : strip + STRIP;
        for (size_t i = pair->left; i < pair->left_end; i += ROWS)
            for (size_t j = strip; j < end; j += lanes) {
                if (pair->same && j + lanes <= i)
                    continue;
                uint64_t near = cell(block, i, j, pair->limit);
                struct join_hit first = {(uint32_t)i, (uint32_t)j};
                if (__builtin_expect(near != 0, 0) &&
                    !write_hits(block->hits, near, first, pair, lanes))
                    return false;
            }
    }
    return true;
}

/* A bucket of the left with those of the right whose masks have `weight` bits. */
INLINE bool compare_masked(const struct join_block *block, uint32_t bucket, int32_t weight,
                           struct bucket_pair *pair, size_t lanes, join_cell *cell)
{
    const struct join_masks *masks = block->masks;
    const uint32_t *starts = block->right_starts;
    uint32_t mask = weight ? masks->ends[weight - 1] : 0;
    for (; mask < masks->ends[weight]; mask++) {
        uint32_t other = bucket ^ masks->items[mask];
        pair->right = starts[other];
        pair->right_end = starts[other + 1];
        pair->same = block->same && other == bucket;
        if (pair->right == pair->right_end || (block->same && other < bucket))
            continue;
        if (!compare_buckets(block, pair, lanes, cell))
            return false;
    }
    return true;
}

INLINE bool compare_tiles(const struct join_block *block, size_t lanes, join_cell *cell)
{
    for (uint32_t bucket = 0; bucket < block->buckets; bucket++) {
        struct bucket_pair pair = {.left = block->left_starts[bucket],
                                   .left_end = block->left_starts[bucket + 1]};
        if (pair.left < block->from)
            pair.left = block->from;
        if (pair.left_end > block->to)
            pair.left_end = block->to;
        for (int32_t weight = 0; pair.left < pair.left_end && weight <= block->weight; weight++) {
            int32_t limit = block->limit - (block->sketches ? weight : 0);
            pair.limit = (uint32_t)limit;
            if (limit >= 0 && !compare_masked(block, bucket, weight, &pair, lanes, cell))
                return false;
        }
    }
    return true;
}

/* ---- the check ---- */

/* Whether a chunk before this one finds two codes that differ so. */
INLINE bool found_before(const struct join_check *check, const uint64_t *differ, uint32_t words)
{
    for (uint32_t i = 0; i < check->chunk; i++) {
        const struct join_chunk *chunk = &check->plan->chunk[i];
        if (__builtin_popcountll(join_prefix(differ, words, chunk)) <= chunk->share)
            return true;
    }
    return false;
}

INLINE size_t check_hits(const struct join_check *check, const struct join_hit *hits, size_t count,
                         struct doppel_index_pair *out, uint32_t words)
{
    const struct join_side *left = check->left, *right = check->right;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct join_hit hit = hits[i];
        uint64_t differ[JOIN_WORDS_MAX];
        uint32_t distance = 0;
        for (uint32_t word = 0; word < words; word++) {
            differ[word] = left->planes ? left->planes[word * left->stride + hit.left] ^
                                              right->planes[word * right->stride + hit.right]
                                        : left->lanes[hit.left] ^ right->lanes[hit.right];
            distance += (uint32_t)__builtin_popcountll(differ[word]);
        }
        if (distance > check->plan->radius || found_before(check, differ, words))
            continue;
        out[kept++] = (struct doppel_index_pair){left->numbers[hit.left], right->numbers[hit.right],
                                                 distance};
    }
    return kept;
}

INLINE size_t check_by_words(const struct join_check *check, const struct join_hit *hits,
                             size_t count, struct doppel_index_pair *out)
{
    switch (check->plan->words) {
    case 1:
        return check_hits(check, hits, count, out, 1);
    case 2:
        return check_hits(check, hits, count, out, 2);
    default:
        return check_hits(check, hits, count, out, 4);
    }
}

#endif
