/* What votes and verification are worth together, and how often chance gets as much. */
#include <math.h>

#include "match/sounds_search.h"

/* Votes are of the same peaks once more: they add little to what these tell. */
static const double VOTES_SHARE = 0.05;

double sounds_score(double evidence, double votes)
{
    return evidence + VOTES_SHARE * votes;
}

/*
 * Of windows that have nothing to do with a set, 1 - exp(-e) get this score or more, where
 * e = (hops / HOPS)^GROWTH * exp(-(score - level) / scale). Level and scale by the window's length.
 */
static const double HOPS = 1.04e6; /* of the set that was measured */
static const double GROWTH = 0.5;
static const struct law {
    double seconds, level, scale;
} laws[] = {{1, -1.5, 5}, {2, -2.7, 4.5}, {5, -6, 5}, {10, -6, 5}};
enum { LAWS = sizeof laws / sizeof *laws };

/* That many more candidates do the scaled hypotheses make. */
static const double SCALED_HYPOTHESES = 37;

static struct law law_at(double seconds)
{
    int i = 0;
    if (seconds <= laws[0].seconds)
        return laws[0];
    if (seconds >= laws[LAWS - 1].seconds)
        return laws[LAWS - 1];
    while (i + 2 < LAWS && laws[i + 1].seconds < seconds)
        i++;
    double part = log(seconds / laws[i].seconds) / log(laws[i + 1].seconds / laws[i].seconds);
    return (struct law){.seconds = seconds,
                        .level = laws[i].level + part * (laws[i + 1].level - laws[i].level),
                        .scale = laws[i].scale + part * (laws[i + 1].scale - laws[i].scale)};
}

static double chances(uint64_t hops, bool scaled)
{
    return pow((double)(hops ? hops : 1) / HOPS, GROWTH) * (scaled ? SCALED_HYPOTHESES : 1);
}

double sounds_rate(double score, double seconds, uint32_t peaks, uint64_t hops, bool scaled)
{
    (void)peaks;
    struct law law = law_at(seconds);
    double expected = chances(hops, scaled) * exp((law.level - score) / law.scale);
    return fmax(-expm1(-expected), 1e-300);
}

double sounds_score_at(double rate, double seconds, uint32_t peaks, uint64_t hops, bool scaled)
{
    (void)peaks;
    struct law law = law_at(seconds);
    return law.level + law.scale * log(chances(hops, scaled) / -log1p(-rate));
}
