/* Sides of a sweep: codes are counted by bucket, then put where they belong. */
#include "match/images/sweep_side.h"

#include <stdlib.h>
#include <string.h>

#include "core/large_pages.h"

void sweep_sorter_make(struct sweep_sorter *out)
{
    for (unsigned byte = 0; byte < 8; byte++)
        for (unsigned value = 0; value < 256; value++)
            out->of_byte[byte][value] = doppel_image_sort_bits((uint64_t)value << (8 * byte));
}

static uint64_t sort_word(const struct sweep_sorter *sorter, uint64_t word)
{
    uint64_t out = 0;
    for (unsigned byte = 0; byte < 8; byte++)
        out |= sorter->of_byte[byte][word >> (8 * byte) & 0xff];
    return out;
}

/* ---- cutting ---- */

/* The bucket of a code, and the three boxes that are compared, from bit 0 on. */
struct sweep_cut {
    uint32_t bucket;
    uint64_t boxes;
};

static uint64_t word_box(uint64_t word, unsigned box)
{
    return word >> (SWEEP_BOX_BITS * box) & 0xffff;
}

static uint64_t three_boxes(uint64_t a, uint64_t b, uint64_t c)
{
    return a | b << SWEEP_BOX_BITS | c << (2 * SWEEP_BOX_BITS);
}

static struct sweep_cut cut_turned(uint64_t word, unsigned box)
{
    const uint64_t other = box == 1 ? SWEEP_FIRST_KIND : SWEEP_SECOND_KIND;
    const unsigned sign = box == 3 ? 60 : SWEEP_BOX_BITS * (box + 1) - 1;
    if (box && word >> sign & 1)
        word ^= other | SWEEP_BOTH_KINDS;
    const uint64_t last = word_box(word, 3) & ((1u << SWEEP_LAST_BITS) - 1),
                   key = word_box(word, box);
    if (box == 0)
        return (struct sweep_cut){(uint32_t)key,
                                  three_boxes(word_box(word, 1), word_box(word, 2), last)};
    if (box == 3) /* the sign, which is 0, is left out */
        return (struct sweep_cut){
            (uint32_t)((key & 0xfff) | key >> SWEEP_LAST_BITS << 12),
            three_boxes(word_box(word, 0), word_box(word, 1), word_box(word, 2))};
    return (struct sweep_cut){(uint32_t)key,
                              three_boxes(word_box(word, 0), word_box(word, 3 - box), last)};
}

static struct sweep_cut cut_plain(const struct doppel_code *code, unsigned box)
{
    uint64_t boxes[SWEEP_GROUPS + 1];
    for (unsigned i = 0; i <= SWEEP_GROUPS; i++) {
        const unsigned number = (box + i) % SWEEP_BOXES;
        boxes[i] = word_box(code->word[number / 4], number % 4);
    }
    return (struct sweep_cut){(uint32_t)boxes[0], three_boxes(boxes[1], boxes[2], boxes[3])};
}

uint32_t sweep_bucket_bits(const struct sweep_choice *choice)
{
    return SWEEP_BOX_BITS - choice->spared - (choice->turned && choice->box);
}

/* ---- all codes of a side ---- */

typedef void code_taker(struct sweep_side *side, const struct sweep_cut *cut,
                        const struct doppel_code *code, uint32_t rank);

static void take_turned_code(const struct sweep_choice *choice, struct sweep_side *side,
                             code_taker *take, const struct doppel_code *code, uint32_t rank)
{
    for (unsigned transposed = 0; transposed <= choice->transposed; transposed++) {
        struct doppel_code sorted = transposed ? doppel_image_orient(code, 4) : *code;
        sorted.word[0] = sort_word(choice->sorter, sorted.word[0]);
        struct sweep_cut cut = choice->turned ? cut_turned(sorted.word[0], choice->box)
                                              : cut_plain(&sorted, choice->box);
        cut.bucket >>= choice->spared;
        take(side, &cut, &sorted, rank);
    }
}

