/* Which pairs cannot match, by the lanes they share and the sizes of their sets. */
#include "corpus/dedup/sieve.h"

#include <math.h>

#include "core/log_gamma.h"

static const double LOSS = 1e-5;

/* Lanes of a small set repeat each other, as many of them were filled from others: a class has sets
 * of at least `size` × lanes shingles, whose lanes are worth `worth` × lanes independent ones. */
static const struct {
    double size, worth;
} classes[SIEVE_CLASSES] = {{4, 0.95}, {1, 0.6}, {0.5, 0.35}};

/* The most such that fewer than so many of `trials` come with a chance of LOSS at most, as a share
 * of them. */
static double sieve_quantile(uint32_t trials, double chance)
{
    if (chance >= 1)
        return 1;
    double below = 0;
    for (uint32_t i = 0; i <= trials; i++) {
        double logarithm = log_gamma(trials + 1.0) - log_gamma(i + 1.0) -
                           log_gamma(trials - i + 1.0) + i * log(chance) +
                           (trials - i) * log1p(-chance);
        below += exp(logarithm);
        if (below > LOSS)
            return (double)i / trials;
    }
    return 1;
}

void sieve_init(struct sieve *sieve, uint32_t lanes, const struct doppel_text_limits *limits)
{
    *sieve = (struct sieve){.lanes = lanes, .limits = *limits};
    for (int class = 0; class < SIEVE_CLASSES; class ++)
        for (int step = 1; step <= SIEVE_STEPS; step++) {
            uint32_t worth = (uint32_t)(classes[class].worth * lanes);
            double share = sieve_quantile(worth, (double)step / SIEVE_STEPS);
            sieve->least[class][step] = (uint16_t)floor(share * lanes);
        }
}

/* The least similarity of a pair that matches: by similarity, or by containment of the smaller set
 * in the larger one. */
static double least_similarity(const struct sieve *sieve, double smaller, double larger)
{
    double common = sieve->limits.min_containment * smaller;
    double contained = common > smaller ? 1 : common / (smaller + larger - common);
    double least = sieve->limits.min_similarity;
    return contained < least ? contained : least;
}

static uint32_t equal_lanes(const uint16_t *a, const uint16_t *b, uint32_t lanes)
{
    uint32_t equal = 0;
    for (uint32_t i = 0; i < lanes; i++)
        equal += a[i] == b[i];
    return equal;
}

bool sieve_passes_equal(const struct sieve *sieve, uint32_t equal, uint32_t size_a, uint32_t size_b)
{
    uint32_t smaller = size_a < size_b ? size_a : size_b;
    uint32_t larger = size_a < size_b ? size_b : size_a;
    int class = 0;
    while (class < SIEVE_CLASSES && smaller < classes[class].size * sieve->lanes)
        class ++;
    if (class == SIEVE_CLASSES)
        return true;
    int step = (int)(least_similarity(sieve, smaller, larger) * SIEVE_STEPS);
    return equal >= sieve->least[class][step];
}

bool sieve_passes(const struct sieve *sieve, const uint16_t *a, const uint16_t *b, uint32_t size_a,
                  uint32_t size_b)
{
    return sieve_passes_equal(sieve, equal_lanes(a, b, sieve->lanes), size_a, size_b);
}
