/* Libraries: searched, and asked what to do with what comes in. */
#include "binding.h"

#include <stdlib.h>

#include <doppel/decide.h>
#include <doppel/search.h>

static const char search_capsule[] = "doppel.search", decider_capsule[] = "doppel.decider";

/* A search or a decider, and what it borrows. */
struct binding_asker {
    struct doppel_search *search;
    struct doppel_decider *decider;
    struct doppel_compare_options compare;

    PyObject *run, *library;
};

static void free_asker(struct binding_asker *asker)
{
    doppel_search_free(asker->search);
    doppel_decider_free(asker->decider);
    Py_XDECREF(asker->library);
    Py_XDECREF(asker->run);
    free(asker);
}

static void free_search_capsule(PyObject *capsule)
{
    free_asker(PyCapsule_GetPointer(capsule, search_capsule));
}

static void free_decider_capsule(PyObject *capsule)
{
    free_asker(PyCapsule_GetPointer(capsule, decider_capsule));
}

/* It holds on to a run and a library. @return NULL: an exception is set */
static struct binding_asker *new_asker(PyObject *run, PyObject *library)
{
    struct binding_asker *asker = calloc(1, sizeof *asker);
    if (!asker)
        return (void *)PyErr_NoMemory();
    Py_INCREF(run);
    Py_INCREF(library);
    asker->run = run;
    asker->library = library;
    return asker;
}

/* ---- searching ---- */

/* (run, library, options) */
PyObject *binding_search_new(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *run, *capsule, *options, *made = NULL;
    struct binding_call call;
    struct doppel_search_options search = doppel_search_options_default();
    if (!binding_parse(args, "OOO", &run, &capsule, &options))
        return NULL;
    struct doppel_library *library = binding_library_of(capsule);
    if (!library || !binding_compare_options(options, &search.compare) ||
        !binding_flag(options, "representatives", &search.representatives))
        return NULL;
    struct binding_asker *asker = new_asker(run, capsule);
    if (!asker)
        return NULL;
    asker->compare = search.compare;
    if (binding_begin(run, &call)) {
        enum doppel_status status =
            doppel_search_new(call.run, library, &search, &asker->search, &call.error);
        if (binding_end(&call, status, NULL))
            made = PyCapsule_New(asker, search_capsule, free_search_capsule);
    }
    if (!made)
        free_asker(asker);
    return made;
}

static enum doppel_status write_results(struct doppel_json *json, struct doppel_library *library,
                                        const struct binding_asker *asker,
                                        const struct doppel_search_results *results,
                                        struct doppel_error *error)
{
    doppel_json_array_begin(json, NULL);
    for (size_t i = 0; i < results->count; i++) {
        doppel_json_object_begin(json, NULL);
        enum doppel_status status =
            doppel_search_result_to_json(json, library, &asker->compare, &results->items[i], error);
        doppel_json_object_end(json); /* of what is gone meanwhile it is empty */
        if (status && status != DOPPEL_E_NOT_FOUND)
            return status;
    }
    doppel_json_array_end(json);
    return DOPPEL_OK;
}

static enum doppel_status search_for_record(const struct binding_asker *asker,
                                            struct doppel_library *library,
                                            const struct doppel_record *record,
                                            struct doppel_json *json, struct doppel_error *error)
{
    struct doppel_search_results results = {0};
    enum doppel_status status = doppel_search_refresh(asker->search, error);
    if (!status)
        status = doppel_search_record(asker->search, record, "it", &results, error);
    if (status == DOPPEL_OK)
        status = doppel_search_results_apply_lists(&results, library, error);
    if (status == DOPPEL_OK)
        status = write_results(json, library, asker, &results, error);
    doppel_search_results_free(&results);
    return status;
}

/* (search, record): an array of results, the best first. */
PyObject *binding_search_record(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *capsule, *record_object;
    struct binding_call call;
    struct doppel_json json = {0};
    if (!binding_parse(args, "OO", &capsule, &record_object))
        return NULL;
    struct binding_asker *asker = PyCapsule_GetPointer(capsule, search_capsule);
    const struct doppel_record *record = asker ? binding_record_of(record_object) : NULL;
    struct doppel_library *library = record ? binding_library_of(asker->library) : NULL;
    if (!library || !binding_begin(asker->run, &call))
        return NULL;
    enum doppel_status status = search_for_record(asker, library, record, &json, &call.error);
    if (binding_end(&call, status, NULL))
        return binding_json_bytes(&json);
    doppel_json_free(&json);
    return NULL;
}

