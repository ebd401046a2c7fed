/* Codes and queries for the benchmark, uniform and skewed as the codes of real pictures are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "index/index_bench.h"

enum { CENTRES = 64, BOILERPLATES = 8 };

/* Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators" (2014). */
uint64_t random_word(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

void *need(void *memory)
{
    if (!memory) {
        fputs("index_bench: no memory\n", stderr);
        exit(2);
    }
    return memory;
}

void need_ok(enum doppel_status status, struct doppel_error *error)
{
    if (status) {
        fprintf(stderr, "index_bench: %s\n", error->message);
        exit(2);
    }
}

/* In every second group of four bits, each is the lowest one's in 3/4 of the codes; one bit in
 * eight is set in a quarter of them. */
static uint64_t correlated_word(uint64_t *state)
{
    const uint64_t leaders = 0x1010101010101010u, rare = 0x0404040404040404u;
    uint64_t word = random_word(state), led = (word & leaders) * 0xf;
    uint64_t follow = random_word(state) & leaders * 0xf;
    word = (word & ~follow) | (led & follow);
    return word & (~rare | random_word(state));
}

struct maker {
    enum codes_shape shape;
    size_t words, filled;
    uint64_t state;
    uint64_t centres[CENTRES][4], boilerplates[BOILERPLATES][4];
};

static void correlated_code(struct maker *maker, uint64_t *out)
{
    for (size_t w = 0; w < maker->words; w++)
        out[w] = correlated_word(&maker->state);
}

static struct maker maker_new(enum codes_shape shape, size_t words, uint64_t seed)
{
    struct maker maker = {.shape = shape, .words = words, .state = 4711};
    for (size_t i = 0; i < BOILERPLATES; i++)
        correlated_code(&maker, maker.boilerplates[i]);
    maker.state = seed;
    for (size_t i = 0; i < CENTRES; i++)
        correlated_code(&maker, maker.centres[i]);
    return maker;
}

/* Skewed: .5 % are one of a few codes, half of these the same; 10 % lie within 6 bits of a centre,
 * which changes after some ten; the rest has correlated bits. */
static void skewed_code(struct maker *maker, uint64_t *out)
{
    uint64_t dice = random_word(&maker->state);
    uint64_t *centre = maker->centres[dice >> 32 & (CENTRES - 1)];
    uint32_t per_mille_2 = (uint32_t)dice % 2000;
    if (per_mille_2 < 10) {
        size_t which = per_mille_2 < 5 ? 0 : dice >> 40 & (BOILERPLATES - 1);
        memcpy(out, maker->boilerplates[which], maker->words * sizeof *out);
    } else if (per_mille_2 < 210) {
        if (dice >> 48 & 7)
            memcpy(out, centre, maker->words * sizeof *out);
        else
            correlated_code(maker, out), memcpy(centre, out, maker->words * sizeof *out);
        for (uint32_t flips = (uint32_t)(dice >> 52) % 7; flips; flips--) {
            uint64_t bit = random_word(&maker->state) % (64 * maker->words);
            out[bit / 64] ^= (uint64_t)1 << bit % 64;
        }
    } else {
        correlated_code(maker, out);
    }
}

static void make_codes(struct maker *maker, uint32_t bits, size_t count, uint64_t *out)
{
    for (size_t i = 0; i < count; i++, out += maker->words) {
        if (maker->shape == CODES_SKEWED)
            skewed_code(maker, out);
        else
            for (size_t w = 0; w < maker->words; w++)
                out[w] = random_word(&maker->state);
        if (bits < 64)
            *out &= ((uint64_t)1 << bits) - 1;
    }
}

struct codes codes_make(enum codes_shape shape, uint32_t bits, size_t count)
{
    struct codes codes = {.shape = shape, .bits = bits, .words = (bits + 63) / 64, .count = count};
    codes.codes = need(malloc((count + 1) * codes.words * sizeof(uint64_t)));
    codes.payloads = need(malloc((count + 1) * sizeof(uint64_t)));
    struct maker maker = maker_new(shape, codes.words, 1);
    make_codes(&maker, bits, count, codes.codes);
    for (uint64_t i = 0, state = 0; i < count; i++)
        codes.payloads[i] = random_word(&state);
    return codes;
}

void codes_free(struct codes *codes)
{
    free(codes->codes);
    free(codes->payloads);
    *codes = (struct codes){0};
}

void codes_more(const struct codes *like, uint64_t seed, size_t count, uint64_t *out)
{
    struct maker maker = maker_new(like->shape, like->words, seed);
    make_codes(&maker, like->bits, count, out);
}

/* Exactly `flips` different bits. */
static void flip_bits(uint64_t *code, uint32_t bits, uint32_t flips, uint64_t *state)
{
    uint64_t done[4] = {0};
    while (flips) {
        uint64_t bit = random_word(state) % bits, mask = (uint64_t)1 << bit % 64;
        if (done[bit / 64] & mask)
            continue;
        done[bit / 64] |= mask;
        code[bit / 64] ^= mask;
        flips--;
    }
}

uint64_t *queries_make(const struct codes *codes, size_t count, uint32_t radius)
{
    size_t words = codes->words;
    uint64_t state = 7 + radius, *queries = need(malloc(count * words * sizeof *queries));
    codes_more(codes, 1000 + radius, count, queries);
    for (size_t i = 0; i < count; i += 2) {
        size_t from = random_word(&state) % codes->count;
        memcpy(queries + i * words, codes->codes + from * words, words * sizeof *queries);
        flip_bits(queries + i * words, codes->bits, (uint32_t)(random_word(&state) % (radius + 1)),
                  &state);
    }
    return queries;
}
