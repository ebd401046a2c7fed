/* Decisions of many writers: an item is written as pending, searched for everywhere, and confirmed
 * or taken back.
 *
 * Ids are the order. Two that are near see each other, the later search at least: it begins after
 * both are written. Who finds a younger pending one tells it to wait (a challenge), and it cannot
 * be confirmed before the older one is decided, and it has looked again; who finds an older pending
 * one waits by itself. So the oldest never waits, and of two that match one is confirmed first. A
 * younger one that is there when the challenge comes was first: the older one looks again.
 * What nobody decides, since its writer died, is taken away after a while by whoever waits for it.
 */
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/order.h"
#include "core/try.h"
#include "shards/decide_internal.h"

enum { ROUND_PAUSE_MS = 20, ROUND_PAUSE_MOST_MS = 200 };

/* ---- confirming, and taking back ---- */

/* What it is told to wait for and is not pending any more, it waits for no longer. */
static enum doppel_status end_challenges(struct shards_deciding *deciding, uint64_t id,
                                         const char *text, struct doppel_error *error)
{
    ARRAY(uint64_t) ids = {0};
    struct stored_items items = {0};
    uint8_t missing[SHARD_BYTES] = {0};
    int64_t state;
    char *end;
    enum doppel_status status = DOPPEL_OK;
    for (const char *at = text; *at; at = end) {
        const uint64_t older = strtoull(at, &end, 10);
        if (end == at)
            break;
        if (older && !array_push(&ids, older))
            TRY(no_deciding_memory(error));
    }
    if (ids.count)
        qsort(ids.items, ids.count, sizeof *ids.items, compare_u64);
    TRY(items_fetch(deciding->shards, ids.items, ids.count, true, &items, missing, error));
    for (size_t i = 0; i < ids.count; i++) {
        const uint64_t older = ids.items[i];
        const struct stored_item *item = stored_items_find(&items, older);
        if (has_shard(missing, shard_of_id(older)))
            continue;
        if (!item || !item->pending)
            TRY(send_challenge(deciding, id, older, true, &state, error));
        else
            TRY(wait_for_older(deciding, item, error));
    }
done:
    array_free(&ids);
    stored_items_free(&items);
    return status;
}

/* [1] or [2]: it is there. [0]: somebody took it away, as it took too long. [3, ids]: it waits. */
static enum doppel_status take_confirmed(struct shards_deciding *deciding, struct undecided *input,
                                         const redisReply *reply, struct doppel_error *error)
{
    const uint64_t state = reply_number(reply, 0);
    input->state = state == 1 || state == 2 ? INPUT_DECIDED
                   : state == 3             ? INPUT_PENDING
                                            : INPUT_FRESH;
    input->out->id = input->state == INPUT_DECIDED ? input->written.id : 0;
    return state == 3 && reply->elements == 2 && reply->element[1]->type == REDIS_REPLY_STRING
               ? end_challenges(deciding, input->written.id, reply->element[1]->str, error)
               : DOPPEL_OK;
}

static enum doppel_status confirm_inputs(struct shards_deciding *deciding,
                                         struct doppel_error *error)
{
    struct shards_commands commands = {0};
    size_t at = 0;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < deciding->count; i++)
        if (deciding->inputs[i].state == INPUT_STAYS)
            TRY(script_confirm(deciding->shards, &commands, deciding->inputs[i].written.id,
                               deciding->inputs[i].written.other.text, error));
    TRY(commands_run_all(deciding->shards, &commands, error));
    for (size_t i = 0; i < deciding->count; i++)
        if (deciding->inputs[i].state == INPUT_STAYS)
            TRY(take_confirmed(deciding, &deciding->inputs[i], commands.list.items[at++].reply,
                               error));
done:
    commands_free(&commands);
    return status;
}

