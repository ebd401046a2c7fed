/* Growing seeds to passages: each word of either text is gone through a bounded number of times. */
#include "match/texts/align.h"

#include <string.h>

#include "match/texts/extend.h"
#include "match/texts/grams.h"

enum {
    MAX_PLACES = 32,    /* of a run of words that are tried: more say nothing */
    WORK_PER_WORD = 64, /* words looked at in all, for each of the texts' */
    LEAST_WORK = 1 << 20
};

struct passage_growing {
    const struct words *a, *b;
    uint32_t min_words;
    uint8_t *a_taken, *b_taken; /* by word: it lies in a passage */
    uint32_t *explored;         /* by diagonal: words of a that need not be tried again */
    uint64_t work;
    aligned_array *out;
};

struct aligned align_seed(const struct words *a, const struct words *b, struct aligned seed,
                          uint64_t *work)
{
    struct extend_side a_on = {a->items + seed.a_end, 0, a->count - seed.a_end};
    struct extend_side b_on = {b->items + seed.b_end, 0, b->count - seed.b_end};
    struct extension on = extend(&a_on, &b_on, work);
    struct extend_side a_back = {a->items + seed.a_first, -1, seed.a_first};
    struct extend_side b_back = {b->items + seed.b_first, -1, seed.b_first};
    struct extension back = extend(&a_back, &b_back, work);
    return (struct aligned){
        .a_first = seed.a_first - (uint32_t)back.a,
        .a_end = seed.a_end + (uint32_t)on.a,
        .b_first = seed.b_first - (uint32_t)back.b,
        .b_end = seed.b_end + (uint32_t)on.b,
        .matched = seed.matched + (uint32_t)(on.matched + back.matched),
        .score = EXTEND_MATCH * (int64_t)seed.matched + on.score + back.score,
    };
}

/* Take words. @return how many were not taken before */
static uint32_t take_alignment(uint8_t *taken, uint32_t first, uint32_t end, bool mark)
{
    uint32_t fresh = 0;
    for (uint32_t i = first; i < end; i++)
        fresh += !taken[i];
    if (mark)
        memset(taken + first, 1, end - first);
    return fresh;
}

/* Whether it has enough that no other passage has, on one of the sides. */
static bool is_new(const struct passage_growing *growing, const struct aligned *found)
{
    uint32_t least = growing->min_words / 2;
    return take_alignment(growing->a_taken, found->a_first, found->a_end, false) >= least ||
           take_alignment(growing->b_taken, found->b_first, found->b_end, false) >= least;
}

static bool grow_growing(struct passage_growing *growing, uint32_t a, uint32_t b)
{
    uint32_t *explored = &growing->explored[(size_t)a + (growing->b->count - b)];
    if (a < *explored || (growing->a_taken[a] && growing->b_taken[b]))
        return true;
    struct aligned seed = {a, a + SEED_WORDS, b, b + SEED_WORDS, SEED_WORDS, 0};
    struct aligned found = align_seed(growing->a, growing->b, seed, &growing->work);
    bool straight = found.a_end - a == found.b_end - b;
    *explored = straight ? found.a_end : a + SEED_WORDS;
    if (found.matched < growing->min_words || !is_new(growing, &found))
        return true;
    take_alignment(growing->a_taken, found.a_first, found.a_end, true);
    take_alignment(growing->b_taken, found.b_first, found.b_end, true);
    return array_push(growing->out, found);
}

/* Try the runs of b that occur once, or the others. */
static bool grow_all(struct passage_growing *growing, const struct grams *grams, bool once)
{
    uint32_t places[MAX_PLACES];
    for (uint32_t a = 0; a + SEED_WORDS <= growing->a->count && growing->work; a++) {
        size_t count = grams_find(grams, growing->a->items + a, places, MAX_PLACES);
        if ((count == 1) != once)
            continue;
        for (size_t i = 0; i < count; i++)
            if (!grow_growing(growing, a, places[i]))
                return false;
    }
    return true;
}

bool align_words(const struct words *a, const struct words *b, uint32_t min_words,
                 aligned_array *out)
{
    struct grams grams;
    uint64_t words = (uint64_t)a->count + b->count;
    if (a->count < SEED_WORDS || b->count < SEED_WORDS)
        return true;
    if (!grams_make(b, &grams))
        return false;
    struct passage_growing growing = {
        .a = a,
        .b = b,
        .min_words = min_words,
        .a_taken = calloc(words, 1),
        .explored = calloc(words + 1, sizeof *growing.explored),
        .work = WORK_PER_WORD * words + LEAST_WORK,
        .out = out,
    };
    growing.b_taken = growing.a_taken + a->count;
    bool done = growing.a_taken && growing.explored && grow_all(&growing, &grams, true) &&
                grow_all(&growing, &grams, false);
    free(growing.explored);
    free(growing.a_taken);
    grams_free(&grams);
    return done;
}

bool aligned_cover(const aligned_array *found, bool of_b, uint32_t count, uint32_t *out)
{
    uint8_t *taken = calloc((size_t)count + 1, 1);
    uint32_t covered = 0;
    for (size_t i = 0; taken && i < found->count; i++) {
        const struct aligned *it = &found->items[i];
        covered += of_b ? take_alignment(taken, it->b_first, it->b_end, true)
                        : take_alignment(taken, it->a_first, it->a_end, true);
    }
    if (taken)
        *out = covered;
    free(taken);
    return taken;
}

static int compare_places(const void *left, const void *right)
{
    const struct aligned *a = left, *b = right;
    if (a->a_first != b->a_first)
        return a->a_first < b->a_first ? -1 : 1;
    if (a->b_first != b->b_first)
        return a->b_first < b->b_first ? -1 : 1;
    return a->a_end < b->a_end ? -1 : a->a_end > b->a_end;
}

void aligned_sort(aligned_array *found)
{
    if (found->count > 1)
        qsort(found->items, found->count, sizeof *found->items, compare_places);
}
