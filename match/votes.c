/* Counting votes: hits sorted by diagonal, a window that slides over them. */
#include "match/votes.h"


struct best_votes {
    struct votes_peak *peaks;
    size_t count, most;
    uint64_t gate; /* what is not above it is none of the best */
};

static bool is_near(const struct votes_peak *a, const struct votes_peak *b)
{
    uint64_t apart = a->middle > b->middle ? a->middle - b->middle : b->middle - a->middle;
    return apart <= VOTES_APART;
}

static void insert_best(struct best_votes *best, const struct votes_peak *peak)
{
    size_t kept = 0;
    for (size_t i = 0; i < best->count; i++)
        if (!is_near(&best->peaks[i], peak))
            best->peaks[kept++] = best->peaks[i];
    best->count = kept < best->most ? kept : best->most - 1;
    size_t at = best->count++;
    for (; at && best->peaks[at - 1].weight < peak->weight; at--)
        best->peaks[at] = best->peaks[at - 1];
    best->peaks[at] = *peak;
    best->gate = best->count == best->most ? best->peaks[best->most - 1].weight : 0;
}

static bool has_better_near(const struct best_votes *best, const struct votes_peak *peak)
{
    for (size_t i = 0; i < best->count; i++)
        if (is_near(&best->peaks[i], peak) && best->peaks[i].weight >= peak->weight)
            return true;
    return false;
}

size_t votes_count(const struct votes *votes, votes_filter *filter, void *context,
                   struct votes_peak out[VOTES_BEST])
{
    struct best_votes best = {.peaks = out, .most = votes->best};
    const uint64_t *hits = votes->hits;
    uint64_t weight = 0;
    size_t first = 0;
    for (size_t i = 0; i < votes->count; i++) {
        uint64_t diagonal = vote_diagonal(hits[i]);
        for (; vote_diagonal(hits[first]) + VOTES_WIDTH <= diagonal; first++)
            if (!--votes->seen[vote_voter(hits[first])])
                weight -= votes->weights[vote_voter(hits[first])];
        if (!votes->seen[vote_voter(hits[i])]++)
            weight += votes->weights[vote_voter(hits[i])];
        bool is_last = i + 1 == votes->count || vote_diagonal(hits[i + 1]) != diagonal;
        if (!is_last || weight <= best.gate)
            continue;
        struct votes_peak peak = {diagonal - VOTES_WIDTH / 2, weight, first, i + 1};
        if (!has_better_near(&best, &peak) && (!filter || filter(context, &peak)))
            insert_best(&best, &peak);
    }
    for (; first < votes->count; first++)
        votes->seen[vote_voter(hits[first])]--;
    return best.count;
}
