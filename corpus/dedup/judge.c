/* Deciding of one record: the rule of doppel_decide (doppel/library.h). */
#include "corpus/dedup/judge.h"

#include <string.h>

#include "corpus/dedup/rule.h"

enum doppel_status judge_init(struct judge *judge, struct dedup *dedup, size_t cache_bytes,
                              struct doppel_error *error)
{
    *judge = (struct judge){.dedup = dedup};
    sieve_init(&judge->sieve, dedup->lanes, &dedup->options->limits);
    enum doppel_status status = evidence_new(dedup, cache_bytes, &judge->evidence, error);
    if (!status)
        status = leader_walk_new(&judge->walk, dedup, error);
    return status;
}

void judge_free(struct judge *judge)
{
    evidence_free(judge->evidence);
    leader_walk_free(&judge->walk);
    array_free(&judge->joined);
}

/* ---- comparing ---- */

/* The sizes of both sets, read if need be: what the sieve says must not depend on what other
 * threads have read. */
static enum doppel_status know_pair_sizes(struct judge *judge, uint32_t number, uint32_t leader,
                                          struct doppel_error *error)
{
    struct doppel_text_evidence ignored;
    enum doppel_status status = DOPPEL_OK;
    if (!shingles_of(judge->dedup, number))
        status = evidence_of_record(judge->evidence, number, &ignored, error);
    if (!status && !shingles_of(judge->dedup, leader))
        status = evidence_of_leader(judge->evidence, leader, &ignored, error);
    return status;
}

enum doppel_status judge_compare(struct judge *judge, uint32_t number, uint32_t leader,
                                 struct doppel_match *out, bool *out_matches,
                                 struct doppel_error *error)
{
    const struct dedup *dedup = judge->dedup;
    struct doppel_text_evidence record, item;
    enum doppel_status status = know_pair_sizes(judge, number, leader, error);
    if (status)
        return status;
    *out_matches =
        sieve_passes(&judge->sieve, dedup_lanes_of(dedup, number), dedup_lanes_of(dedup, leader),
                     shingles_of(dedup, number), shingles_of(dedup, leader));
    judge->passed_over += !*out_matches;
    if (!*out_matches)
        return DOPPEL_OK;
    status = evidence_of_record(judge->evidence, number, &record, error);
    if (!status)
        status = evidence_of_leader(judge->evidence, leader, &item, error);
    if (status)
        return status;
    judge->compared++;
    *out_matches = doppel_match_texts(&record, &item, &dedup->options->limits, out);
    return DOPPEL_OK;
}

/* Whether records are near any earlier ones, duplicates or not. These are in the lists of
 * representatives, then, and `leader` of their facts leads to the first of what they are linked to.
 */
static bool is_chained(const struct judge *judge)
{
    return judge->dedup->options->cluster == DOPPEL_CLUSTER_COMPONENTS;
}

static uint32_t first_linked(const struct dedup *dedup, uint32_t number)
{
    while (dedup_facts_of(dedup, number)->leader != number)
        number = dedup_facts_of(dedup, number)->leader;
    return number;
}

/* Whether a record is linked to another one by what was found so far. */
static bool is_linked(const struct judge *judge, const struct finding *finding, uint32_t number)
{
    const struct dedup *dedup = judge->dedup;
    if (finding->near == NO_RECORD)
        return false;
    uint32_t first = first_linked(dedup, number);
    bool linked = first == first_linked(dedup, finding->near);
    for (size_t i = 0; i < judge->joined.count && !linked; i++)
        linked = first == first_linked(dedup, judge->joined.items[i]);
    return linked;
}

/* Keep what is near: the first, and of components what else, so that they become one.
 * @param out_enough nothing else is wanted */
static enum doppel_status take_near_record(struct judge *judge, uint32_t leader,
                                           const struct doppel_match *match,
                                           struct finding *finding, bool *out_enough,
                                           struct doppel_error *error)
{
    *out_enough = !is_chained(judge);
    if (finding->near != NO_RECORD && !array_push(&judge->joined, leader))
        return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory");
    if (finding->near != NO_RECORD)
        return DOPPEL_OK;
    finding->near = leader;
    finding->near_match = *match;
    return DOPPEL_OK;
}

