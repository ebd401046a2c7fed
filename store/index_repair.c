/* Damage: found segment by segment, taken out, or all rebuilt. */
#include "store/index_internal.h"

#include <string.h>

#include "core/try.h"

/* Open a segment on its own, and check it whole. */
static enum doppel_status check_segment(const struct doppel_store_index *self,
                                        const struct segment_row *row, struct doppel_error *error)
{
    struct doppel_index *alone;
    const char *name = row->name;
    const struct doppel_index_files files = {
        .folder = self->folder, .names = &name, .count = 1, .read_only = true};
    enum doppel_status status = doppel_index_open(&self->manifest.options, &files, &alone, error);
    if (status)
        return status;
    status = doppel_index_verify(alone, error);
    doppel_index_free(alone);
    return status ? status : index_check_stamp(self, row, error);
}

static bool visit_segment(doppel_store_segment_visitor *visitor, void *context,
                          const struct segment_row *row, const struct doppel_error *error)
{
    const struct doppel_store_segment segment = {.name = row->name,
                                                 .codes = row->codes,
                                                 .least = row->least,
                                                 .most = row->most,
                                                 .error = error};
    return !visitor || visitor(context, &segment);
}

static enum doppel_status read_manifest(struct doppel_store_index *self, struct manifest *out,
                                        struct doppel_error *error)
{
    merger_pause(self);
    enum doppel_status status = store_check_pages(self->store, "PRAGMA integrity_check(1)", error);
    return status ? status : manifest_read(self->store, self->name, out, error);
}

/* A writer has merged it away since the manifest was read. @return false also on failure */
static bool is_merged_away(struct doppel_store_index *self, const char *name)
{
    struct manifest now;
    if (manifest_read(self->store, self->name, &now, NULL))
        return false;
    bool named = false;
    for (size_t i = 0; i < now.segments.count && !named; i++)
        named = strcmp(now.segments.items[i].name, name) == 0;
    manifest_free(&now);
    return !named;
}

static enum doppel_status verify_all(struct doppel_store_index *self, struct manifest *manifest,
                                     doppel_store_segment_visitor *visitor, void *context,
                                     struct doppel_error *error)
{
    for (size_t i = 0; i < manifest->segments.count; i++) {
        const struct segment_row *row = &manifest->segments.items[i];
        struct doppel_error found = {0};
        enum doppel_status status = check_segment(self, row, &found);
        if (status && !index_is_damage(status))
            return doppel_fail(error, status, "%s", found.message);
        if (status == DOPPEL_E_NOT_FOUND && is_merged_away(self, row->name))
            continue;
        if (!visit_segment(visitor, context, row, status ? &found : NULL))
            return DOPPEL_E_CANCELLED;
    }
    return DOPPEL_OK;
}

enum doppel_status doppel_store_index_verify(struct doppel_store_index *self,
                                             doppel_store_segment_visitor *visitor, void *context,
                                             struct doppel_error *error)
{
    struct manifest manifest;
    /* As of one moment; a writer may still take files away after it. */
    enum doppel_status status = read_manifest(self, &manifest, error);
    if (status)
        return status;
    status = verify_all(self, &manifest, visitor, context, error);
    manifest_free(&manifest);
    return status;
}

/* ---- going on without ---- */

/* Move the damaged ones out of the manifest, into `out`; the visitor hears of them. */
static enum doppel_status take_damaged(struct doppel_store_index *self, struct manifest *manifest,
                                       struct segment_rows *out,
                                       doppel_store_segment_visitor *visitor, void *context,
                                       struct doppel_error *error)
{
    struct segment_rows *rows = &manifest->segments;
    size_t kept = 0;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < rows->count; i++) {
        struct doppel_error found = {0};
        struct segment_row row = rows->items[i];
        enum doppel_status checked = status ? status : check_segment(self, &row, &found);
        bool damaged = !status && index_is_damage(checked);
        if (checked && !damaged)
            status = status ? status : doppel_fail(error, checked, "%s", found.message);
        else if (damaged && !array_push(out, row))
            status = doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", self->folder);
        if (!damaged || status)
            rows->items[kept++] = row;
        else if (!visit_segment(visitor, context, &row, &found))
            status = DOPPEL_E_CANCELLED;
    }
    rows->count = kept;
    return status;
}

