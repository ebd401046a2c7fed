/* Items and results of a library in a cluster, as JSON. */
#include <stdio.h>
#include <stdlib.h>

#include "compare/item_json.h"
#include <doppel/shards.h>

/* What it is called: its path, else what others call it. */
static void write_shards_name(struct doppel_json *json, const struct doppel_shards_item *item)
{
    char number[32];
    const bool has_file = doppel_item_has_file(&item->item);
    snprintf(number, sizeof number, "item %llu", (unsigned long long)item->item.id);
    write_item_name(json, has_file,
                    has_file                  ? item->item.path
                    : item->about.external_id ? item->about.external_id
                                              : number);
}

void doppel_shards_result_to_json(struct doppel_json *json,
                                  const struct doppel_shards_answers *answers,
                                  const struct doppel_search_result *result)
{
    const struct doppel_shards_item *item = doppel_shards_answers_item(answers, result->id);
    doppel_json_integer(json, "id", result->id);
    if (item) {
        write_shards_name(json, item);
        write_memberships(json, &item->about);
    }
    doppel_match_to_json(json, &result->comparison.match);
    doppel_evidence_to_json(json, &result->comparison);
}

void doppel_shards_item_to_json(struct doppel_json *json, const struct doppel_shards_item *item,
                                bool details)
{
    doppel_json_integer(json, "id", item->item.id);
    write_shards_name(json, item);
    write_item_facts(json, &item->item);
    if (details)
        write_metadata(json, &item->about);
}
