/* Arrays of numpy and others, by __array_interface__, and bytes: nothing is copied. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

/* "<u8": byte order, kind, size. */
static bool read_type(PyObject *interface, const char *name, struct binding_array *out)
{
    PyObject *type = PyDict_GetItemString(interface, "typestr"); /* borrowed */
    PyObject *ascii = type && PyUnicode_Check(type) ? PyUnicode_AsASCIIString(type) : NULL;
    const char *text = ascii ? PyBytes_AsString(ascii) : NULL;
    bool known = text && strlen(text) >= 3 && strchr("<|", text[0]) && strchr("uifb", text[1]);
    if (known) {
        out->kind = text[1];
        out->item = (unsigned)strtoul(text + 2, NULL, 10);
    }
    PyErr_Clear();
    Py_XDECREF(ascii);
    if (!known || !out->item || out->item > 8)
        binding_fail(DOPPEL_E_ARGUMENT,
                     "%s: an array of numbers in this machine's byte order is wanted", name);
    return known && out->item && out->item <= 8;
}

static bool read_array_shape(PyObject *interface, const char *name, struct binding_array *out)
{
    PyObject *shape = PyDict_GetItemString(interface, "shape");
    Py_ssize_t count = shape && PyTuple_Check(shape) ? PyTuple_Size(shape) : -1;
    if (count < 1 || count > BINDING_DIMENSIONS)
        return binding_fail(DOPPEL_E_ARGUMENT, "%s: an array of 1 to 3 dimensions is wanted", name);
    size_t total = out->item;
    for (Py_ssize_t i = 0; i < count; i++) {
        size_t length = PyLong_AsSize_t(PyTuple_GetItem(shape, i));
        if (PyErr_Occurred())
            return false;
        out->shape[i] = length;
        if (length && total > (size_t)PY_SSIZE_T_MAX / length)
            return binding_fail(DOPPEL_E_ARGUMENT, "%s: its shape is no array's", name);
        total *= length ? length : 1;
    }
    out->dimensions = (unsigned)count;
    return true;
}

/* Of an array in one piece each stride is that of what lies within. */
static bool check_strides(PyObject *interface, const char *name, const struct binding_array *array)
{
    PyObject *strides = PyDict_GetItemString(interface, "strides");
    if (!strides || strides == Py_None)
        return true;
    if (!PyTuple_Check(strides) || PyTuple_Size(strides) != (Py_ssize_t)array->dimensions)
        return binding_fail(DOPPEL_E_ARGUMENT, "%s: its strides are no array's", name);
    Py_ssize_t wanted = (Py_ssize_t)array->item;
    for (unsigned i = array->dimensions; i-- > 0;) {
        Py_ssize_t stride = PyLong_AsSsize_t(PyTuple_GetItem(strides, (Py_ssize_t)i));
        if (PyErr_Occurred())
            return false;
        if (stride != wanted && array->shape[i] > 1)
            return binding_fail(DOPPEL_E_ARGUMENT, "%s: an array in one piece is wanted", name);
        wanted *= (Py_ssize_t)(array->shape[i] ? array->shape[i] : 1);
    }
    return true;
}

static bool read_address(PyObject *interface, const char *name, struct binding_array *out)
{
    PyObject *data = PyDict_GetItemString(interface, "data");
    if (!data || !PyTuple_Check(data) || PyTuple_Size(data) < 1)
        return binding_fail(DOPPEL_E_ARGUMENT, "%s: an array has no address", name);
    void *address = PyLong_AsVoidPtr(PyTuple_GetItem(data, 0));
    if (PyErr_Occurred())
        return false;
    out->data = address;
    bool empty = false;
    for (unsigned i = 0; i < out->dimensions; i++)
        empty |= out->shape[i] == 0;
    if (!empty && (!address || (uintptr_t)address % out->item))
        return binding_fail(DOPPEL_E_ARGUMENT, "%s: an aligned array is wanted", name);
    return true;
}

bool binding_array_of(PyObject *object, const char *name, struct binding_array *out)
{
    *out = (struct binding_array){0};
    if (PyBytes_Check(object)) {
        *out = (struct binding_array){
            PyBytes_AsString(object), 'u', 1, 1, {(size_t)PyBytes_Size(object)}};
        return true;
    }
    PyObject *interface = PyObject_GetAttrString(object, "__array_interface__");
    if (!interface || !PyDict_Check(interface)) {
        PyErr_Clear();
        Py_XDECREF(interface);
        return binding_wrong_type("an array, or bytes, is wanted");
    }
    bool is_array = read_type(interface, name, out) && read_array_shape(interface, name, out) &&
                    check_strides(interface, name, out) && read_address(interface, name, out);
    Py_DECREF(interface);
    return is_array;
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
    if (array.dimensions != 1 || array.item != 8 || (array.kind != 'u' && array.kind != 'i'))
        return (void *)binding_fail(
            DOPPEL_E_ARGUMENT, "ids: an array of int64 or uint64 with one dimension is wanted");
    *out_count = array.shape[0];
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
