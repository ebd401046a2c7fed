/* Random and adversarial codes for the tests of the index. */
#ifndef TESTS_INDEX_CODES_H
#define TESTS_INDEX_CODES_H

#include <stddef.h>
#include <stdint.h>

enum shape { UNIFORM, SKEWED, EQUAL, ONE_BIT_APART, SHAPES };

/* Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators" (2014). */
static inline uint64_t random_word(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Word `word` of code number `i`. Skewed: most bits rarely set, every third code near the first. */
static inline uint64_t shaped_word(enum shape shape, size_t i, size_t word, uint64_t *state)
{
    uint64_t random = random_word(state);
    switch (shape) {
    case SKEWED:
        random &= random_word(state) & (random_word(state) | 0xff);
        return i % 3 ? random : random & random_word(state) & random_word(state);
    case EQUAL:
        return 0x0123456789abcdefu;
    case ONE_BIT_APART:
        return i % 65 / 64 || word ? 0 : (uint64_t)1 << i % 65;
    default:
        return random;
    }
}

static inline void shaped_codes(enum shape shape, size_t count, size_t words, uint64_t seed,
                                uint64_t *out)
{
    for (size_t i = 0; i < count; i++)
        for (size_t word = 0; word < words; word++)
            out[i * words + word] = shaped_word(shape, i, word, &seed);
}

#endif
