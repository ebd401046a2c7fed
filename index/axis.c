/* The axis of an index of postings: its segments and its head, one after the other. */
#include <stdlib.h>

#include "core/order.h"
#include "core/try.h"
#include "index/index_internal.h"

struct doppel_index_axis {
    const struct doppel_index *index;
    struct snapshot snapshot;
    uint64_t starts[]; /* of the parts, and of the head after them */
};

enum doppel_status doppel_index_axis_take(const struct doppel_index *index,
                                          struct doppel_index_axis **out,
                                          struct doppel_error *error)
{
    if (index->words)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "an index of codes has no axis");
    struct snapshot snapshot = snapshot_take(index);
    const struct state *state = snapshot.state;
    struct doppel_index_axis *axis =
        malloc(sizeof *axis + (state->count + 1) * sizeof *axis->starts);
    if (!axis) {
        snapshot_release(&snapshot);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an axis of the index");
    }
    axis->index = index;
    axis->snapshot = snapshot;
    axis->starts[0] = 0;
    for (size_t i = 0; i < state->count; i++)
        axis->starts[i + 1] =
            axis->starts[i] + postings_info(table_postings(state->parts[i]->table)).axis;
    *out = axis;
    return DOPPEL_OK;
}

void doppel_index_axis_free(struct doppel_index_axis *axis)
{
    if (!axis)
        return;
    snapshot_release(&axis->snapshot);
    free(axis);
}

uint64_t doppel_index_axis_length(const struct doppel_index_axis *axis)
{
    const struct head_view *view = &axis->snapshot.head;
    uint64_t length = axis->starts[axis->snapshot.state->count];
    pthread_rwlock_rdlock(&axis->index->shared->lock);
    if (view->count) {
        const struct head_item *last = &view->head->items->list[view->count - 1];
        length += last->start + (uint64_t)last->length;
    }
    pthread_rwlock_unlock(&axis->index->shared->lock);
    return length;
}

/* ---- lengths ---- */

enum doppel_status doppel_index_lengths(const struct doppel_index_axis *axis, const uint32_t *keys,
                                        size_t count, uint64_t *out_lengths,
                                        struct doppel_error *error)
{
    const struct state *state = axis->snapshot.state;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < count; i++)
        out_lengths[i] = 0;
    for (size_t i = 0; i < state->count && !status; i++) {
        const struct table *table = state->parts[i]->table;
        status = postings_counts(table_postings(table), keys, count, out_lengths, error);
        if (!status)
            status = segment_damage(table_segment(table), error);
    }
    pthread_rwlock_rdlock(&axis->index->shared->lock);
    for (size_t i = 0; i < count && !status; i++)
        out_lengths[i] += head_length(&axis->snapshot.head, keys[i]);
    pthread_rwlock_unlock(&axis->index->shared->lock);
    return status;
}

/* ---- lookups ---- */

struct axis_lookup {
    doppel_index_run_visitor *visitor;
    void *context;
    uint64_t base;
};

static bool visit_run(void *context, uint32_t key_number, const uint32_t *positions, size_t count)
{
    const struct axis_lookup *lookup = context;
    return lookup->visitor(lookup->context, key_number, lookup->base, positions, count);
}

static enum doppel_status look_up_head(const struct doppel_index_axis *axis, const uint32_t *keys,
                                       size_t count, struct axis_lookup *lookup,
                                       struct doppel_error *error)
{
    position_array found = {0};
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < count && axis->snapshot.head.count && !status; i++) {
        found.count = 0;
        pthread_rwlock_rdlock(&axis->index->shared->lock);
        bool done = head_positions(&axis->snapshot.head, keys[i], &found);
        pthread_rwlock_unlock(&axis->index->shared->lock);
        if (found.count > 1)
            qsort(found.items, found.count, sizeof *found.items, compare_u32);
        if (!done)
            status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a lookup");
        else if (found.count && !visit_run(lookup, (uint32_t)i, found.items, found.count))
            status = doppel_fail(error, DOPPEL_E_CANCELLED, "the lookup was ended by its caller");
    }
    array_free(&found);
    return status;
}

enum doppel_status doppel_index_lookup(const struct doppel_index_axis *axis, const uint32_t *keys,
                                       size_t count, doppel_index_run_visitor *visitor,
                                       void *context, struct doppel_error *error)
{
    const struct state *state = axis->snapshot.state;
    struct axis_lookup lookup = {.visitor = visitor, .context = context};
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < state->count; i++) {
        const struct table *table = state->parts[i]->table;
        lookup.base = axis->starts[i];
        TRY(postings_lookup(table_postings(table), keys, count, visit_run, &lookup, error));
        TRY(segment_damage(table_segment(table), error));
    }
    lookup.base = axis->starts[state->count];
    TRY(look_up_head(axis, keys, count, &lookup, error));
done:
    return status;
}

/* ---- items ---- */

static struct doppel_index_place place_in_head(const struct doppel_index_axis *axis,
                                               uint64_t position)
{
    const struct head_view *view = &axis->snapshot.head;
    uint64_t base = axis->starts[axis->snapshot.state->count];
    struct doppel_index_place place = {.removed = true};
    pthread_rwlock_rdlock(&axis->index->shared->lock);
    if (view->count) {
        uint32_t number = head_item_at(view, (uint32_t)(position - base));
        uint32_t death = view->head->deaths[number];
        const struct head_item *item = &view->head->items->list[number];
        place = (struct doppel_index_place){.payload = view->head->payloads[number],
                                            .start = base + item->start,
                                            .length = item->length,
                                            .removed = death && death <= view->clock};
    }
    pthread_rwlock_unlock(&axis->index->shared->lock);
    return place;
}

struct doppel_index_place doppel_index_item_at(const struct doppel_index_axis *axis,
                                               uint64_t position)
{
    const struct state *state = axis->snapshot.state;
    size_t low = 0, high = state->count + 1;
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        if (axis->starts[middle] <= position)
            low = middle;
        else
            high = middle;
    }
    if (low == state->count)
        return place_in_head(axis, position);
    struct posting_item item = postings_item(table_postings(state->parts[low]->table),
                                             (uint32_t)(position - axis->starts[low]));
    return (struct doppel_index_place){
        .payload = item.payload,
        .start = axis->starts[low] + item.start,
        .length = item.length,
        .removed = snapshot_removes(axis->index, &axis->snapshot, low, item.payload)};
}
