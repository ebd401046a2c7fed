/* What votes and verification are worth together, and how often chance gets as much. */
#include <math.h>

#include "match/audio/search.h"

/* Votes are of the same peaks once more: they add little to what these tell. */
static const double VOTES_SHARE = 0.05;

double audio_score(double evidence, double votes)
{
    return evidence + VOTES_SHARE * votes;
}

/*
 * Of windows that have nothing to do with a set, 1 - exp(-e) get this score or more, where e grows
 * with the set's hops and falls with the score along this curve; beyond its ends it goes on
 * straight. The window's length changes it by less than the choice of the music does.
 */
static const struct knot {
    double score, log_expected; /* log10 of e */
} curve[] = {{2, -0.1}, {3.8, -0.93}, {8, -1.95}, {17, -3}};
enum { KNOTS = sizeof curve / sizeof *curve };
static const double HOPS = 395e3; /* of the sets that were measured */
static const double GROWTH = 0.8;

/*
 * The candidates of a set are about as many however small it is, so that e does not fall with it.
 * Of an item in which there is room for 3.5 s come so many of what it is at HOPS; of more than
 * three items no more, as the best of all are verified.
 */
static const double ITEM_CHANCES = 0.1, ITEM_HOPS = 150, MOST_ITEMS = 3;

/* Scaled hypotheses together find so many times as much by chance as speed 1 alone. */
static const double SCALED_CHANCES = 3;

/* e, as a multiple of what it is at HOPS. */
static double chances_of(const struct audio_size *size, bool scaled)
{
    double hops = (double)(size->hops ? size->hops : 1);
    double items = fmin(fmin((double)size->items, hops / ITEM_HOPS), MOST_ITEMS);
    return (pow(hops / HOPS, GROWTH) + ITEM_CHANCES * items) * (scaled ? SCALED_CHANCES : 1);
}

double audio_rate(double score, const struct audio_size *size, bool scaled)
{
    int i = 0;
    while (i + 2 < KNOTS && curve[i + 1].score < score)
        i++;
    double slope =
        (curve[i + 1].log_expected - curve[i].log_expected) / (curve[i + 1].score - curve[i].score);
    double log_expected = curve[i].log_expected + slope * (score - curve[i].score);
    double expected = pow(10, log_expected) * chances_of(size, scaled);
    return fmax(-expm1(-expected), 1e-300);
}
