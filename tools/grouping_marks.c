/* A person's word outranks what fingerprints say: distinct ones are in no group together, those
 * that are the same are in one. */
#include "tools/grouping_room.h"

#include <stdlib.h>

#include "tools/memory.h"

bool grouping_are_distinct(const struct grouping *grouping, uint32_t a, uint32_t b)
{
    const struct marks *marks = grouping->options->marks;
    return marks && marks->items.count &&
           marks_between(marks, item_store_digest(&grouping->items, a),
                         item_store_digest(&grouping->items, b)) == DOPPEL_WORD_DISTINCT;
}

static const struct doppel_digest *digest_at(const void *context, uint32_t number)
{
    const struct grouping *grouping = context;
    return item_store_digest(&grouping->items, number);
}

/* All that follow `former` follow `leader` from now on. */
static void move_followers(const struct grouping *grouping, uint32_t *leaders, uint32_t former,
                           uint32_t leader)
{
    uint32_t count = item_store_count(&grouping->items);
    for (uint32_t i = 0; i < count; i++)
        if (leaders[i] == former) {
            leaders[i] = leader;
            grouping->by_word[i] = true;
        }
}

/* Two firsts of their bytes go together: the later one joins the earlier one's group, with its own
 * group where it leads one. */
static void join(const struct grouping *grouping, uint32_t *leaders, uint32_t a, uint32_t b)
{
    uint32_t into = leaders[a] < leaders[b] ? leaders[a] : leaders[b];
    uint32_t from = leaders[a] < leaders[b] ? b : a;
    if (leaders[a] == leaders[b])
        return;
    grouping->by_word[from] = true;
    if (leaders[from] == from)
        move_followers(grouping, leaders, from, into);
    else
        leaders[from] = into;
}

void grouping_join_by_word(struct grouping *grouping, uint32_t *leaders)
{
    const struct marks *marks = grouping->options->marks;
    uint32_t count = item_store_count(&grouping->items);
    grouping->by_word = must_allocate((count + 1) * sizeof *grouping->by_word);
    if (!marks || !marks->items.count)
        return;
    struct digest_map map = {0};
    for (uint32_t i = 0; i < count; i++)
        (void)digest_map_put(&map, i, digest_at, grouping);
    for (size_t i = 0; i < marks->items.count; i++) {
        const struct mark *mark = &marks->items.items[i];
        uint32_t a = digest_map_find(&map, &mark->a, digest_at, grouping);
        uint32_t b = digest_map_find(&map, &mark->b, digest_at, grouping);
        if (mark->word == DOPPEL_WORD_SAME && a != UINT32_MAX && b != UINT32_MAX)
            join(grouping, leaders, grouping_first_of(grouping, a), grouping_first_of(grouping, b));
    }
    digest_map_free(&map);
}
