/*
 * Deciding of all records, component by component; within one, in order of input.
 *
 * Threads share out the components. A large one they do together, a window of records at a time:
 * first all of the window are compared with the representatives from before it, each on any thread;
 * then, in order, with those that have come up in the window meanwhile, and decided. What they are
 * decided to be is the same as one by one.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "core/try.h"
#include "corpus/dedup/components.h"
#include "corpus/dedup/judge.h"

enum {
    LARGE = 2048,
    WINDOW = 256,
    SHARE = 16,
    MIN_CACHE_BYTES = 1 << 20,
    MAX_CACHE_BYTES = 16 << 20
};

struct replay {
    struct dedup *dedup;
    struct components components;
    struct judge *judges; /* a thread */
    struct thread_team thread_team;
    atomic_size_t next; /* component, or record of the window */
    size_t told;        /* records that were told to be compared */
    /* of a large component */
    const uint32_t *window;
    size_t window_count;
    struct finding *findings;
};

static size_t replay_bytes(const struct replay *replay, size_t component)
{
    return replay->components.starts.items[component + 1] -
           replay->components.starts.items[component];
}

static bool is_large(const struct replay *replay, size_t component)
{
    return replay->thread_team.threads > 1 &&
           replay->dedup->options->cluster == DOPPEL_CLUSTER_REPRESENTATIVES &&
           replay_bytes(replay, component) >= LARGE;
}

static void fail_replay(struct replay *replay, enum doppel_status status,
                        const struct doppel_error *error)
{
    if (status)
        thread_team_fail(&replay->thread_team, error);
}

/* Comparing may take much longer than reading did. What was cancelled while reading is decided. */
static enum doppel_status look_up_dedup(struct replay *replay, size_t done,
                                        struct doppel_error *error)
{
    const struct dedup *dedup = replay->dedup;
    if (done < replay->told) /* the large components came first */
        done = replay->told;
    replay->told = done;
    if (dedup->cancelled || dedup_goes_on(dedup, "records compared", done, dedup->count))
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted while comparing: none is told");
}

/* ---- small components ---- */

static void decide_component(struct replay *replay, uint32_t thread, size_t component)
{
    struct judge *judge = &replay->judges[thread];
    const uint32_t *records =
        replay->components.records + replay->components.starts.items[component];
    struct doppel_error error;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < replay_bytes(replay, component) && !status; i++) {
        status = judge_record(judge, records[i], &error);
        if (!status && !thread && i % WINDOW == WINDOW - 1)
            status = look_up_dedup(replay, replay->components.starts.items[component] + i, &error);
    }
    fail_replay(replay, status, &error);
}

static void decide_small(void *context, uint32_t thread)
{
    struct replay *replay = context;
    struct doppel_error error;
    size_t first, count = replay->components.starts.count - 1;
    while ((first = atomic_fetch_add(&replay->next, SHARE)) < count &&
           !thread_team_failed(&replay->thread_team)) {
        for (size_t i = first; i < count && i < first + SHARE; i++)
            if (!is_large(replay, i))
                decide_component(replay, thread, i);
        if (!thread && first / SHARE % SHARE == 0)
            fail_replay(replay,
                        look_up_dedup(replay, replay->components.starts.items[first], &error),
                        &error);
        if (first % LET_GO_RECORDS == 0)
            let_go(replay->dedup);
    }
}

/* ---- large components ---- */

static void search_window(void *context, uint32_t thread)
{
    struct replay *replay = context;
    struct judge *judge = &replay->judges[thread];
    struct doppel_error error;
    size_t i;
    while ((i = atomic_fetch_add(&replay->next, 1)) < replay->window_count) {
        replay->findings[i] = (struct finding){.near = NO_RECORD, .held = NO_RECORD};
        if (judge_searches(judge, replay->window[i]))
            fail_replay(replay,
                        judge_search(judge, replay->window[i], 0, &replay->findings[i], &error),
                        &error);
    }
}

