/* Winnowing: which runs of words stand for a text, so that any two texts that share a run of
 * WINNOW_WORDS + WINNOW_WINDOW - 1 words share a key. */
#include "text/winnow.h"

/* Mixed in all 64 bits: the smallest wins, and the low 32 bits are the key. */
uint64_t winnow_hash(const struct doppel_text_word *words)
{
    uint64_t a = words[0].hash | (uint64_t)words[1].hash << 32;
    uint64_t b = words[2].hash | (uint64_t)words[3].hash << 32;
    a = (a + UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0x9fb21c651e98df25);
    a ^= a >> 32;
    a = (a + b) * UINT64_C(0xd6e8feb86659fd93);
    a ^= a >> 32;
    a *= UINT64_C(0x9fb21c651e98df25);
    return a ^ a >> 29;
}

static size_t rightmost_least(const uint64_t *ring, size_t first)
{
    size_t least = first;
    for (size_t gram = first + 1; gram < first + WINNOW_WINDOW; gram++)
        if (ring[gram % WINNOW_WINDOW] <= ring[least % WINNOW_WINDOW])
            least = gram;
    return least;
}

size_t winnow(const struct doppel_text_word *words, size_t count, struct doppel_text_key *out)
{
    uint64_t ring[WINNOW_WINDOW];
    size_t kept = 0, least = 0;
    for (size_t gram = 0; gram + WINNOW_WORDS <= count; gram++) {
        uint64_t hash = winnow_hash(words + gram);
        ring[gram % WINNOW_WINDOW] = hash;
        if (gram + 1 < WINNOW_WINDOW)
            continue;
        size_t first = gram + 1 - WINNOW_WINDOW;
        if (!first || least < first)
            least = rightmost_least(ring, first);
        else if (hash <= ring[least % WINNOW_WINDOW])
            least = gram;
        else
            continue;
        out[kept++] =
            (struct doppel_text_key){(uint32_t)ring[least % WINNOW_WINDOW], (uint32_t)least};
    }
    return kept;
}