/* Also those that depend on an input that is not there after all: they are looked at again. */
static enum doppel_status take_back_inputs(struct shards_deciding *deciding,
                                           struct doppel_error *error)
{
    const struct stored_item **gone = calloc(deciding->count + 1, sizeof *gone);
    size_t count = 0;
    enum doppel_status status = DOPPEL_OK;
    if (!gone)
        return no_deciding_memory(error);
    for (size_t i = 0; i < deciding->count; i++) {
        struct undecided *input = &deciding->inputs[i];
        const struct undecided *other =
            input->depends_on ? input_of_id(deciding, input->depends_on) : NULL;
        if (input->state != INPUT_GOES)
            continue;
        if (input->depends_on && (!other || other->state != INPUT_DECIDED)) {
            input->state = INPUT_PENDING;
            continue;
        }
        gone[count++] = &input->written.other;
        input->written.id = 0; /* another may get it */
        input->state = INPUT_DECIDED;
    }
    if (count)
        status = shards_take_away(deciding->shards, gone, count, error);
    free(gone);
    return status;
}

/* ---- writing ---- */

static void tell_known(struct undecided *input, enum doppel_decision decision,
                       enum doppel_decision_reason reason, uint64_t id)
{
    doppel_shards_decision_free(input->out);
    input->out->decision = decision;
    input->out->reason = reason;
    input->out->id = input->out->of = id;
    input->state = INPUT_DECIDED;
}

static enum doppel_status tell_identical(struct undecided *input, struct doppel_error *error)
{
    struct stored_item *other = &input->written.other;
    tell_known(input, DOPPEL_DECISION_DUPLICATE, DOPPEL_BECAUSE_IDENTICAL, other->item.item.id);
    const enum doppel_status status =
        doppel_compare_same(&input->item->item.record, &input->out->match, error);
    input->out->has_match = !status;
    input->out->of_item = other->item;
    other->item = (struct doppel_shards_item){0};
    return status;
}

/* What has its name is the same, takes its place, or is pending and may be gone soon. */
static enum doppel_status take_other(struct shards_deciding *deciding, struct undecided *input,
                                     struct doppel_error *error)
{
    struct stored_item *other = &input->written.other;
    const uint64_t id = other->item.item.id;
    struct doppel_shards_added added;
    if (other->pending && !input_of_id(deciding, id))
        return wait_for_older(deciding, other, error);
    if (other->pending)
        return DOPPEL_OK;
    if (shards_same_content(&other->item.item.record, &input->item->item.record))
        return tell_identical(input, error);
    const enum doppel_status status =
        shards_end_adding(deciding->shards, input->item, &input->written, &added, error);
    if (!status)
        tell_known(input, DOPPEL_DECISION_REVISION, DOPPEL_BECAUSE_SAME_ID, added.id);
    return status;
}

static enum doppel_status write_fresh_inputs(struct shards_deciding *deciding,
                                             struct doppel_error *error)
{
    const struct doppel_shards_item **items = calloc(deciding->count + 1, sizeof *items);
    struct shards_written *written = calloc(deciding->count + 1, sizeof *written);
    size_t count = 0, at = 0;
    enum doppel_status status = DOPPEL_OK;
    if (!items || !written)
        TRY(no_deciding_memory(error));
    for (size_t i = 0; i < deciding->count; i++)
        if (deciding->inputs[i].state == INPUT_FRESH)
            items[count++] = deciding->inputs[i].item;
    if (count)
        TRY(shards_write(deciding->shards, items, true, written, count, error));
    for (size_t i = 0; i < deciding->count && count; i++) {
        struct undecided *input = &deciding->inputs[i];
        if (input->state != INPUT_FRESH)
            continue;
        shards_written_clear(&input->written);
        input->written = written[at];
        written[at++] = (struct shards_written){0};
        if (input->written.state == WRITTEN_HERE)
            input->state = INPUT_PENDING;
        else if (input->written.state == WRITTEN_OTHER)
            TRY(take_other(deciding, input, error));
    }
done:
    shards_written_free(written, count);
    free(items);
    return status;
}

