/* What an input is to what came before it: the rule alone. */
#include "corpus/dedup/rule.h"

static struct rule_answer answer(enum doppel_decision decision, enum doppel_decision_reason reason)
{
    return (struct rule_answer){.decision = decision, .reason = reason, .candidate = NO_CANDIDATE};
}

static struct rule_answer follower(enum doppel_decision_reason reason, uint64_t leader)
{
    struct rule_answer out = answer(DOPPEL_DECISION_DUPLICATE, reason);
    out.of = leader;
    out.follows = true;
    return out;
}

bool rule_by_id(enum doppel_same_id on_same_id, uint64_t other, struct rule_answer *out)
{
    if (on_same_id == DOPPEL_SAME_ID_UPDATE)
        return false;
    *out = answer(on_same_id == DOPPEL_SAME_ID_SKIP ? DOPPEL_DECISION_DUPLICATE
                                                    : DOPPEL_DECISION_CONFLICT,
                  DOPPEL_BECAUSE_SAME_ID);
    out->of = other;
    return true;
}

void rule_update(uint64_t former, struct rule_answer *out)
{
    bool follows = out->follows;
    *out = answer(DOPPEL_DECISION_REVISION, DOPPEL_BECAUSE_SAME_ID);
    out->of = out->former = former;
    out->follows = follows;
}

bool rule_by_bytes(const struct rule_bytes *facts, struct rule_answer *out)
{
    if (facts->unreadable) {
        *out = answer(DOPPEL_DECISION_UNREADABLE, DOPPEL_BECAUSE_NONE);
    } else if (facts->here && facts->here_same && !facts->by_id) {
        *out = follower(DOPPEL_BECAUSE_KNOWN, facts->here_leader);
    } else if (facts->here && !facts->here_same) {
        *out = answer(DOPPEL_DECISION_REVISION,
                      facts->by_id ? DOPPEL_BECAUSE_SAME_ID : DOPPEL_BECAUSE_SAME_PATH);
        out->former = facts->here;
    } else if (facts->gone) {
        *out = follower(DOPPEL_BECAUSE_MOVED, facts->gone_leader);
    } else if (facts->same && facts->same_is_benign) {
        *out = answer(DOPPEL_DECISION_NEW, DOPPEL_BECAUSE_BENIGN);
        out->of = facts->same;
    } else if (facts->same) {
        *out =
            follower(facts->same_content ? DOPPEL_BECAUSE_SAME_CONTENT : DOPPEL_BECAUSE_IDENTICAL,
                     facts->same_leader);
        out->same_as = facts->same;
    } else {
        return false;
    }
    return true;
}

bool rule_keeps_out(const struct rule_answer *answer)
{
    return answer->reason == DOPPEL_BECAUSE_SAME_ID && answer->decision != DOPPEL_DECISION_REVISION;
}

/* ---- by content ---- */

/* What a candidate may be to an input. */
enum rank { RANK_SAME, RANK_NEAR, RANK_PART, RANK_CONTAINS, RANK_OVERLAPS, RANK_NOTHING };

static enum rank rank_of_relation(enum doppel_relation relation)
{
    return relation == DOPPEL_RELATION_CONTAINED  ? RANK_PART
           : relation == DOPPEL_RELATION_CONTAINS ? RANK_CONTAINS
                                                  : RANK_OVERLAPS;
}

/* What an input holds, or shares a part with, is benign: then it is nobody's duplicate by that. */
static bool is_mere_jingle(const struct rule_candidate *candidate, enum rank rank)
{
    return candidate->state == DOPPEL_LIST_BENIGN &&
           (rank == RANK_CONTAINS || rank == RANK_OVERLAPS);
}

bool rule_may_count(const struct rule_candidate *candidate)
{
    return candidate->state != DOPPEL_LIST_DISABLED && candidate->word != DOPPEL_LABEL_DISTINCT &&
           (candidate->same_content || candidate->leader == candidate->id);
}

static enum rank rank_of(const struct rule_content *facts, const struct rule_candidate *candidate)
{
    if (!rule_may_count(candidate))
        return RANK_NOTHING;
    if (candidate->same_content)
        return RANK_SAME;
    enum rank rank = rank_of_relation(candidate->match->relation);
    bool one_kind = facts->kind == candidate->kind;
    if (candidate->match->relation == DOPPEL_RELATION_SAME)
        rank = one_kind ? RANK_NEAR : RANK_PART; /* as the audio of a video */
    return is_mere_jingle(candidate, rank) ? RANK_NOTHING : rank;
}

