/* Deciding about records, one after the other: the facts for the rule, and what follows. */
#include "decide/records/decider.h"

#include "core/try.h"
#include "corpus/dedup/rule.h"
#include "decide/records/ingest_internal.h"

#include <string.h>

static bool is_benign(struct ingest *ingest, uint64_t earlier)
{
    return people_state(ingest, earlier) == DOPPEL_LIST_BENIGN ||
           people_were_benign(ingest, earlier);
}

static void describe_same(const struct ingest *ingest, struct decider_answer *answer)
{
    const uint32_t lanes = ingest->options.text.lanes;
    answer->has_match = true;
    answer->match = (struct doppel_match){
        .kind = DOPPEL_KIND_TEXT,
        .scheme = lanes == 256 ? DOPPEL_SCHEME_MINHASH256 : DOPPEL_SCHEME_MINHASH128,
        .relation = DOPPEL_RELATION_SAME,
        .verified = DOPPEL_VERIFIED_EXACT,
        .bits = lanes,
        .similarity = 1,
        .false_positive_rate = -1,
        .has_coverage = true,
        .query_coverage = 1,
        .item_coverage = 1,
    };
}

/* ---- what people said ---- */

/* The representative of the first text that the record is marked to be the same as; 0: none. */
static enum doppel_status find_marked(struct ingest *ingest, uint64_t *out,
                                      struct doppel_error *error)
{
    uint64_t first = 0, id;
    struct earlier earlier = {0};
    enum doppel_status status = DOPPEL_OK;
    people_marked(ingest, DOPPEL_LABEL_SAME);
    for (size_t i = 0; i < ingest->marked.count; i++) {
        TRY(earlier_with_content(ingest, &ingest->marked.items[i], false, &id, error));
        if (id && (!first || id < first))
            first = id;
    }
    if (first)
        TRY(earlier_get(ingest, first, &earlier, error));
done:
    *out = earlier.leader;
    return status;
}

/* Those who lead what the record is marked as distinct from. */
static enum doppel_status find_apart(struct ingest *ingest, struct doppel_error *error)
{
    uint64_t id;
    enum doppel_status status = DOPPEL_OK;
    people_marked(ingest, DOPPEL_LABEL_DISTINCT);
    ingest->apart.count = 0;
    for (size_t i = 0; i < ingest->marked.count; i++) {
        struct earlier other = {0};
        TRY(earlier_with_content(ingest, &ingest->marked.items[i], true, &id, error));
        if (id)
            TRY(earlier_get(ingest, id, &other, error));
        if (other.id && !array_push(&ingest->apart, other.leader))
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for what was said of a text");
    }
done:
    return status;
}

static bool is_apart(const struct ingest *ingest, uint64_t leader)
{
    for (size_t i = 0; i < ingest->apart.count; i++)
        if (ingest->apart.items[i] == leader)
            return true;
    return false;
}

/* ---- near ones ---- */

static enum doppel_status candidate_of(struct ingest *ingest, uint64_t id,
                                       struct rule_candidate *out, struct doppel_error *error)
{
    struct earlier earlier;
    enum doppel_status status = earlier_get(ingest, id, &earlier, error);
    *out = (struct rule_candidate){
        .id = id,
        .leader = earlier.id && earlier.leads ? id : 0,
        .word = is_apart(ingest, id) ? DOPPEL_LABEL_DISTINCT : DOPPEL_LABEL_NONE,
        .kind = DOPPEL_KIND_TEXT,
    };
    if (!status && out->leader)
        out->state = people_state(ingest, id);
    return status;
}

/* The candidate that counts most: of those that are near the first, behind which none is compared.
 * @param best its id is 0 without one; its match is in answer->match */
