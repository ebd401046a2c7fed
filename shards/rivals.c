/* Inputs that are pending, and what is near them: which of them stays, goes, or waits. */
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/digest.h"
#include "core/try.h"
#include "corpus/dedup/rule.h"
#include "shards/decide_internal.h"

enum doppel_status no_deciding_memory(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decide");
}

struct undecided *input_of_id(const struct shards_deciding *deciding, uint64_t id)
{
    for (size_t i = 0; i < deciding->count; i++)
        if (deciding->inputs[i].written.id == id && deciding->inputs[i].state != INPUT_FRESH)
            return &deciding->inputs[i];
    return NULL;
}

/* ---- facts ---- */

struct rival_facts {
    ARRAY(struct rule_candidate) candidates;
    ARRAY(struct doppel_comparison) matches; /* of these */
    uint64_t same;                           /* the first with the same bytes */
    uint64_t same_pixels;
};

static void facts_free(struct rival_facts *facts)
{
    for (size_t i = 0; i < facts->matches.count; i++)
        doppel_comparison_free(&facts->matches.items[i]);
    array_free(&facts->matches);
    array_free(&facts->candidates);
}

/* @param match taken */
static enum doppel_status add_fact(struct rival_facts *facts,
                                   const struct doppel_shards_item *input,
                                   const struct doppel_shards_item *item,
                                   struct doppel_comparison *match, struct doppel_error *error)
{
    const bool origins = input->about.source && input->about.date;
    struct rule_candidate candidate = {.id = item->item.id,
                                       .leader = item->item.id,
                                       .state = DOPPEL_LIST_ACTIVE,
                                       .kind = item->item.record.kind};
    if (origins)
        candidate.origin = (struct doppel_origin){item->about.source, item->about.date};
    if (!facts->same && is_same_digest(&input->item.record.digest, &item->item.record.digest))
        facts->same = item->item.id;
    if (!facts->same_pixels &&
        is_same_digest(&input->item.record.pixels, &item->item.record.pixels))
        facts->same_pixels = item->item.id;
    if (array_push(&facts->matches, *match) && array_push(&facts->candidates, candidate))
        return DOPPEL_OK;
    doppel_comparison_free(match);
    return no_deciding_memory(error);
}

/* What the rule says of them. @return the candidate whose match tells why, or NO_CANDIDATE */
static struct rule_answer ask_rule(struct rival_facts *facts,
                                   const struct doppel_shards_item *input,
                                   const struct doppel_compare_options *compare)
{
    const uint64_t same = facts->same ? facts->same : facts->same_pixels;
    const struct rule_bytes bytes = {
        .same = same, .same_leader = same, .same_content = !facts->same};
    struct rule_answer answer = {.candidate = NO_CANDIDATE};
    if (same && rule_by_bytes(&bytes, &answer))
        return answer;
    for (size_t i = 0; i < facts->candidates.count; i++)
        facts->candidates.items[i].match = &facts->matches.items[i].match;
    const struct rule_content content = {.kind = input->item.record.kind,
                                         .too_short =
                                             doppel_compare_obstacle(&input->item.record, compare),
                                         .origin = {input->about.source, input->about.date},
                                         .candidates = facts->candidates.items,
                                         .count = facts->candidates.count};
    rule_by_content(&content, &answer);
    return answer;
}

/* ---- pending ones of others ---- */

enum doppel_status send_challenge(struct shards_deciding *deciding, uint64_t id, uint64_t older,
                                  bool ends, int64_t *out, struct doppel_error *error)
{
    struct shards_commands commands = {0};
    enum doppel_status status;
    TRY(script_challenge(deciding->shards, &commands, id, older, ends, error));
    TRY(commands_run_all(deciding->shards, &commands, error));
    const redisReply *reply = commands.list.items[0].reply;
    if (reply->type != REDIS_REPLY_INTEGER)
        TRY(doppel_fail(error, DOPPEL_E_IO, "Redis: a script gave no number"));
    *out = reply->integer;
done:
    commands_free(&commands);
    return status;
}

/* Tell a younger one to wait. It may be there by now: then it was first, and the older one has to
 * look again. */
static enum doppel_status challenge_younger(struct shards_deciding *deciding, uint64_t id,
                                            uint64_t older, bool *out_waits,
                                            struct doppel_error *error)
{
    const struct challenge one = {id, older};
    int64_t state;
    for (size_t i = 0; i < deciding->challenges.count; i++)
        if (deciding->challenges.items[i].id == id && deciding->challenges.items[i].older == older)
            return DOPPEL_OK;
    const enum doppel_status status = send_challenge(deciding, id, older, false, &state, error);
    if (status)
        return status;
    *out_waits |= state == 2;
    return state != 1 || array_push(&deciding->challenges, one) ? DOPPEL_OK
                                                                : no_deciding_memory(error);
}

/* Wait for an older one; not for ever. */
enum doppel_status wait_for_older(struct shards_deciding *deciding, const struct stored_item *older,
                                  struct doppel_error *error)
{
    const uint64_t id = older->item.item.id;
    for (size_t i = 0; i < deciding->waited_for.count; i++)
        if (deciding->waited_for.items[i].id == id)
            return monotonic_ms() - deciding->waited_for.items[i].since_ms < LEASE_MS
                       ? DOPPEL_OK
                       : shards_take_away(deciding->shards, &older, 1, error);
    const struct waited_for one = {id, monotonic_ms()};
    return array_push(&deciding->waited_for, one) ? DOPPEL_OK : no_deciding_memory(error);
}

