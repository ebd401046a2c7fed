/* A hash table of the runs of a text: chains through its places. */
#include "match/texts/grams.h"

enum { MAX_STEPS = 128 }; /* along a chain: what repeats endlessly is not gone through */

static uint32_t bucket(const struct grams *grams, const struct doppel_text_word *words)
{
    uint64_t hash = 0;
    for (int i = 0; i < SEED_WORDS; i++)
        hash = (hash ^ words[i].hash) * UINT64_C(0x9fb21c651e98df25);
    hash ^= hash >> 32;
    return (uint32_t)(hash * UINT64_C(0xd6e8feb86659fd93) >> (64 - grams->bits));
}

static bool same_run(const struct doppel_text_word *a, const struct doppel_text_word *b)
{
    bool same = true;
    for (int i = 0; i < SEED_WORDS; i++)
        same &= a[i].hash == b[i].hash;
    return same;
}

bool grams_make(const struct words *words, struct grams *out)
{
    uint32_t count = words->count - SEED_WORDS + 1;
    struct grams grams = {.words = words, .bits = 4};
    while (grams.bits < 32 && (UINT64_C(1) << grams.bits) < (uint64_t)count * 2)
        grams.bits++;
    grams.heads = calloc((size_t)1 << grams.bits, sizeof *grams.heads);
    grams.next = malloc(count * sizeof *grams.next);
    if (!grams.heads || !grams.next) {
        grams_free(&grams);
        return false;
    }
    for (uint32_t place = count; place-- > 0;) {
        uint32_t *head = &grams.heads[bucket(&grams, words->items + place)];
        grams.next[place] = *head;
        *head = place + 1;
    }
    *out = grams;
    return true;
}

void grams_free(struct grams *grams)
{
    free(grams->heads);
    free(grams->next);
}

size_t grams_find(const struct grams *grams, const struct doppel_text_word *words, uint32_t *out,
                  size_t max)
{
    size_t found = 0;
    uint32_t place = grams->heads[bucket(grams, words)];
    for (int step = 0; place && found < max && step < MAX_STEPS; step++) {
        if (same_run(grams->words->items + place - 1, words))
            out[found++] = place - 1;
        place = grams->next[place - 1];
    }
    return found;
}
