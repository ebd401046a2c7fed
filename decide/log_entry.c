/* A decision about a file as the log of a library keeps it. */
#include "decide/log_entry.h"

#include <math.h>

#include "decide/ledger.h"

/* The threshold that decided: a rate where there is one. */
static void set_limit(const struct doppel_compare_options *compare, struct ledger_decision *entry)
{
    const struct doppel_thresholds thresholds =
        doppel_compare_thresholds(compare, entry->match->scheme);
    if (thresholds.max_false_positive_rate >= 0) {
        entry->limit_kind = DOPPEL_LIMIT_RATE;
        entry->limit = thresholds.max_false_positive_rate;
    } else if (thresholds.min_similarity >= 0) {
        entry->limit_kind = DOPPEL_LIMIT_SIMILARITY;
        entry->limit = round(thresholds.min_similarity * 1e4) / 1e4;
    } else if (thresholds.max_distance >= 0) {
        entry->limit_kind = DOPPEL_LIMIT_DISTANCE;
        entry->limit = (double)thresholds.max_distance;
    }
}

/* Or that of the list that the item is on. */
static void set_list_limit(struct doppel_library *library,
                           const struct doppel_compare_options *compare, uint64_t id,
                           struct ledger_decision *entry)
{
    struct doppel_item_limit limit = {.by_default = true};
    if (compare->max_distance >= 0 || compare->min_similarity >= 0 ||
        doppel_library_item_limits(library, id, entry->match, &limit, NULL) ||
        !limit.rule.limit_kind)
        return;
    entry->limit_kind = limit.rule.limit_kind;
    entry->limit = limit.rule.limit;
}

/* What has no column of its own. */
static void write_detail(struct doppel_json *json, const struct file_decision *decision)
{
    doppel_json_object_begin(json, NULL);
    if (decision->answer.candidate != NO_CANDIDATE) {
        doppel_match_detail_to_json(json, &decision->match.match);
        doppel_evidence_to_json(json, &decision->match);
    } else { /* of the same bytes */
        doppel_json_text(json, "relation", doppel_relation_name(DOPPEL_RELATION_SAME));
        doppel_json_text(json, "verified", doppel_verified_name(DOPPEL_VERIFIED_EXACT));
    }
    if (decision->same_as)
        doppel_json_integer(json, "same_as", decision->same_as);
    doppel_json_texts(json, "lists", (const char *const *)decision->hits.lists,
                      decision->hits.list_count);
    if (decision->hits.review)
        doppel_json_text(json, "action", "review");
    doppel_json_object_end(json);
}

enum doppel_status decide_log(struct doppel_library *library,
                              const struct doppel_compare_options *compare, const char *path,
                              const char *source, uint16_t version,
                              const struct file_decision *decision, struct doppel_error *error)
{
    struct doppel_json detail = {0};
    struct ledger_decision entry = {
        .item = decision->item,
        .name = path,
        .source = source,
        .decision = decision->answer.decision,
        .why = decision->why,
        .of = decision->answer.of,
        .former = decision->answer.former,
        .match = decision->has_match ? &decision->match.match : NULL,
        .version = version,
    };
    if (entry.match) {
        if (decision->answer.candidate != NO_CANDIDATE)
            set_limit(compare, &entry);
        if (decision->answer.candidate != NO_CANDIDATE && decision->hits.list_count)
            set_list_limit(library, compare,
                           decision->same_as ? decision->same_as : decision->answer.of, &entry);
        write_detail(&detail, decision);
        entry.detail = detail.bytes;
    }
    enum doppel_status status = doppel_json_status(&detail, error);
    if (!status)
        status = ledger_log(library, &entry, error);
    doppel_json_free(&detail);
    return status;
}
