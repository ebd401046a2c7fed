/* How many passages unrelated texts share. */
#include <math.h>

#include "match/texts/texts_internal.h"

/*
 * Measured on 21 106 pairs of documents of 5 000 words of unrelated packages (docs/methods.md): the
 * pairs of words at which an alignment of at least this score stands are two laws, each a scale and
 * a decay. Chance is steep; phrases that everybody writes are not, and rule from ten words on.
 */
static const double chance[2] = {9.6e-9, 0.27}, phrases[2] = {1.7e-10, 0.05};

double passage_rate(int64_t score, uint64_t query_words, uint64_t library_words)
{
    double each =
        chance[0] * exp(-chance[1] * (double)score) + phrases[0] * exp(-phrases[1] * (double)score);
    double expected = (double)query_words * (double)library_words * each;
    return expected > 1e-300 ? expected : 1e-300;
}
