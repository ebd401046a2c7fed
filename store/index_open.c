/* Opening an index: its manifest and its log as of one moment; and seeing it again later. */
#include "store/checkpoint.h"
#include "store/index_room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A reader that finds a segment gone reads the names again; a writer that merges faster than
 * this many times in a row there is not. */
enum { MOST_ATTEMPTS = 100 };

void index_seen(struct publication *account, const uint64_t *payloads, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!account->codes++ || payloads[i] < account->least)
            account->least = payloads[i];
        if (payloads[i] > account->most)
            account->most = payloads[i];
    }
}

enum doppel_status index_check(const struct doppel_store_index *self, struct doppel_error *error)
{
    if (self->index)
        return DOPPEL_OK;
    return doppel_fail(error, self->broken.status, "%s", self->broken.message);
}

/* ---- loading ---- */

static bool is_writer(const struct doppel_store_index *self)
{
    return self->lock_fd >= 0;
}

static enum doppel_status open_names(struct doppel_store_index *self, const char *const *names,
                                     size_t count, struct doppel_index **out,
                                     struct doppel_error *error)
{
    const struct doppel_index_files files = {
        .folder = self->folder,
        .names = names,
        .count = count,
        .durable = true, /* else the names could outlive the bytes */
        .read_only = !is_writer(self),
        .publish = index_publish,
        .context = self,
    };
    return doppel_index_open(&self->manifest.options, &files, out, error);
}

bool index_is_damage(enum doppel_status status)
{
    return status == DOPPEL_E_CORRUPT || status == DOPPEL_E_FORMAT || status == DOPPEL_E_NOT_FOUND;
}

static enum doppel_status try_segment(const struct doppel_store_index *self, const char *name,
                                      struct doppel_error *error)
{
    struct doppel_index *alone = NULL;
    const struct doppel_index_files files = {
        .folder = self->folder, .names = &name, .count = 1, .read_only = true};
    enum doppel_status status = doppel_index_open(&self->manifest.options, &files, &alone, error);
    doppel_index_free(alone);
    return status;
}

enum doppel_status index_check_stamp(const struct doppel_store_index *self,
                                     const struct segment_row *row, struct doppel_error *error)
{
    uint64_t stamp;
    enum doppel_status status = segment_folder_stamp(self->folder, row->name, &stamp, error);
    if (status || stamp == row->stamp)
        return status;
    return doppel_fail(error, DOPPEL_E_CORRUPT,
                       "the index file %s/%s is another one than was put there", self->folder,
                       row->name);
}

static enum doppel_status check_stamps(const struct doppel_store_index *self,
                                       struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < self->manifest.segments.count && !status; i++)
        status = index_check_stamp(self, &self->manifest.segments.items[i], error);
    return status;
}

/* All; with salvage, those that are whole enough to be opened. */
static enum doppel_status choose_names(struct doppel_store_index *self, const char **out,
                                       size_t *out_count, struct doppel_error *error)
{
    const struct segment_rows *rows = &self->manifest.segments;
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const char *name = rows->items[i].name;
        enum doppel_status status = self->salvage ? try_segment(self, name, error) : DOPPEL_OK;
        if (!status && self->salvage)
            status = index_check_stamp(self, &rows->items[i], error);
        bool merged_away = status == DOPPEL_E_NOT_FOUND && !is_writer(self) &&
                           self->gone_at != self->manifest.generation;
        if (merged_away) /* perhaps: it is damage when the names, read once more, are the same */
            self->gone_at = self->manifest.generation;
        if (!status)
            out[count++] = name;
        else if (merged_away || !index_is_damage(status))
            return status;
    }
    *out_count = count;
    return DOPPEL_OK;
}

static enum doppel_status open_segments(struct doppel_store_index *self, struct doppel_error *error)
{
    const char **names = calloc(self->manifest.segments.count + 1, sizeof *names);
    if (!names)
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", self->folder);
    size_t count;
    enum doppel_status status = choose_names(self, names, &count, error);
    if (!status)
        status = open_names(self, names, count, &self->index, error);
    if (!status && !self->salvage)
        status = check_stamps(self, error);
    free(names);
    return status;
}

void index_unload(struct doppel_store_index *self)
{
    doppel_index_free(self->index);
    self->index = NULL;
    manifest_free(&self->manifest);
    self->log = (struct publication){0};
    self->log_codes = self->damaged = 0;
}