static enum doppel_status write_without(struct doppel_store_index *self, struct manifest *manifest,
                                        struct doppel_error *error)
{
    manifest->generation++;
    enum doppel_status status = doppel_store_begin(self->store, error);
    if (status)
        return status;
    TRY(manifest_write(self->store, self->name, manifest, error));
    TRY(index_log_drop_damaged(self, error));
    return doppel_store_commit(self->store, error);
done:
    doppel_store_rollback(self->store);
    return status;
}

enum doppel_status doppel_store_index_repair(struct doppel_store_index *self,
                                             doppel_store_segment_visitor *visitor, void *context,
                                             struct doppel_error *error)
{
    struct manifest manifest;
    struct segment_rows damaged = {0};
    enum doppel_status status = read_manifest(self, &manifest, error);
    if (status)
        return status;
    status = take_damaged(self, &manifest, &damaged, visitor, context, error);
    if (!status)
        status = write_without(self, &manifest, error);
    for (size_t i = 0; i < damaged.count && !status; i++)
        segment_folder_set_aside(self->folder, damaged.items[i].name);
    manifest_free(&manifest);
    manifest_free(&(struct manifest){.segments = damaged});
    if (status)
        return status;
    struct doppel_error local;
    return index_load(self, error ? error : &local);
}

/* ---- all again ---- */

static enum doppel_status make_anew(struct doppel_store_index *self, struct manifest *out,
                                    struct doppel_error *error)
{
    enum doppel_status status;
    TRY(manifest_drop(self->store, self->name, error));
    TRY(manifest_make(self->store, self->name, &self->make, error));
    TRY(manifest_read(self->store, self->name, out, error));
done:
    return status;
}

static enum doppel_status empty(struct doppel_store_index *self, struct doppel_error *error)
{
    struct manifest manifest, old = {0};
    enum doppel_status status = doppel_store_begin(self->store, error);
    if (status)
        return status;
    status = manifest_read(self->store, self->name, &manifest, error);
    if (status == DOPPEL_E_CORRUPT && self->make.table)
        status = make_anew(self, &manifest, error);
    if (status)
        goto done;
    old.segments = manifest.segments;
    manifest.segments = (struct segment_rows){0};
    manifest.whole = false;
    manifest.generation++;
    TRY(manifest_write(self->store, self->name, &manifest, error));
    TRY(index_log_drop(self->store, manifest.id, (INT64_C(1) << 40) - 1, error));
    manifest_free(&old);
    return doppel_store_commit(self->store, error);
done:
    manifest_free(&old);
    doppel_store_rollback(self->store);
    return status;
}

static enum doppel_status declare_whole(struct doppel_store_index *self, struct doppel_error *error)
{
    struct manifest manifest = {0};
    enum doppel_status status = doppel_store_begin(self->store, error);
    if (status)
        return status;
    TRY(manifest_read(self->store, self->name, &manifest, error));
    manifest.whole = true;
    TRY(manifest_write(self->store, self->name, &manifest, error));
    manifest_free(&manifest);
    return doppel_store_commit(self->store, error);
done:
    manifest_free(&manifest);
    doppel_store_rollback(self->store);
    return status;
}

enum doppel_status doppel_store_index_rebuild(struct doppel_store_index *self,
                                              struct doppel_error *error)
{
    if (self->lock_fd < 0 || !self->rebuild)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s: nothing to rebuild the index from",
                           self->folder);
    struct doppel_error local;
    merger_pause(self);
    enum doppel_status status;
    TRY(empty(self, error));
    TRY(index_load(self, error ? error : &local));
    TRY(self->rebuild(self->rebuild_context, self, error));
    TRY(declare_whole(self, error));
    self->manifest.whole = true;
done:
    return status;
}
