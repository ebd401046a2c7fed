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