bool rule_prefers(const struct rule_content *facts, const struct rule_candidate *candidate,
                  const struct rule_candidate *best)
{
    enum rank rank = rank_of(facts, candidate);
    enum rank former = best ? rank_of(facts, best) : RANK_NOTHING;
    bool both_share = facts->in_order && rank >= RANK_PART && former >= RANK_PART;
    if (rank == RANK_NOTHING || former == RANK_NOTHING)
        return rank != RANK_NOTHING;
    return rank == former || both_share ? candidate->id < best->id : rank < former;
}

/* The first of those of the best rank; NO_CANDIDATE without one. */
static size_t find_first(const struct rule_content *facts, enum rank *out_rank)
{
    const struct rule_candidate *best = NULL;
    for (size_t i = 0; i < facts->count; i++)
        if (rule_prefers(facts, &facts->candidates[i], best))
            best = &facts->candidates[i];
    *out_rank = best ? rank_of(facts, best) : RANK_NOTHING;
    return best ? (size_t)(best - facts->candidates) : NO_CANDIDATE;
}

/* A benign one of this rank or a better one. */
static size_t find_benign(const struct rule_content *facts, enum rank rank, size_t first)
{
    for (size_t i = 0; i < facts->count && rank != RANK_NOTHING; i++)
        if (facts->candidates[i].state == DOPPEL_LIST_BENIGN &&
            rank_of(facts, &facts->candidates[i]) <= RANK_NEAR && rank <= RANK_NEAR)
            return i;
    return rank == RANK_PART && facts->candidates[first].state == DOPPEL_LIST_BENIGN ? first
                                                                                     : NO_CANDIDATE;
}

/* A text that is not much smaller than the one that holds it is a revision of it. */
static struct rule_answer by_part(const struct rule_content *facts,
                                  const struct rule_candidate *candidate, enum rank rank)
{
    bool texts = facts->kind == DOPPEL_KIND_TEXT && candidate->match->has_coverage &&
                 !candidate->match->segment_count;
    bool revises = texts ? doppel_decide(candidate->match, &facts->origin, &candidate->origin) ==
                               DOPPEL_DECISION_REVISION
                         : rank == RANK_CONTAINS && candidate->kind == facts->kind;
    if (rank == RANK_OVERLAPS)
        return answer(DOPPEL_DECISION_NEW, DOPPEL_BECAUSE_OVERLAPS);
    if (revises)
        return answer(DOPPEL_DECISION_REVISION,
                      rank == RANK_PART ? DOPPEL_BECAUSE_CONTAINED : DOPPEL_BECAUSE_CONTAINS);
    return rank == RANK_PART ? answer(DOPPEL_DECISION_PART, DOPPEL_BECAUSE_PART)
                             : answer(DOPPEL_DECISION_NEW, DOPPEL_BECAUSE_CONTAINS);
}

static struct rule_answer by_candidate(const struct rule_content *facts, size_t number,
                                       enum rank rank)
{
    const struct rule_candidate *candidate = &facts->candidates[number];
    struct rule_answer out;
    if (rank == RANK_SAME)
        out = follower(DOPPEL_BECAUSE_SAME_CONTENT, candidate->leader);
    else if (rank == RANK_NEAR)
        out = follower(DOPPEL_BECAUSE_NEAR, candidate->leader);
    else
        out = by_part(facts, candidate, rank);
    if (rank == RANK_NEAR)
        out.decision = doppel_decide(candidate->match, &facts->origin, &candidate->origin);
    if (rank == RANK_NEAR && out.decision == DOPPEL_DECISION_REVISION)
        out.reason = DOPPEL_BECAUSE_NEWER;
    out.of = candidate->leader;
    out.same_as = rank == RANK_SAME ? candidate->id : 0;
    out.candidate = number;
    return out;
}

void rule_by_content(const struct rule_content *facts, struct rule_answer *out)
{
    enum rank rank;
    size_t first = find_first(facts, &rank), benign = find_benign(facts, rank, first);
    if (facts->marked && rank != RANK_SAME) {
        *out = follower(DOPPEL_BECAUSE_MARKED, facts->marked);
    } else if (benign != NO_CANDIDATE) {
        *out = answer(DOPPEL_DECISION_NEW, DOPPEL_BECAUSE_BENIGN);
        out->of = facts->candidates[benign].id;
        out->candidate = benign;
    } else if (rank != RANK_NOTHING) {
        *out = by_candidate(facts, first, rank);
    } else {
        *out = answer(facts->too_short ? DOPPEL_DECISION_TOO_SHORT : DOPPEL_DECISION_NEW,
                      DOPPEL_BECAUSE_NONE);
    }
}