static enum doppel_status find_best_candidate(struct ingest *ingest,
                                              const struct rule_content *facts,
                                              struct decider_answer *answer,
                                              struct rule_candidate *best,
                                              struct doppel_error *error)
{
    struct doppel_match match = {0};
    enum doppel_status status = earlier_find_near(ingest, error);
    for (size_t i = 0; i < ingest->near.count && !status; i++) {
        const struct near_text near = ingest->near.items[i];
        struct rule_candidate candidate;
        bool matches;
        status = candidate_of(ingest, near.id, &candidate, error);
        if (status || !rule_may_count(&candidate))
            continue;
        status = match_near(ingest, &near, &answer->match, &matches, error);
        candidate.match = &answer->match;
        if (status || !matches || !rule_prefers(facts, &candidate, best->id ? best : NULL))
            continue;
        match = answer->match;
        *best = candidate;
        best->match = &match;
        if (match.relation == DOPPEL_RELATION_SAME)
            break;
    }
    answer->match = match;
    best->match = &answer->match;
    return status;
}

static void take_rule(const struct ingest *ingest, const struct rule_answer *rule,
                      struct decider_answer *answer)
{
    answer->decision = rule->decision;
    answer->reason = rule->reason;
    answer->of = rule->of;
    answer->leads = !rule->follows && !ingest->record->too_short;
    if (rule->follows)
        answer->leader = answer->of;
    if (rule->reason == DOPPEL_BECAUSE_NEWER)
        answer->replaces = answer->of;
}

static enum doppel_status decide_by_content(struct ingest *ingest, struct decider_answer *answer,
                                            struct doppel_error *error)
{
    struct rule_candidate best = {0};
    struct rule_answer rule;
    struct rule_content facts = {
        .kind = DOPPEL_KIND_TEXT,
        .too_short = ingest->record->too_short,
        .in_order = true,
        .candidates = &best,
    };
    enum doppel_status status = find_marked(ingest, &facts.marked, error);
    if (!status && !facts.marked && !facts.too_short)
        status = find_best_candidate(ingest, &facts, answer, &best, error);
    if (status)
        return status;
    facts.count = best.id != 0;
    answer->has_match = answer->limited = facts.count;
    if (facts.count) {
        facts.origin = own_origin(ingest);
        best.origin = earlier_origin(ingest, best.id);
    }
    rule_by_content(&facts, &rule);
    take_rule(ingest, &rule, answer);
    return DOPPEL_OK;
}

/* By its text alone. */
static enum doppel_status decide_by_text(struct ingest *ingest, struct decider_answer *answer,
                                         struct doppel_error *error)
{
    struct earlier earlier = {0};
    struct rule_answer rule;
    uint64_t same = 0;
    enum doppel_status status;
    TRY(find_apart(ingest, error));
    TRY(earlier_with_content(ingest, &ingest->record->content, false, &same, error));
    if (!same)
        return decide_by_content(ingest, answer, error);
    TRY(earlier_get(ingest, same, &earlier, error));
    const struct rule_bytes facts = {
        .same = same,
        .same_content = true,
        .same_leader = earlier.leader,
        .same_is_benign = is_benign(ingest, same),
    };
    (void)rule_by_bytes(&facts, &rule);
    describe_same(ingest, answer);
    take_rule(ingest, &rule, answer);
done:
    return status;
}

/* ---- the same id ---- */

/* Another text under the same id. What is decided of its text knows nothing of the former one. */
static enum doppel_status decide_update(struct ingest *ingest, uint64_t former,
                                        struct decider_answer *answer, struct doppel_error *error)
{
    bool matches;
    struct rule_answer rule = {0};
    ingest->replaced = former;
    enum doppel_status status = decide_by_text(ingest, answer, error);
    ingest->replaced = 0;
    if (status)
        return status;
    rule_update(former, &rule);
    answer->decision = rule.decision;
    answer->reason = rule.reason;
    answer->of = answer->replaces = former;
    answer->has_match = true;
    answer->limited = false;
    return match_earlier(ingest, former, &answer->match, &matches, error);
}

/* What the log says of how an item came in. */
struct first_decision {
    uint64_t item;
    bool found, has_match;
    struct rule_answer rule;
    uint64_t former;
};

