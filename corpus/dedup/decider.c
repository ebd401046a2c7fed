/* Deciding of records, one after the other: the rule. */
#include "corpus/dedup/decider_internal.h"

#include <string.h>

static bool is_benign(const struct decider *decider, uint32_t earlier)
{
    const struct decider_host *host = &decider->host;
    return decider_state_of(decider, earlier) == DOPPEL_LIST_BENIGN ||
           (host->was_benign && host->was_benign(host->context, earlier));
}

static enum doppel_status compare(const struct decider *decider, uint32_t earlier,
                                  struct decider_answer *answer, bool *out_matches,
                                  struct doppel_error *error)
{
    const struct decider_host *host = &decider->host;
    return host->match(host->context, answer->number, earlier, &answer->match, out_matches, error);
}

static void follow(struct decider *decider, struct decider_answer *answer, uint32_t leader)
{
    decider->leaders.items[answer->number] = leader;
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

/* The same content as an earlier record. */
static void decide_same(struct decider *decider, uint32_t earlier, struct decider_answer *answer)
{
    answer->decision = DOPPEL_DECISION_DUPLICATE;
    answer->reason = "same-content";
    answer->of = decider->leaders.items[earlier];
    describe_same(decider, answer);
    follow(decider, answer, answer->of);
}

/* It matches one whose matches are nobody's duplicates. */
static void decide_benign(uint32_t earlier, struct decider_answer *answer)
{
    answer->decision = DOPPEL_DECISION_NEW;
    answer->reason = "benign";
    answer->of = earlier;
}

/* Somebody said that it is the same as an earlier one. */
static void decide_marked(struct decider *decider, uint32_t earlier, struct decider_answer *answer)
{
    answer->decision = DOPPEL_DECISION_DUPLICATE;
    answer->reason = "marked";
    answer->of = decider->leaders.items[earlier];
    follow(decider, answer, answer->of);
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

/* A leader that is not to be matched with the record. */
static bool is_passed_over(const struct decider *decider, uint32_t earlier)
{
    return is_apart(decider, earlier) || decider_state_of(decider, earlier) == DOPPEL_LIST_DISABLED;
}

/* It holds, or shares a part with, what is benign: then it is nobody's duplicate by that. */
static bool is_mere_jingle(const struct decider *decider, const struct decider_answer *answer,
                           uint32_t earlier)
{
    enum doppel_relation relation = answer->match.relation;
    return (relation == DOPPEL_RELATION_CONTAINS || relation == DOPPEL_RELATION_OVERLAPS) &&
           decider_state_of(decider, earlier) == DOPPEL_LIST_BENIGN;
}

/* The first leader within the limit of similarity, else the first by containment; `*out_of` is
 * NO_NUMBER without one. */
static enum doppel_status find_leader(const struct decider *decider,
                                      const struct decider_record *record,
                                      struct decider_answer *answer, uint32_t *out_of,
                                      struct doppel_error *error)
{
    struct doppel_match container = {0};
    *out_of = NO_NUMBER;
    for (size_t i = 0; i < record->candidate_count; i++) {
        bool matches;
        uint32_t earlier = record->candidates[i];
        if (!decider_leads(decider, earlier) || is_passed_over(decider, earlier))
            continue;
        enum doppel_status status = compare(decider, earlier, answer, &matches, error);
        if (status)
            return status;
        if (!matches || is_mere_jingle(decider, answer, earlier) ||
            (answer->match.relation != DOPPEL_RELATION_SAME && *out_of != NO_NUMBER))
            continue;
        *out_of = earlier;
        if (answer->match.relation == DOPPEL_RELATION_SAME)
            return DOPPEL_OK;
        container = answer->match;
    }
    answer->match = container;
    return DOPPEL_OK;
}

static const char *reason_of(const struct decider_answer *answer)
{
    if (answer->match.relation == DOPPEL_RELATION_SAME)
        return answer->decision == DOPPEL_DECISION_REVISION ? "newer" : "near";
    if (answer->decision == DOPPEL_DECISION_PART)
        return "part";
    return doppel_relation_name(answer->match.relation);
}

static void decide_by_match(struct decider *decider, uint32_t leader, struct decider_answer *answer)
{
    const struct decider_host *host = &decider->host;
    answer->has_match = answer->limited = true;
    if (decider_state_of(decider, leader) == DOPPEL_LIST_BENIGN) {
        decide_benign(leader, answer);
        return;
    }
    struct doppel_origin record = host->origin(host->context, answer->number);
    struct doppel_origin item = host->origin(host->context, leader);
    bool near = answer->match.relation == DOPPEL_RELATION_SAME;
    answer->decision = doppel_decide(&answer->match, &record, &item);
    answer->reason = reason_of(answer);
    answer->of = leader;
    answer->leads = !near;
    if (near && answer->decision == DOPPEL_DECISION_REVISION)
        answer->replaces = leader;
    if (near)
        follow(decider, answer, leader);
}

static void decide_by_content(struct decider *decider, const struct decider_record *record,
                              uint32_t earlier, struct decider_answer *answer)
{
    if (!is_benign(decider, earlier)) {
        decide_same(decider, earlier, answer);
        return;
    }
    describe_same(decider, answer);
    decide_benign(earlier, answer);
    answer->leads = !record->too_short;
}

/* By its text alone. */
static enum doppel_status decide_by_text(struct decider *decider,
                                         const struct decider_record *record,
                                         struct decider_answer *answer, struct doppel_error *error)
{
    enum doppel_status status = find_apart(decider, &record->content, error);
    if (status)
        return status;
    uint32_t earlier = decider_find_content(decider, &record->content);
    if (earlier != NO_NUMBER) {
        decide_by_content(decider, record, earlier, answer);
        return DOPPEL_OK;
    }
    earlier = find_marked(decider, &record->content);
    if (earlier != NO_NUMBER) {
        decide_marked(decider, earlier, answer);
        return DOPPEL_OK;
    }
    answer->decision = DOPPEL_DECISION_TOO_SHORT;
    if (record->too_short)
        return DOPPEL_OK;
    status = find_leader(decider, record, answer, &earlier, error);
    if (status)
        return status;
    answer->decision = DOPPEL_DECISION_NEW;
    answer->leads = true;
    if (earlier != NO_NUMBER)
        decide_by_match(decider, earlier, answer);
    return DOPPEL_OK;
}

/* Another text under the same id: whether it leads, its text decides; what it is, the id. */
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
    answer->decision = DOPPEL_DECISION_REVISION;
    answer->reason = "same-id";
    answer->of = answer->replaces = former;
    answer->has_match = true;
    answer->limited = false;
    return compare(decider, former, answer, &matches, error);
}

static enum doppel_status decide_same_id(struct decider *decider,
                                         const struct decider_record *record, uint32_t former,
                                         struct decider_answer *answer, struct doppel_error *error)
{
    const struct doppel_digest *contents = decider->contents.items;
    if (decider->on_same_id == DOPPEL_SAME_ID_UPDATE) {
        if (memcmp(&contents[former], &record->content, sizeof *contents) != 0)
            return decide_update(decider, record, former, answer, error);
        answer->kept = false;
        answer->known = former;
        decide_same(decider, former, answer);
        return DOPPEL_OK;
    }
    bool skip = decider->on_same_id == DOPPEL_SAME_ID_SKIP;
    answer->decision = skip ? DOPPEL_DECISION_DUPLICATE : DOPPEL_DECISION_CONFLICT;
    answer->reason = "same-id";
    answer->of = former;
    answer->kept = false;
    return DOPPEL_OK;
}

static enum doppel_status decide(struct decider *decider, const struct decider_record *record,
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
    status = decide(decider, record, &answer, error);
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
