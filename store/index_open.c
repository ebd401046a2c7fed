/* Opening an index, to read or to write, and closing it; and seeing it again later. */
#include "store/checkpoint.h"
#include "core/try.h"
#include "store/index_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum doppel_status make_row(struct doppel_store *store,
                                   const struct doppel_store_index_options *options,
                                   struct doppel_error *error)
{
    struct manifest manifest;
    bool own = !store_in_transaction(store);
    enum doppel_status status = own ? doppel_store_begin(store, error) : DOPPEL_OK;
    if (status)
        return status;
    status = manifest_read(store, options->name, &manifest, error);
    if (status == DOPPEL_E_NOT_FOUND)
        status = manifest_make(store, options->name, options->make, error);
    else if (status == DOPPEL_E_CORRUPT && options->rebuild)
        status = DOPPEL_OK; /* it is to be rebuilt */
    else if (!status)
        manifest_free(&manifest);
    if (own && !status)
        return doppel_store_commit(store, error);
    if (own)
        doppel_store_rollback(store);
    return status;
}

static enum doppel_status prepare_to_write(struct doppel_store_index *self,
                                           const struct doppel_store_index_options *options,
                                           struct doppel_error *error)
{
    const struct doppel_store_options *how = &self->store->options;
    enum doppel_status status = DOPPEL_OK;
    if (options->make)
        TRY(segment_folder_make(self->folder, how->durable, error));
    TRY(segment_folder_lock(self->folder, options->at_once ? 0 : how->busy_timeout_ms,
                            &self->lock_fd, error));
    if (options->make)
        TRY(make_row(self->store, options, error));
done:
    return status;
}

/* Within a transaction. */
static enum doppel_status write_again(struct doppel_store_index *self, struct doppel_error *error)
{
    struct manifest manifest;
    enum doppel_status status = manifest_read(self->store, self->name, &manifest, error);
    if (status)
        return status;
    manifest.generation++;
    status = manifest_write(self->store, self->name, &manifest, error);
    manifest_free(&manifest);
    return status;
}

/* Commit the manifest once more, into the file. A writer may have been killed after the last frame
 * of a commit was in SQLite's log, and before others could see it; that commit would come to light
 * when the log is recovered. This one takes the place of its frames. */
