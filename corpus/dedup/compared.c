/* Looking up pairs that were compared ahead of the decisions. */
#include "corpus/dedup/compared.h"

static uint64_t pair_key(uint32_t number, uint32_t earlier)
{
    return (uint64_t)number << 32 | earlier;
}

bool compared_find(const struct compared_pairs *pairs, uint32_t number, uint32_t earlier,
                   struct doppel_match *out_match, bool *out_matches)
{
    size_t low = 0, high = pairs->count;
    uint64_t wanted = pair_key(number, earlier);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct compared_pair *pair = &pairs->items[middle];
        if (pair_key(pair->number, pair->earlier) < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == pairs->count)
        return false;
    const struct compared_pair *pair = &pairs->items[low];
    if (pair_key(pair->number, pair->earlier) != wanted)
        return false;
    *out_matches = pair->matches;
    *out_match = (struct doppel_match){
        .kind = DOPPEL_KIND_TEXT,
        .relation = (enum doppel_relation)pair->relation,
        .verified = (enum doppel_verified)pair->verified,
        .distance = pair->distance,
        .similarity = pair->similarity,
        .false_positive_rate = -1,
        .has_coverage = pair->has_coverage,
        .query_coverage = pair->query_coverage,
        .item_coverage = pair->item_coverage,
    };
    return true;
}
