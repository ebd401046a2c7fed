/* Pairs of a scan that nearly match: the best of them, when it is known who leads whom. */
#include "group/grouping_internal.h"

#include <stdlib.h>

#include "compare/video.h"
#include "core/digest.h"

/* So many more than are wanted are kept until the groups are known: pairs of one group are none. */
enum { MORE = 4096 };

bool near_pairs_wanted(const struct grouping *grouping)
{
    const struct doppel_group_options *options = grouping->options->group;
    return options->visit_near && options->compare.near_misses;
}

static int order_by_rate(const struct near_pair *a, const struct near_pair *b)
{
    const double x = a->match.false_positive_rate, y = b->match.false_positive_rate;
    return (x > y) - (x < y);
}

static int order_by_items(const struct near_pair *a, const struct near_pair *b)
{
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return (a->second > b->second) - (a->second < b->second);
}

static int best_first(const void *left, const void *right)
{
    const int order = order_by_rate(left, right);
    return order ? order : order_by_items(left, right);
}

static int best_of_pair_first(const void *left, const void *right)
{
    const int order = order_by_items(left, right);
    return order ? order : order_by_rate(left, right);
}

static void sort_near_pairs(struct grouping *grouping,
                            int (*compare)(const void *left, const void *right))
{
    if (grouping->near.count > 1)
        qsort(grouping->near.items, grouping->near.count, sizeof *grouping->near.items, compare);
}

static void forget_near_pairs(struct grouping *grouping, size_t first)
{
    for (size_t i = first; i < grouping->near.count; i++)
        free((void *)grouping->near.items[i].match.segments);
    grouping->near.count = first < grouping->near.count ? first : grouping->near.count;
}

bool near_pairs_add(struct grouping *grouping, uint32_t query, uint32_t item,
                    const struct doppel_match *match)
{
    const size_t most = (size_t)grouping->options->group->compare.near_misses + MORE;
    struct near_pair pair = {query < item ? query : item, query < item ? item : query, *match};
    if (!near_pairs_wanted(grouping) || query == item ||
        grouping_are_distinct(grouping, query, item) ||
        (grouping_is_reference(grouping, query) && grouping_is_reference(grouping, item)))
        return true;
    if (!copy_segments(&pair.match))
        return false;
    if (item < query)
        turn_match(&pair.match);
    if (!array_push(&grouping->near, pair)) {
        free((void *)pair.match.segments);
        return false;
    }
    if (grouping->near.count >= 2 * most) {
        sort_near_pairs(grouping, best_first);
        forget_near_pairs(grouping, most);
    }
    return true;
}

void near_pairs_free(struct grouping *grouping)
{
    forget_near_pairs(grouping, 0);
    array_free(&grouping->near);
}

/* Of each pair the best, unless both are in one group. */
static void drop_grouped_pairs(struct grouping *grouping, const uint32_t *leaders)
{
    struct near_pair *pairs = grouping->near.items;
    size_t kept = 0;
    sort_near_pairs(grouping, best_of_pair_first);
    for (size_t i = 0; i < grouping->near.count; i++)
        if (leaders[pairs[i].first] == leaders[pairs[i].second] ||
            (kept && !order_by_items(&pairs[kept - 1], &pairs[i])))
            free((void *)pairs[i].match.segments);
        else
            pairs[kept++] = pairs[i];
    grouping->near.count = kept;
}

void near_pairs_settle(struct grouping *grouping, const uint32_t *leaders)
{
    drop_grouped_pairs(grouping, leaders);
    sort_near_pairs(grouping, best_first);
    forget_near_pairs(grouping, grouping->options->group->compare.near_misses);
}

static enum doppel_status visit_near_pair(const struct grouping *grouping,
                                          const struct near_pair *pair, struct doppel_error *error)
{
    const struct doppel_group_options *options = grouping->options->group;
    char *path = item_store_path(&grouping->items, pair->first);
    char *of_path = item_store_path(&grouping->items, pair->second);
    const struct doppel_group_near near = {path, of_path, &pair->match};
    enum doppel_status status =
        path && of_path ? options->visit_near(options->near_context, &near, error)
                        : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a pair of files");
    free(path);
    free(of_path);
    return status;
}

enum doppel_status near_pairs_visit(const struct grouping *grouping, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < grouping->near.count && !status; i++)
        status = visit_near_pair(grouping, &grouping->near.items[i], error);
    return status;
}
