/* Deciding about records, one after the other: the facts for the rule, and what follows. */
#include "decide/records/decider_internal.h"

#include "corpus/dedup/rule.h"

#include <string.h>

static bool earlier_is_benign(const struct decider *decider, uint32_t earlier)
{
    const struct decider_host *host = &decider->host;
    return decider_state_of(decider, earlier) == DOPPEL_LIST_BENIGN ||
           (host->was_benign && host->was_benign(host->context, earlier));
}

static enum doppel_status compare_earlier(const struct decider *decider, uint32_t earlier,
                                          struct decider_answer *answer, bool *out_matches,
                                          struct doppel_error *error)
{
    const struct decider_host *host = &decider->host;
    return host->match(host->context, answer->number, earlier, &answer->match, out_matches, error);
}

/* A record as the rule names it: 0 is none. */
static uint64_t id_of_number(uint32_t number)
{
    return number == NO_NUMBER ? 0 : (uint64_t)number + 1;
}

static uint32_t number_by_id(uint64_t name)
{
    return name ? (uint32_t)(name - 1) : (uint32_t)NO_NUMBER;
}

static void describe_same(const struct decider *decider, struct decider_answer *answer)
{
    answer->has_match = true;
    answer->match = (struct doppel_match){
        .kind = DOPPEL_KIND_TEXT,
        .scheme = decider->host.lanes == 256 ? DOPPEL_SCHEME_MINHASH256 : DOPPEL_SCHEME_MINHASH128,
        .relation = DOPPEL_RELATION_SAME,
        .verified = DOPPEL_VERIFIED_EXACT,
        .bits = decider->host.lanes,
        .similarity = 1,
        .false_positive_rate = -1,
        .has_coverage = true,
        .query_coverage = 1,
        .item_coverage = 1,
    };
}

static const struct doppel_digest *marked(const struct decider *decider,
                                          const struct doppel_digest *content,
                                          enum doppel_manual_label word, size_t *out_count)
{
    const struct decider_host *host = &decider->host;
    *out_count = 0;
    return host->marked ? host->marked(host->context, content, word, out_count) : NULL;
}

/* The first record that the one at hand is marked to be the same as. */
static uint32_t find_marked(const struct decider *decider, const struct doppel_digest *content)
{
    uint32_t first = NO_NUMBER;
    size_t count;
    const struct doppel_digest *same = marked(decider, content, DOPPEL_LABEL_SAME, &count);
    for (size_t i = 0; i < count; i++) {
        uint32_t earlier = decider_find_content(decider, &same[i]);
        if (earlier < first)
            first = earlier;
    }
    return first;
}

/* Those who lead what the record at hand is marked as distinct from. */
static enum doppel_status find_apart(struct decider *decider, const struct doppel_digest *content,
                                     struct doppel_error *error)
{
    size_t count;
    const struct doppel_digest *distinct = marked(decider, content, DOPPEL_LABEL_DISTINCT, &count);
    decider->apart.count = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t other = decider_find(decider, &distinct[i]);
        if (other != NO_NUMBER && !array_push(&decider->apart, decider->leaders.items[other]))
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for what was said of a text");
    }
    return DOPPEL_OK;
}

static bool is_apart(const struct decider *decider, uint32_t leader)
{
    for (size_t i = 0; i < decider->apart.count; i++)
        if (decider->apart.items[i] == leader)
            return true;
    return false;
}

static struct rule_candidate candidate_of(const struct decider *decider, uint32_t earlier)
{
    uint64_t name = id_of_number(earlier);
    return (struct rule_candidate){
        .id = name,
        .leader = decider_leads(decider, earlier) ? name : 0,
        .word = is_apart(decider, earlier) ? DOPPEL_LABEL_DISTINCT : DOPPEL_LABEL_NONE,
        .state = decider_state_of(decider, earlier),
        .kind = DOPPEL_KIND_TEXT,
    };
}

