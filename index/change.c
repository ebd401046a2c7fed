/* How an index changes: new segments are built, published, and put in place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "core/try.h"
#include "index/index_internal.h"

/* ---- one new part ---- */

static void part_name(char out[PART_NAME_BYTES])
{
    /* Never one that was used before: a reader may still ask for that. */
    uint64_t number = 0;
    while (getrandom(&number, sizeof number, 0) < 0)
        ;
    snprintf(out, PART_NAME_BYTES, "%016llx.segment", (unsigned long long)number);
}

static char *path_of_index(const struct doppel_index *index, const char *name)
{
    char *path;
    return asprintf(&path, "%s/%s", index->folder, name) < 0 ? NULL : path;
}

static void remove_file(const struct doppel_index *index, const struct part *part)
{
    char *path = part->name ? path_of_index(index, part->name) : NULL;
    if (path)
        unlink(path);
    free(path);
}

void part_discard(const struct doppel_index *index, struct part *part)
{
    remove_file(index, part);
    part_release(part);
}

enum doppel_status part_build(const struct doppel_index *index, const struct table_source *source,
                              const uint64_t *removed, size_t removed_count, struct part **out,
                              struct doppel_error *error)
{
    struct segment_target target = {
        .durable = index->durable, .removed = removed, .removed_count = removed_count};
    char name[PART_NAME_BYTES], *path = NULL, *copy = NULL;
    enum doppel_status status = DOPPEL_E_MEMORY;
    struct table *table;
    if (index->folder) {
        part_name(name);
        copy = strdup(name);
        target.path = path = path_of_index(index, name);
        if (!copy || !path) {
            doppel_fail(error, status, "no memory for a segment of the index");
            goto end;
        }
    }
    status = table_build(&index->options, source, &target, &table, error);
    if (status)
        goto end;
    *out = part_new(table, copy);
    copy = NULL;
    if (*out)
        goto end;
    status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a segment of the index");
    if (path)
        unlink(path);
end:
    free(path);
    free(copy);
    return status;
}

/* ---- a new state ---- */

static enum doppel_status publish(const struct doppel_index *index, const struct state *state,
                                  struct doppel_error *error)
{
    if (!index->folder || !index->publish)
        return DOPPEL_OK;
    const char **names = calloc(state->count + 1, sizeof *names);
    if (!names)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the names of segments");
    for (size_t i = 0; i < state->count; i++)
        names[i] = state->parts[i]->name;
    enum doppel_status status = index->publish(index->publish_context, names, state->count, error);
    free(names);
    return status;
}

/* The state after a change; NULL without memory. */
static struct state *state_after(const struct doppel_index *index, const struct change *change)
{
    const struct state *now = index->state;
    struct part **parts = malloc((now->count + 1) * sizeof(struct part *));
    struct head *head = change->flushed ? head_new(&index->options) : head_retain(now->head);
    struct state *state = NULL;
    size_t count = 0, i = 0;
    if (!parts || !head)
        goto end;
    while (i < now->count && (!change->old_count || now->parts[i] != change->old[0]))
        parts[count++] = now->parts[i++];
    if (change->fresh)
        parts[count++] = change->fresh;
    for (i += change->old_count; i < now->count; i++)
        parts[count++] = now->parts[i];
    state = state_new(head, parts, count);
end:
    free(parts);
    head_release(head);
    return state;
}

enum doppel_status change_make(struct doppel_index *index, const struct change *change,
                               struct doppel_error *error)
{
    struct index_shared *shared = index->shared;
    pthread_mutex_lock(&shared->changing);
    struct state *before = index->state, *after = state_after(index, change);
    enum doppel_status status =
        after ? publish(index, after, error)
              : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a change of the index");
    if (!status) {
        pthread_rwlock_wrlock(&shared->lock);
        index->state = after;
        pthread_rwlock_unlock(&shared->lock);
        for (size_t i = 0; i < change->old_count; i++)
            remove_file(index, change->old[i]);
    }
    pthread_mutex_unlock(&shared->changing);
    state_release(status ? after : before);
    return status;
}

/* ---- flush and load ---- */

static enum doppel_status refuse_read_only(const struct doppel_index *index,
                                           struct doppel_error *error)
{
    return index->read_only
               ? doppel_fail(error, DOPPEL_E_ARGUMENT, "the index is open for reading only")
               : DOPPEL_OK;
}

/* Make a change, whose new part is not needed any more afterwards, or no use. */
static enum doppel_status make_change(struct doppel_index *index, const struct change *change,
                                      struct doppel_error *error)
{
    enum doppel_status status = change_make(index, change, error);
    if (status && change->fresh)
        part_discard(index, change->fresh);
    else
        part_release(change->fresh);
    return status;
}

static enum doppel_status flush_index(struct doppel_index *index, const struct head *head,
                                      struct doppel_error *error)
{
    struct change change = {.flushed = true};
    struct head_stream living;
    size_t removed_count;
    uint64_t *removed = head_removed(head, &removed_count);
    if (!removed)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to flush the index");
    head_stream_init(&living, head);
    struct table_source source = {.codes = &living.codes, .items = &living.items};
    enum doppel_status status = DOPPEL_OK;
    if (head->alive || removed_count)
        status = part_build(index, &source, removed, removed_count, &change.fresh, error);
    free(removed);
    return status ? status : make_change(index, &change, error);
}

enum doppel_status doppel_index_flush(struct doppel_index *index, struct doppel_error *error)
{
    enum doppel_status status = refuse_read_only(index, error);
    if (status)
        return status;
    struct snapshot snapshot = snapshot_take(index);
    const struct head *head = snapshot.state->head;
    if (head->count || head->clock)
        status = flush_index(index, head, error);
    snapshot_release(&snapshot);
    return status;
}

/* Segment after segment: of all postings at once, sorting would take as much memory. */
static enum doppel_status bulk_items(struct doppel_index *index,
                                     const struct doppel_index_load *load,
                                     struct doppel_error *error)
{
    enum { POSTINGS_A_SEGMENT = 1 << 21 };
    struct doppel_index_item item;
    enum doppel_status status;
    TRY(doppel_index_flush(index, error));
    while (load->read_item(load->context, &item)) {
        TRY(doppel_index_insert_item(index, &item, error));
        if (head_size(index->state->head) >= POSTINGS_A_SEGMENT)
            TRY(doppel_index_flush(index, error));
    }
    TRY(doppel_index_flush(index, error));
    TRY(doppel_index_compact(index, true, error));
done:
    return status;
}

enum doppel_status doppel_index_bulk(struct doppel_index *index,
                                     const struct doppel_index_load *load,
                                     struct doppel_error *error)
{
    if (index->words ? !load->read : !load->read_item)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           index->words ? "an index of codes takes no items"
                                        : "an index of postings takes items, not codes");
    if (load->read_item)
        return bulk_items(index, load, error);
    enum doppel_status status = doppel_index_flush(index, error);
    if (status || !load->count)
        return status;
    struct code_stream stream = {load->context, load->count, load->read, load->rewind};
    struct table_source source = {.codes = &stream};
    struct change change = {0};
    status = part_build(index, &source, NULL, 0, &change.fresh, error);
    return status ? status : make_change(index, &change, error);
}
