/* Libraries: opened, added to, listed, marked. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/try.h"

static const char library_capsule[] = "doppel.library";

struct binding_library {
    struct doppel_library *library;
    pid_t process; /* that opened it: no other one closes it */
};

static void free_library_capsule(PyObject *capsule)
{
    struct binding_library *library = PyCapsule_GetPointer(capsule, library_capsule);
    if (library->process == getpid())
        doppel_library_close(library->library);
    free(library);
}

struct doppel_library *binding_library_of(PyObject *capsule)
{
    struct binding_library *library = PyCapsule_GetPointer(capsule, library_capsule);
    if (library && library->process != getpid())
        return (void *)binding_fail(DOPPEL_E_ARGUMENT, "a library that was opened before this "
                                                       "process was forked is the other one's");
    return library ? library->library : NULL;
}

/* (directory, create, read_only, durable) */
PyObject *binding_library_open(PyObject *module, PyObject *args)
{
    (void)module;
    const char *directory;
    int create, read_only, durable;
    struct doppel_error error;
    if (!binding_parse(args, "yppp", &directory, &create, &read_only, &durable))
        return NULL;
    struct binding_library *made = calloc(1, sizeof *made);
    if (!made)
        return PyErr_NoMemory();
    const struct doppel_library_options options = {
        .create = create, .read_only = read_only, .durable = durable};
    PyThreadState *thread = PyEval_SaveThread();
    made->process = getpid();
    enum doppel_status status = doppel_library_open(directory, &options, &made->library, &error);
    PyEval_RestoreThread(thread);
    PyObject *capsule = status ? NULL : PyCapsule_New(made, library_capsule, free_library_capsule);
    if (status)
        binding_raise(&error, directory);
    if (!capsule) {
        doppel_library_close(made->library);
        free(made);
    }
    return capsule;
}

/* ---- adding files ---- */

enum { COMMIT_EVERY = 500 };

/* What is being added to, and what has come of it. */
struct adding {
    struct doppel_run *run;
    struct doppel_library *library;
    const struct doppel_metadata *about; /* NULL: nothing is said of them */
    struct doppel_json json;
    unsigned uncommitted;
};

static const char *name_of_added(enum doppel_added added)
{
    static const char *const names[] = {"new", "unchanged", "updated", "moved", "elsewhere"};
    return names[added];
}

static enum doppel_status add_one_file(struct adding *adding, const struct doppel_file *file,
                                       struct doppel_error *error)
{
    enum doppel_added added;
    uint64_t id;
    enum doppel_status status = doppel_library_add(adding->library, file->path, &file->stamp,
                                                   &file->record, &added, &id, error);
    if (!status && adding->about)
        status = doppel_library_set_metadata(adding->library, id, adding->about, error);
    if (status)
        return status;
    doppel_json_object_begin(&adding->json, NULL);
    doppel_json_integer(&adding->json, "id", id);
    doppel_json_path(&adding->json, "path", file->path);
    doppel_json_text(&adding->json, "added", name_of_added(added));
    doppel_json_object_end(&adding->json);
    if (++adding->uncommitted < COMMIT_EVERY)
        return DOPPEL_OK;
    adding->uncommitted = 0;
    return doppel_library_commit(adding->library, error);
}

static enum doppel_status add_walked(struct adding *adding, const struct doppel_walk_options *walk,
                                     const struct doppel_read_options *read,
                                     struct doppel_error *error)
{
    struct doppel_intake *intake = NULL;
    struct doppel_file file;
    enum doppel_status status = doppel_intake_open(adding->run, walk, read, &intake, error);
    while (!status && !(status = doppel_intake_next(intake, &file, error))) {
        if (file.record.error.status)
            doppel_run_failed(adding->run, file.path, &file.record.error);
        else
            status = add_one_file(adding, &file, error);
        doppel_file_free(&file);
    }
    doppel_intake_free(intake);
    if (status == DOPPEL_E_NOT_FOUND || status == DOPPEL_E_CANCELLED) {
        enum doppel_status kept = doppel_library_commit(adding->library, error);
        return kept ? kept : status == DOPPEL_E_CANCELLED ? status : DOPPEL_OK;
    }
    doppel_library_rollback(adding->library);
    return status;
}

