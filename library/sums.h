/* What the checksums of a catalogue's rows cover, where no other header says it. */
#ifndef DOPPEL_LIBRARY_SUMS_H
#define DOPPEL_LIBRARY_SUMS_H

#include "library/catalogue.h"
#include "library/items/text_internal.h"

/* A row has no distance in bits, or tells of one item. */
#define LOG_SUM                                                                                    \
    "time_ns, action, item, path, former_item, former_path, source, decision, of, reason, scheme," \
    " version, distance, coalesce(bits, last_item), similarity, limit_kind, match_limit,"          \
    " false_positive_rate, detail"
#define TEXT_OPTIONS_SUM                                                                           \
    "one, format, nfkc, fold_case, drop_punctuation, unit, shingle, min_words, lanes,"             \
    " min_similarity, min_containment"
#define LIST_SUM "id, name, state"
#define LIST_RULE_SUM "list, limit_kind, match_limit, flood"
#define LIST_MATCH_SUM "item, hour, matches, last_ns"
#define LINK_SUM "item, leader"
#define CANONICAL_SUM "leader, item"
#define SOURCE_SUM "pattern, authority"
#define POLICY_SUM "one, keep"
#define MARK_SUM "a, b, same, time_ns, note"
#define UPSTREAM_SUM "item, token"
#define TEXT_VECTORS_SUM "number, item, chunks, model"
#define REQUEST_SUM "id, client, key, body, time_ns"
#define ANSWER_SUM "request, number, decision"
#define FAILURE_SUM "path, " STAMP_COLUMNS ", settled, time_ns, status, message, program, limits"
#define JOB_SUM                                                                                    \
    "id, state, client, added_ns, begun_ns, ended_ns, inputs, decided, unreadable, bytes,"         \
    " problem, webhook, calls, next_call_ns, call_problem"
#define JOB_INPUT_SUM "job, number, input, decision"

#endif
