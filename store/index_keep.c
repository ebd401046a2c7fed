/* The upkeep of a shared index, with its folder's lock: segments of what is in the log, merged; and
 * an index made of codes that are all there already. */
#include "store/index_internal.h"

#include <string.h>
#include <unistd.h>

#include "core/clock.h"

enum doppel_status index_keep(struct doppel_store_index *self, struct doppel_store *store, bool all,
                              struct doppel_error *error)
{
    const struct doppel_store_index_options options = {.name = self->name,
                                                       .folder = self->folder,
                                                       .at_once = !all,
                                                       .unsearched = true,
                                                       .disposable = self->disposable,
                                                       .source = self->source,
                                                       .source_context = self->source_context};
    struct doppel_error failure = {0};
    struct doppel_store_index *writer;
    enum doppel_status status = doppel_store_index_open(store, &options, &writer, &failure);
    if (status == DOPPEL_E_BUSY && !all)
        return DOPPEL_OK;
    if (status)
        return doppel_fail(error, status, "%s", failure.message);
    status = doppel_store_index_compact(writer, all, error);
    doppel_store_index_close(writer);
    return status;
}

/* ---- making ---- */

/* The caller's codes, of which none may be missing. */
struct checked_load {
    const struct doppel_index_load *load;
    struct publication *work;
    uint64_t read; /* in this pass */
};

static size_t read_checked(void *context, uint64_t *codes, uint64_t *payloads, size_t max)
{
    struct checked_load *checked = context;
    size_t count = checked->load->read(checked->load->context, codes, payloads, max);
    checked->read += count;
    checked->work->cut_short |= !count && max && checked->read < checked->load->count;
    return count;
}

static void rewind_checked(void *context)
{
    struct checked_load *checked = context;
    checked->read = 0;
    checked->load->rewind(checked->load->context);
}

static enum doppel_status load_segment(struct doppel_store_index *self,
                                       const struct doppel_index_load *load,
                                       struct doppel_error *error)
{
    const struct doppel_index_files files = {.folder = self->folder,
                                             .durable =
                                                 !self->disposable || self->store->options.durable,
                                             .publish = index_publish,
                                             .context = self};
    struct publication work = {
        .begun = monotonic_seconds(), .codes = load->count, .most = UINT64_MAX};
    if (load->read_item) /* of which there are several */
        work = (struct publication){0};
    struct doppel_index *index;
    enum doppel_status status = doppel_index_open(&self->make, &files, &index, error);
    if (status)
        return status;
    self->publication = &work;
    struct checked_load checked = {.load = load, .work = &work};
    const struct doppel_index_load codes = {
        .count = load->count, .read = read_checked, .rewind = rewind_checked, .context = &checked};
    status = doppel_index_bulk(index, load->read_item ? load : &codes, error);
    self->publication = NULL;
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
    return status || !(load->count || load->read_item) ? status : load_segment(self, load, error);
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

enum doppel_status doppel_store_index_forget(struct doppel_store *store, const char *name,
                                             struct doppel_error *error)
{
    if (store_in_transaction(store))
        return manifest_drop(store, name, error);
    enum doppel_status status = doppel_store_begin(store, error);
    if (status)
        return status;
    status = manifest_drop(store, name, error);
    if (!status)
        return doppel_store_commit(store, error);
    doppel_store_rollback(store);
    return status;
}

void doppel_store_index_remove_folder(const char *folder)
{
    segment_folder_sweep(folder, &(struct segment_rows){0});
    (void)rmdir(folder);
}