/* ---- one input ---- */

/* @param out_waits it is to be looked at again: an older one is pending, or a younger one was first
 */
static enum doppel_status take_rival(struct shards_deciding *deciding, struct undecided *input,
                                     const struct stored_item *item, struct rival_facts *facts,
                                     bool *out_waits, struct doppel_error *error)
{
    const uint64_t id = item->item.item.id, own = input->written.id;
    const struct undecided *ours = input_of_id(deciding, id);
    struct doppel_comparison match;
    bool matches;
    if (id == own || (ours && ours->state == INPUT_GOES) || (ours && item->pending && id > own) ||
        (item->pending && deciding->options->dry_run))
        return DOPPEL_OK;
    enum doppel_status status = shards_judge(&input->item->item.record, &deciding->options->compare,
                                             &item->item, &matches, &match, error);
    if (status || !matches)
        return status;
    if (!item->pending || ours) {
        *out_waits |= ours && ours->state == INPUT_PENDING;
        return add_fact(facts, input->item, &item->item, &match, error);
    }
    doppel_comparison_free(&match);
    *out_waits |= id < own;
    return id < own ? wait_for_older(deciding, item, error)
                    : challenge_younger(deciding, id, own, out_waits, error);
}

static enum doppel_status copy_of_item(const struct stored_item *item,
                                       struct doppel_shards_item *out, struct doppel_error *error)
{
    struct stored_item again;
    const enum doppel_status status =
        item_read(item->item.item.id, item->text, strlen(item->text), &again, error);
    if (status)
        return status;
    *out = again.item;
    again.item = (struct doppel_shards_item){0};
    stored_item_free(&again);
    return DOPPEL_OK;
}

static enum doppel_status tell_rule_answer(const struct shards_deciding *deciding,
                                           struct undecided *input,
                                           const struct rule_answer *answer,
                                           struct rival_facts *facts,
                                           const struct stored_items *items,
                                           struct doppel_error *error)
{
    struct doppel_shards_decision *out = input->out;
    const struct stored_item *of = answer->of ? stored_items_find(items, answer->of) : NULL;
    size_t why = answer->candidate;
    doppel_shards_decision_free(out);
    out->decision = answer->decision;
    out->reason = answer->reason;
    out->of = answer->of;
    for (size_t i = 0; why == NO_CANDIDATE && answer->of && i < facts->candidates.count; i++)
        if (facts->candidates.items[i].id == answer->of)
            why = i;
    if (why != NO_CANDIDATE) {
        out->has_match = true;
        out->match = facts->matches.items[why];
        facts->matches.items[why] = (struct doppel_comparison){0};
    }
    input->depends_on = input_of_id(deciding, answer->of) ? answer->of : 0;
    return of ? copy_of_item(of, &out->of_item, error) : DOPPEL_OK;
}

/* Candidates of one input; it goes, stays, or waits. */
static enum doppel_status look_at_input(struct shards_deciding *deciding, struct undecided *input,
                                        const struct shards_candidate *candidates, size_t count,
                                        const struct stored_items *items,
                                        struct doppel_error *error)
{
    struct rival_facts facts = {0};
    bool waits = false;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < count; i++) {
        const struct stored_item *item = stored_items_find(items, candidates[i].id);
        if (item)
            TRY(take_rival(deciding, input, item, &facts, &waits, error));
    }
    if (waits)
        goto done;
    const struct rule_answer answer = ask_rule(&facts, input->item, &deciding->options->compare);
    TRY(tell_rule_answer(deciding, input, &answer, &facts, items, error));
    input->state =
        answer.follows || answer.decision == DOPPEL_DECISION_IGNORED ? INPUT_GOES : INPUT_STAYS;
done:
    facts_free(&facts);
    return status;
}

/* ---- all of them ---- */

enum doppel_status look_at_inputs(struct shards_deciding *deciding, struct doppel_error *error)
{
    struct shards_looked_up found = {0};
    const struct doppel_record **queries = calloc(deciding->count + 1, sizeof *queries);
    struct undecided **asked = calloc(deciding->count + 1, sizeof *asked);
    size_t count = 0, at = 0;
    enum doppel_status status = DOPPEL_OK;
    if (!queries || !asked)
        TRY(no_deciding_memory(error));
    for (size_t i = 0; i < deciding->count; i++)
        if (deciding->inputs[i].state == INPUT_PENDING) {
            queries[count] = &deciding->inputs[i].item->item.record;
            asked[count++] = &deciding->inputs[i];
        }
    TRY(shards_look_up(deciding->shards, queries, count, &deciding->options->compare, true, &found,
                       error));
    if (any_shard(found.missing))
        TRY(doppel_fail(error, DOPPEL_E_BUSY, "some nodes of the cluster did not answer"));
    for (size_t i = 0; i < count; i++) {
        const size_t first = at;
        while (at < found.candidates.list.count && found.candidates.list.items[at].query == i)
            at++;
        const struct shards_candidate *own =
            at > first ? &found.candidates.list.items[first] : NULL; /* there may be none at all */
        TRY(look_at_input(deciding, asked[i], own, at - first, &found.items, error));
    }
done:
    shards_looked_up_free(&found);
    free(queries);
    free(asked);
    return status;
}
