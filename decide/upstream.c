/* Asking an upstream. */
#include "decide/upstream.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/array.h"
#include "core/clock.h"
#include "core/try.h"
#include "decide/upstream_lines.h"

/* A question has so many items, or about so many bytes; an answer has so many bytes at most. */
enum { BATCH_ITEMS = 1000, BATCH_BYTES = 8 << 20, ANSWER_BYTES = 64 << 20 };
/* Where it is away, it is asked again after so long, and then after longer and longer. */
enum { FIRST_PAUSE_MS = 200, LONGEST_PAUSE_MS = 10000, LOOK_MS = 100 };

struct question {
    uint64_t item;
    char *id, *name; /* given; NULL: the item is no more */
    struct upstream_answer answer;
};

struct upstream {
    const struct doppel_upstream_options *options;
    struct doppel_run *run;
    struct doppel_library *library;
    struct doppel_client *client;
    ARRAY(struct question) questions; /* of the batch at hand */
    struct doppel_json body;
    uint64_t own_from;  /* what has an id below is of before; 0: all that waits is */
    int64_t away_until; /* not asked before that, by the monotonic clock */
    int pause_ms;       /* the last one; 0: it is not away */
};

/* ---- life ---- */

enum doppel_status upstream_new(struct doppel_run *run, struct doppel_library *library,
                                const struct doppel_upstream_options *options,
                                struct upstream **out, struct doppel_error *error)
{
    struct upstream *upstream = calloc(1, sizeof *upstream);
    if (!upstream)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to ask an upstream");
    upstream->options = options;
    upstream->run = run;
    upstream->library = library;
    enum doppel_status status = doppel_client_new(run, &options->service, &upstream->client, error);
    if (status)
        upstream_free(upstream);
    else
        *out = upstream;
    return status;
}

static void forget_batch(struct upstream *upstream)
{
    for (size_t i = 0; i < upstream->questions.count; i++) {
        struct question *question = &upstream->questions.items[i];
        free(question->id);
        free(question->name);
        free(question->answer.name);
    }
    upstream->questions.count = 0;
    doppel_json_clear(&upstream->body);
}

void upstream_free(struct upstream *upstream)
{
    if (!upstream)
        return;
    forget_batch(upstream);
    array_free(&upstream->questions);
    doppel_json_free(&upstream->body);
    doppel_client_free(upstream->client);
    free(upstream);
}

enum doppel_status upstream_queue(struct upstream *upstream, uint64_t item,
                                  struct doppel_error *error)
{
    if (!upstream || !item)
        return DOPPEL_OK;
    if (!upstream->own_from)
        upstream->own_from = item;
    return doppel_library_queue_upstream(upstream->library, item, error);
}

/* ---- asking ---- */

/* The next items that wait, as lines; none: nothing waits behind `*after`. */
static enum doppel_status gather_batch(struct upstream *upstream, uint64_t *after,
                                       struct doppel_error *error)
{
    struct doppel_queued queued;
    enum doppel_status status = DOPPEL_OK;
    forget_batch(upstream);
    while (upstream->questions.count < BATCH_ITEMS && upstream->body.size < BATCH_BYTES &&
           !(status = doppel_library_next_upstream(upstream->library, *after, &queued, error))) {
        struct question question = {.item = *after = queued.id};
        status = upstream_write_line(&upstream->body, upstream->library, &queued, &question.id,
                                     &question.name, error);
        if (!array_push(&upstream->questions, question)) {
            free(question.id);
            free(question.name);
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a question");
        }
        if (status && status != DOPPEL_E_NOT_FOUND)
            return status;
    }
    return status && status != DOPPEL_E_NOT_FOUND ? status
                                                  : doppel_json_status(&upstream->body, error);
}

static enum doppel_status read_answers(struct upstream *upstream,
                                       const struct doppel_client_answer *answer,
                                       struct doppel_error *error)
{
    const char *at = answer->body, *end = at + answer->size;
    for (size_t i = 0; i < upstream->questions.count; i++) {
        struct question *question = &upstream->questions.items[i];
        if (!question->id)
            continue;
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((newline ? newline : end) - at);
        enum doppel_status status =
            upstream_read_line(at, size, question->id, &question->answer, error);
        if (status)
            return status;
        at = newline ? newline + 1 : end;
    }
    return at == end ? DOPPEL_OK
                     : doppel_fail(error, DOPPEL_E_FORMAT, "it answers more than was asked");
}

