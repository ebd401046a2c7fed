/* The greedy extension: for each number of differences, how far each diagonal is reached. */
#include "match/texts/extend.h"

/* Diagonals at once; what falls behind is dropped long before they are that many. Row by row they
 * lie in a ring, so that an alignment may drift as far as it will. */
enum { RING = 64, MAX_WIDTH = RING - 4 };

/* The score of a path depends only on where it is and on its differences: each step along one of
 * the texts counts 1, each difference -6. */
enum { DIFFERENCE = 6 };

_Static_assert(EXTEND_MATCH == 2 && EXTEND_REPLACED == 2 - DIFFERENCE &&
                   EXTEND_GAP == 1 - DIFFERENCE,
               "the scores are those of steps and differences");

#define UNREACHED (-1)

/* The farthest point of a diagonal (a - b), by words of a. */
struct diagonal_reach {
    int64_t a;
    size_t matched;
};

struct extending {
    const struct extend_side *a, *b;
    uint64_t *work;
    struct diagonal_reach rows[2][RING]; /* of an even and of an odd number of differences */
    int64_t low, high;                   /* diagonals that are reached */
    struct extension best;
};

static struct diagonal_reach *at(struct extending *it, int64_t differences, int64_t diagonal)
{
    return &it->rows[differences % 2][(uint64_t)diagonal % RING];
}

/* Along equal words. */
static void slide(struct extending *it, int64_t diagonal, struct diagonal_reach *reach)
{
    int64_t a = reach->a, b = a - diagonal;
    int64_t a_end = (int64_t)it->a->count, b_end = (int64_t)it->b->count;
    while (a < a_end && b < b_end && extend_word(it->a, a) == extend_word(it->b, b)) {
        a++;
        b++;
    }
    size_t slid = (size_t)(a - reach->a);
    reach->a = a;
    reach->matched += slid;
    *it->work -= slid < *it->work ? slid : *it->work;
}

static void prefer(struct diagonal_reach *best, struct diagonal_reach other, int64_t step)
{
    if (other.a != UNREACHED && other.a + step > best->a)
        *best = (struct diagonal_reach){other.a + step, other.matched};
}

/* With one more difference than before: a replaced word, else one that only a, or only b, has. */
static struct diagonal_reach step_extending(struct extending *it, int64_t differences,
                                            int64_t diagonal)
{
    struct diagonal_reach reach = {UNREACHED, 0};
    if (diagonal >= it->low && diagonal <= it->high)
        prefer(&reach, *at(it, differences - 1, diagonal), 1);
    if (diagonal - 1 >= it->low && diagonal - 1 <= it->high)
        prefer(&reach, *at(it, differences - 1, diagonal - 1), 1);
    if (diagonal + 1 >= it->low && diagonal + 1 <= it->high)
        prefer(&reach, *at(it, differences - 1, diagonal + 1), 0);
    bool inside = reach.a != UNREACHED && reach.a <= (int64_t)it->a->count &&
                  reach.a - diagonal <= (int64_t)it->b->count;
    if (!inside)
        return (struct diagonal_reach){UNREACHED, 0};
    slide(it, diagonal, &reach);
    return reach;
}

static int64_t score_at(const struct diagonal_reach *reach, int64_t differences, int64_t diagonal)
{
    return 2 * reach->a - diagonal - DIFFERENCE * differences;
}

static void note_extending(struct extending *it, const struct diagonal_reach *reach,
                           int64_t differences, int64_t diagonal)
{
    int64_t score = score_at(reach, differences, diagonal);
    if (score > it->best.score)
        it->best = (struct extension){(size_t)reach->a, (size_t)(reach->a - diagonal),
                                      reach->matched, score};
}

/* Forget what fell too far behind, at the rims. */
static void narrow_extending(struct extending *it, int64_t differences)
{
    int64_t least = it->best.score - EXTEND_DROP, low = it->low, high = it->high;
    for (int64_t diagonal = low; diagonal <= high; diagonal++) {
        struct diagonal_reach *reach = at(it, differences, diagonal);
        if (reach->a != UNREACHED && score_at(reach, differences, diagonal) < least)
            reach->a = UNREACHED;
    }
    while (low <= high && at(it, differences, low)->a == UNREACHED)
        low++;
    while (low <= high && at(it, differences, high)->a == UNREACHED)
        high--;
    if (high - low >= MAX_WIDTH)
        high = low + MAX_WIDTH - 1;
    it->low = low;
    it->high = high;
}

struct extension extend(const struct extend_side *a, const struct extend_side *b, uint64_t *work)
{
    struct extending it = {.a = a, .b = b, .work = work};
    struct diagonal_reach start = {0, 0};
    slide(&it, 0, &start);
    *at(&it, 0, 0) = start;
    note_extending(&it, &start, 0, 0);
    for (int64_t differences = 1; it.low <= it.high && *work; differences++) {
        int64_t low = it.low - 1, high = it.high + 1;
        for (int64_t diagonal = low; diagonal <= high; diagonal++) {
            struct diagonal_reach reach = step_extending(&it, differences, diagonal);
            *at(&it, differences, diagonal) = reach;
            if (reach.a != UNREACHED)
                note_extending(&it, &reach, differences, diagonal);
        }
        uint64_t cells = (uint64_t)(high - low + 1);
        *work -= cells < *work ? cells : *work;
        it.low = low;
        it.high = high;
        narrow_extending(&it, differences);
    }
    return it.best;
}