bool judge_leads(const struct judge *judge, uint32_t number)
{
    return (dedup_facts_of(judge->dedup, number)->flags & (FACT_LEADER | FACT_REPLACED)) ==
           FACT_LEADER;
}

enum doppel_status judge_search(struct judge *judge, uint32_t number, uint32_t low,
                                struct finding *finding, struct doppel_error *error)
{
    uint32_t leader;
    bool enough = false;
    finding->searched = true;
    judge->joined.count = 0;
    leader_walk_begin(&judge->walk, number);
    while (!enough && (leader = leader_walk_next(&judge->walk)) != NO_RECORD) {
        struct doppel_match match;
        bool matches;
        if (leader < low || !judge_leads(judge, leader) || is_linked(judge, finding, leader))
            continue;
        enum doppel_status status = DOPPEL_OK;
        if (!compared_find(&judge->dedup->compared, number, leader, &match, &matches))
            status = judge_compare(judge, number, leader, &match, &matches, error);
        if (!status && matches && match.relation == DOPPEL_RELATION_SAME)
            status = take_near_record(judge, leader, &match, finding, &enough, error);
        else if (!status && matches && finding->held == NO_RECORD) {
            finding->held = leader;
            finding->held_match = match;
        }
        if (status)
            return status;
    }
    return DOPPEL_OK;
}

/* ---- verdicts ---- */

static void describe_verdict(struct dedup_verdict *verdict, const struct doppel_match *match)
{
    verdict->has_match = true;
    verdict->has_coverage = match->has_coverage;
    verdict->similarity = share_pack(match->similarity);
    verdict->query_coverage = share_pack(match->query_coverage);
    verdict->item_coverage = share_pack(match->item_coverage);
    verdict->distance = (uint16_t)match->distance;
    verdict->relation = (uint8_t)match->relation;
    verdict->verified = (uint8_t)match->verified;
}

static void describe_same_verdict(struct dedup_verdict *verdict)
{
    describe_verdict(verdict, &(struct doppel_match){.relation = DOPPEL_RELATION_SAME,
                                                     .verified = DOPPEL_VERIFIED_EXACT,
                                                     .similarity = 1,
                                                     .has_coverage = true,
                                                     .query_coverage = 1,
                                                     .item_coverage = 1});
}

static struct doppel_origin origin_of_dedup(const struct dedup *dedup, uint32_t number)
{
    const struct facts *facts = dedup_facts_of(dedup, number);
    return (struct doppel_origin){string_of(dedup, facts, FACT_SOURCE),
                                  string_of(dedup, facts, FACT_DATE)};
}

/* A record as the rule names it: 0 is none. */
static uint64_t name_of_record(uint32_t number)
{
    return number == NO_RECORD ? 0 : (uint64_t)number + 1;
}

static void take_rule_verdict(struct dedup *dedup, uint32_t number, const struct rule_answer *rule,
                              struct dedup_verdict *verdict)
{
    verdict->decision = (uint8_t)rule->decision;
    verdict->reason = (uint8_t)rule->reason;
    verdict->of = rule->of ? (uint32_t)(rule->of - 1) : (uint32_t)NO_RECORD;
    verdict->replaces = rule->reason == DOPPEL_BECAUSE_NEWER;
    if (rule->follows)
        dedup_facts_of(dedup, number)->leader = verdict->of;
}

/* By the best match; `leader` NO_RECORD: by none. */
static struct rule_answer decide_by_match(struct dedup *dedup, uint32_t number, uint32_t leader,
                                          const struct doppel_match *match,
                                          struct dedup_verdict *verdict)
{
    const struct facts *facts = dedup_facts_of(dedup, number);
    struct rule_answer rule;
    struct rule_candidate candidate = {.id = name_of_record(leader),
                                       .leader = name_of_record(leader),
                                       .match = match,
                                       .kind = DOPPEL_KIND_TEXT};
    struct rule_content content = {.kind = DOPPEL_KIND_TEXT,
                                   .too_short = facts->flags & FACT_TOO_SHORT,
                                   .candidates = &candidate,
                                   .count = leader != NO_RECORD};
    if (content.count) {
        content.origin = origin_of_dedup(dedup, number);
        candidate.origin = origin_of_dedup(dedup, leader);
        describe_verdict(verdict, candidate.match);
    }
    rule_by_content(&content, &rule);
    take_rule_verdict(dedup, number, &rule, verdict);
    return rule;
}

