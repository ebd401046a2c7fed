/* Signatures of sets of tokens, bit for bit as datasketch makes them. */
#include "binding.h"

#include <doppel/text.h>

static bool update_minhash(const struct doppel_datasketch *sketch, PyObject *tokens,
                           uint64_t *values)
{
    const Py_ssize_t count = PyTuple_Size(tokens);
    for (Py_ssize_t i = 0; i < count; i++) {
        char *bytes;
        Py_ssize_t size;
        if (PyBytes_AsStringAndSize(PyTuple_GetItem(tokens, i), &bytes, &size))
            return false;
        doppel_datasketch_update(sketch, bytes, (size_t)size, values);
    }
    return true;
}

/* (tokens, permutations, seed): values of 64 bits */
PyObject *binding_minhash(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *tokens;
    unsigned permutations, seed;
    struct doppel_datasketch *sketch;
    struct doppel_error error;
    if (!binding_parse(args, "O!II", &PyTuple_Type, &tokens, &permutations, &seed))
        return NULL;
    if (doppel_datasketch_new(permutations, seed, &sketch, &error))
        return binding_raise(&error, NULL);
    PyObject *values =
        PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(permutations * sizeof(uint64_t)));
    if (values) {
        doppel_datasketch_clear(sketch, (void *)PyByteArray_AsString(values));
        if (!update_minhash(sketch, tokens, (void *)PyByteArray_AsString(values)))
            Py_CLEAR(values);
    }
    doppel_datasketch_free(sketch);
    return values;
}
