/* Indexes in folders, as `doppel index` has them: mapped, or saved. */
#include "binding.h"
#include "tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <doppel/index_items.h>
#include <doppel/store.h>

static enum doppel_status open_index_store(const char *folder, bool create,
                                           struct doppel_store **out, struct doppel_error *error)
{
    char path[4096];
    const struct doppel_store_options options = {
        .application_id = 0x64706c49 /* "dplI" */,
        .schema_version = 2,
        .schema = DOPPEL_STORE_INDEX_SCHEMA,
        .create = create,
        .read_only = !create,
        .busy_timeout_ms = 5000,
    };
    if (snprintf(path, sizeof path, "%s/index.db", folder) >= (int)sizeof path)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a path as long as this names no folder");
    return doppel_store_open(path, &options, out, error);
}

static enum doppel_status open_folder(const char *folder, struct binding_index *made,
                                      struct doppel_error *error)
{
    const struct doppel_store_index_options options = {.name = "codes", .folder = folder};
    struct doppel_store_index_info info;
    enum doppel_status status = open_index_store(folder, false, &made->store, error);
    if (status)
        return status;
    status = doppel_store_index_open(made->store, &options, &made->kept, error);
    if (status)
        return status;
    doppel_store_index_info(made->kept, &info);
    made->index = doppel_store_index_get(made->kept);
    if (info.options.table != made->make.table || !made->index)
        return doppel_fail(error, DOPPEL_E_FORMAT, "is an index of another kind");
    made->make = info.options;
    return DOPPEL_OK;
}

/* (folder, table) */
PyObject *binding_index_open(PyObject *module, PyObject *args)
{
    (void)module;
    const char *folder;
    unsigned table;
    struct binding_index made = {0};
    struct doppel_error error;
    if (!binding_parse(args, "yI", &folder, &table))
        return NULL;
    made.make.table = (enum doppel_index_table)table;
    PyThreadState *thread = PyEval_SaveThread();
    enum doppel_status status = open_folder(folder, &made, &error);
    PyEval_RestoreThread(thread);
    if (!status)
        return binding_index_capsule(&made);
    doppel_store_index_close(made.kept);
    doppel_store_close(made.store);
    return binding_raise(&error, folder);
}

/* Codes on their way from an index into another one. */
struct copied_codes {
    uint64_t *codes, *ids;
    size_t count, done, words;
};

static size_t read_copied(void *context, uint64_t *codes, uint64_t *ids, size_t max)
{
    struct copied_codes *from = context;
    size_t count = from->count - from->done < max ? from->count - from->done : max;
    memcpy(codes, from->codes + from->done * from->words, count * from->words * sizeof *codes);
    memcpy(ids, from->ids + from->done, count * sizeof *ids);
    from->done += count;
    return count;
}

static void rewind_copied(void *context)
{
    ((struct copied_codes *)context)->done = 0;
}

static enum doppel_status copy_index_codes(const struct binding_index *index,
                                           struct copied_codes *out, struct doppel_error *error)
{
    size_t most = (size_t)doppel_index_count(index->index);
    out->words = binding_code_words(&index->make);
    out->codes = malloc((most * out->words + 1) * sizeof *out->codes);
    out->ids = malloc((most + 1) * sizeof *out->ids);
    if (!out->codes || !out->ids)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a copy of %zu codes", most);
    if (!most)
        return DOPPEL_OK;
    return doppel_index_sample(index->index, most, out->codes, out->ids, &out->count, error);
}

/* Items on their way into another index. */
struct copied_items {
    struct doppel_index_items all;
    size_t done;
};

static bool read_copied_item(void *context, struct doppel_index_item *out)
{
    struct copied_items *from = context;
    if (from->done == from->all.count)
        return false;
    *out = from->all.items[from->done++];
    return true;
}

static void rewind_copied_items(void *context)
{
    ((struct copied_items *)context)->done = 0;
}

static enum doppel_status build_folder(const struct binding_index *index, const char *folder,
                                       const struct doppel_index_load *load,
                                       struct doppel_error *error)
{
    struct doppel_store *store = NULL;
    struct doppel_index_options make = index->make;
    const struct doppel_store_index_options options = {
        .name = "codes", .folder = folder, .make = &make};
    if (mkdir(folder, 0777))
        return doppel_fail(error, errno == EEXIST ? DOPPEL_E_ARGUMENT : DOPPEL_E_IO,
                           "cannot be made: %s", strerror(errno));
    enum doppel_status status = open_index_store(folder, true, &store, error);
    if (!status)
        status = doppel_store_index_build(store, &options, load, error);
    doppel_store_close(store);
    return status;
}

static enum doppel_status save_codes(const struct binding_index *index, const char *folder,
                                     struct doppel_error *error)
{
    struct copied_codes codes = {0};
    enum doppel_status status = copy_index_codes(index, &codes, error);
    const struct doppel_index_load load = {
        .count = codes.count, .read = read_copied, .rewind = rewind_copied, .context = &codes};
    if (!status)
        status = build_folder(index, folder, &load, error);
    free(codes.codes);
    free(codes.ids);
    return status;
}

static enum doppel_status save_postings(const struct binding_index *index, const char *folder,
                                        struct doppel_error *error)
{
    struct copied_items items = {0};
    const struct doppel_index_load load = {
        .read_item = read_copied_item, .rewind = rewind_copied_items, .context = &items};
    enum doppel_status status = doppel_index_items_read(index->index, &items.all, error);
    if (!status)
        status = build_folder(index, folder, &load, error);
    doppel_index_items_free(&items.all);
    return status;
}

PyObject *binding_index_save(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *capsule;
    const char *folder;
    struct doppel_error error;
    if (!binding_parse(args, "Oy", &capsule, &folder))
        return NULL;
    struct binding_index *index = binding_index_of(capsule);
    if (!index)
        return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    enum doppel_status status = index->make.table == DOPPEL_INDEX_POSTINGS
                                    ? save_postings(index, folder, &error)
                                    : save_codes(index, folder, &error);
    PyEval_RestoreThread(thread);
    if (status)
        return binding_raise(&error, folder);
    Py_RETURN_NONE;
}