static bool commit_again(struct doppel_store_index *self)
{
    struct doppel_store *store = self->store;
    if (doppel_store_begin(store, NULL))
        return false;
    if (write_again(self, NULL)) {
        doppel_store_rollback(store);
        return false;
    }
    if (doppel_store_commit(store, NULL))
        return false;
    /* Without it, power loss could still undo the commit, but not the sweep. */
    checkpointer_wait(store->checkpointer);
    (void)sqlite3_wal_checkpoint_v2(store->database, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return true;
}

/* Before anything is loaded. Whether what the manifest does not name, then or later, can be swept
 * away. Where nothing can be settled, within the caller's transaction or on a full disk, another
 * time will do. */
static bool settle_index(struct doppel_store_index *self)
{
    struct manifest manifest;
    if (store_in_transaction(self->store) ||
        manifest_read(self->store, self->name, &manifest, NULL))
        return false;
    bool orphans = segment_folder_has_orphans(self->folder, &manifest.segments);
    manifest_free(&manifest);
    return !orphans || commit_again(self);
}

/* Of the manifest as it is now: a rebuild may have changed it. */
static enum doppel_status sweep(struct doppel_store_index *self, struct doppel_error *error)
{
    struct manifest manifest;
    enum doppel_status status = manifest_read(self->store, self->name, &manifest, error);
    if (status)
        return status;
    segment_folder_sweep(self->folder, &manifest.segments);
    manifest_free(&manifest);
    return DOPPEL_OK;
}

static enum doppel_status open_here(struct doppel_store_index *self,
                                    const struct doppel_store_index_options *options,
                                    struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (!self->store->options.read_only && !self->shared)
        status = prepare_to_write(self, options, error);
    bool settled = !status && index_is_writer(self) && settle_index(self);
    if (!status)
        status = index_load(self, error);
    bool half = !status && !self->manifest.whole && !self->salvage;
    if (index_is_writer(self) && (status == DOPPEL_E_CORRUPT || half)) {
        if (self->rebuild)
            status = doppel_store_index_rebuild(self, error);
        else if (half)
            status = doppel_fail(error, DOPPEL_E_CORRUPT, "%s: index '%s' is half rebuilt",
                                 self->store->path, self->name);
    }
    if (status || !index_is_writer(self))
        return status;
    if (settled)
        status = sweep(self, error);
    return !status && options->merge ? merger_start(self, error) : status;
}

enum doppel_status doppel_store_index_open(struct doppel_store *store,
                                           const struct doppel_store_index_options *options,
                                           struct doppel_store_index **out,
                                           struct doppel_error *error)
{
    struct doppel_error local;
    struct doppel_store_index *self = calloc(1, sizeof *self);
    if (self) {
        *self = (struct doppel_store_index){
            .store = store,
            .name = strdup(options->name),
            .folder = strdup(options->folder),
            .lock_fd = -1,
            .gone_at = -1,
            .salvage = options->salvage,
            .shared = options->shared,
            .immediate = options->shared && options->immediate,
            .disposable = options->disposable,
            .unsearched = options->unsearched,
            .make = options->make ? *options->make : (struct doppel_index_options){0},
            .rebuild = options->rebuild,
            .rebuild_context = options->rebuild_context,
            .source = options->source,
            .source_context = options->source_context};
    }
    if (!self || !self->name || !self->folder) {
        doppel_store_index_close(self);
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory to open it", options->folder);
    }
    self->next = store->indexes;
    store->indexes = self;
    enum doppel_status status = open_here(self, options, error ? error : &local);
    if (status)
        doppel_store_index_close(self);
    else
        *out = self;
    return status;
}

void doppel_store_index_close(struct doppel_store_index *self)
{
    if (!self)
        return;
    merger_stop(self);
    struct doppel_store_index **link = &self->store->indexes;
    while (*link && *link != self)
        link = &(*link)->next;
    if (*link)
        *link = self->next;
    index_unload(self);
    if (self->lock_fd >= 0)
        close(self->lock_fd);
    array_free(&self->unlogged.codes);
    array_free(&self->unlogged.payloads);
    record_buffer_free(&self->buffer);
    free(self->name);
    free(self->folder);
    free(self);
}

struct doppel_index *doppel_store_index_get(struct doppel_store_index *self)
{
    return self->index;
}

/* ---- refreshing ---- */

/* What was added to the log, if that is all that happened. @return false when segments changed */
static bool read_on_log(struct doppel_store_index *self, bool *out_changed,
                        enum doppel_status *out_status, struct doppel_error *error)
{
    struct manifest manifest;
    int64_t before = self->last_record;
    bool begun = doppel_store_begin_reading(self->store), same = false;
    enum doppel_status status;
    TRY(doppel_store_data_version(self->store, &self->data_version, error));
    TRY(manifest_read(self->store, self->name, &manifest, error));
    same = manifest.checksum == self->manifest.checksum;
    manifest_free(&manifest);
    if (same)
        TRY(index_log_replay(self, error));
done:
    doppel_store_end_reading(self->store, begun);
    *out_changed = self->last_record != before;
    *out_status = status;
    return same || status;
}

enum doppel_status doppel_store_index_refresh(struct doppel_store_index *self, bool *out_changed,
                                              struct doppel_error *error)
{
    struct doppel_error local;
    int64_t version = 0;
    bool changed = false;
    error = error ? error : &local;
    enum doppel_status status = DOPPEL_OK;
    if (self->immediate && self->dirty && self->index) { /* nobody else can change it */
        if (out_changed)
            *out_changed = false;
        return DOPPEL_OK;
    }
    if (!index_is_writer(self))
        status = doppel_store_data_version(self->store, &version, error);
    if (!status)
        status = index_log_rest(self, error);
    if (!status && !index_is_writer(self) && (version != self->data_version || !self->index)) {
        if (!self->index || !read_on_log(self, &changed, &status, error)) {
            changed = true;
            status = index_load(self, error);
        }
    } else if (!status && self->appended > self->last_record) {
        changed = true;
        status = index_log_replay(self, error);
    }
    if (out_changed)
        *out_changed = changed;
    return status;
}

bool doppel_store_index_has_leftovers(const struct doppel_store_index *self)
{
    return segment_folder_has_orphans(self->folder, &self->manifest.segments);
}

void doppel_store_index_info(struct doppel_store_index *self, struct doppel_store_index_info *out)
{
    uint64_t next = self->manifest.next_payload;
    if (self->log.codes && self->log.most >= next)
        next = self->log.most + (self->log.most < UINT64_MAX);
    *out = (struct doppel_store_index_info){
        .options = self->manifest.options,
        .log_codes = self->log_codes,
        .next_payload = next,
        .build_seconds = (double)self->manifest.build_ms / 1e3,
        .damaged = self->damaged,
        .upkeep = self->upkeep,
    };
    if (!out->upkeep.status)
        merger_error(self, &out->upkeep);
}
