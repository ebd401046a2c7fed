/* Indexes of postings: keys at places of items. */
#include "binding.h"
#include "tables.h"

#include <stdlib.h>

#include "core/array.h"

/* Rows of a key and a position, as they lie in memory. */
static bool read_postings(PyObject *object, struct doppel_index_item *out)
{
    struct binding_array array;
    if (!binding_array_of(object, "postings", &array))
        return false;
    if (array.kind != 'u' || array.item != sizeof(uint32_t) || array.dimensions != 2 ||
        array.shape[1] != 2 || array.shape[0] > UINT32_MAX)
        return binding_fail(DOPPEL_E_ARGUMENT,
                            "postings: an array of uint32, n x 2, is wanted: keys, positions");
    out->count = (uint32_t)array.shape[0];
    out->postings = array.data;
    return true;
}

/* (index, id, postings, length): of a length of 0 it is up to the last position */
PyObject *binding_postings_add(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *capsule, *postings;
    unsigned long long id;
    struct doppel_index_item item = {0};
    struct doppel_error error;
    if (!binding_parse(args, "OKOI", &capsule, &id, &postings, &item.length))
        return NULL;
    struct binding_index *index = binding_index_of(capsule);
    if (!index || !read_postings(postings, &item))
        return NULL;
    if (index->kept)
        return binding_fail(DOPPEL_E_ARGUMENT, "an index that was loaded is only searched");
    item.payload = id;
    PyThreadState *thread = PyEval_SaveThread();
    const bool counted = !item.length;
    for (uint32_t i = 0; counted && i < item.count; i++)
        if (item.postings[i].position >= item.length && item.postings[i].position < UINT32_MAX)
            item.length = item.postings[i].position + 1;
    enum doppel_status status = doppel_index_insert_item(index->index, &item, &error);
    PyEval_RestoreThread(thread);
    if (status)
        return binding_raise(&error, NULL);
    Py_RETURN_NONE;
}

/* ---- look-ups ---- */

struct found_posting {
    uint32_t key_number, position;
    uint64_t id;
};

struct found_postings {
    const struct doppel_index_axis *axis;
    ARRAY(struct found_posting) rows;
    bool no_memory;
};

static bool take_posting_run(void *context, uint32_t key_number, uint64_t base,
                             const uint32_t *positions, size_t count)
{
    struct found_postings *found = context;
    for (size_t i = 0; i < count && !found->no_memory; i++) {
        const uint64_t at = base + positions[i];
        const struct doppel_index_place place = doppel_index_item_at(found->axis, at);
        const struct found_posting row = {key_number, (uint32_t)(at - place.start), place.payload};
        found->no_memory |= !place.removed && !array_push(&found->rows, row);
    }
    return !found->no_memory;
}

static enum doppel_status look_postings_up(const struct doppel_index *index, const uint32_t *keys,
                                           size_t count, struct found_postings *found,
                                           struct doppel_error *error)
{
    struct doppel_index_axis *axis;
    enum doppel_status status = doppel_index_axis_take(index, &axis, error);
    if (status)
        return status;
    found->axis = axis;
    status = doppel_index_lookup(axis, keys, count, take_posting_run, found, error);
    doppel_index_axis_free(axis);
    return found->no_memory ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for what was found")
                            : status;
}

/* Segment by segment as they come, they are put together key by key. */
static PyObject *postings_tuple(const struct found_postings *found, size_t keys)
{
    const size_t rows = found->rows.count;
    PyObject *parts[3] = {
        PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)((keys + 1) * sizeof(int64_t))),
        PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(rows * sizeof(uint64_t))),
        PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(rows * sizeof(uint32_t)))};
    PyObject *tuple =
        parts[0] && parts[1] && parts[2] ? PyTuple_Pack(3, parts[0], parts[1], parts[2]) : NULL;
    size_t *next = calloc(keys + 1, sizeof *next);
    if (tuple && next) {
        int64_t *lims = (void *)PyByteArray_AsString(parts[0]);
        uint64_t *ids = (void *)PyByteArray_AsString(parts[1]);
        uint32_t *positions = (void *)PyByteArray_AsString(parts[2]);
        for (size_t i = 0; i < rows; i++)
            next[found->rows.items[i].key_number + 1]++;
        for (size_t key = 1; key <= keys; key++)
            next[key] += next[key - 1];
        for (size_t key = 0; key <= keys; key++)
            lims[key] = (int64_t)next[key];
        for (size_t i = 0; i < rows; i++) {
            const struct found_posting *row = &found->rows.items[i];
            const size_t at = next[row->key_number]++;
            ids[at] = row->id;
            positions[at] = row->position;
        }
    } else {
        Py_CLEAR(tuple);
        PyErr_NoMemory();
    }
    free(next);
    for (int i = 0; i < 3; i++)
        Py_XDECREF(parts[i]);
    return tuple;
}

static bool read_posting_keys(PyObject *object, uint32_t key_bits, const uint32_t **out,
                              size_t *out_count)
{
    struct binding_array array;
    if (!binding_array_of(object, "keys", &array))
        return false;
    if (array.kind != 'u' || array.item != sizeof(uint32_t) || array.dimensions != 1 ||
        array.shape[0] >= UINT32_MAX)
        return binding_fail(DOPPEL_E_ARGUMENT, "keys: an array of uint32 is wanted");
    *out = array.data;
    *out_count = array.shape[0];
    for (size_t i = 0; i < *out_count; i++)
        if (key_bits < 32 && (*out)[i] >> key_bits)
            return binding_fail(DOPPEL_E_ARGUMENT, "keys: %u has more than %u bits", (*out)[i],
                                key_bits);
    return true;
}

/* (index, keys): lims, ids, positions */
PyObject *binding_postings_lookup(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *capsule, *keys_object, *tuple = NULL;
    const uint32_t *keys = NULL;
    size_t count = 0;
    struct found_postings found = {0};
    struct doppel_error error;
    if (!binding_parse(args, "OO", &capsule, &keys_object))
        return NULL;
    struct binding_index *index = binding_index_of(capsule);
    if (!index || !read_posting_keys(keys_object, index->make.key_bits, &keys, &count))
        return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    enum doppel_status status =
        count ? look_postings_up(index->index, keys, count, &found, &error) : DOPPEL_OK;
    PyEval_RestoreThread(thread);
    if (status)
        binding_raise(&error, NULL);
    else
        tuple = postings_tuple(&found, count);
    array_free(&found.rows);
    return tuple;
}
