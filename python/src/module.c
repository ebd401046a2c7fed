/* The module doppel._doppel: the functions that the classes of the package call. */
#include "binding.h"

static PyObject *list_schemes(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    size_t count;
    const struct doppel_scheme *schemes = doppel_schemes(&count);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *scheme =
            Py_BuildValue("(ssIIIs)", schemes[i].name, doppel_kind_name(schemes[i].kind),
                          (unsigned)schemes[i].version, (unsigned)schemes[i].code_bits,
                          (unsigned)schemes[i].max_distance, schemes[i].summary);
        if (!scheme || PyList_Append(list, scheme))
            Py_CLEAR(list);
        Py_XDECREF(scheme);
    }
    return list;
}

static PyObject *tell_version(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyUnicode_FromString(doppel_version());
}

#define KEYWORDS(function) (PyCFunction)(void (*)(void)) function, METH_VARARGS | METH_KEYWORDS

static PyMethodDef functions[] = {
    {"version", tell_version, METH_NOARGS, NULL},
    {"schemes", list_schemes, METH_NOARGS, NULL},
    {"run_new", KEYWORDS(binding_run_new), NULL},
    {"run_cancel", binding_run_cancel, METH_O, NULL},
    {"read", KEYWORDS(binding_read), NULL},
    {"read_text", KEYWORDS(binding_read_text), NULL},
    {"read_plane", binding_read_plane, METH_VARARGS, NULL},
    {"record_json", binding_record_json, METH_VARARGS, NULL},
    {"record_codes", binding_record_codes, METH_O, NULL},
    {"record_distance", binding_record_distance, METH_VARARGS, NULL},
    {"record_dump", binding_record_dump, METH_O, NULL},
    {"record_load", binding_record_load, METH_VARARGS, NULL},
    {"record_from_hex", binding_record_from_hex, METH_VARARGS, NULL},
    {"compare", binding_compare, METH_VARARGS, NULL},
    {"index_new", binding_index_new, METH_VARARGS, NULL},
    {"arrow_stream", binding_arrow_stream, METH_VARARGS, NULL},
    {"arrow_array", binding_arrow_array, METH_VARARGS, NULL},
    {"bands_choose", binding_bands_choose, METH_VARARGS, NULL},
    {"minhash", binding_minhash, METH_VARARGS, NULL},
    {"postings_add", binding_postings_add, METH_VARARGS, NULL},
    {"postings_lookup", binding_postings_lookup, METH_VARARGS, NULL},
    {"index_open", binding_index_open, METH_VARARGS, NULL},
    {"index_add", binding_index_add, METH_VARARGS, NULL},
    {"index_remove", binding_index_remove, METH_VARARGS, NULL},
    {"index_search", binding_index_search, METH_VARARGS, NULL},
    {"index_save", binding_index_save, METH_VARARGS, NULL},
    {"index_info", binding_index_info, METH_O, NULL},
    {"scan", binding_scan, METH_VARARGS, NULL},
    {"dedup", binding_dedup, METH_VARARGS, NULL},
    {"library_open", binding_library_open, METH_VARARGS, NULL},
    {"library_add", binding_library_add, METH_VARARGS, NULL},
    {"library_groups", binding_library_groups, METH_VARARGS, NULL},
    {"library_items", binding_library_items, METH_VARARGS, NULL},
    {"library_item", binding_library_item, METH_VARARGS, NULL},
    {"library_resolve", binding_library_resolve, METH_VARARGS, NULL},
    {"library_remove", binding_library_remove, METH_VARARGS, NULL},
    {"library_mark", binding_library_mark, METH_VARARGS, NULL},
    {"search_new", binding_search_new, METH_VARARGS, NULL},
    {"search_record", binding_search_record, METH_VARARGS, NULL},
    {"decider_new", binding_decider_new, METH_VARARGS, NULL},
    {"decider_decide", binding_decider_decide, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    "_doppel",
    "Private to the package doppel.",
    -1,
    functions,
    NULL,
    NULL,
    NULL,
    NULL,
};

PyMODINIT_FUNC PyInit__doppel(void);

PyMODINIT_FUNC PyInit__doppel(void)
{
    return PyModule_Create(&definition);
}
