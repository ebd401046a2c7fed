/* Statuses of the engine as exceptions of the package. */
#include "binding.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The classes are Python's: _errors.make() chooses one. */
static void raise_made(const char *status, const char *message, const char *path)
{
    PyObject *text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "replace");
    PyObject *errors = text ? PyImport_ImportModule("doppel._errors") : NULL;
    PyObject *made =
        errors ? PyObject_CallMethod(errors, "make", "sOy", status, text, path ? path : "") : NULL;
    if (made)
        PyErr_SetObject((PyObject *)Py_TYPE(made), made);
    Py_XDECREF(made);
    Py_XDECREF(errors);
    Py_XDECREF(text);
}

PyObject *binding_raise(const struct doppel_error *error, const char *path)
{
    raise_made(doppel_status_name(error->status), error->message, path);
    return NULL;
}

PyObject *binding_fail(enum doppel_status status, const char *format, ...)
{
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    raise_made(doppel_status_name(status), message, NULL);
    return NULL;
}

PyObject *binding_wrong_type(const char *message)
{
    raise_made("type", message, NULL);
    return NULL;
}

bool binding_whole(PyObject *number, const char *name, uint64_t most, uint64_t *out)
{
    char message[128];
    PyObject *index = PyNumber_Index(number);
    if (!index) {
        PyErr_Clear();
        snprintf(message, sizeof message, "%s: a whole number is wanted", name);
        return binding_wrong_type(message);
    }
    const long long value = PyLong_AsLongLong(index);
    Py_DECREF(index);
    PyErr_Clear(); /* of what has more bits it is -1 */
    if (value < 0 || (uint64_t)value > most)
        return binding_fail(DOPPEL_E_ARGUMENT, "%s: 0 to %llu", name, (unsigned long long)most);
    *out = (uint64_t)value;
    return true;
}

/* What Python says of arguments, in an exception of the package. */
static void raise_of_arguments(void)
{
    PyObject *raised[3];
    PyErr_Fetch(&raised[0], &raised[1], &raised[2]);
    const bool wrong_type = PyErr_GivenExceptionMatches(raised[0], PyExc_TypeError);
    if (wrong_type || PyErr_GivenExceptionMatches(raised[0], PyExc_OverflowError) ||
        PyErr_GivenExceptionMatches(raised[0], PyExc_ValueError)) {
        PyObject *text = raised[1] ? PyObject_Str(raised[1]) : NULL;
        PyObject *bytes = text ? PyUnicode_AsEncodedString(text, "utf-8", "replace") : NULL;
        const char *message = bytes ? PyBytes_AsString(bytes) : NULL;
        raise_made(wrong_type ? "type" : "argument", message ? message : "wrong arguments", NULL);
        Py_XDECREF(bytes);
        Py_XDECREF(text);
        for (int i = 0; i < 3; i++)
            Py_XDECREF(raised[i]);
        return;
    }
    PyErr_Restore(raised[0], raised[1], raised[2]);
}

bool binding_parse(PyObject *args, const char *format, ...)
{
    va_list places;
    va_start(places, format);
    const bool parsed = PyArg_VaParse(args, format, places);
    va_end(places);
    if (!parsed)
        raise_of_arguments();
    return parsed;
}

bool binding_parse_keywords(PyObject *args, PyObject *keywords, const char *format, char **names,
                            ...)
{
    va_list places;
    va_start(places, names);
    const bool parsed = PyArg_VaParseTupleAndKeywords(args, keywords, format, names, places);
    va_end(places);
    if (!parsed)
        raise_of_arguments();
    return parsed;
}
