/* The log of an ingest: a line for each record that was decided. */
#include "decide/records/ingest_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <doppel/text.h>

#include "decide/ledger.h"

enum { DETAIL_BYTES = 160 };

/* ---- what was matched ---- */

static bool is_plain_match(const struct doppel_match *match)
{
    return match->relation == DOPPEL_RELATION_SAME && match->verified == DOPPEL_VERIFIED_EXACT;
}

static long ten_thousandths(double share)
{
    return lround(share * 10000);
}

/* What the columns do not say. */
static void describe_record_match(const struct doppel_match *match, char out[DETAIL_BYTES])
{
    int size =
        snprintf(out, DETAIL_BYTES, "{\"relation\":\"%s\",\"verified\":\"%s\"",
                 doppel_relation_name(match->relation), doppel_verified_name(match->verified));
    if (match->has_coverage) {
        long query = ten_thousandths(match->query_coverage);
        long item = ten_thousandths(match->item_coverage);
        size += snprintf(out + size, DETAIL_BYTES - (size_t)size,
                         ",\"query_coverage\":%ld.%04ld,\"item_coverage\":%ld.%04ld", query / 10000,
                         query % 10000, item / 10000, item % 10000);
    }
    snprintf(out + size, DETAIL_BYTES - (size_t)size, "}");
}

/* The limit that the match kept to: of an update to its former text, which is not asked to be
 * near, and of the same content, none. */
static void log_limit(const struct ingest *ingest, const struct decider_answer *answer,
                      struct ledger_decision *entry)
{
    const struct doppel_text_limits *limits = &ingest->options.limits;
    if (!answer->limited)
        return;
    entry->limit_kind = DOPPEL_LIMIT_SIMILARITY;
    entry->limit = answer->match.relation == DOPPEL_RELATION_SAME ? limits->min_similarity
                                                                  : limits->min_containment;
}

static void log_match(const struct ingest *ingest, const struct decider_answer *answer,
                      char detail[DETAIL_BYTES], struct ledger_decision *entry)
{
    const struct doppel_match *match = &answer->match;
    const struct doppel_scheme *scheme = doppel_scheme_by_id(match->scheme);
    entry->match = match;
    entry->version = scheme ? doppel_text_version(scheme->version, &ingest->options.text) : 0;
    log_limit(ingest, answer, entry);
    if (is_plain_match(match))
        return;
    describe_record_match(match, detail);
    entry->detail = detail;
}

/* ---- the line ---- */

/* Its id; without one, where it stands. */
static enum doppel_status name_record(struct ingest *ingest, const char **out,
                                      struct doppel_error *error)
{
    const struct prepared_record *record = ingest->record;
    char line[24];
    *out = pool_string(&ingest->batch->strings, record->id);
    if (*out)
        return DOPPEL_OK;
    const char *path = ingest_file_path(ingest, ingest->batch->block.file);
    snprintf(line, sizeof line, ":%llu", (unsigned long long)record->line);
    ingest->name.count = 0;
    if (pool_add(&ingest->name, path, strlen(path)) == SIZE_MAX ||
        pool_add_string(&ingest->name, line) == SIZE_MAX)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the log");
    *out = ingest->name.items;
    return DOPPEL_OK;
}

enum doppel_status ingest_log(struct ingest *ingest, const struct decider_answer *answer,
                              uint64_t item, struct doppel_error *error)
{
    const struct prepared_record *record = ingest->record;
    const struct bytes_pool *strings = &ingest->batch->strings;
    char detail[DETAIL_BYTES];
    struct ledger_decision entry = {
        .item = item,
        .source = ingest_source(ingest),
        .decision = answer->decision,
        .why = record->unreadable ? pool_string(strings, record->problem)
                                  : doppel_decision_reason_name(answer->reason),
        .of = answer->of,
        .former = answer->replaces,
    };
    if (answer->has_match)
        log_match(ingest, answer, detail, &entry);
    enum doppel_status status = name_record(ingest, &entry.name, error);
    return status ? status : ledger_log(ingest->library, &entry, error);
}
