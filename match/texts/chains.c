/* Each hit goes on with the chain that it fits best, or begins one. */
#include "match/texts/chains.h"

#include "match/texts/extend.h"

enum {
    MAX_GAP = 32,  /* words without a common key: one is chosen of every eight runs of words */
    MAX_SHIFT = 8, /* words inserted or dropped from one hit to the next */
    MAX_OPEN = 64  /* chains that a hit is tried with */
};

static uint32_t shift(const struct aligned *end, const struct key_hit *hit)
{
    int64_t was = (int64_t)end->a_end - end->b_end, is = (int64_t)hit->a - hit->b;
    return (uint32_t)(was < is ? is - was : was - is);
}

/* Both ends of the chain lie before the end of the hit's key, not far from it. */
static bool follows_aligned(const struct aligned *end, const struct key_hit *hit)
{
    return hit->a + SEED_WORDS > end->a_end && hit->b + SEED_WORDS > end->b_end &&
           hit->a < end->a_end + MAX_GAP && hit->b < end->b_end + MAX_GAP &&
           hit->a >= end->a_first && shift(end, hit) <= MAX_SHIFT;
}

static void go_on_chain(struct chain *chain, const struct key_hit *hit)
{
    struct aligned *end = &chain->aligned;
    uint32_t a = hit->a + SEED_WORDS - end->a_end, b = hit->b + SEED_WORDS - end->b_end;
    uint32_t fresh = a < b ? a : b;
    fresh = fresh < SEED_WORDS ? fresh : SEED_WORDS;
    end->matched += fresh;
    end->score += EXTEND_MATCH * (int64_t)fresh + EXTEND_GAP * (int64_t)shift(end, hit);
    end->a_end = hit->a + SEED_WORDS;
    end->b_end = hit->b + SEED_WORDS;
    chain->weight += hit->weight;
}

static struct chain begin_key_hit(const struct key_hit *hit)
{
    return (struct chain){{.a_first = hit->a,
                           .a_end = hit->a + SEED_WORDS,
                           .b_first = hit->b,
                           .b_end = hit->b + SEED_WORDS,
                           .matched = SEED_WORDS,
                           .score = EXTEND_MATCH * SEED_WORDS},
                          hit->weight};
}

/* Of the last chains the one whose diagonal is nearest. */
static struct chain *fitting(chain_array *chains, const struct key_hit *hit)
{
    struct chain *best = NULL;
    size_t last = chains->count, first = last > MAX_OPEN ? last - MAX_OPEN : 0;
    for (size_t i = last; i-- > first;) {
        struct chain *chain = &chains->items[i];
        if (follows_aligned(&chain->aligned, hit) &&
            (!best || shift(&chain->aligned, hit) < shift(&best->aligned, hit)))
            best = chain;
    }
    return best;
}

bool chain_hits(const struct key_hit *hits, size_t count, chain_array *out)
{
    out->count = 0;
    for (size_t i = 0; i < count; i++) {
        struct chain *chain = fitting(out, &hits[i]);
        if (chain)
            go_on_chain(chain, &hits[i]);
        else if (!array_push(out, begin_key_hit(&hits[i])))
            return false;
    }
    return true;
}
