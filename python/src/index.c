/* Indexes of codes: in memory, or mapped from a folder as `doppel index` makes it. */
#include "binding.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <doppel/index.h>
#include <doppel/store.h>

static const char index_capsule[] = "doppel.index";

/* Of a folder the index belongs to the kept one. */
struct binding_index {
    struct doppel_index *index;
    struct doppel_store_index *kept;
    struct doppel_store *store;
    unsigned bits, words, radius;
};

static void close_index(struct binding_index *index)
{
    if (!index->kept)
        doppel_index_free(index->index);
    doppel_store_index_close(index->kept);
    doppel_store_close(index->store);
    free(index);
}

static void free_index_capsule(PyObject *capsule)
{
    close_index(PyCapsule_GetPointer(capsule, index_capsule));
}

static PyObject *index_capsule_of(const struct binding_index *made)
{
    struct binding_index *index = malloc(sizeof *index);
    if (!index)
        return PyErr_NoMemory();
    *index = *made;
    PyObject *capsule = PyCapsule_New(index, index_capsule, free_index_capsule);
    if (!capsule)
        close_index(index);
    return capsule;
}

static struct binding_index *index_of_capsule(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, index_capsule);
}

PyObject *binding_index_new(PyObject *module, PyObject *args)
{
    (void)module;
    struct doppel_index_options options = doppel_index_options_default();
    struct binding_index made = {0};
    struct doppel_error error;
    int compact;
    if (!PyArg_ParseTuple(args, "IIp", &options.bits, &options.design_radius, &compact))
        return NULL;
    options.compact = compact;
    made.bits = options.bits;
    made.words = (options.bits + 63) / 64;
    made.radius = options.design_radius;
    if (doppel_index_new(&options, &made.index, &error))
        return binding_raise(&error, NULL);
    return index_capsule_of(&made);
}

/* ---- codes in ---- */

/* Of payloads that are not given: consecutive numbers. @return given (free) */
static uint64_t *count_up(uint64_t first, size_t count)
{
    uint64_t *ids = malloc((count ? count : 1) * sizeof *ids);
    for (size_t i = 0; ids && i < count; i++)
        ids[i] = first + i;
    return ids;
}

PyObject *binding_index_add(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *capsule, *codes_object, *ids_object;
    unsigned long long first;
    size_t count, id_count;
    struct doppel_error error;
    uint64_t *made = NULL;
    const uint64_t *ids = NULL;
    if (!PyArg_ParseTuple(args, "OOOK", &capsule, &codes_object, &ids_object, &first))
        return NULL;
    struct binding_index *index = index_of_capsule(capsule);
    const uint64_t *codes = index ? binding_codes_of(codes_object, index->words, &count) : NULL;
    if (!codes)
        return NULL;
    if (index->kept)
        return binding_fail(DOPPEL_E_ARGUMENT, "an index that was loaded is only searched");
    if (ids_object != Py_None) {
        ids = binding_ids_of(ids_object, &id_count);
        if (!ids)
            return NULL;
        if (id_count != count)
            return binding_fail(DOPPEL_E_ARGUMENT, "%zu codes have %zu ids", count, id_count);
    }
    PyThreadState *thread = PyEval_SaveThread();
    if (!ids)
        ids = made = count_up(first, count);
    enum doppel_status status =
        ids ? doppel_index_insert(index->index, codes, ids, count, &error)
            : doppel_fail(&error, DOPPEL_E_MEMORY, "no memory for %zu ids", count);
    free(made);
    PyEval_RestoreThread(thread);
    if (status)
        return binding_raise(&error, NULL);
    return PyLong_FromSize_t(count);
}

PyObject *binding_index_remove(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *capsule, *ids_object;
    size_t count;
    struct doppel_error error;
    if (!PyArg_ParseTuple(args, "OO", &capsule, &ids_object))
        return NULL;
    struct binding_index *index = index_of_capsule(capsule);
    const uint64_t *ids = index ? binding_ids_of(ids_object, &count) : NULL;
    if (!ids)
        return NULL;
    if (index->kept)
        return binding_fail(DOPPEL_E_ARGUMENT, "an index that was loaded is only searched");
    PyThreadState *thread = PyEval_SaveThread();
    enum doppel_status status = doppel_index_remove(index->index, ids, count, &error);
    PyEval_RestoreThread(thread);
    if (status)
        return binding_raise(&error, NULL);
    Py_RETURN_NONE;
}