void judge_part(struct dedup *dedup, uint32_t number, uint32_t holder,
                const struct doppel_match *match)
{
    (void)decide_by_match(dedup, number, holder, match, dedup_verdict_of(dedup, number));
}

/* It leads, unless it is near one that does. */
static void decide_by_search(struct judge *judge, uint32_t number, const struct finding *finding,
                             struct dedup_verdict *verdict)
{
    struct facts *facts = dedup_facts_of(judge->dedup, number);
    bool near = finding->near != NO_RECORD;
    const struct rule_answer rule =
        decide_by_match(judge->dedup, number, near ? finding->near : finding->held,
                        near ? &finding->near_match : &finding->held_match, verdict);
    if (facts->flags & FACT_TOO_SHORT || (rule.follows && !is_chained(judge)))
        return;
    facts->flags |= FACT_LEADER;
    leader_walk_append(&judge->walk, number);
    evidence_promote(judge->evidence, number);
}

static void decide_same_content(struct dedup *dedup, uint32_t number, uint32_t earlier,
                                struct dedup_verdict *verdict)
{
    const struct rule_bytes bytes = {.same = name_of_record(earlier),
                                     .same_content = true,
                                     .same_leader =
                                         name_of_record(dedup_facts_of(dedup, earlier)->leader)};
    struct rule_answer rule;
    (void)rule_by_bytes(&bytes, &rule);
    take_rule_verdict(dedup, number, &rule, verdict);
    describe_same_verdict(verdict);
}

/* The record that has the content of this one, unless what it follows was replaced: then its text
 * is no longer there. */
static uint32_t holder_of(const struct dedup *dedup, uint32_t number)
{
    uint32_t holder = dedup_facts_of(dedup, dedup_facts_of(dedup, number)->content)->holder;
    if (holder == NO_RECORD)
        return holder;
    uint32_t leader = dedup_facts_of(dedup, holder)->leader;
    return dedup_facts_of(dedup, leader)->flags & FACT_REPLACED ? NO_RECORD : holder;
}

static void judge_by_text(struct judge *judge, uint32_t number, const struct finding *finding,
                          struct dedup_verdict *verdict)
{
    const struct facts *facts = dedup_facts_of(judge->dedup, number);
    uint32_t holder = holder_of(judge->dedup, number);
    if (holder != NO_RECORD) {
        decide_same_content(judge->dedup, number, holder, verdict);
        return;
    }
    dedup_facts_of(judge->dedup, facts->content)->holder = number;
    decide_by_search(judge, number, finding, verdict);
}

/* What a text is to another one, also where they do not match. */
static enum doppel_status describe_pair(struct judge *judge, uint32_t number, uint32_t earlier,
                                        struct dedup_verdict *verdict, struct doppel_error *error)
{
    struct doppel_text_evidence record, item;
    struct doppel_match match;
    enum doppel_status status = evidence_of_record(judge->evidence, number, &record, error);
    if (!status)
        status = evidence_of_leader(judge->evidence, earlier, &item, error);
    if (status)
        return status;
    doppel_match_texts(&record, &item, &judge->dedup->options->limits, &match);
    describe_verdict(verdict, &match);
    return DOPPEL_OK;
}

/* Records that a later one links are one group: the first of it stays. What was told of an update
 * or a revision does not change. */
static enum doppel_status join_components(struct judge *judge, uint32_t number,
                                          struct doppel_error *error)
{
    struct dedup *dedup = judge->dedup;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < judge->joined.count && !status; i++) {
        uint32_t a = first_linked(dedup, number), b = first_linked(dedup, judge->joined.items[i]);
        uint32_t first = a < b ? a : b, other = a < b ? b : a;
        struct dedup_verdict *verdict = dedup_verdict_of(dedup, other);
        if (first == other || other < dedup->first || verdict->decision != DOPPEL_DECISION_NEW)
            continue;
        *verdict = (struct dedup_verdict){
            .decision = DOPPEL_DECISION_DUPLICATE, .reason = DOPPEL_BECAUSE_NEAR, .of = first};
        dedup_facts_of(dedup, other)->leader = first;
        status = describe_pair(judge, other, first, verdict, error);
    }
    judge->joined.count = 0;
    return status;
}

