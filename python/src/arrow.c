/* Texts and their ids out of Arrow's tables and columns, by the C data interface: whoever made them
 * is in this process and gives capsules; nothing of Arrow is linked. */
#include "binding.h"
#include "arrow.h"

#include <string.h>

/* Strings, or whole numbers, as they lie in memory. */
struct arrow_values {
    const struct ArrowArray *array;
    char type; /* 'u' offsets of 32 bits, 'U' of 64, 'v' views; else a whole number of the format */
};

/* A column; what is encoded by a dictionary has the places of its values in that. */
struct arrow_column {
    struct arrow_values values, places; /* of places no array: there is no dictionary */
};

static const char arrow_integers[] = "cCsSiIlL";

static bool read_arrow_type(const struct ArrowSchema *schema, const char *known, char *out)
{
    const char *format = schema->format ? schema->format : "";
    *out = strcmp(format, "vu") == 0 ? 'v' : format[0];
    return *out && strchr(known, *out) && (*out == 'v' || !format[1]);
}

/* Whether it has the buffers that its type wants, and no fewer rows than its table. */
static bool is_arrow_whole(const struct arrow_values *values, int64_t rows)
{
    const struct ArrowArray *array = values->array;
    const int64_t buffers = strchr("uUv", values->type) ? 3 : 2;
    return array->offset >= 0 && array->length >= rows && array->n_buffers >= buffers &&
           array->buffers && (!rows || array->buffers[1]);
}

static bool is_arrow_null(const struct ArrowArray *array, int64_t row)
{
    const uint8_t *valid = array->n_buffers > 0 && array->buffers ? array->buffers[0] : NULL;
    row += array->offset;
    return valid && array->null_count && !(valid[row / 8] >> row % 8 & 1);
}

/* Longer than 12 bytes they lie in a buffer of their own. @return false: they are nowhere */
static bool find_arrow_view(const struct ArrowArray *array, int64_t row, const char **out,
                            int64_t *out_size)
{
    const char *view = (const char *)array->buffers[1] + 16 * row;
    int32_t size, place[2];
    memcpy(&size, view, sizeof size);
    *out = view + 4;
    *out_size = size;
    if (size <= 12)
        return size >= 0;
    memcpy(place, view + 8, sizeof place);
    const int64_t data = array->n_buffers - 3; /* the last one has the sizes of these */
    if (place[0] < 0 || place[0] >= data || place[1] < 0 || !array->buffers[2 + place[0]] ||
        !array->buffers[array->n_buffers - 1])
        return false;
    int64_t room;
    memcpy(&room, (const char *)array->buffers[array->n_buffers - 1] + 8 * place[0], sizeof room);
    *out = (const char *)array->buffers[2 + place[0]] + place[1];
    return place[1] + (int64_t)size <= room;
}

static bool find_arrow_string(const struct arrow_values *values, int64_t row, const char **out,
                              int64_t *out_size)
{
    const struct ArrowArray *array = values->array;
    int64_t from, to;
    row += array->offset;
    if (values->type == 'v')
        return find_arrow_view(array, row, out, out_size);
    if (values->type == 'u') {
        from = ((const int32_t *)array->buffers[1])[row];
        to = ((const int32_t *)array->buffers[1])[row + 1];
    } else {
        from = ((const int64_t *)array->buffers[1])[row];
        to = ((const int64_t *)array->buffers[1])[row + 1];
    }
    *out = array->buffers[2] ? (const char *)array->buffers[2] + from : "";
    *out_size = to - from;
    return from >= 0 && to >= from && (array->buffers[2] || to == from);
}

/* Of 'L' the bits of an unsigned one. */
static int64_t arrow_integer(const struct arrow_values *values, int64_t row)
{
    const void *all = values->array->buffers[1];
    row += values->array->offset;
    switch (values->type) {
    case 'c':
        return ((const int8_t *)all)[row];
    case 'C':
        return ((const uint8_t *)all)[row];
    case 's':
        return ((const int16_t *)all)[row];
    case 'S':
        return ((const uint16_t *)all)[row];
    case 'i':
        return ((const int32_t *)all)[row];
    case 'I':
        return ((const uint32_t *)all)[row];
    default:
        return ((const int64_t *)all)[row];
    }
}