/* ---- search ----
 *
 * Queries are searched for in blocks, so that signals are seen between them. */

enum { BLOCK_QUERIES = 16384 };

/* Three arrays for the caller: of query i the hits lims[i] to lims[i + 1]. */
struct found_arrays {
    PyObject *lims;
    size_t hits, capacity;
    int64_t *id;
    int32_t *distance;
    int64_t *lim;
};

static enum doppel_status append_hits(struct found_arrays *found,
                                      const struct doppel_index_hit *hits, size_t count,
                                      struct doppel_error *error)
{
    if (found->hits + count > found->capacity) {
        size_t capacity =
            found->capacity * 2 > found->hits + count ? found->capacity * 2 : found->hits + count;
        int64_t *ids = realloc(found->id, capacity * sizeof *ids);
        found->id = ids ? ids : found->id;
        int32_t *distances = realloc(found->distance, capacity * sizeof *distances);
        found->distance = distances ? distances : found->distance;
        if (!ids || !distances)
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %zu hits", capacity);
        found->capacity = capacity;
    }
    for (size_t i = 0; i < count; i++) {
        memcpy(&found->id[found->hits + i], &hits[i].payload, sizeof(int64_t));
        found->distance[found->hits + i] = (int32_t)hits[i].distance;
    }
    found->hits += count;
    return DOPPEL_OK;
}

/* Of the block's queries, from number `first` on. */
static enum doppel_status search_block(const struct binding_index *index,
                                       const struct doppel_index_request *request, size_t first,
                                       struct found_arrays *found, struct doppel_error *error)
{
    struct doppel_index_hit *hits = NULL;
    size_t count = 0, next = 0, before = found->hits;
    enum doppel_status status =
        doppel_index_search_array(index->index, request, &hits, &count, error);
    if (!status)
        status = append_hits(found, hits, count, error);
    for (size_t query = 0; query < request->count && !status; query++) {
        while (next < count && hits[next].query == query)
            next++;
        found->lim[first + query + 1] = (int64_t)(before + next);
    }
    free(hits);
    return status;
}

/* @return DOPPEL_E_CANCELLED: an exception is set */
static enum doppel_status search_blocks(const struct binding_index *index,
                                        struct doppel_index_request *request,
                                        struct found_arrays *found, struct doppel_error *error)
{
    const uint64_t *queries = request->queries;
    size_t total = request->count;
    enum doppel_status status = DOPPEL_OK;
    for (size_t first = 0; first < total && !status; first += BLOCK_QUERIES) {
        request->queries = queries + first * index->words;
        request->count = total - first < BLOCK_QUERIES ? total - first : BLOCK_QUERIES;
        PyThreadState *thread = PyEval_SaveThread();
        status = search_block(index, request, first, found, error);
        PyEval_RestoreThread(thread);
        if (!status && PyErr_CheckSignals())
            status = DOPPEL_E_CANCELLED;
    }
    return status;
}

static PyObject *found_tuple(const struct found_arrays *found)
{
    PyObject *ids = PyByteArray_FromStringAndSize((const char *)found->id,
                                                  (Py_ssize_t)(found->hits * sizeof *found->id));
    PyObject *distances = PyByteArray_FromStringAndSize(
        (const char *)found->distance, (Py_ssize_t)(found->hits * sizeof *found->distance));
    PyObject *tuple = ids && distances ? PyTuple_Pack(3, found->lims, ids, distances) : NULL;
    Py_XDECREF(ids);
    Py_XDECREF(distances);
    return tuple;
}

static PyObject *search_index_blocks(const struct binding_index *index,
                                     struct doppel_index_request *request)
{
    struct found_arrays found = {0};
    struct doppel_error error;
    PyObject *result = NULL;
    found.lims =
        PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)((request->count + 1) * sizeof *found.lim));
    if (!found.lims)
        return NULL;
    found.lim = (int64_t *)(void *)PyByteArray_AsString(found.lims);
    found.lim[0] = 0;
    enum doppel_status status = search_blocks(index, request, &found, &error);
    if (status && status != DOPPEL_E_CANCELLED)
        binding_raise(&error, NULL);
    else if (!status)
        result = found_tuple(&found);
    Py_DECREF(found.lims);
    free(found.id);
    free(found.distance);
    return result;
}

