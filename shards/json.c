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

void doppel_shards_missing_to_json(struct doppel_json *json,
                                   const struct doppel_shards_answers *answers)
{
    if (!answers->missing_count)
        return;
    doppel_json_boolean(json, "partial", true);
    doppel_json_array_begin(json, "missing_shards");
    for (size_t i = 0; i < answers->missing_count; i++)
        doppel_json_integer(json, NULL, answers->missing[i]);
    doppel_json_array_end(json);
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

/* ---- decisions ---- */

static bool is_without_duplicates(enum doppel_decision decision)
{
    return decision != DOPPEL_DECISION_DUPLICATE && decision != DOPPEL_DECISION_UNREADABLE &&
           decision != DOPPEL_DECISION_IGNORED;
}

void doppel_shards_decided(const struct doppel_shards_item *input,
                           const struct doppel_compare_options *compare,
                           const struct doppel_shards_decision *decision,
                           struct doppel_decided *out)
{
    const struct doppel_record *record = &input->item.record;
    const struct doppel_shards_item *of = decision->of ? &decision->of_item : NULL;
    const bool has_file = of && of->item.path && doppel_item_has_file(&of->item);
    const bool too_short = decision->decision == DOPPEL_DECISION_TOO_SHORT;
    *out = (struct doppel_decided){
        .decision = decision->decision,
        .reason = decision->reason,
        .why = too_short ? doppel_compare_obstacle(record, compare)
                         : doppel_decision_reason_name(decision->reason),
        .is_file = true,
        .kind = record->kind,
        .scheme = record->scheme,
        .remark = record->error.message[0] ? record->error.message : NULL,
        .item = decision->id,
        .unique = is_without_duplicates(decision->decision),
        .of = decision->of,
        .of_path = has_file ? of->item.path : NULL,
        .of_external_id = of && !has_file ? of->about.external_id : NULL,
        .lists = of ? (const char *const *)of->about.lists : NULL,
        .list_count = of ? of->about.list_count : 0,
        .labels = of ? (const char *const *)of->about.labels : NULL,
        .label_count = of ? of->about.label_count : 0,
        .has_match = decision->has_match,
        .match = decision->match,
    };
}
