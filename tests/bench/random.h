/* Random numbers that are the same in every run. */
#ifndef TESTS_BENCH_RANDOM_H
#define TESTS_BENCH_RANDOM_H

#include <stdint.h>

/** A stream of random numbers (splitmix64): the same for the same seed, name and edit. */
struct random {
    uint64_t state;
};

struct random random_seeded(uint64_t seed, const char *name, const char *edit);
uint64_t random_next(struct random *random);
double random_between(struct random *random, double low, double high);
int random_below(struct random *random, int limit);
double random_normal(struct random *random);

#endif
