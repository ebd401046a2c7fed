/* Counting votes against adding them up for each diagonal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "match/images.h"
#include "match/votes.h"

enum { BEST = 16, DIAGONALS = 600, VOTERS = 40, MOST_HITS = 4000 };

struct poll {
    uint64_t hits[MOST_HITS];
    size_t count;
    uint32_t weights[VOTERS], seen[VOTERS];
};

static uint64_t pick(uint64_t *seed, uint64_t most)
{
    return random_word(seed) % (most + 1);
}

static int by_diagonal(const void *left, const void *right)
{
    uint64_t a = vote_diagonal(*(const uint64_t *)left),
             b = vote_diagonal(*(const uint64_t *)right);
    return a < b ? -1 : a > b;
}

static void sort_hits(struct poll *poll)
{
    if (poll->count)
        qsort(poll->hits, poll->count, sizeof *poll->hits, by_diagonal);
}

static void make_poll(struct poll *poll, size_t hits, uint64_t *seed)
{
    memset(poll, 0, sizeof *poll);
    for (size_t i = 0; i < VOTERS; i++)
        poll->weights[i] = 1 + (uint32_t)pick(seed, 2000);
    poll->count = hits;
    for (size_t i = 0; i < hits; i++)
        poll->hits[i] = vote_hit(1 + pick(seed, DIAGONALS), (uint32_t)pick(seed, VOTERS - 1));
    sort_hits(poll);
}

/* The weight of all voters that have a hit near a diagonal. */
static uint64_t weight_at(const struct poll *poll, uint64_t middle)
{
    bool voted[VOTERS] = {false};
    uint64_t weight = 0;
    for (size_t i = 0; i < poll->count; i++) {
        uint64_t diagonal = vote_diagonal(poll->hits[i]);
        uint32_t voter = vote_voter(poll->hits[i]);
        if (diagonal + 1 < middle || diagonal > middle + 1 || voted[voter])
            continue;
        voted[voter] = true;
        weight += poll->weights[voter];
    }
    return weight;
}

static uint64_t apart(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static size_t count_votes(struct poll *poll, votes_filter *filter, void *context,
                          struct votes_peak *out)
{
    struct votes votes = {poll->hits, poll->count, poll->weights, poll->seen, BEST};
    size_t count = votes_count(&votes, filter, context, out);
    for (size_t i = 0; i < VOTERS; i++)
        assert_int_equal(poll->seen[i], 0);
    for (size_t i = 0; i < count; i++) {
        assert_true(!i || out[i].weight <= out[i - 1].weight);
        for (size_t other = 0; other < i; other++)
            assert_true(apart(out[i].middle, out[other].middle) > VOTES_APART);
    }
    return count;
}

/* What a peak says of itself is so, and nothing is heavier than the first one. */
static void test_weights(void **state)
{
    (void)state;
    static struct poll poll;
    uint64_t seed = 1;
    for (size_t hits = 0; hits < MOST_HITS; hits = hits * 5 / 4 + 1) {
        make_poll(&poll, hits, &seed);
        struct votes_peak peaks[VOTES_BEST];
        size_t count = count_votes(&poll, NULL, NULL, peaks);
        uint64_t heaviest = 0;
        for (uint64_t middle = 0; middle <= DIAGONALS + 2; middle++)
            heaviest = weight_at(&poll, middle) > heaviest ? weight_at(&poll, middle) : heaviest;
        assert_int_equal(count > 0, hits > 0);
        assert_int_equal(count ? peaks[0].weight : 0, heaviest);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(peaks[i].weight, weight_at(&poll, peaks[i].middle));
            assert_true(peaks[i].first < peaks[i].end && peaks[i].end <= hits);
            for (size_t at = 0; at < hits; at++) {
                bool within = at >= peaks[i].first && at < peaks[i].end;
                assert_int_equal(within, apart(vote_diagonal(poll.hits[at]), peaks[i].middle) <= 1);
            }
        }
    }
}

static bool not_in_the_middle(void *context, const struct votes_peak *peak)
{
    (void)context;
    return peak->middle < DIAGONALS / 3 || peak->middle > DIAGONALS * 2 / 3;
}

/* Alignments that stand out are all found, wherever they lie. */
static void test_planted(void **state)
{
    (void)state;
    static struct poll poll;
    uint64_t seed = 2;
    for (unsigned round = 0; round < 200; round++) {
        make_poll(&poll, 500, &seed);
        size_t planted = 1 + pick(&seed, BEST - 1);
        uint64_t places[BEST];
        for (size_t i = 0; i < planted; i++) {
            places[i] = 2 + i * DIAGONALS / planted + pick(&seed, 6);
            for (uint32_t voter = 0; voter < VOTERS; voter++)
                poll.hits[poll.count++] = vote_hit(places[i] - 1 + pick(&seed, 2), voter);
        }
        sort_hits(&poll);
        struct votes_peak peaks[VOTES_BEST];
        for (int filtered = 0; filtered < 2; filtered++) {
            size_t count = count_votes(&poll, filtered ? not_in_the_middle : NULL, NULL, peaks);
            for (size_t i = 0; i < planted; i++) {
                struct votes_peak wanted = {.middle = places[i]};
                bool found = false;
                for (size_t at = 0; at < count; at++)
                    found |= apart(peaks[at].middle, places[i]) <= 2;
                bool clear =
                    apart(places[i], DIAGONALS / 3) > 3 && apart(places[i], DIAGONALS * 2 / 3) > 3;
                if (!filtered || clear)
                    assert_int_equal(found, !filtered || not_in_the_middle(NULL, &wanted));
            }
        }
    }
}

static void test_sort(void **state)
{
    (void)state;
    static uint64_t items[MOST_HITS], scratch[MOST_HITS], wanted[MOST_HITS];
    uint64_t seed = 3;
    for (size_t count = 0; count < MOST_HITS; count = count * 2 + 1)
        for (unsigned bits = 1; bits < 44; bits += 5) {
            for (size_t i = 0; i < count; i++)
                wanted[i] = items[i] = vote_hit(random_word(&seed) >> (64 - bits), (uint32_t)i);
            uint64_t *sorted = radix_sort(items, scratch, count, VOTER_BITS, VOTER_BITS + bits);
            if (count)
                qsort(wanted, count, sizeof *wanted, by_diagonal);
            for (size_t i = 0; i < count; i++) {
                assert_int_equal(vote_diagonal(sorted[i]), vote_diagonal(wanted[i]));
                bool stable = !i || vote_diagonal(sorted[i - 1]) != vote_diagonal(sorted[i]) ||
                              vote_voter(sorted[i - 1]) < vote_voter(sorted[i]);
                assert_true(stable);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_weights),
                                       cmocka_unit_test(test_planted), cmocka_unit_test(test_sort)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
