/* How many passages unrelated texts share. */
#include <math.h>

#include "match/passages_room.h"

double passage_rate(int64_t score, uint64_t query_words, uint64_t library_words)
{
    return 1e-9 * (double)query_words * (double)library_words * exp(-0.1 * (double)score);
}
