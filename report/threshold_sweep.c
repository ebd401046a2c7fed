/* From judged pairs to what each limit of the similarity would do, and the limit to recommend. */
#include "report/threshold_sweep.h"

double ladder_limit(int step)
{
    return step / (double)(LADDER_STEPS - 1);
}

static void count(const struct judged *pair, struct outcome *outcome)
{
    if (pair->same)
        outcome->caught++;
    else
        outcome->wrong++;
}

struct ladder ladder_of(const struct judged_list *list)
{
    struct ladder ladder = {0};
    for (size_t i = 0; i < list->count; i++) {
        const struct judged *pair = &list->items[i];
        if (pair->same)
            ladder.duplicates++;
        else
            ladder.distinct++;
        if (pair->usual)
            count(pair, &ladder.usual);
        for (int step = 0; step < LADDER_STEPS; step++)
            if (pair->similarity >= ladder_limit(step))
                count(pair, &ladder.steps[step]);
    }
    return ladder;
}

/* Whether a is better than b. */
static bool is_better(const struct outcome *a, const struct outcome *b)
{
    return a->caught != b->caught ? a->caught > b->caught : a->wrong < b->wrong;
}

static bool are_equal(const struct outcome *a, const struct outcome *b)
{
    return a->caught == b->caught && a->wrong == b->wrong;
}

int ladder_recommend(const struct ladder *ladder, double max_false)
{
    double most = max_false * (double)ladder->distinct;
    int best = RECOMMEND_NONE, last = 0;
    for (int step = 0; step < LADDER_STEPS; step++) {
        const struct outcome *outcome = &ladder->steps[step];
        if ((double)outcome->wrong > most)
            continue;
        if (best < 0 || is_better(outcome, &ladder->steps[best]))
            best = last = step;
        else if (are_equal(outcome, &ladder->steps[best]))
            last = step;
    }
    if (ladder->usual.caught && (double)ladder->usual.wrong <= most &&
        (best < 0 || ladder->usual.caught >= ladder->steps[best].caught))
        return RECOMMEND_USUAL;
    return best < 0 || !ladder->steps[best].caught ? RECOMMEND_NONE : best + (last - best) / 2;
}
