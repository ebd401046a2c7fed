/* What was found for a query. */
#include "search/results.h"

#include <stdlib.h>

#include "compare/video.h"

void answers_clear(struct answers *answers)
{
    for (size_t i = 0; i < answers->items.count; i++)
        doppel_comparison_free(&answers->items.items[i].pair);
    answers->items.count = 0;
}

void answers_free(struct answers *answers)
{
    answers_clear(answers);
    array_free(&answers->items);
}

struct answer *answers_of(const struct answers *answers, uint64_t id)
{
    for (size_t i = 0; i < answers->items.count; i++)
        if (answers->items.items[i].id == id)
            return &answers->items.items[i];
    return NULL;
}

bool answers_keep(struct answers *answers, struct answer *answer)
{
    if (array_push(&answers->items, *answer))
        return true;
    doppel_comparison_free(&answer->pair);
    return false;
}

bool answers_keep_match(struct answers *answers, const struct doppel_found *found)
{
    struct answer answer = {found->id, false, {.matches = true, .match = found->match}};
    answer.near_miss = found->borderline && found->match.kind == DOPPEL_KIND_AUDIO;
    return copy_segments(&answer.pair.match) && answers_keep(answers, &answer);
}

/* ---- the best first ---- */

/* What is told by frames, or by peaks, has a rate of chance. */
static bool is_scored(const struct answer *answer)
{
    return answer->pair.of_video || answer->pair.match.kind == DOPPEL_KIND_AUDIO;
}

static int by_score(const struct answer *a, const struct answer *b)
{
    double a_score = a->pair.match.score, b_score = b->pair.match.score;
    bool a_exact = a->pair.match.verified == DOPPEL_VERIFIED_EXACT,
         b_exact = b->pair.match.verified == DOPPEL_VERIFIED_EXACT;
    if (a_exact != b_exact)
        return a_exact ? -1 : 1;
    return (a_score < b_score) - (a_score > b_score);
}

static int by_similarity(const struct answer *a, const struct answer *b)
{
    double x = a->pair.match.similarity, y = b->pair.match.similarity;
    return (x < y) - (x > y);
}

/* Pictures that are like a picture stand before videos that show it. */
static int best_first(const void *left, const void *right)
{
    const struct answer *a = left, *b = right;
    int order = a->near_miss - b->near_miss;
    if (!order)
        order = is_scored(a) - is_scored(b);
    if (!order && is_scored(a))
        order = by_score(a, b);
    if (!order)
        order = by_similarity(a, b);
    return order ? order : (a->id > b->id) - (a->id < b->id);
}

void answers_order(struct answers *answers)
{
    if (answers->items.count)
        qsort(answers->items.items, answers->items.count, sizeof *answers->items.items, best_first);
}
