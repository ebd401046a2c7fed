/* What a library in a cluster gives, freed and looked at. */
#include <stdlib.h>

#include <doppel/shards.h>

#include "redis/address.h"

bool doppel_is_shards_address(const char *address)
{
    return redis_address_is(address);
}

void doppel_shards_item_free(struct doppel_shards_item *item)
{
    doppel_item_free(&item->item);
    doppel_metadata_free(&item->about);
    *item = (struct doppel_shards_item){0};
}

void doppel_shards_answers_free(struct doppel_shards_answers *answers)
{
    for (size_t i = 0; i < answers->count; i++)
        doppel_search_results_free(&answers->results[i]);
    for (size_t i = 0; i < answers->item_count; i++)
        doppel_shards_item_free(&answers->items[i]);
    free(answers->results);
    free(answers->items);
    free(answers->missing);
    *answers = (struct doppel_shards_answers){0};
}

static int compare_item_ids(const void *left, const void *right)
{
    const struct doppel_shards_item *a = left, *b = right;
    return (a->item.id > b->item.id) - (a->item.id < b->item.id);
}

const struct doppel_shards_item *doppel_shards_answers_item(
    const struct doppel_shards_answers *answers, uint64_t id)
{
    const struct doppel_shards_item key = {.item.id = id};
    return answers->item_count
               ? bsearch(&key, answers->items, answers->item_count, sizeof key, compare_item_ids)
               : NULL;
}

const char *doppel_shards_obstacle(const struct doppel_record *record)
{
    return record->kind == DOPPEL_KIND_IMAGE && record->scheme != DOPPEL_SCHEME_NONE
               ? NULL
               : "a library in a cluster holds pictures and their codes";
}

void doppel_shards_decision_free(struct doppel_shards_decision *decision)
{
    doppel_shards_item_free(&decision->of_item);
    doppel_comparison_free(&decision->match);
    *decision = (struct doppel_shards_decision){0};
}