static void take_all_codes(const struct sweep_choice *choice, struct sweep_side *side,
                           code_taker *take)
{
    const struct join *join = choice->join;
    for (uint32_t rank = 0; rank < join->count; rank++) {
        const struct doppel_code *code = join->matcher->codes.items + join->places[rank].first;
        if (choice->left_out[rank])
            continue;
        for (uint32_t views = join->places[rank].views; views; views &= views - 1, code++)
            if (choice->views & views & -views)
                take_turned_code(choice, side, take, code, rank);
    }
}

uint64_t sweep_count_codes(const struct sweep_choice *choice)
{
    const struct join *join = choice->join;
    uint64_t count = 0;
    for (uint32_t rank = 0; rank < join->count; rank++)
        if (!choice->left_out[rank])
            count += (uint64_t)__builtin_popcount(join->places[rank].views & choice->views)
                     << choice->transposed;
    return count;
}

static void count_code(struct sweep_side *side, const struct sweep_cut *cut,
                       const struct doppel_code *code, uint32_t rank)
{
    (void)code, (void)rank;
    side->starts[cut->bucket + 1]++;
}

/* The lane after the last that was taken: while a side is filled, `starts` counts lanes. */
static void put_code_in_lane(struct sweep_side *side, const struct sweep_cut *cut,
                             const struct doppel_code *code, uint32_t rank)
{
    const uint32_t lane = side->starts[cut->bucket]++;
    struct sweep_block *block = &side->blocks[lane / SWEEP_LANES];
    for (unsigned i = 0; i < SWEEP_PLANES; i++)
        block->planes[i][lane % SWEEP_LANES] = cut->boxes >> (4 * i) & 15;
    side->codes[lane] = *code;
    side->owners[lane] = rank;
}

/* Counts to the lane at which each bucket begins. @return blocks in all */
static uint64_t place_buckets(struct sweep_side *side)
{
    uint64_t blocks = 0;
    for (uint32_t bucket = 0; bucket <= side->buckets; bucket++) {
        const uint32_t count = bucket < side->buckets ? side->starts[bucket + 1] : 0;
        side->starts[bucket] = (uint32_t)(blocks * SWEEP_LANES);
        blocks += (count + SWEEP_LANES - 1) / SWEEP_LANES;
    }
    return blocks;
}

/* Where buckets begin again, in blocks, now that each begins where the one before it ended. */
static void count_in_blocks(struct sweep_side *side)
{
    for (uint32_t bucket = side->buckets; bucket > 0; bucket--)
        side->starts[bucket] = (side->starts[bucket - 1] + SWEEP_LANES - 1) / SWEEP_LANES;
    side->starts[0] = 0;
}

static bool make_room_for_codes(struct sweep_side *side, size_t blocks)
{
    const size_t lanes = blocks * SWEEP_LANES;
    side->blocks = large_pages_alloc((blocks + 1) * sizeof *side->blocks);
    side->codes = large_pages_alloc((lanes + 1) * sizeof *side->codes);
    side->owners = large_pages_alloc((lanes + 1) * sizeof *side->owners);
    if (!side->blocks || !side->codes || !side->owners)
        return false;
    memset(side->blocks, 0, (blocks + 1) * sizeof *side->blocks);
    memset(side->owners, 0xff, (lanes + 1) * sizeof *side->owners);
    return true;
}

enum doppel_status sweep_side_make(const struct sweep_choice *choice, struct sweep_side *out)
{
    struct sweep_side side = {.buckets = UINT32_C(1) << sweep_bucket_bits(choice)};
    side.starts = calloc(side.buckets + 2, sizeof *side.starts);
    if (!side.starts)
        return DOPPEL_E_MEMORY;
    take_all_codes(choice, &side, count_code);
    const uint64_t blocks = place_buckets(&side);
    enum doppel_status status = DOPPEL_OK;
    if (blocks > UINT32_MAX / SWEEP_LANES)
        status = DOPPEL_E_LIMIT;
    else if (!make_room_for_codes(&side, blocks))
        status = DOPPEL_E_MEMORY;
    if (status) {
        sweep_side_free(&side);
        return status;
    }
    take_all_codes(choice, &side, put_code_in_lane);
    count_in_blocks(&side);
    *out = side;
    return DOPPEL_OK;
}

void sweep_side_free(struct sweep_side *side)
{
    free(side->starts);
    free(side->blocks);
    free(side->codes);
    free(side->owners);
    *side = (struct sweep_side){0};
}
