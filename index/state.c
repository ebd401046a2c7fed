/* States of an index, their parts, and which payloads are removed in them. */
#include <stdlib.h>
#include <string.h>

#include "index/index_internal.h"

struct part *part_new(struct table *table, char *name)
{
    struct part *part = calloc(1, sizeof *part);
    if (!part) {
        table_free(table);
        free(name);
        return NULL;
    }
    atomic_init(&part->references, 1);
    part->table = table;
    part->name = name;
    return part;
}

void part_release(struct part *part)
{
    if (!part || atomic_fetch_sub_explicit(&part->references, 1, memory_order_acq_rel) > 1)
        return;
    table_free(part->table);
    free(part->name);
    free(part);
}

struct state *state_new(struct head *head, struct part *const *parts, size_t count)
{
    struct state *state = malloc(sizeof *state + count * sizeof(struct part *));
    if (!state)
        return NULL;
    atomic_init(&state->references, 1);
    state->head = head_retain(head);
    state->count = count;
    for (size_t i = 0; i < count; i++) {
        state->parts[i] = parts[i];
        atomic_fetch_add_explicit(&parts[i]->references, 1, memory_order_relaxed);
    }
    return state;
}

static struct state *state_retain(struct state *state)
{
    atomic_fetch_add_explicit(&state->references, 1, memory_order_relaxed);
    return state;
}

void state_release(struct state *state)
{
    if (!state || atomic_fetch_sub_explicit(&state->references, 1, memory_order_acq_rel) > 1)
        return;
    for (size_t i = 0; i < state->count; i++)
        part_release(state->parts[i]);
    head_release(state->head);
    free(state);
}

/* ---- removed payloads ---- */

const uint64_t *part_removed(const struct part *part, size_t *out_count)
{
    return segment_removed(table_segment(part->table), out_count);
}

static bool holds(const uint64_t *payloads, size_t count, uint64_t payload)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (payloads[middle] < payload)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && payloads[low] == payload;
}

bool state_removes(const struct state *state, size_t at, size_t end, uint64_t payload)
{
    for (size_t newer = at + 1; newer < end; newer++) {
        size_t count;
        const uint64_t *removed = part_removed(state->parts[newer], &count);
        if (count && holds(removed, count, payload))
            return true;
    }
    return false;
}

bool state_removes_any(const struct state *state, size_t at, size_t end)
{
    size_t count = 0;
    for (size_t newer = at + 1; newer < end && !count; newer++)
        (void)part_removed(state->parts[newer], &count);
    return count != 0;
}

/* ---- moments ---- */

struct snapshot snapshot_take(const struct doppel_index *index)
{
    pthread_rwlock_rdlock(&index->shared->lock);
    struct snapshot snapshot = {state_retain(index->state), head_now(index->state->head)};
    pthread_rwlock_unlock(&index->shared->lock);
    return snapshot;
}

void snapshot_release(struct snapshot *snapshot)
{
    state_release(snapshot->state);
    snapshot->state = NULL;
}

bool snapshot_removes(const struct doppel_index *index, const struct snapshot *snapshot, size_t at,
                      uint64_t payload)
{
    if (state_removes(snapshot->state, at, snapshot->state->count, payload))
        return true;
    if (!snapshot->head.clock)
        return false;
    pthread_rwlock_rdlock(&index->shared->lock);
    bool removed = head_has_removed(&snapshot->head, payload);
    pthread_rwlock_unlock(&index->shared->lock);
    return removed;
}