/* @return a new reference; None of a null; NULL: an exception is set */
static PyObject *arrow_value(const struct arrow_column *column, int64_t row)
{
    const struct arrow_values *values = &column->values;
    const char *bytes;
    int64_t size;
    if (column->places.array) {
        if (is_arrow_null(column->places.array, row))
            Py_RETURN_NONE;
        row = arrow_integer(&column->places, row);
        if (row < 0 || row >= values->array->length)
            return binding_fail(DOPPEL_E_CORRUPT, "a dictionary of Arrow lacks what is named");
    }
    if (is_arrow_null(values->array, row))
        Py_RETURN_NONE;
    if (values->type == 'L')
        return PyLong_FromUnsignedLongLong((uint64_t)arrow_integer(values, row));
    if (strchr(arrow_integers, values->type))
        return PyLong_FromLongLong(arrow_integer(values, row));
    if (!find_arrow_string(values, row, &bytes, &size))
        return binding_fail(DOPPEL_E_CORRUPT, "an array of Arrow has a string that lies nowhere");
    return PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)size, "replace");
}

/* ---- a batch ---- */

/* What is wanted: of a table its columns `text` and `id`, else the strings themselves. */
struct arrow_wanted {
    const char *text, *id;
    PyObject *visit; /* with a list of texts, and of ids or None */
};

static int64_t find_arrow_child(const struct ArrowSchema *schema, const char *name)
{
    for (int64_t i = 0; i < schema->n_children; i++)
        if (schema->children[i]->name && strcmp(schema->children[i]->name, name) == 0)
            return i;
    return -1;
}

static bool is_arrow_table(const struct ArrowSchema *schema)
{
    return schema->format && strcmp(schema->format, "+s") == 0;
}

/* @return false: an exception is set */
static bool take_arrow_column(const struct ArrowSchema *schema, const struct ArrowArray *array,
                              const char *name, bool numbers, struct arrow_column *out)
{
    int64_t rows = array->length;
    if (is_arrow_table(schema)) {
        const int64_t child = find_arrow_child(schema, name);
        if (child < 0)
            return binding_fail(DOPPEL_E_ARGUMENT, "there is no column '%s'", name);
        if (child >= array->n_children || array->offset < 0)
            return binding_fail(DOPPEL_E_CORRUPT, "an array of Arrow has fewer columns than said");
        rows += array->offset;
        schema = schema->children[child];
        array = array->children[child];
    }
    const char *known = numbers ? "uUvcCsSiIlL" : "uUv";
    bool is_known = true;
    *out = (struct arrow_column){0};
    if (schema->dictionary) {
        out->places.array = array;
        is_known = read_arrow_type(schema, arrow_integers, &out->places.type);
        schema = schema->dictionary;
        array = array->dictionary;
    }
    out->values.array = array;
    if (!is_known || schema->dictionary || !read_arrow_type(schema, known, &out->values.type))
        return binding_wrong_type("a column of strings is wanted: utf8, large_utf8, utf8_view, or "
                                  "a dictionary of them");
    if (rows < 0 || !array || (out->places.array && !is_arrow_whole(&out->places, rows)) ||
        !is_arrow_whole(&out->values, out->places.array ? array->length : rows))
        return binding_fail(DOPPEL_E_CORRUPT, "an array of Arrow lacks some of its buffers");
    return true;
}

/* Rows of a table begin at its own offset, behind which columns have theirs. */
static PyObject *arrow_list(const struct ArrowArray *table, const struct arrow_column *column,
                            bool is_table)
{
    const int64_t first = is_table ? table->offset : 0;
    PyObject *list = PyList_New(0);
    for (int64_t row = 0; list && row < table->length; row++) {
        const bool null = is_table && is_arrow_null(table, row);
        PyObject *value = null ? Py_BuildValue("") : arrow_value(column, first + row);
        if (!value || PyList_Append(list, value))
            Py_CLEAR(list);
        Py_XDECREF(value);
    }
    return list;
}

