/* Indexes of codes and of signatures: made, added to, searched. */
#include "binding.h"
#include "tables.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <doppel/store.h>

static const char index_capsule[] = "doppel.index";

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

PyObject *binding_index_capsule(const struct binding_index *made)
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

struct binding_index *binding_index_of(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, index_capsule);
}

size_t binding_code_words(const struct doppel_index_options *make)
{
    return make->table == DOPPEL_INDEX_BANDS ? make->lanes / 4 : (make->bits + 63) / 64;
}

/* The largest distance: bits, or lanes. */
static uint32_t binding_most(const struct doppel_index_options *make)
{
    return make->table == DOPPEL_INDEX_BANDS ? make->lanes : make->bits;
}

/* (table, bits, radius, compact, lanes, bands, rows, key_bits): what is of another table is not
 * looked at. */
PyObject *binding_index_new(PyObject *module, PyObject *args)
{
    (void)module;
    struct binding_index made = {.make = doppel_index_options_default()};
    struct doppel_index_options *make = &made.make;
    struct doppel_error error;
    unsigned table;
    int compact;
    if (!binding_parse(args, "IIIpIIII", &table, &make->bits, &make->design_radius, &compact,
                       &make->lanes, &make->bands, &make->rows, &make->key_bits))
        return NULL;
    make->table = (enum doppel_index_table)table;
    make->compact = compact;
    if (doppel_index_new(make, &made.index, &error))
        return binding_raise(&error, NULL);
    return binding_index_capsule(&made);
}

/* (lanes, similarity): (bands, rows) for it */
PyObject *binding_bands_choose(PyObject *module, PyObject *args)
{
    (void)module;
    unsigned lanes, bands, rows;
    double similarity;
    struct doppel_error error;
    if (!binding_parse(args, "Id", &lanes, &similarity))
        return NULL;
    if (doppel_index_bands_choose(lanes, similarity, DOPPEL_INDEX_BANDS_USUAL, &bands, &rows,
                                  &error))
        return binding_raise(&error, NULL);
    return Py_BuildValue("(II)", bands, rows);
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
    if (!binding_parse(args, "OOOK", &capsule, &codes_object, &ids_object, &first))
        return NULL;
    struct binding_index *index = binding_index_of(capsule);
    const uint64_t *codes =
        index ? binding_codes_of(codes_object, binding_code_words(&index->make), &count) : NULL;
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
    if (!binding_parse(args, "OO", &capsule, &ids_object))
        return NULL;
    struct binding_index *index = binding_index_of(capsule);
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
        request->queries = queries + first * binding_code_words(&index->make);
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

/* Of each query `nearest` ids and distances, -1 where there are fewer hits. */
static PyObject *nearest_tuple(const struct found_arrays *found, size_t queries, size_t nearest)
{
    if (queries && nearest > (size_t)PY_SSIZE_T_MAX / sizeof(int64_t) / queries)
        return binding_fail(DOPPEL_E_MEMORY, "no memory for %zu of each of %zu", nearest, queries);
    const size_t all = queries * nearest;
    PyObject *parts[2] = {PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(all * sizeof(int32_t))),
                          PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(all * sizeof(int64_t)))};
    PyObject *tuple = parts[0] && parts[1] ? PyTuple_Pack(2, parts[0], parts[1]) : NULL;
    int32_t *distances = tuple ? (void *)PyByteArray_AsString(parts[0]) : NULL;
    int64_t *ids = tuple ? (void *)PyByteArray_AsString(parts[1]) : NULL;
    for (size_t query = 0; tuple && query < queries; query++) {
        const size_t first = (size_t)found->lim[query];
        const size_t count = (size_t)found->lim[query + 1] - first;
        for (size_t i = 0; i < nearest; i++, distances++, ids++) {
            *distances = i < count ? found->distance[first + i] : -1;
            *ids = i < count ? found->id[first + i] : -1;
        }
    }
    for (int i = 0; i < 2; i++)
        Py_XDECREF(parts[i]);
    return tuple;
}

static PyObject *search_index_blocks(const struct binding_index *index,
                                     struct doppel_index_request *request)
{
    struct found_arrays found = {0};
    struct doppel_error error;
    PyObject *result = NULL;
    const size_t queries = request->count;
    found.lims =
        PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)((queries + 1) * sizeof *found.lim));
    if (!found.lims)
        return NULL;
    found.lim = (int64_t *)(void *)PyByteArray_AsString(found.lims);
    found.lim[0] = 0;
    enum doppel_status status = search_blocks(index, request, &found, &error);
    if (status && status != DOPPEL_E_CANCELLED)
        binding_raise(&error, NULL);
    else if (!status)
        result = request->nearest ? nearest_tuple(&found, queries, request->nearest)
                                  : found_tuple(&found);
    Py_DECREF(found.lims);
    free(found.id);
    free(found.distance);
    return result;
}

/* So many queries are worth more than one thread. */
enum { MANY_QUERIES = 64 };

static uint32_t threads_for(size_t queries)
{
    cpu_set_t allowed;
    if (queries < MANY_QUERIES || sched_getaffinity(0, sizeof allowed, &allowed))
        return 1;
    return (uint32_t)CPU_COUNT(&allowed);
}

/* Numbers of 0 are "all", and as many threads as pay. */
static bool read_index_search(const struct binding_index *index, PyObject *const *given,
                              struct doppel_index_request *out)
{
    uint64_t radius, nearest, cap, threads;
    out->queries = binding_codes_of(given[0], binding_code_words(&index->make), &out->count);
    if (!out->queries || !binding_whole(given[1], "radius", binding_most(&index->make), &radius) ||
        !binding_whole(given[2], "k", UINT32_MAX, &nearest) ||
        !binding_whole(given[3], "limit", UINT32_MAX, &cap) ||
        !binding_whole(given[4], "threads", 4096, &threads))
        return false;
    out->radius = (uint32_t)radius;
    out->nearest = (size_t)nearest;
    out->cap = (size_t)cap;
    out->threads = threads ? (uint32_t)threads : threads_for(out->count);
    return true;
}

/* (index, queries, radius, nearest, cap, threads): lims, ids, distances; of those that are nearest
 * distances and ids, as many of each query */
PyObject *binding_index_search(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *capsule, *given[5];
    struct doppel_index_request request = {0};
    if (!PyArg_UnpackTuple(args, "index_search", 6, 6, &capsule, &given[0], &given[1], &given[2],
                           &given[3], &given[4]))
        return NULL;
    struct binding_index *index = binding_index_of(capsule);
    if (!index || !read_index_search(index, given, &request))
        return NULL;
    return search_index_blocks(index, &request);
}

/* (table, bits, radius, codes, bytes, lanes, bands, rows) */
PyObject *binding_index_info(PyObject *module, PyObject *capsule)
{
    (void)module;
    struct binding_index *index = binding_index_of(capsule);
    if (!index)
        return NULL;
    const struct doppel_index_options *make = &index->make;
    struct doppel_index_info info = doppel_index_info(index->index);
    return Py_BuildValue("(IIIKKIII)", (unsigned)make->table, make->bits, make->design_radius,
                         (unsigned long long)info.codes, (unsigned long long)info.bytes,
                         make->lanes, make->bands, make->rows);
}