/* ---- all of it ---- */

static bool all_are_decided(const struct shards_deciding *deciding)
{
    for (size_t i = 0; i < deciding->count; i++)
        if (deciding->inputs[i].state != INPUT_DECIDED)
            return false;
    return true;
}

static enum doppel_status decide_pending(struct shards_deciding *deciding,
                                         struct doppel_error *error)
{
    const int64_t answered_ms = monotonic_ms() + deciding->shards->options.write_ms;
    const int64_t end_ms = answered_ms + LEASE_MS;
    uint32_t pause_ms = ROUND_PAUSE_MS;
    enum doppel_status status = DOPPEL_OK;
    while (!all_are_decided(deciding)) {
        TRY(write_fresh_inputs(deciding, error));
        status = look_at_inputs(deciding, error);
        if (status == DOPPEL_E_BUSY && monotonic_ms() < answered_ms) /* a node is replaced, say */
            status = DOPPEL_OK;
        TRY(status);
        TRY(confirm_inputs(deciding, error));
        TRY(take_back_inputs(deciding, error));
        if (all_are_decided(deciding))
            break;
        if (monotonic_ms() > end_ms)
            TRY(doppel_fail(error, DOPPEL_E_BUSY,
                            "other writers did not decide about what is near in time"));
        if (!shards_pause(deciding->shards, pause_ms))
            TRY(doppel_fail(error, DOPPEL_E_CANCELLED, "cancelled"));
        pause_ms = pause_ms < ROUND_PAUSE_MOST_MS ? 2 * pause_ms : pause_ms;
    }
done:
    return status;
}

/* After a failure nothing is left pending, as far as nodes answer. */
static void take_back_the_rest(struct shards_deciding *deciding)
{
    struct doppel_error ignored;
    for (size_t i = 0; i < deciding->count; i++) {
        struct undecided *input = &deciding->inputs[i];
        const struct stored_item *item = &input->written.other;
        if (input->state != INPUT_FRESH && input->state != INPUT_DECIDED && item->text)
            (void)shards_take_away(deciding->shards, &item, 1, &ignored);
    }
}

static enum doppel_status decide_only(struct shards_deciding *deciding, struct doppel_error *error)
{
    for (size_t i = 0; i < deciding->count; i++)
        deciding->inputs[i].state = INPUT_PENDING;
    return look_at_inputs(deciding, error);
}

enum doppel_status doppel_shards_decide(struct doppel_shards *shards,
                                        const struct doppel_shards_item *items, size_t count,
                                        const struct doppel_shards_decide_options *options,
                                        struct doppel_shards_decision *out,
                                        struct doppel_error *error)
{
    const struct doppel_shards_decide_options usual = {doppel_compare_options_default(), false};
    struct shards_deciding deciding = {
        .shards = shards, .options = options ? options : &usual, .count = count};
    enum doppel_status status = DOPPEL_OK;
    memset(out, 0, count * sizeof *out);
    deciding.inputs = calloc(count + 1, sizeof *deciding.inputs);
    if (!deciding.inputs)
        return no_deciding_memory(error);
    for (size_t i = 0; i < count; i++)
        deciding.inputs[i] = (struct undecided){.item = &items[i], .out = &out[i]};
    if (count > DOPPEL_SHARDS_BATCH)
        TRY(doppel_fail(error, DOPPEL_E_ARGUMENT, "a batch has up to %d items",
                        DOPPEL_SHARDS_BATCH));
    if (deciding.options->dry_run)
        TRY(decide_only(&deciding, error));
    else
        TRY(decide_pending(&deciding, error));
done:
    if (status && !deciding.options->dry_run)
        take_back_the_rest(&deciding);
    for (size_t i = 0; i < count; i++)
        shards_written_clear(&deciding.inputs[i].written);
    free(deciding.inputs);
    array_free(&deciding.waited_for);
    array_free(&deciding.challenges);
    return status;
}