/* The candidate that counts most: of those that are near the first, behind which none is compared.
 * @param best its id is 0 without one; its match is in answer->match */
static enum doppel_status find_best_candidate(const struct decider *decider,
                                              const struct decider_record *record,
                                              const struct rule_content *facts,
                                              struct decider_answer *answer,
                                              struct rule_candidate *best,
                                              struct doppel_error *error)
{
    struct doppel_match match = {0};
    for (size_t i = 0; i < record->candidate_count; i++) {
        bool matches;
        struct rule_candidate candidate = candidate_of(decider, record->candidates[i]);
        if (!rule_may_count(&candidate))
            continue;
        enum doppel_status status =
            compare_earlier(decider, record->candidates[i], answer, &matches, error);
        if (status)
            return status;
        candidate.match = &answer->match;
        if (!matches || !rule_prefers(facts, &candidate, best->id ? best : NULL))
            continue;
        match = answer->match;
        *best = candidate;
        best->match = &match;
        if (match.relation == DOPPEL_RELATION_SAME)
            break;
    }
    answer->match = match;
    best->match = &answer->match;
    return DOPPEL_OK;
}

static void take_rule(struct decider *decider, const struct decider_record *record,
                      const struct rule_answer *rule, struct decider_answer *answer)
{
    answer->decision = rule->decision;
    answer->reason = rule->reason;
    answer->of = number_by_id(rule->of);
    answer->leads = !rule->follows && !record->too_short;
    if (rule->follows)
        decider->leaders.items[answer->number] = answer->of;
    if (rule->reason == DOPPEL_BECAUSE_NEWER)
        answer->replaces = answer->of;
}

static enum doppel_status decide_by_content(struct decider *decider,
                                            const struct decider_record *record,
                                            struct decider_answer *answer,
                                            struct doppel_error *error)
{
    const struct decider_host *host = &decider->host;
    uint32_t same = find_marked(decider, &record->content);
    struct rule_candidate best = {0};
    struct rule_answer rule;
    struct rule_content facts = {
        .kind = DOPPEL_KIND_TEXT,
        .too_short = record->too_short,
        .in_order = true,
        .marked = same == NO_NUMBER ? 0 : id_of_number(decider->leaders.items[same]),
        .candidates = &best,
    };
    if (!facts.marked && !record->too_short) {
        enum doppel_status status =
            find_best_candidate(decider, record, &facts, answer, &best, error);
        if (status)
            return status;
    }
    facts.count = best.id != 0;
    answer->has_match = answer->limited = facts.count;
    if (facts.count) {
        facts.origin = host->origin(host->context, answer->number);
        best.origin = host->origin(host->context, number_by_id(best.id));
    }
    rule_by_content(&facts, &rule);
    take_rule(decider, record, &rule, answer);
    return DOPPEL_OK;
}

/* By its text alone. */
static enum doppel_status decide_by_text(struct decider *decider,
                                         const struct decider_record *record,
                                         struct decider_answer *answer, struct doppel_error *error)
{
    enum doppel_status status = find_apart(decider, &record->content, error);
    struct rule_answer rule;
    if (status)
        return status;
    uint32_t earlier = decider_find_content(decider, &record->content);
    if (earlier == NO_NUMBER)
        return decide_by_content(decider, record, answer, error);
    const struct rule_bytes facts = {
        .same = id_of_number(earlier),
        .same_content = true,
        .same_leader = id_of_number(decider->leaders.items[earlier]),
        .same_is_benign = earlier_is_benign(decider, earlier),
    };
    (void)rule_by_bytes(&facts, &rule);
    describe_same(decider, answer);
    take_rule(decider, record, &rule, answer);
    return DOPPEL_OK;
}