/* Another text under the same id. */
static enum doppel_status judge_update(struct judge *judge, uint32_t number,
                                       const struct finding *finding, struct dedup_verdict *verdict,
                                       struct doppel_error *error)
{
    uint32_t former = dedup_facts_of(judge->dedup, number)->former;
    judge_by_text(judge, number, finding, verdict);
    struct rule_answer rule = {0};
    rule_update(name_of_record(former), &rule);
    *verdict = (struct dedup_verdict){0};
    take_rule_verdict(judge->dedup, number, &rule, verdict);
    verdict->replaces = true;
    return describe_pair(judge, number, former, verdict, error);
}

static bool is_update(const struct dedup *dedup, const struct facts *facts)
{
    return dedup->options->on_same_id == DOPPEL_SAME_ID_UPDATE &&
           facts->content != dedup_facts_of(dedup, facts->former)->content;
}

static enum doppel_status judge_same_id(struct judge *judge, uint32_t number,
                                        const struct finding *finding,
                                        struct dedup_verdict *verdict, struct doppel_error *error)
{
    const struct dedup *dedup = judge->dedup;
    const struct facts *facts = dedup_facts_of(dedup, number);
    if (is_update(dedup, facts))
        return judge_update(judge, number, finding, verdict, error);
    struct rule_answer rule;
    if (rule_by_id(dedup->options->on_same_id, name_of_record(facts->former), &rule))
        take_rule_verdict(judge->dedup, number, &rule, verdict);
    else
        decide_same_content(judge->dedup, number, facts->former, verdict);
    return DOPPEL_OK;
}

bool judge_searches(const struct judge *judge, uint32_t number)
{
    const struct dedup *dedup = judge->dedup;
    const struct facts *facts = dedup_facts_of(dedup, number);
    return !(facts->flags & (FACT_UNREADABLE | FACT_TOO_SHORT | FACT_LIBRARY)) &&
           (facts->former == NO_RECORD || is_update(dedup, facts)) &&
           holder_of(dedup, number) == NO_RECORD;
}

/* What is the library's takes the place that it has there. */
static void restore(struct judge *judge, uint32_t number)
{
    struct facts *facts = dedup_facts_of(judge->dedup, number);
    if (facts->former != NO_RECORD)
        facts->leader = facts->former;
    if (holder_of(judge->dedup, number) == NO_RECORD)
        dedup_facts_of(judge->dedup, facts->content)->holder = number;
    if (!(facts->flags & FACT_LEADER))
        return;
    leader_walk_begin(&judge->walk, number);
    while (leader_walk_next(&judge->walk) != NO_RECORD)
        continue;
    leader_walk_append(&judge->walk, number);
}

enum doppel_status judge_decide(struct judge *judge, uint32_t number, const struct finding *finding,
                                struct doppel_error *error)
{
    const struct facts *facts = dedup_facts_of(judge->dedup, number);
    struct dedup_verdict *verdict = dedup_verdict_of(judge->dedup, number);
    enum doppel_status status = DOPPEL_OK;
    *verdict = (struct dedup_verdict){.of = NO_RECORD};
    if (facts->flags & FACT_LIBRARY)
        restore(judge, number);
    else if (facts->flags & FACT_UNREADABLE)
        verdict->decision = DOPPEL_DECISION_UNREADABLE;
    else if (facts->former != NO_RECORD)
        status = judge_same_id(judge, number, finding, verdict, error);
    else
        judge_by_text(judge, number, finding, verdict);
    return status;
}

struct finding judge_begin(struct judge *judge, uint32_t number)
{
    const struct dedup *dedup = judge->dedup;
    const struct facts *facts = dedup_facts_of(dedup, number);
    if (number >= dedup->first && facts->former != NO_RECORD && is_update(dedup, facts))
        dedup_facts_of(dedup, facts->former)->flags |= FACT_REPLACED;
    return (struct finding){.near = NO_RECORD, .held = NO_RECORD};
}

enum doppel_status judge_record(struct judge *judge, uint32_t number, struct doppel_error *error)
{
    struct finding finding = judge_begin(judge, number);
    enum doppel_status status = DOPPEL_OK;
    if (judge_searches(judge, number))
        status = judge_search(judge, number, 0, &finding, error);
    if (!status)
        status = judge_decide(judge, number, &finding, error);
    return status ? status : join_components(judge, number, error);
}
