/* Random numbers that are the same in every run. */
#include "random.h"

#include <math.h>

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * 0x100000001b3u; /* FNV-1a */
    return hash;
}

struct random random_seeded(uint64_t seed, const char *name, const char *edit)
{
    struct random random = {hash_text(hash_text(0xcbf29ce484222325u ^ seed, name), edit)};
    random_next(&random);
    return random;
}

uint64_t random_next(struct random *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

double random_between(struct random *random, double low, double high)
{
    return low + (high - low) * ((double)(random_next(random) >> 11) * 0x1p-53);
}

int random_below(struct random *random, int limit)
{
    return (int)(random_next(random) >> 33) % limit;
}

double random_normal(struct random *random)
{
    double u = random_between(random, 1e-12, 1), v = random_between(random, 0, 2 * M_PI);
    return sqrt(-2 * log(u)) * cos(v);
}
