/* Dictionaries of options, as the classes of the package make them, to those of the engine. */
#include "binding.h"

#include <stdlib.h>

/* Borrowed; NULL: it is not there, or None. */
static PyObject *option_value(PyObject *options, const char *name)
{
    PyObject *value = PyDict_GetItemString(options, name);
    return value && value != Py_None ? value : NULL;
}

bool binding_flag(PyObject *options, const char *name, bool *out)
{
    PyObject *value = option_value(options, name);
    int is_true = value ? PyObject_IsTrue(value) : 0;
    if (is_true < 0) {
        PyErr_Clear();
        return binding_fail(DOPPEL_E_ARGUMENT, "%s: true or false is wanted", name);
    }
    if (value)
        *out = is_true;
    return true;
}

bool binding_integer(PyObject *options, const char *name, uint64_t *out)
{
    PyObject *value = option_value(options, name);
    if (!value)
        return true;
    unsigned long long number = PyLong_AsUnsignedLongLong(value);
    if (PyErr_Occurred()) {
        PyErr_Clear();
        return binding_fail(DOPPEL_E_ARGUMENT, "%s: a number of 0 or more is wanted", name);
    }
    *out = number;
    return true;
}

bool binding_number(PyObject *options, const char *name, double *out)
{
    PyObject *value = option_value(options, name);
    if (!value)
        return true;
    double number = PyFloat_AsDouble(value);
    if (PyErr_Occurred() || !(number >= 0)) {
        PyErr_Clear();
        return binding_fail(DOPPEL_E_ARGUMENT, "%s: a number of 0 or more is wanted", name);
    }
    *out = number;
    return true;
}

bool binding_string(PyObject *options, const char *name, const char **out)
{
    PyObject *value = option_value(options, name);
    return !value || binding_optional_path(value, out);
}

bool binding_strings(PyObject *options, const char *name, struct doppel_strings *out)
{
    PyObject *value = option_value(options, name);
    return !value || binding_strings_of(value, out);
}

/* ---- comparing ---- */

static bool take_kinds(PyObject *options, struct doppel_compare_options *out)
{
    struct doppel_strings kinds = {0};
    bool wanted[DOPPEL_KIND_VIDEO + 1] = {0};
    bool taken = binding_strings(options, "kinds", &kinds);
    for (size_t i = 0; i < kinds.count && taken; i++) {
        enum doppel_kind kind = doppel_kind_from_name(kinds.items[i]);
        wanted[kind] = true;
        if (!kind)
            taken = binding_fail(DOPPEL_E_ARGUMENT, "there is no kind '%s'", kinds.items[i]);
    }
    for (size_t kind = 1; kind <= DOPPEL_KIND_VIDEO && kinds.count; kind++)
        if (!wanted[kind])
            out->schemes[kind] = (struct doppel_scheme){0};
    free((void *)kinds.items);
    return taken;
}

static bool take_schemes(PyObject *options, struct doppel_compare_options *out)
{
    struct doppel_strings names = {0};
    bool taken = binding_strings(options, "schemes", &names);
    for (size_t i = 0; i < names.count && taken; i++) {
        const struct doppel_scheme *scheme = binding_scheme_of(names.items[i]);
        taken = scheme;
        if (scheme)
            out->schemes[scheme->kind] = *scheme;
    }
    free((void *)names.items);
    return taken;
}

bool binding_compare_options(PyObject *options, struct doppel_compare_options *out)
{
    *out = doppel_compare_options_default();
    uint64_t max_distance = UINT64_MAX, near_misses = 0;
    if (!PyDict_Check(options))
        return binding_wrong_type("options are a dictionary");
    if (!take_schemes(options, out) || !take_kinds(options, out) ||
        !binding_integer(options, "max_distance", &max_distance) ||
        !binding_integer(options, "near_misses", &near_misses) ||
        !binding_number(options, "min_similarity", &out->min_similarity) ||
        !binding_number(options, "max_fp_rate", &out->max_false_positives))
        return false;
    if (max_distance != UINT64_MAX)
        out->max_distance = max_distance < 1024 ? (int32_t)max_distance : 1024;
    out->near_misses = near_misses < 1000 ? (uint32_t)near_misses : 1000;
    if (out->min_similarity > 1 || out->max_false_positives > 1)
        return binding_fail(DOPPEL_E_ARGUMENT, "a similarity, or a rate, is 0 to 1");
    return true;
}

/* ---- walking ---- */

bool binding_walk_options(PyObject *options, struct doppel_walk_options *out)
{
    *out = (struct doppel_walk_options){0};
    return binding_strings(options, "exclude", &out->exclude) &&
           binding_strings(options, "extensions", &out->extensions) &&
           binding_flag(options, "hidden", &out->hidden) &&
           binding_flag(options, "archives", &out->archives) &&
           binding_flag(options, "follow", &out->follow) &&
           binding_flag(options, "one_file_system", &out->one_file_system) &&
           binding_integer(options, "min_size", &out->min_size);
}

void binding_walk_free(struct doppel_walk_options *walk)
{
    free((void *)walk->exclude.items);
    free((void *)walk->extensions.items);
    walk->exclude = walk->extensions = (struct doppel_strings){0};
}