/* Another text under the same id. */
static enum doppel_status decide_update(struct decider *decider,
                                        const struct decider_record *record, uint32_t former,
                                        struct decider_answer *answer, struct doppel_error *error)
{
    bool matches;
    uint8_t flags = decider->flags.items[former];
    decider_replace(decider, former);
    enum doppel_status status = decide_by_text(decider, record, answer, error);
    if (record->only_asked)
        decider->flags.items[former] = flags;
    if (status)
        return status;
    struct rule_answer rule = {0};
    rule_update(id_of_number(former), &rule);
    answer->decision = rule.decision;
    answer->reason = rule.reason;
    answer->of = answer->replaces = former;
    answer->has_match = true;
    answer->limited = false;
    return compare_earlier(decider, former, answer, &matches, error);
}

/* The same text under the same id: it is there already. */
static void decide_again(struct decider *decider, const struct decider_record *record,
                         uint32_t former, struct decider_answer *answer)
{
    const struct rule_bytes facts = {.same = id_of_number(former),
                                     .same_content = true,
                                     .same_leader = id_of_number(decider->leaders.items[former])};
    struct rule_answer rule;
    (void)rule_by_bytes(&facts, &rule);
    describe_same(decider, answer);
    take_rule(decider, record, &rule, answer);
    answer->kept = false;
    answer->known = former;
}

static enum doppel_status decide_same_id(struct decider *decider,
                                         const struct decider_record *record, uint32_t former,
                                         struct decider_answer *answer, struct doppel_error *error)
{
    const struct doppel_digest *contents = decider->contents.items;
    struct rule_answer rule;
    if (!rule_by_id(decider->on_same_id, id_of_number(former), &rule)) {
        if (memcmp(&contents[former], &record->content, sizeof *contents) != 0)
            return decide_update(decider, record, former, answer, error);
        decide_again(decider, record, former, answer);
        return DOPPEL_OK;
    }
    answer->decision = rule.decision;
    answer->reason = rule.reason;
    answer->of = former;
    answer->kept = false;
    return DOPPEL_OK;
}

static enum doppel_status apply_rule(struct decider *decider, const struct decider_record *record,
                                     struct decider_answer *answer, struct doppel_error *error)
{
    if (record->unreadable) {
        answer->decision = DOPPEL_DECISION_UNREADABLE;
        answer->kept = false;
        return DOPPEL_OK;
    }
    uint32_t former = decider_find_id(decider, &decider->ids.items[answer->number], record->id);
    if (former != NO_NUMBER)
        return decide_same_id(decider, record, former, answer, error);
    return decide_by_text(decider, record, answer, error);
}

bool decider_wants_candidates(const struct decider *decider, const struct decider_record *record)
{
    const struct doppel_digest *contents = decider->contents.items;
    struct doppel_digest digest = decider_id_digest(record->id);
    if (record->unreadable || record->too_short)
        return false;
    uint32_t former = decider_find_id(decider, &digest, record->id);
    if (former != NO_NUMBER)
        return decider->on_same_id == DOPPEL_SAME_ID_UPDATE &&
               memcmp(&contents[former], &record->content, sizeof *contents) != 0;
    return decider_find_content(decider, &record->content) == NO_NUMBER;
}

enum doppel_status decider_next(struct decider *decider, const struct decider_record *record,
                                struct decider_answer *out, struct doppel_error *error)
{
    enum doppel_status status = decider_push(decider, record->id, &record->content, error);
    if (status)
        return status;
    struct decider_answer answer = {
        .number = (uint32_t)decider->count - 1,
        .of = NO_NUMBER,
        .replaces = NO_NUMBER,
        .known = NO_NUMBER,
        .kept = true,
    };
    status = apply_rule(decider, record, &answer, error);
    answer.follows = answer.kept && decider->leaders.items[answer.number] != answer.number;
    answer.kept &= !record->only_asked;
    if (!status && answer.kept)
        status = decider_remember(decider, answer.number, record->id, error);
    if (status)
        return status;
    decider->flags.items[answer.number] = answer.leads ? FLAG_LEADS : 0;
    decider->count -= record->only_asked;
    *out = answer;
    return DOPPEL_OK;
}