/* What was found before the window holds as long as those found still lead. */
static enum doppel_status replay_one(struct replay *replay, size_t i, struct doppel_error *error)
{
    struct judge *judge = &replay->judges[0];
    uint32_t number = replay->window[i], low = 0;
    struct finding found = replay->findings[i], finding = judge_begin(judge, number);
    if (found.searched && (found.near == NO_RECORD || judge_leads(judge, found.near)) &&
        (found.held == NO_RECORD || judge_leads(judge, found.held))) {
        finding = found;
        low = replay->window[0];
    }
    enum doppel_status status = DOPPEL_OK;
    if (finding.near == NO_RECORD && judge_searches(judge, number))
        status = judge_search(judge, number, low, &finding, error);
    return status ? status : judge_decide(judge, number, &finding, error);
}

static enum doppel_status decide_window(struct replay *replay, struct doppel_error *error)
{
    atomic_store(&replay->next, 0);
    enum doppel_status status = thread_team_run(&replay->thread_team, search_window, replay, error);
    for (size_t i = 0; i < replay->window_count && !status; i++)
        status = replay_one(replay, i, error);
    return status;
}

static enum doppel_status decide_large(struct replay *replay, struct doppel_error *error)
{
    size_t count = replay->components.starts.count - 1;
    enum doppel_status status = DOPPEL_OK;
    for (size_t c = 0; c < count && !status; c++) {
        size_t size = is_large(replay, c) ? replay_bytes(replay, c) : 0;
        for (size_t at = 0; at < size && !status; at += WINDOW) {
            replay->window = replay->components.records + replay->components.starts.items[c] + at;
            replay->window_count = size - at < WINDOW ? size - at : WINDOW;
            status = decide_window(replay, error);
            if (!status)
                status = look_up_dedup(replay, replay->components.starts.items[c] + at, error);
        }
    }
    return status;
}

/* ---- all ---- */

static enum doppel_status make_judges(struct replay *replay, struct doppel_error *error)
{
    struct dedup *dedup = replay->dedup;
    uint64_t cache = MAX_CACHE_BYTES, limit = dedup->space.limit;
    if (limit && limit / 8 / dedup->threads < cache)
        cache = limit / 8 / dedup->threads;
    if (cache < MIN_CACHE_BYTES)
        cache = MIN_CACHE_BYTES;
    replay->judges = calloc(dedup->threads, sizeof *replay->judges);
    replay->findings = calloc(WINDOW, sizeof *replay->findings);
    enum doppel_status status = DOPPEL_OK;
    if (!replay->judges || !replay->findings)
        return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory");
    for (uint32_t i = 0; i < dedup->threads && !status; i++)
        status = judge_init(&replay->judges[i], dedup, (size_t)cache, error);
    return status;
}

static void free_judges(struct replay *replay)
{
    for (uint32_t i = 0; replay->judges && i < replay->dedup->threads; i++)
        judge_free(&replay->judges[i]);
    free(replay->judges);
    free(replay->findings);
}

enum doppel_status dedup_replay(struct dedup *dedup, struct doppel_error *error)
{
    struct replay replay = {.dedup = dedup};
    enum doppel_status status;
    thread_team_init(&replay.thread_team, dedup->threads);
    TRY(chunked_grow(&dedup->verdicts, &dedup->space, dedup->count, error));
    TRY(components_find(dedup, &replay.components, error));
    for (uint32_t i = 0; i < dedup->count; i++)
        dedup_facts_of(dedup, i)->leader = i;
    TRY(make_judges(&replay, error));
    TRY(decide_large(&replay, error));
    atomic_store(&replay.next, 0);
    TRY(thread_team_run(&replay.thread_team, decide_small, &replay, error));
    /* The other threads may have left this one nothing to tell of. */
    TRY(look_up_dedup(&replay, dedup->count, error));
done:
    free_judges(&replay);
    thread_team_end(&replay.thread_team);
    components_free(&replay.components);
    return status;
}