static enum doppel_status send_batch(struct upstream *upstream, struct doppel_error *error)
{
    struct doppel_client_answer answer = {0};
    struct doppel_error why;
    const struct doppel_digest digest =
        doppel_digest_bytes(upstream->body.bytes, upstream->body.size);
    char key[2 * sizeof digest.bytes + 1];
    if (!upstream->body.size)
        return DOPPEL_OK;
    doppel_hex_encode(digest.bytes, sizeof digest.bytes, key);
    const struct doppel_client_request request = {.method = "POST",
                                                  .path = "/v1/ingest",
                                                  .type = "application/x-ndjson",
                                                  .body = upstream->body.bytes,
                                                  .size = upstream->body.size,
                                                  .idempotency_key = key};
    enum doppel_status status =
        doppel_client_send(upstream->client, &request, ANSWER_BYTES, &answer, error);
    if (!status && (status = read_answers(upstream, &answer, &why)))
        doppel_fail(error, status, "%s: %s", upstream->options->service.url, why.message);
    doppel_client_answer_free(&answer);
    return status;
}

/* ---- keeping the answers ---- */

static enum doppel_status log_answer(struct upstream *upstream, const struct question *question,
                                     struct doppel_error *error)
{
    const struct upstream_answer *answer = &question->answer;
    struct doppel_json detail = {0};
    bool known = answer->decision == DOPPEL_DECISION_IGNORED;
    if (known) {
        doppel_json_object_begin(&detail, NULL);
        doppel_json_text(&detail, "url", upstream->options->service.url);
        if (answer->item)
            doppel_json_integer(&detail, "item", answer->item);
        doppel_json_text(&detail, "name", answer->name);
        doppel_json_object_end(&detail);
    }
    const struct doppel_log_entry entry = {
        .action = DOPPEL_LOG_DECIDED,
        .item = question->item,
        .name = question->name,
        .decided = true,
        .decision = (int)answer->decision,
        .reason = known ? doppel_decision_reason_name(DOPPEL_BECAUSE_UPSTREAM) : answer->name,
        .detail = detail.bytes,
    };
    enum doppel_status status = doppel_json_status(&detail, error);
    if (!status)
        status = doppel_library_log(upstream->library, &entry, error);
    doppel_json_free(&detail);
    return status;
}

/* Of what was decided without it, whoever took it for new has to hear. */
static void report_late(const struct upstream *upstream, const struct question *question)
{
    const struct upstream_answer *answer = &question->answer;
    if (answer->decision == DOPPEL_DECISION_IGNORED &&
        (!upstream->own_from || question->item < upstream->own_from))
        doppel_run_notice(
            upstream->run,
            "%s: was new here, but the upstream has it: ignored (there item %llu%s%s)",
            question->name, (unsigned long long)answer->item, *answer->name ? ", " : "",
            answer->name);
}

static enum doppel_status keep_answer(struct upstream *upstream, const struct question *question,
                                      struct doppel_error *error)
{
    const enum doppel_decision decision =
        question->id ? question->answer.decision : DOPPEL_DECISION_NEW;
    bool waited;
    enum doppel_status status =
        doppel_library_leave_upstream(upstream->library, question->item, decision, &waited, error);
    if (status || !waited || decision == DOPPEL_DECISION_NEW)
        return status;
    report_late(upstream, question);
    return log_answer(upstream, question, error);
}

static enum doppel_status keep_answers(struct upstream *upstream, struct doppel_error *error)
{
    enum doppel_status status;
    TRY(doppel_library_begin(upstream->library, NULL, error));
    for (size_t i = 0; i < upstream->questions.count; i++)
        TRY(keep_answer(upstream, &upstream->questions.items[i], error));
    TRY(doppel_library_commit(upstream->library, error));
done:
    return status;
}

/* ---- while it is away ---- */

