/* An index in a folder, and a history of transactions. */
#include "tests/store/kept.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum doppel_status kept_open(const char *folder, const struct kept_options *options,
                             struct kept *out, struct doppel_error *error)
{
    char database[1024], segments[1024];
    struct doppel_index_options make = doppel_index_options_default();
    make.head_codes = KEPT_HEAD;
    const struct doppel_store_options store_options = {
        .application_id = 0x7465737f,
        .schema_version = 1,
        .schema = DOPPEL_STORE_INDEX_SCHEMA "CREATE TABLE done(number INTEGER PRIMARY KEY) STRICT",
        .create = !options->read_only,
        .read_only = options->read_only,
        .durable = options->durable,
        .busy_timeout_ms = options->hasty ? 100 : 10000,
    };
    snprintf(database, sizeof database, "%s/index.db", folder);
    snprintf(segments, sizeof segments, "%s/codes", folder);
    const struct doppel_store_index_options index_options = {
        .name = "codes",
        .folder = segments,
        .make = options->read_only ? NULL : &make,
        .merge = options->merge,
        .salvage = options->salvage,
        .rebuild = options->rebuild,
        .rebuild_context = options->context,
    };
    struct kept kept = {0};
    enum doppel_status status = doppel_store_open(database, &store_options, &kept.store, error);
    if (!status)
        status = doppel_store_index_open(kept.store, &index_options, &kept.index, error);
    if (status)
        kept_close(&kept);
    else
        *out = kept;
    return status;
}

void kept_close(struct kept *kept)
{
    doppel_store_index_close(kept->index);
    doppel_store_close(kept->store);
    *kept = (struct kept){0};
}

/* Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014). */
uint64_t kept_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

uint64_t kept_code(uint64_t payload)
{
    return kept_random(&payload);
}

/* Transaction n removes a code of transaction n / 2: sometimes of an old segment, never twice the
 * same. */
static uint64_t removed_by(uint64_t number)
{
    return number / 2 * KEPT_CODES + number % 2;
}

enum doppel_status kept_transact(struct kept *kept, uint64_t number, struct doppel_error *error)
{
    uint64_t codes[KEPT_CODES], payloads[KEPT_CODES], removed = removed_by(number);
    for (uint64_t i = 0; i < KEPT_CODES; i++) {
        payloads[i] = number * KEPT_CODES + i;
        codes[i] = kept_code(payloads[i]);
    }
    enum doppel_status status = doppel_store_begin(kept->store, error);
    if (status)
        return status;
    status = doppel_store_index_insert(kept->index, codes, payloads, KEPT_CODES, error);
    if (!status)
        status = doppel_store_index_remove(kept->index, &removed, 1, error);
    if (!status)
        return doppel_store_commit(kept->store, error);
    doppel_store_rollback(kept->store);
    return status;
}

/* ---- looking ---- */

struct census {
    uint64_t end, most, count;
    uint8_t *seen;
    const char *wrong;
};

static bool note(void *context, const struct doppel_index_hit *hit)
{
    struct census *census = context;
    census->count++;
    if (hit->payload >= census->end)
        census->wrong = "a payload that was never inserted";
    else if (census->seen[hit->payload]++)
        census->wrong = "a payload twice";
    else if (hit->distance != (uint32_t)__builtin_popcountll(kept_code(hit->payload)))
        census->wrong = "a payload with another code";
    if (hit->payload + 1 > census->most)
        census->most = hit->payload + 1;
    return !census->wrong;
}

/* All that the index holds. */
static const char *take_census(struct doppel_index *index, uint64_t end, struct census *out,
                               struct doppel_error *error)
{
    const uint64_t zero = 0;
    const struct doppel_index_request all = {.queries = &zero, .count = 1, .radius = 64};
    *out = (struct census){.end = end, .seen = calloc(end + 1, 1)};
    enum doppel_status status = doppel_index_search(index, &all, note, out, error);
    if (out->wrong)
        return out->wrong;
    return status ? error->message : NULL;
}

/* Each is found by its code, too. */
static const char *find_one(struct doppel_index *index, uint64_t payload,
                            struct doppel_error *error)
{
    struct doppel_index_hit *hits = NULL;
    size_t count = 0;
    const uint64_t code = kept_code(payload);
    const struct doppel_index_request same = {.queries = &code, .count = 1, .radius = 0};
    if (doppel_index_search_array(index, &same, &hits, &count, error))
        return error->message;
    bool found = count == 1 && hits[0].payload == payload;
    free(hits);
    return found ? NULL : "a code is not found";
}

static const char *compare(const struct census *census, struct doppel_index *index,
                           bool (*alive)(void *context, uint64_t payload), void *context,
                           struct doppel_error *error)
{
    for (uint64_t payload = 0; payload < census->end; payload++) {
        bool wanted = alive(context, payload);
        if (wanted != (census->seen[payload] > 0))
            return wanted ? "a code is missing" : "a code that was removed";
        const char *wrong = wanted && payload % 37 == 0 ? find_one(index, payload, error) : NULL;
        if (wrong)
            return wrong;
    }
    return NULL;
}

const char *kept_compare(struct doppel_index *index, uint64_t end,
                         bool (*alive)(void *context, uint64_t payload), void *context,
                         struct doppel_error *error)
{
    struct census census;
    const char *wrong = take_census(index, end, &census, error);
    if (!wrong)
        wrong = compare(&census, index, alive, context, error);
    free(census.seen);
    return wrong;
}

static bool alive_after(void *context, uint64_t payload)
{
    uint64_t transactions = *(uint64_t *)context, number = payload / KEPT_CODES;
    uint64_t by = 2 * number + payload % KEPT_CODES; /* the transaction that removes it */
    return payload % KEPT_CODES > 1 || by >= transactions;
}

const char *kept_check(struct doppel_index *index, uint64_t *out_count, struct doppel_error *error)
{
    const uint64_t end = 1 << 24;
    struct census census;
    const char *wrong = take_census(index, end, &census, error);
    /* The last code of a transaction is never removed. */
    uint64_t count = census.most / KEPT_CODES;
    if (!wrong && census.most % KEPT_CODES)
        wrong = "half a transaction";
    census.end = census.most;
    if (!wrong)
        wrong = compare(&census, index, alive_after, &count, error);
    free(census.seen);
    *out_count = count;
    return wrong;
}
