/* A decision as the log of a library keeps it. */
#include "decide/log_entry.h"

#include <math.h>
#include <stdlib.h>

#include "tools/memory.h"
#include "tools/output/output.h"

void decide_match_free(struct decide_match *match)
{
    free(match->detail);
    *match = (struct decide_match){0};
}

json_t *decide_match_row(const struct doppel_comparison *comparison)
{
    json_t *row = json_object();
    put_comparison(row, comparison);
    return row;
}

/* The threshold that decided: a rate where there is one. */
static void set_limit(const struct doppel_compare_options *compare, struct decide_match *out)
{
    const struct doppel_thresholds thresholds = doppel_compare_thresholds(compare, out->scheme);
    if (thresholds.max_false_positive_rate >= 0) {
        out->limit_kind = DOPPEL_LIMIT_RATE;
        out->limit = thresholds.max_false_positive_rate;
    } else if (thresholds.min_similarity >= 0) {
        out->limit_kind = DOPPEL_LIMIT_SIMILARITY;
        out->limit = round(thresholds.min_similarity * 1e4) / 1e4;
    } else if (thresholds.max_distance >= 0) {
        out->limit_kind = DOPPEL_LIMIT_DISTANCE;
        out->limit = (double)thresholds.max_distance;
    }
}

/* What has no column of its own. */
static char *detail_of(const json_t *row)
{
    static const char *const columns[] = {"kind",       "scheme", "distance",           "bits",
                                          "similarity", "score",  "false_positive_rate"};
    json_t *rest = json_copy((json_t *)row);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        json_object_del(rest, columns[i]);
    char *detail = json_dumps(rest, JSON_COMPACT | JSON_REAL_PRECISION(15));
    json_decref(rest);
    return detail;
}

void decide_match_fill(const struct doppel_compare_options *compare,
                       const struct doppel_match *from, const json_t *row, struct decide_match *out)
{
    *out = (struct decide_match){
        .known = true,
        .scheme = from->scheme,
        .distance = from->distance,
        .bits = from->bits,
        .similarity = from->similarity,
        .limit = -1,
        .false_positive_rate = from->false_positive_rate,
        .detail =
            row ? detail_of(row) : must_copy("{\"relation\":\"same\",\"verified\":\"exact\"}"),
    };
    if (row)
        set_limit(compare, out);
}

void decide_match_tell_same(const struct rule_answer *answer, struct decide_match *match)
{
    if (!answer->same_as || answer->same_as == answer->of)
        return;
    json_t *detail = json_pack("{s:s, s:s, s:I}", "relation", "same", "verified", "exact",
                               "same_as", (json_int_t)answer->same_as);
    free(match->detail);
    match->detail = json_dumps(detail, JSON_COMPACT);
    json_decref(detail);
}

enum doppel_status decide_log(struct doppel_library *library, const char *path, const char *source,
                              const struct file_decision *decision,
                              const struct decide_match *match, struct doppel_error *error)
{
    const struct doppel_log_entry entry = {
        .action = DOPPEL_LOG_DECIDED,
        .item = decision->item,
        .name = path,
        .source = source,
        .decided = true,
        .decision = (int)decision->answer.decision,
        .of = decision->answer.of,
        .former = decision->answer.former,
        .reason = decision->answer.reason,
        .has_match = match->known,
        .scheme = match->scheme,
        .version = match->version,
        .distance = match->distance,
        .bits = match->bits,
        .similarity = match->similarity,
        .limit = match->limit,
        .limit_kind = match->limit_kind,
        .false_positive_rate = match->false_positive_rate,
        .detail = match->detail,
    };
    return doppel_library_log(library, &entry, error);
}