/* In one view of the database. @param out_gone a segment file is not there */
static enum doppel_status load(struct doppel_store_index *self, bool *out_gone,
                               struct doppel_error *error)
{
    enum doppel_status status = manifest_read(self->store, self->name, &self->manifest, error);
    if (status)
        return status;
    if (!self->manifest.whole && !is_writer(self))
        return doppel_fail(error, DOPPEL_E_BUSY, "%s: index '%s' is being rebuilt; try again later",
                           self->store->path, self->name);
    self->last_record = self->manifest.flushed;
    status = index_log_check(self, error);
    if (!status)
        status = open_segments(self, error);
    *out_gone = status == DOPPEL_E_NOT_FOUND;
    return status ? status : index_log_replay(self, error);
}

static enum doppel_status read_data_version(struct doppel_store_index *self, int64_t *out,
                                            struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status =
        doppel_store_statement(self->store, "PRAGMA data_version", &statement, error);
    if (!status)
        status = doppel_store_step(self->store, statement, &row, error);
    if (status)
        return status;
    *out = sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
    return DOPPEL_OK;
}

/* A segment that is not there, or is no segment, was damaged by somebody. */
static enum doppel_status as_damage(enum doppel_status status, bool gone,
                                    struct doppel_error *error)
{
    if (!gone && status != DOPPEL_E_FORMAT)
        return status;
    return doppel_fail(error, DOPPEL_E_CORRUPT, "%s", error->message);
}

enum doppel_status index_load(struct doppel_store_index *self, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    int64_t tried = -1;
    bool gone = true;
    for (int i = 0; i < MOST_ATTEMPTS && gone && tried != self->manifest.generation; i++) {
        tried = i ? self->manifest.generation : -1;
        index_unload(self);
        gone = false;
        bool begun = store_begin_reading(self->store);
        status = read_data_version(self, &self->data_version, error);
        if (!status)
            status = load(self, &gone, error);
        store_end_reading(self->store, begun);
    }
    if (status) {
        status = as_damage(status, gone, error);
        index_unload(self);
        self->broken = *error;
    }
    self->flush_at = self->manifest.options.head_codes;
    return status;
}

/* ---- opening ---- */

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
        status = segment_folder_make(self->folder, how->durable, error);
    if (!status)
        status = segment_folder_lock(self->folder, how->busy_timeout_ms, &self->lock_fd, error);
    if (!status && options->make)
        status = make_row(self->store, options, error);
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
static bool settle(struct doppel_store_index *self)
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
    if (!self->store->options.read_only)
        status = prepare_to_write(self, options, error);
    bool settled = !status && is_writer(self) && settle(self);
    if (!status)
        status = index_load(self, error);
    bool half = !status && !self->manifest.whole && !self->salvage;
    if (is_writer(self) && (status == DOPPEL_E_CORRUPT || half)) {
        if (self->rebuild)
            status = doppel_store_index_rebuild(self, error);
        else if (half)
            status = doppel_fail(error, DOPPEL_E_CORRUPT, "%s: index '%s' is half rebuilt",
                                 self->store->path, self->name);
    }
    if (status || !is_writer(self))
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
static bool read_on(struct doppel_store_index *self, bool *out_changed,
                    enum doppel_status *out_status, struct doppel_error *error)
{
    struct manifest manifest;
    int64_t before = self->last_record;
    bool begun = store_begin_reading(self->store), same = false;
    enum doppel_status status = read_data_version(self, &self->data_version, error);
    if (!status)
        status = manifest_read(self->store, self->name, &manifest, error);
    if (!status) {
        same = manifest.checksum == self->manifest.checksum;
        manifest_free(&manifest);
        if (same)
            status = index_log_replay(self, error);
    }
    store_end_reading(self->store, begun);
    *out_changed = self->last_record != before;
    *out_status = status;
    return same || status;
}

enum doppel_status doppel_store_index_refresh(struct doppel_store_index *self, bool *out_changed,
                                              struct doppel_error *error)
{
    struct doppel_error local;
    int64_t version;
    bool changed = false;
    error = error ? error : &local;
    enum doppel_status status = DOPPEL_OK;
    if (!is_writer(self))
        status = read_data_version(self, &version, error);
    if (!status && !is_writer(self) && (version != self->data_version || !self->index))
        if (!self->index || !read_on(self, &changed, &status, error)) {
            changed = true;
            status = index_load(self, error);
        }
    if (out_changed)
        *out_changed = changed;
    return status;
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