/* ---- deciding ---- */

static bool take_decide_options(PyObject *options, struct doppel_decide_options *out)
{
    const char *same_id = NULL;
    *out = doppel_decide_options_default();
    return binding_compare_options(options, &out->search.compare) &&
           binding_flag(options, "dry_run", &out->dry_run) &&
           binding_flag(options, "keep_shingles", &out->keep_shingles) &&
           binding_string(options, "on_same_id", &same_id);
}

/* (run, library, options) */
PyObject *binding_decider_new(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *run, *capsule, *options, *made = NULL;
    struct binding_call call;
    struct doppel_decide_options decide;
    if (!binding_parse(args, "OOO", &run, &capsule, &options))
        return NULL;
    struct doppel_library *library = binding_library_of(capsule);
    struct binding_asker *asker =
        library && take_decide_options(options, &decide) ? new_asker(run, capsule) : NULL;
    if (!asker)
        return NULL;
    if (binding_begin(run, &call)) {
        enum doppel_status status =
            doppel_decider_new(call.run, library, &decide, &asker->decider, &call.error);
        if (binding_end(&call, status, NULL))
            made = PyCapsule_New(asker, decider_capsule, free_decider_capsule);
    }
    if (!made)
        free_asker(asker);
    return made;
}

/* What a dictionary says of an input: path, or text, or a record; id, source, date. */
static bool take_decide_input(PyObject *item, struct doppel_decide_input *out)
{
    *out = (struct doppel_decide_input){0};
    PyObject *text = PyDict_GetItemString(item, "text");
    PyObject *record = PyDict_GetItemString(item, "record");
    char *bytes = NULL;
    Py_ssize_t size = 0;
    if (text && PyBytes_AsStringAndSize(text, &bytes, &size))
        return false;
    out->text = bytes;
    out->text_size = (size_t)size;
    if (record && !(out->record = binding_record_of(record)))
        return false;
    return binding_string(item, "path", &out->path) && binding_string(item, "id", &out->id) &&
           binding_string(item, "source", &out->source) && binding_string(item, "date", &out->date);
}

static enum doppel_status decide_pushed(const struct binding_asker *asker,
                                        const struct doppel_decide_input *inputs, size_t count,
                                        struct doppel_json *json, struct doppel_error *error)
{
    struct doppel_decided decided;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < count && !status; i++)
        status = doppel_decider_push(asker->decider, &inputs[i], error);
    doppel_json_array_begin(json, NULL);
    for (size_t i = 0; i < count && !status; i++) {
        status = doppel_decider_pull(asker->decider, &decided, error);
        if (!status)
            doppel_decision_to_json(json, &decided);
    }
    doppel_json_array_end(json);
    return status;
}

/* (decider, tuple of dictionaries): an array of decisions, in order of input. */
PyObject *binding_decider_decide(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *capsule, *items, *result = NULL;
    struct binding_call call;
    struct doppel_json json = {0};
    if (!binding_parse(args, "OO!", &capsule, &PyTuple_Type, &items))
        return NULL;
    struct binding_asker *asker = PyCapsule_GetPointer(capsule, decider_capsule);
    size_t count = (size_t)PyTuple_Size(items);
    if (!asker || !binding_library_of(asker->library))
        return NULL;
    if (count > DOPPEL_DECIDER_MOST)
        return binding_fail(DOPPEL_E_ARGUMENT, "at most %d at a time", DOPPEL_DECIDER_MOST);
    struct doppel_decide_input *inputs = calloc(count + 1, sizeof *inputs);
    bool taken = inputs != NULL;
    for (size_t i = 0; i < count && taken; i++)
        taken = take_decide_input(PyTuple_GetItem(items, (Py_ssize_t)i), &inputs[i]);
    if (taken && binding_begin(asker->run, &call)) {
        enum doppel_status status = decide_pushed(asker, inputs, count, &json, &call.error);
        if (binding_end(&call, status, NULL))
            result = binding_json_bytes(&json);
    } else if (!inputs) {
        PyErr_NoMemory();
    }
    if (!result)
        doppel_json_free(&json);
    free(inputs);
    return result;
}