/* What is said of all: strings are borrowed from the dictionary, arrays are freed below. */
static bool take_metadata(PyObject *options, struct doppel_metadata *out, bool *out_any)
{
    struct doppel_strings labels = {0}, lists = {0};
    const char *source = NULL, *date = NULL, *external_id = NULL, *meta = NULL;
    bool taken =
        binding_strings(options, "labels", &labels) && binding_strings(options, "lists", &lists) &&
        binding_string(options, "source", &source) && binding_string(options, "date", &date) &&
        binding_string(options, "external_id", &external_id) &&
        binding_string(options, "meta", &meta);
    *out = (struct doppel_metadata){.source = (char *)source,
                                    .date = (char *)date,
                                    .external_id = (char *)external_id,
                                    .meta = (char *)meta,
                                    .labels = (char **)labels.items,
                                    .label_count = labels.count,
                                    .lists = (char **)lists.items,
                                    .list_count = lists.count};
    *out_any = source || date || external_id || meta || labels.count || lists.count;
    return taken;
}

/* As the files of the options' kinds and schemes are read. */
static bool read_options_of(PyObject *options, struct doppel_read_options *out)
{
    struct doppel_compare_options compare;
    if (!binding_compare_options(options, &compare))
        return false;
    *out = doppel_read_options_default();
    memcpy(out->schemes, compare.schemes, sizeof out->schemes);
    return true;
}

/* (run, library, paths, options): an array of objects with id, path and added. */
PyObject *binding_library_add(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *run, *capsule, *paths, *options;
    struct doppel_walk_options walk = {0};
    struct doppel_read_options read;
    struct doppel_metadata about = {0};
    struct binding_call call;
    bool any = false, added = false;
    if (!binding_parse(args, "OOOO", &run, &capsule, &paths, &options))
        return NULL;
    struct adding adding = {.library = binding_library_of(capsule)};
    if (adding.library && binding_walk_options(options, &walk) && read_options_of(options, &read) &&
        take_metadata(options, &about, &any) && binding_strings_of(paths, &walk.paths) &&
        binding_begin(run, &call)) {
        adding.run = call.run;
        adding.about = any ? &about : NULL;
        doppel_json_array_begin(&adding.json, NULL);
        enum doppel_status status = add_walked(&adding, &walk, &read, &call.error);
        doppel_json_array_end(&adding.json);
        added = binding_end(&call, status, NULL);
    }
    free((void *)walk.paths.items);
    binding_walk_free(&walk);
    free(about.labels);
    free(about.lists);
    if (added)
        return binding_json_bytes(&adding.json);
    doppel_json_free(&adding.json);
    return NULL;
}

/* ---- what it holds ---- */

/* Items on their way out: some at a time. */
struct listing_items {
    struct doppel_library *library;
    const struct doppel_item_set *set;
    struct doppel_item_json_options how;
    struct doppel_json json;
    uint64_t most, count;
};

static bool list_id(struct listing_items *listing, uint64_t id)
{
    struct doppel_error ignored; /* what is damaged has no fields but its id */
    if (!doppel_item_set_has(listing->set, id))
        return true;
    doppel_json_object_begin(&listing->json, NULL);
    doppel_json_integer(&listing->json, "id", id);
    if (doppel_item_by_id_to_json(&listing->json, listing->library, id, &listing->how, &ignored))
        doppel_json_text(&listing->json, "error", ignored.message);
    doppel_json_object_end(&listing->json);
    return ++listing->count < listing->most;
}

static bool list_binding_item(void *context, const struct doppel_item *item)
{
    return list_id(context, item->id);
}

static bool list_binding_text(void *context, const struct doppel_library_text *text)
{
    return list_id(context, text->id);
}

static enum doppel_status list_items_of(struct listing_items *listing,
                                        const struct doppel_item_filter *filter, uint64_t first,
                                        struct doppel_error *error)
{
    struct doppel_item_set set = {0};
    const struct doppel_everything_visitor visitor = {first, list_binding_item, list_binding_text,
                                                      listing};
    enum doppel_status status = doppel_library_filter(listing->library, filter, &set, error);
    if (status)
        return status;
    listing->set = &set;
    doppel_json_array_begin(&listing->json, NULL);
    status = doppel_library_each_of_all(listing->library, &visitor, error);
    doppel_json_array_end(&listing->json);
    doppel_item_set_free(&set);
    return status == DOPPEL_E_CANCELLED ? DOPPEL_OK : status;
}