static void note_away(struct upstream *upstream, const char *why)
{
    if (!upstream->pause_ms)
        doppel_run_notice(upstream->run,
                          upstream->options->policy == DOPPEL_UPSTREAM_WAIT
                              ? "the upstream is away, and waited for: %s"
                              : "the upstream is away, and will be asked later: %s",
                          why);
    upstream->pause_ms = upstream->pause_ms ? 2 * upstream->pause_ms : FIRST_PAUSE_MS;
    if (upstream->pause_ms > LONGEST_PAUSE_MS)
        upstream->pause_ms = LONGEST_PAUSE_MS;
    upstream->away_until = monotonic_ns() + (int64_t)upstream->pause_ms * 1000000;
}

static enum doppel_status wait_a_while(const struct upstream *upstream, struct doppel_error *error)
{
    static const struct timespec look = {.tv_nsec = LOOK_MS * 1000000L};
    while (monotonic_ns() < upstream->away_until) {
        if (doppel_run_cancelled(upstream->run))
            return doppel_fail(error, DOPPEL_E_CANCELLED, "ended while the upstream was away");
        nanosleep(&look, NULL);
    }
    return DOPPEL_OK;
}

/* One batch until it is answered. @param out_away it was not, and is not waited for */
static enum doppel_status ask_batch(struct upstream *upstream, bool *out_away,
                                    struct doppel_error *error)
{
    for (;;) {
        struct doppel_error why = {0};
        enum doppel_status status = send_batch(upstream, &why);
        if (!status) {
            upstream->pause_ms = 0;
            return DOPPEL_OK;
        }
        if (status == DOPPEL_E_NOT_FOUND) /* which is the end of the inputs to who pulls */
            status = DOPPEL_E_ARGUMENT;
        if (status != DOPPEL_E_BUSY)
            return doppel_fail(error, status, "the upstream: %s", why.message);
        note_away(upstream, why.message);
        *out_away = upstream->options->policy == DOPPEL_UPSTREAM_ACCEPT;
        if (*out_away)
            return DOPPEL_OK;
        status = wait_a_while(upstream, error);
        if (status)
            return status;
    }
}

enum doppel_status upstream_settle(struct upstream *upstream, bool now, struct doppel_error *error)
{
    uint64_t after = 0;
    bool away = false;
    enum doppel_status status = DOPPEL_OK;
    if (!upstream)
        return DOPPEL_OK;
    if (!now && upstream->pause_ms && monotonic_ns() < upstream->away_until)
        goto done;
    for (;;) {
        TRY(gather_batch(upstream, &after, error));
        if (!upstream->questions.count)
            break;
        TRY(ask_batch(upstream, &away, error));
        if (away)
            break;
        TRY(keep_answers(upstream, error));
    }
done:
    forget_batch(upstream);
    upstream->own_from = 0;
    return status;
}

/* ---- what came of it ---- */

struct newest_decision {
    uint64_t item;
    struct upstream_outcome outcome;
    bool failed; /* no memory */
};

static bool take_newest_decision(void *context, const struct doppel_log_entry *entry,
                                 const struct doppel_error *problem)
{
    struct newest_decision *last = context;
    struct upstream_outcome *out = &last->outcome;
    if (problem->status || entry->item != last->item || !entry->decided)
        return true;
    out->decision = (enum doppel_decision)entry->decision;
    out->reason = entry->reason ? strdup(entry->reason) : NULL;
    out->detail = entry->detail ? strdup(entry->detail) : NULL;
    last->failed = (entry->reason && !out->reason) || (entry->detail && !out->detail);
    return false;
}

enum doppel_status upstream_outcome(struct upstream *upstream, uint64_t item,
                                    struct upstream_outcome *out, struct doppel_error *error)
{
    const struct doppel_log_query query = {.item = item, .newest_first = true};
    struct newest_decision last = {.item = item};
    enum doppel_status status;
    TRY(doppel_library_waits_upstream(upstream->library, item, &last.outcome.queued, error));
    status = doppel_library_each_log(upstream->library, &query, take_newest_decision, &last, error);
    if (status == DOPPEL_E_CANCELLED)
        status = DOPPEL_OK;
    if (!status && last.failed)
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an answer");
done:
    if (status)
        upstream_outcome_free(&last.outcome);
    else
        *out = last.outcome;
    return status;
}

void upstream_outcome_free(struct upstream_outcome *outcome)
{
    free(outcome->reason);
    free(outcome->detail);
    *outcome = (struct upstream_outcome){0};
}
