/* The upkeep of a shared index, with its folder's lock: segments of what is in the log, merged; and
 * an index made of codes that are all there already. */
#include "store/index_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum doppel_status keep_with(struct doppel_store *store,
                                    const struct doppel_store_index *self, bool at_once, bool all,
                                    struct doppel_error *error)
{
    const struct doppel_store_index_options options = {.name = self->name,
                                                       .folder = self->folder,
                                                       .at_once = at_once,
                                                       .disposable = self->disposable,
                                                       .source = self->source,
                                                       .source_context = self->source_context};
    struct doppel_store_index *writer;
    enum doppel_status status = doppel_store_index_open(store, &options, &writer, error);
    if (status)
        return status;
    status = doppel_store_index_compact(writer, all, error);
    doppel_store_index_close(writer);
    return status;
}

enum doppel_status index_keep(struct doppel_store_index *self, struct doppel_error *error)
{
    enum doppel_status status = keep_with(self->merger.store, self, true, false, error);
    return status == DOPPEL_E_BUSY ? DOPPEL_OK : status; /* another process is at it */
}

enum doppel_status index_keep_now(struct doppel_store_index *self, bool all,
                                  struct doppel_error *error)
{
    if (store_in_transaction(self->store) || !index_takes_changes(self))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "%s: segments are made by a writer, not within a transaction",
                           self->folder);
    merger_pause(self);
    enum doppel_status status = keep_with(self->store, self, false, all, error);
    return status ? status : doppel_store_index_refresh(self, NULL, error);
}

/* ---- making ---- */

static enum doppel_status load_segment(struct doppel_store_index *self,
                                       const struct doppel_index_load *load,
                                       struct doppel_error *error)
{
    const struct doppel_index_files files = {.folder = self->folder,
                                             .durable =
                                                 !self->disposable || self->store->options.durable,
                                             .publish = index_publish,
                                             .context = self};
    struct publication work = {.begun = index_now(), .codes = load->count, .most = UINT64_MAX};
    struct doppel_index *index;
    enum doppel_status status = doppel_index_open(&self->make, &files, &index, error);
    if (status)
        return status;
    self->publication = &work;
    status = doppel_index_bulk(index, load, error);
    doppel_index_free(index);
    return status;
}

/* Within a transaction. */
static enum doppel_status build_within(struct doppel_store_index *self,
                                       const struct doppel_index_load *load,
                                       struct doppel_error *error)
{
    enum doppel_status status = manifest_drop(self->store, self->name, error);
    if (!status)
        status = manifest_make(self->store, self->name, &self->make, error);
    return status || !load->count ? status : load_segment(self, load, error);
}

enum doppel_status doppel_store_index_build(struct doppel_store *store,
                                            const struct doppel_store_index_options *options,
                                            const struct doppel_index_load *load,
                                            struct doppel_error *error)
{
    const struct doppel_store_options *how = &store->options;
    struct doppel_store_index self = {.store = store,
                                      .name = (char *)options->name,
                                      .folder = (char *)options->folder,
                                      .lock_fd = -1,
                                      .disposable = options->disposable,
                                      .make = *options->make};
    bool own = !store_in_transaction(store);
    enum doppel_status status = segment_folder_make(self.folder, how->durable, error);
    if (!status)
        status = segment_folder_lock(self.folder, how->busy_timeout_ms, &self.lock_fd, error);
    if (status)
        return status;
    if (own)
        status = doppel_store_begin(store, error);
    if (!status) {
        status = build_within(&self, load, error);
        if (own && !status)
            status = doppel_store_commit(store, error);
        else if (own)
            doppel_store_rollback(store);
    }
    close(self.lock_fd);
    return status;
}