/* (library, first id, how many, options): an array of items and texts. */
PyObject *binding_library_items(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *capsule, *options;
    unsigned long long first, most;
    struct doppel_strings lists = {0}, labels = {0};
    struct doppel_item_filter filter = {0};
    struct doppel_error error = {0};
    PyObject *result = NULL;
    if (!binding_parse(args, "OKKO", &capsule, &first, &most, &options))
        return NULL;
    struct listing_items listing = {.library = binding_library_of(capsule), .most = most};
    if (listing.library && binding_string(options, "where", &filter.where) &&
        binding_strings(options, "lists", &lists) && binding_strings(options, "labels", &labels) &&
        binding_flag(options, "details", &listing.how.details) &&
        binding_flag(options, "content", &listing.how.content)) {
        filter.lists = lists.items;
        filter.list_count = lists.count;
        filter.labels = labels.items;
        filter.label_count = labels.count;
        PyThreadState *thread = PyEval_SaveThread();
        enum doppel_status status = list_items_of(&listing, &filter, first, &error);
        PyEval_RestoreThread(thread);
        result = status ? binding_raise(&error, NULL) : binding_json_bytes(&listing.json);
    }
    if (!result)
        doppel_json_free(&listing.json);
    free((void *)lists.items);
    free((void *)labels.items);
    return result;
}

/* (library, id, content) */
PyObject *binding_library_item(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *capsule;
    unsigned long long id;
    int content;
    struct doppel_error error;
    struct doppel_json json = {0};
    if (!binding_parse(args, "OKp", &capsule, &id, &content))
        return NULL;
    struct doppel_library *library = binding_library_of(capsule);
    if (!library)
        return NULL;
    const struct doppel_item_json_options how = {.details = true, .content = content};
    doppel_json_object_begin(&json, NULL);
    PyThreadState *thread = PyEval_SaveThread();
    enum doppel_status status = doppel_item_by_id_to_json(&json, library, id, &how, &error);
    PyEval_RestoreThread(thread);
    doppel_json_object_end(&json);
    if (!status)
        return binding_json_bytes(&json);
    doppel_json_free(&json);
    return binding_raise(&error, NULL);
}

/* (library, reference): its id. */
PyObject *binding_library_resolve(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *capsule;
    const char *name;
    struct doppel_reference reference;
    struct doppel_error error;
    if (!binding_parse(args, "Oy", &capsule, &name))
        return NULL;
    struct doppel_library *library = binding_library_of(capsule);
    if (!library)
        return NULL;
    if (doppel_library_resolve(library, name, &reference, &error))
        return binding_raise(&error, NULL);
    return PyLong_FromUnsignedLongLong(reference.id);
}

/* ---- changes ---- */

/* (library, id) */
PyObject *binding_library_remove(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *capsule;
    unsigned long long id;
    struct doppel_error error;
    if (!binding_parse(args, "OK", &capsule, &id))
        return NULL;
    struct doppel_library *library = binding_library_of(capsule);
    if (!library)
        return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    enum doppel_status status = doppel_library_remove(library, id, &error);
    if (!status)
        status = doppel_library_commit(library, &error);
    PyEval_RestoreThread(thread);
    if (status)
        return binding_raise(&error, NULL);
    Py_RETURN_NONE;
}

static enum doppel_status mark_items(struct doppel_library *library, const uint64_t items[2],
                                     enum doppel_manual_label word, const char *note,
                                     struct doppel_error *error)
{
    struct doppel_name names[2] = {0};
    enum doppel_status status;
    TRY(doppel_library_name(library, items[0], &names[0], error));
    TRY(doppel_library_name(library, items[1], &names[1], error));
    TRY(doppel_library_mark(library, &names[0].content, &names[1].content, items, word, note,
                            error));
    TRY(doppel_library_commit(library, error));
done:
    doppel_name_free(&names[0]);
    doppel_name_free(&names[1]);
    return status;
}

/* (library, id, id, word, note) */
PyObject *binding_library_mark(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *capsule;
    unsigned long long a, b;
    int word;
    const char *note;
    struct doppel_error error;
    if (!binding_parse(args, "OKKiz", &capsule, &a, &b, &word, &note))
        return NULL;
    struct doppel_library *library = binding_library_of(capsule);
    if (!library)
        return NULL;
    const uint64_t items[] = {a, b};
    PyThreadState *thread = PyEval_SaveThread();
    enum doppel_status status =
        mark_items(library, items, (enum doppel_manual_label)word, note, &error);
    PyEval_RestoreThread(thread);
    if (status)
        return binding_raise(&error, NULL);
    Py_RETURN_NONE;
}
