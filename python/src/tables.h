/* What the files about indexes share. */
#ifndef DOPPEL_PYTHON_TABLES_H
#define DOPPEL_PYTHON_TABLES_H

#include "binding.h"

#include <doppel/index.h>

struct doppel_store;
struct doppel_store_index;

/** An index of any table. Of a folder it belongs to the kept one. */
struct binding_index {
    struct doppel_index *index;
    struct doppel_store_index *kept;
    struct doppel_store *store;
    struct doppel_index_options make;
};

/** 64-bit words of a code, or signature. */
size_t binding_code_words(const struct doppel_index_options *make);

/** A capsule of an index, which is taken, also on failure. */
PyObject *binding_index_capsule(const struct binding_index *made);
/** @return NULL: an exception is set */
struct binding_index *binding_index_of(PyObject *capsule);

#endif