static bool take_first_decision(void *context, const struct doppel_log_entry *entry,
                                const struct doppel_error *problem)
{
    struct first_decision *first = context;
    if (problem->status || entry->item != first->item || !entry->decided)
        return true; /* it was imported, say */
    first->found = true;
    first->has_match = entry->has_match;
    first->former = entry->former;
    first->rule.decision = (enum doppel_decision)entry->decision;
    first->rule.reason = doppel_decision_reason_of(entry->reason);
    first->rule.of = entry->of;
    return true;
}

/* Say again what was decided of an item: whoever sends a record twice may not have had the answer,
 * since doppel or the sender died. Where what it was a duplicate of was removed, nothing is left
 * that it repeats: it is new. Where the log does not have it, the answer stays. */
static enum doppel_status replay_decision(struct ingest *ingest, uint64_t item,
                                          struct decider_answer *answer, struct doppel_error *error)
{
    const struct doppel_log_query query = {.item = item, .limit = 1}; /* how it came in */
    struct first_decision first = {.item = item};
    const struct leader *of = NULL;
    bool matches;
    enum doppel_status status =
        doppel_library_each_log(ingest->library, &query, take_first_decision, &first, error);
    if (!status && first.found && first.rule.of)
        status = leaders_has(ingest->leaders, first.rule.of, &of, error);
    if (status || !first.found)
        return status;
    if (first.rule.of && !of)
        first = (struct first_decision){0};
    answer->decision = first.rule.decision;
    answer->reason = first.rule.reason;
    answer->of = first.rule.of;
    answer->replaces = first.former;
    answer->has_match = first.has_match && of;
    answer->replayed = true;
    if (!answer->has_match || answer->reason == DOPPEL_BECAUSE_SAME_CONTENT)
        return DOPPEL_OK;
    return match_earlier(ingest, first.rule.of, &answer->match, &matches, error);
}

/* The same text under the same id: it is there already. */
static enum doppel_status decide_again(struct ingest *ingest, const struct earlier *former,
                                       struct decider_answer *answer, struct doppel_error *error)
{
    const struct rule_bytes facts = {
        .same = former->id, .same_content = true, .same_leader = former->leader};
    struct rule_answer rule;
    (void)rule_by_bytes(&facts, &rule);
    describe_same(ingest, answer);
    take_rule(ingest, &rule, answer);
    answer->kept = false;
    answer->known = former->id;
    return ingest->options.check ? DOPPEL_OK : replay_decision(ingest, former->id, answer, error);
}

static enum doppel_status decide_same_id(struct ingest *ingest, const struct earlier *former,
                                         struct decider_answer *answer, struct doppel_error *error)
{
    struct rule_answer rule;
    if (!rule_by_id(ingest->options.on_same_id, former->id, &rule)) {
        if (memcmp(&former->content, &ingest->record->content, sizeof former->content) != 0)
            return decide_update(ingest, former->id, answer, error);
        return decide_again(ingest, former, answer, error);
    }
    answer->decision = rule.decision;
    answer->reason = rule.reason;
    answer->of = former->id;
    answer->kept = false;
    return DOPPEL_OK;
}

enum doppel_status decider_decide(struct ingest *ingest, struct decider_answer *out,
                                  struct doppel_error *error)
{
    struct decider_answer answer = {.kept = true};
    struct earlier former = {0};
    enum doppel_status status = DOPPEL_OK;
    if (ingest->record->unreadable) {
        answer.decision = DOPPEL_DECISION_UNREADABLE;
        answer.kept = false;
    } else {
        status = earlier_called(ingest, &former, error);
        if (!status)
            status = former.id ? decide_same_id(ingest, &former, &answer, error)
                               : decide_by_text(ingest, &answer, error);
    }
    answer.follows = answer.kept && answer.leader;
    answer.kept &= !ingest->options.check;
    *out = answer;
    return status;
}