static bool visit_arrow_batch(const struct ArrowSchema *schema, const struct ArrowArray *array,
                              const struct arrow_wanted *wanted)
{
    struct arrow_column text, id;
    PyObject *ids = NULL, *told = NULL;
    const bool is_table = is_arrow_table(schema);
    const bool has_ids = is_table && find_arrow_child(schema, wanted->id) >= 0;
    if (!take_arrow_column(schema, array, wanted->text, false, &text) ||
        (has_ids && !take_arrow_column(schema, array, wanted->id, true, &id)))
        return false;
    PyObject *texts = arrow_list(array, &text, is_table);
    if (texts)
        ids = has_ids ? arrow_list(array, &id, is_table) : Py_BuildValue("");
    if (ids)
        told = PyObject_CallFunctionObjArgs(wanted->visit, texts, ids, NULL);
    Py_XDECREF(texts);
    Py_XDECREF(ids);
    Py_XDECREF(told);
    return told;
}

/* ---- capsules ---- */

/* What releases may be written in Python: an exception that is set waits for it. */
static void release_arrow(struct ArrowSchema *schema, struct ArrowArray *array,
                          struct ArrowArrayStream *stream)
{
    PyObject *raised[3];
    PyErr_Fetch(&raised[0], &raised[1], &raised[2]);
    if (schema && schema->release)
        schema->release(schema);
    if (array && array->release)
        array->release(array);
    if (stream && stream->release)
        stream->release(stream);
    PyErr_Restore(raised[0], raised[1], raised[2]);
}

static bool fail_arrow_stream(struct ArrowArrayStream *stream)
{
    const char *why = stream->get_last_error ? stream->get_last_error(stream) : NULL;
    if (!PyErr_Occurred())
        binding_fail(DOPPEL_E_FORMAT, "a stream of Arrow failed: %s",
                     why ? why : "no reason given");
    return false;
}

static bool read_arrow_stream(struct ArrowArrayStream *stream, const struct arrow_wanted *wanted)
{
    struct ArrowSchema schema = {0};
    bool done = false, ok = true;
    if (stream->get_schema(stream, &schema))
        return fail_arrow_stream(stream);
    while (ok && !done) {
        struct ArrowArray array = {0};
        if (stream->get_next(stream, &array)) {
            ok = fail_arrow_stream(stream);
        } else if (!array.release) {
            done = true;
        } else {
            ok = visit_arrow_batch(&schema, &array, wanted) && !PyErr_CheckSignals();
            release_arrow(NULL, &array, NULL);
        }
    }
    release_arrow(&schema, NULL, NULL);
    return ok;
}

/* (stream, text, id, visit) */
PyObject *binding_arrow_stream(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *capsule;
    struct arrow_wanted wanted;
    if (!binding_parse(args, "OssO", &capsule, &wanted.text, &wanted.id, &wanted.visit))
        return NULL;
    if (!PyCapsule_IsValid(capsule, "arrow_array_stream"))
        return binding_wrong_type("__arrow_c_stream__ is to give a capsule 'arrow_array_stream'");
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (!stream->release)
        return binding_fail(DOPPEL_E_ARGUMENT, "the stream of Arrow has been read already");
    const bool ok = read_arrow_stream(stream, &wanted);
    release_arrow(NULL, NULL, stream);
    if (!ok)
        return NULL;
    Py_RETURN_NONE;
}

/* (schema, array, text, id, visit) */
PyObject *binding_arrow_array(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *schema_capsule, *array_capsule;
    struct arrow_wanted wanted;
    if (!binding_parse(args, "OOssO", &schema_capsule, &array_capsule, &wanted.text, &wanted.id,
                       &wanted.visit))
        return NULL;
    if (!PyCapsule_IsValid(schema_capsule, "arrow_schema") ||
        !PyCapsule_IsValid(array_capsule, "arrow_array"))
        return binding_wrong_type(
            "__arrow_c_array__ is to give capsules 'arrow_schema' and 'arrow_array'");
    const struct ArrowSchema *schema = PyCapsule_GetPointer(schema_capsule, "arrow_schema");
    const struct ArrowArray *array = PyCapsule_GetPointer(array_capsule, "arrow_array");
    if (!schema->release || !array->release)
        return binding_fail(DOPPEL_E_ARGUMENT, "the array of Arrow has been given away already");
    if (!visit_arrow_batch(schema, array, &wanted)) /* the capsules release both */
        return NULL;
    Py_RETURN_NONE;
}
