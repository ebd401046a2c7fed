/* Permuting bits by tables of half-bytes. */
#include "index/hamming/permute.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 4, NIBBLES = 64, VALUES = 16 };

struct permuter {
    uint32_t words, nibbles;
    bool identity;
    uint64_t *forth, *back; /* nibbles × values × words */
};

static void table_fill(uint64_t *table, const uint8_t *places, uint32_t bits, uint32_t words)
{
    for (uint32_t bit = 0; bit < bits; bit++)
        for (uint32_t value = 0; value < VALUES; value++)
            if (value >> bit % 4 & 1)
                table[(bit / 4 * VALUES + value) * words + places[bit] / 64] |= UINT64_C(1)
                                                                                << places[bit] % 64;
}

/* @return false when `places` is no permutation of 0 … bits - 1 */
static bool invert(const uint8_t *places, uint32_t bits, uint8_t *out)
{
    bool seen[256] = {false};
    for (uint32_t bit = 0; bit < bits; bit++) {
        if (places[bit] >= bits || seen[places[bit]])
            return false;
        seen[places[bit]] = true;
        out[places[bit]] = (uint8_t)bit;
    }
    return true;
}

struct permuter *permuter_new(const uint8_t *places, uint32_t bits, bool *out_valid)
{
    uint8_t inverse[256] = {0};
    *out_valid = invert(places, bits, inverse);
    if (!*out_valid)
        return NULL;
    struct permuter *permuter = calloc(1, sizeof *permuter);
    if (!permuter)
        return NULL;
    permuter->words = (bits + 63) / 64;
    permuter->nibbles = bits / 4;
    permuter->identity = memcmp(places, inverse, bits) == 0;
    for (uint32_t bit = 0; bit < bits; bit++)
        permuter->identity &= places[bit] == bit;
    size_t entries = (size_t)permuter->nibbles * VALUES * permuter->words;
    permuter->forth = calloc(entries, sizeof(uint64_t));
    permuter->back = calloc(entries, sizeof(uint64_t));
    if (!permuter->forth || !permuter->back) {
        permuter_free(permuter);
        return NULL;
    }
    table_fill(permuter->forth, places, bits, permuter->words);
    table_fill(permuter->back, inverse, bits, permuter->words);
    return permuter;
}

void permuter_free(struct permuter *permuter)
{
    if (!permuter)
        return;
    free(permuter->forth);
    free(permuter->back);
    free(permuter);
}

bool permuter_idle(const struct permuter *permuter)
{
    return permuter->identity;
}

static void apply_permuter(const struct permuter *permuter, const uint64_t *table,
                           const uint64_t *code, uint64_t *out)
{
    uint32_t words = permuter->words;
    if (permuter->identity) {
        memmove(out, code, words * sizeof *out);
        return;
    }
    uint64_t result[WORDS_MAX] = {0};
    for (uint32_t nibble = 0; nibble < permuter->nibbles; nibble++) {
        uint64_t value = code[nibble / 16] >> nibble % 16 * 4 & 15;
        const uint64_t *entry = table + (nibble * VALUES + value) * words;
        for (uint32_t word = 0; word < words; word++)
            result[word] |= entry[word];
    }
    memcpy(out, result, words * sizeof *out);
}

void permute(const struct permuter *permuter, const uint64_t *code, uint64_t *out)
{
    apply_permuter(permuter, permuter->forth, code, out);
}

void permute_back(const struct permuter *permuter, const uint64_t *code, uint64_t *out)
{
    apply_permuter(permuter, permuter->back, code, out);
}