PyObject *binding_index_search(PyObject *module, PyObject *args, PyObject *keywords)
{
    (void)module;
    static char *names[] = {"index", "queries", "radius", "nearest", "cap", "threads", NULL};
    PyObject *capsule, *queries;
    struct doppel_index_request request = {0};
    Py_ssize_t nearest, cap;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOInnI", names, &capsule, &queries,
                                     &request.radius, &nearest, &cap, &request.threads))
        return NULL;
    struct binding_index *index = index_of_capsule(capsule);
    request.queries = index ? binding_codes_of(queries, index->words, &request.count) : NULL;
    if (!request.queries)
        return NULL;
    if (nearest < 0 || cap < 0)
        return binding_fail(DOPPEL_E_ARGUMENT, "a number of hits is at least 0");
    request.nearest = (size_t)nearest;
    request.cap = (size_t)cap;
    return search_index_blocks(index, &request);
}

/* (bits, radius, codes, bytes) */
PyObject *binding_index_info(PyObject *module, PyObject *capsule)
{
    (void)module;
    struct binding_index *index = index_of_capsule(capsule);
    if (!index)
        return NULL;
    struct doppel_index_info info = doppel_index_info(index->index);
    return Py_BuildValue("(IIKK)", index->bits, index->radius, (unsigned long long)info.codes,
                         (unsigned long long)info.bytes);
}

/* ---- folders, as `doppel index` has them ---- */

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
    made->bits = info.options.bits;
    made->words = (info.options.bits + 63) / 64;
    made->radius = info.options.design_radius;
    if (info.options.table != DOPPEL_INDEX_HAMMING || !made->index)
        return doppel_fail(error, DOPPEL_E_FORMAT, "is not an index of codes");
    return DOPPEL_OK;
}

PyObject *binding_index_open(PyObject *module, PyObject *args)
{
    (void)module;
    const char *folder;
    struct binding_index made = {0};
    struct doppel_error error;
    if (!PyArg_ParseTuple(args, "y", &folder))
        return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    enum doppel_status status = open_folder(folder, &made, &error);
    PyEval_RestoreThread(thread);
    if (!status)
        return index_capsule_of(&made);
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
    out->words = index->words;
    out->codes = malloc((most * index->words + 1) * sizeof *out->codes);
    out->ids = malloc((most + 1) * sizeof *out->ids);
    if (!out->codes || !out->ids)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a copy of %zu codes", most);
    if (!most)
        return DOPPEL_OK;
    return doppel_index_sample(index->index, most, out->codes, out->ids, &out->count, error);
}

static enum doppel_status build_folder(const struct binding_index *index, const char *folder,
                                       struct copied_codes *codes, struct doppel_error *error)
{
    struct doppel_store *store = NULL;
    struct doppel_index_options make = doppel_index_options_default();
    const struct doppel_store_index_options options = {
        .name = "codes", .folder = folder, .make = &make};
    const struct doppel_index_load load = {
        .count = codes->count, .read = read_copied, .rewind = rewind_copied, .context = codes};
    make.bits = index->bits;
    make.design_radius = index->radius;
    if (mkdir(folder, 0777))
        return doppel_fail(error, errno == EEXIST ? DOPPEL_E_ARGUMENT : DOPPEL_E_IO,
                           "cannot be made: %s", strerror(errno));
    enum doppel_status status = open_index_store(folder, true, &store, error);
    if (!status)
        status = doppel_store_index_build(store, &options, &load, error);
    doppel_store_close(store);
    return status;
}

PyObject *binding_index_save(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *capsule;
    const char *folder;
    struct copied_codes codes = {0};
    struct doppel_error error;
    if (!PyArg_ParseTuple(args, "Oy", &capsule, &folder))
        return NULL;
    struct binding_index *index = index_of_capsule(capsule);
    if (!index)
        return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    enum doppel_status status = copy_index_codes(index, &codes, &error);
    if (!status)
        status = build_folder(index, folder, &codes, &error);
    free(codes.codes);
    free(codes.ids);
    PyEval_RestoreThread(thread);
    if (status)
        return binding_raise(&error, folder);
    Py_RETURN_NONE;
}
