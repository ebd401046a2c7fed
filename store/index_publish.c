/* The set of segments changes: one transaction names the new ones and drops what they hold from the
 * log. Called by the index, from the thread that flushes or merges. */
#include "store/index_internal.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"

static const struct segment_row *find_row(const struct segment_rows *rows, const char *name)
{
    for (size_t i = 0; i < rows->count; i++)
        if (strcmp(rows->items[i].name, name) == 0)
            return &rows->items[i];
    return NULL;
}

static bool is_among(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void add_account(struct segment_row *row, uint64_t codes, uint64_t least, uint64_t most)
{
    if (!codes)
        return;
    row->least = row->codes && row->least < least ? row->least : least;
    row->most = row->codes && row->most > most ? row->most : most;
    row->codes += codes;
}

/* What went into the new segment: the flush or bulk load in progress, and the segments that are no
 * longer named. */
static void account_for(const struct segment_rows *old, const char *const *names, size_t count,
                        const struct publication *work, struct segment_row *out)
{
    if (work)
        add_account(out, work->codes, work->least, work->most);
    for (size_t i = 0; i < old->count; i++)
        if (!is_among(old->items[i].name, names, count))
            add_account(out, old->items[i].codes, old->items[i].least, old->items[i].most);
}

static enum doppel_status make_rows(const char *folder, const struct segment_rows *old,
                                    const char *const *names, size_t count,
                                    const struct publication *work, struct segment_rows *out,
                                    struct doppel_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const struct segment_row *known = find_row(old, names[i]);
        struct segment_row row = known ? *known : (struct segment_row){0};
        enum doppel_status status = DOPPEL_OK;
        if (!known) {
            account_for(old, names, count, work, &row);
            status = segment_folder_stamp(folder, names[i], &row.stamp, error);
        }
        if (status)
            return status;
        row.name = strdup(names[i]);
        if (!row.name || !array_push(out, row)) {
            free(row.name);
            return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", folder);
        }
    }
    return DOPPEL_OK;
}

static enum doppel_status change(struct doppel_store_index *self, struct doppel_store *store,
                                 const struct publication *work, struct manifest *manifest,
                                 struct doppel_error *error)
{
    manifest->generation++;
    if (work && work->codes && work->most >= manifest->next_payload)
        manifest->next_payload = work->most + (work->most < UINT64_MAX);
    if (work && work->begun > 0)
        manifest->build_ms += (uint64_t)((monotonic_seconds() - work->begun) * 1e3 + 0.5);
    enum doppel_status status = DOPPEL_OK;
    if (work && work->flush) {
        manifest->flushed = self->last_record;
        status = index_log_drop(store, manifest->id, manifest->flushed, error);
    }
    return status ? status : manifest_write(store, self->name, manifest, error);
}

/* Within a transaction of `store`. */
static enum doppel_status replace(struct doppel_store_index *self, struct doppel_store *store,
                                  const char *const *names, size_t count,
                                  struct doppel_error *error)
{
    const struct publication *work = store == self->store ? self->publication : NULL;
    struct segment_rows rows = {0};
    struct manifest manifest;
    enum doppel_status status = manifest_read(store, self->name, &manifest, error);
    if (status)
        return status;
    status = make_rows(self->folder, &manifest.segments, names, count, work, &rows, error);
    if (!status) {
        struct segment_rows old = manifest.segments;
        manifest.segments = rows;
        rows = old;
        status = change(self, store, work, &manifest, error);
    }
    manifest_free(&manifest);
    manifest_free(&(struct manifest){.segments = rows});
    return status;
}

enum doppel_status index_publish(void *context, const char *const *names, size_t count,
                                 struct doppel_error *error)
{
    struct doppel_store_index *self = context;
    struct doppel_store *store = self->store;
    if (self->merger.started && pthread_equal(pthread_self(), self->merger.thread))
        store = self->merger.store;
    if (store == self->store && self->publication && self->publication->cut_short)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "the codes to be loaded ended too early");
    if (store_in_transaction(store)) /* doppel_store_index_build's */
        return replace(self, store, names, count, error);
    enum doppel_status status = doppel_store_begin(store, error);
    if (status)
        return status;
    status = replace(self, store, names, count, error);
    if (!status)
        return doppel_store_commit(store, error);
    doppel_store_rollback(store);
    return status;
}
