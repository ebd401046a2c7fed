/* Loading an index: its manifest, its segments and its log as of one moment. */
#include "store/index_internal.h"

#include <stdlib.h>
#include <string.h>

#include "core/try.h"

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

bool index_is_writer(const struct doppel_store_index *self)
{
    return self->lock_fd >= 0;
}

bool index_takes_changes(const struct doppel_store_index *self)
{
    return self->lock_fd >= 0 || (self->shared && !self->store->options.read_only);
}

enum doppel_status index_check(const struct doppel_store_index *self, struct doppel_error *error)
{
    if (self->index)
        return DOPPEL_OK;
    return doppel_fail(error, self->broken.status, "%s", self->broken.message);
}

static enum doppel_status open_names(struct doppel_store_index *self, const char *const *names,
                                     size_t count, struct doppel_index **out,
                                     struct doppel_error *error)
{
    const struct doppel_index_files files = {
        .folder = self->folder,
        .names = names,
        .count = count,
        /* else the names could outlive the bytes */
        .durable = !self->disposable || self->store->options.durable,
        .read_only = !index_is_writer(self),
        .unsearched = self->unsearched,
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
        bool merged_away = status == DOPPEL_E_NOT_FOUND && !index_is_writer(self) &&
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
    enum doppel_status status;
    TRY(choose_names(self, names, &count, error));
    TRY(open_names(self, names, count, &self->index, error));
    if (!self->salvage)
        TRY(check_stamps(self, error));
done:
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
    self->unlogged.codes.count = self->unlogged.payloads.count = 0;
    self->last_record = self->appended = 0;
}

/* In one view of the database. @param out_gone a segment file is not there */
static enum doppel_status load_segments(struct doppel_store_index *self, bool *out_gone,
                                        struct doppel_error *error)
{
    enum doppel_status status = manifest_read(self->store, self->name, &self->manifest, error);
    if (status)
        return status;
    if (!self->manifest.whole && !index_is_writer(self))
        return doppel_fail(error, DOPPEL_E_BUSY, "%s: index '%s' is being rebuilt; try again later",
                           self->store->path, self->name);
    self->last_record = self->appended = self->manifest.flushed;
    status = index_log_check(self, error);
    if (!status)
        status = open_segments(self, error);
    *out_gone = status == DOPPEL_E_NOT_FOUND;
    return status ? status : index_log_replay(self, error);
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
        doppel_store_renew_reading(self->store); /* the segments are those of now */
        bool begun = doppel_store_begin_reading(self->store);
        status = doppel_store_data_version(self->store, &self->data_version, error);
        if (!status)
            status = load_segments(self, &gone, error);
        doppel_store_end_reading(self->store, begun);
    }
    if (status) {
        status = as_damage(status, gone, error);
        index_unload(self);
        self->broken = *error;
    }
    self->flush_at = self->manifest.options.head_codes;
    return status;
}
