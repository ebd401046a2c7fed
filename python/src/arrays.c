/* Arrays of numpy, by __array_struct__, and bytes: nothing is copied. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

/* What the capsule of __array_struct__ points to:
 * https://numpy.org/doc/stable/reference/arrays.interface.html */
struct array_struct {
    int two; /* always, to tell it by */
    int dimensions;
    char kind;
    int item, flags;
    Py_ssize_t *shape, *strides;
    void *data;
    PyObject *description;
};

enum { ARRAY_IN_ONE_PIECE = 0x1, ARRAY_ALIGNED = 0x100, ARRAY_NATIVE = 0x200 };

/* An attribute that every call of an index asks for: its name is made once. */
static PyObject *array_struct_of(PyObject *object)
{
    static PyObject *name;
    if (!name)
        name = PyUnicode_InternFromString("__array_struct__");
    return name ? PyObject_GetAttr(object, name) : NULL;
}

static bool take_array_struct(const struct array_struct *from, const char *name,
                              struct binding_array *out)
{
    if (from->two != 2 || !strchr("uifb", from->kind) || from->item < 1 || from->item > 8 ||
        !(from->flags & ARRAY_NATIVE))
        return binding_fail(DOPPEL_E_ARGUMENT,
                            "%s: an array of numbers in this machine's byte order is wanted", name);
    if (from->dimensions < 1 || from->dimensions > BINDING_DIMENSIONS)
        return binding_fail(DOPPEL_E_ARGUMENT, "%s: an array of 1 to 3 dimensions is wanted", name);
    if (!(from->flags & ARRAY_IN_ONE_PIECE) || !(from->flags & ARRAY_ALIGNED))
        return binding_fail(DOPPEL_E_ARGUMENT, "%s: an aligned array in one piece is wanted", name);
    *out = (struct binding_array){.data = from->data,
                                  .kind = from->kind,
                                  .item = (unsigned)from->item,
                                  .dimensions = (unsigned)from->dimensions};
    for (unsigned i = 0; i < out->dimensions; i++)
        out->shape[i] = (size_t)from->shape[i];
    return true;
}

bool binding_array_of(PyObject *object, const char *name, struct binding_array *out)
{
    if (PyBytes_Check(object)) {
        *out = (struct binding_array){
            PyBytes_AsString(object), 'u', 1, 1, {(size_t)PyBytes_Size(object)}};
        return true;
    }
    PyObject *capsule = array_struct_of(object);
    const bool given = capsule && PyCapsule_CheckExact(capsule);
    const struct array_struct *from = given ? PyCapsule_GetPointer(capsule, NULL) : NULL;
    PyErr_Clear();
    const bool taken = from && take_array_struct(from, name, out);
    Py_XDECREF(capsule);
    if (!from)
        binding_wrong_type("an array, or bytes, is wanted");
    return taken;
}

/* An empty array may lie nowhere: what is given then is never read. */
static const uint64_t nothing[1];

static const uint64_t *words_in(const struct binding_array *array)
{
    return array->data ? array->data : nothing;
}

const uint64_t *binding_codes_of(PyObject *object, size_t words, size_t *out_count)
{
    struct binding_array array;
    if (!binding_array_of(object, "codes", &array))
        return NULL;
    size_t total = array.item;
    for (unsigned i = 0; i < array.dimensions; i++)
        total *= array.shape[i];
    size_t row = words * sizeof(uint64_t);
    size_t last = array.shape[array.dimensions - 1] * array.item;
    bool rows = array.dimensions == 2 ? last == row
                                      : array.dimensions == 1 && (words == 1 || array.item == 1);
    if (array.kind != 'u' || (array.item != 8 && array.item != 1) || !rows || total % row ||
        (uintptr_t)array.data % sizeof(uint64_t))
        return (void *)binding_fail(DOPPEL_E_ARGUMENT,
                                    "codes of %zu bits are wanted: an array of uint64 with %zu to "
                                    "a row, or of uint8 with %zu",
                                    words * 64, words, words * 8);
    *out_count = total / row;
    return words_in(&array);
}

const uint64_t *binding_ids_of(PyObject *object, size_t *out_count)
{
    struct binding_array array;
    if (!binding_array_of(object, "ids", &array))
        return NULL;
    const size_t bytes = array.shape[0] * array.item;
    const bool plain = PyBytes_Check(object) && bytes % sizeof(uint64_t) == 0 &&
                       (uintptr_t)array.data % sizeof(uint64_t) == 0;
    if (!plain && (array.dimensions != 1 || array.item != 8 || !strchr("ui", array.kind)))
        return (void *)binding_fail(
            DOPPEL_E_ARGUMENT, "ids: an array of int64 or uint64 with one dimension is wanted");
    *out_count = bytes / sizeof(uint64_t);
    return words_in(&array);
}

bool binding_optional_path(PyObject *object, const char **out)
{
    char *bytes = NULL;
    *out = NULL;
    if (object != Py_None && PyBytes_AsStringAndSize(object, &bytes, NULL))
        return false;
    *out = bytes;
    return true;
}

bool binding_strings_of(PyObject *tuple, struct doppel_strings *out)
{
    Py_ssize_t count = PyTuple_Check(tuple) ? PyTuple_Size(tuple) : -1;
    *out = (struct doppel_strings){0};
    if (count < 0)
        return binding_wrong_type("a tuple of bytes is wanted");
    const char **items = calloc((size_t)count + 1, sizeof *items);
    if (!items)
        return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!binding_optional_path(PyTuple_GetItem(tuple, i), &items[i]) || !items[i]) {
            free(items);
            return PyErr_Occurred() ? false : binding_wrong_type("a tuple of bytes is wanted");
        }
    }
    *out = (struct doppel_strings){items, (size_t)count};
    return true;
}

PyObject *binding_json_bytes(struct doppel_json *json)
{
    PyObject *bytes = json->failed ? PyErr_NoMemory()
                                   : PyBytes_FromStringAndSize(json->bytes, (Py_ssize_t)json->size);
    doppel_json_free(json);
    return bytes;
}
