/* Groups of duplicates, of files and of libraries: each is given to a function as JSON. */
#include "binding.h"

#include <stdlib.h>

#include <doppel/group.h>

/* Who is given the groups. */
struct group_listener {
    struct binding_run *run;
    PyObject *visit;
    unsigned parts; /* of the JSON */
};

static PyObject *make_json_arguments(const void *what)
{
    const struct doppel_json *json = what;
    return Py_BuildValue("(y#)", json->bytes, (Py_ssize_t)json->size);
}

static enum doppel_status tell_group(void *context, const struct doppel_group *group,
                                     struct doppel_error *error)
{
    struct group_listener *listener = context;
    struct doppel_json json = {0};
    doppel_group_to_json(&json, NULL, group, listener->parts);
    enum doppel_status status = doppel_json_status(&json, error);
    if (!status && !binding_tell(listener->run, listener->visit, make_json_arguments, &json))
        status = doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted");
    doppel_json_free(&json);
    return status;
}

static bool take_policy(PyObject *options, struct doppel_group_options *out)
{
    const char *policy = NULL;
    struct doppel_error error;
    if (!binding_string(options, "keep", &policy))
        return false;
    if (!policy)
        return true;
    if (doppel_keep_policy_parse(policy, &out->keep, &error))
        return binding_raise(&error, NULL);
    out->keep_given = true;
    return true;
}

static bool take_group_options(PyObject *options, struct doppel_group_options *out)
{
    *out = doppel_group_options_default();
    return binding_compare_options(options, &out->compare) && take_policy(options, out) &&
           binding_strings(options, "keep_from", &out->keep_from) &&
           binding_strings(options, "protect", &out->protect) &&
           binding_flag(options, "not_within", &out->not_within) &&
           binding_flag(options, "bursts", &out->bursts) &&
           binding_flag(options, "cross_folder", &out->cross_folder) &&
           binding_flag(options, "parts", &out->parts) &&
           binding_flag(options, "digests", &out->digests);
}

static void free_group_options(struct doppel_group_options *options)
{
    free((void *)options->keep_from.items);
    free((void *)options->protect.items);
}

/* How many there were by kind, as a dictionary's items. */
static PyObject *counts_of(const struct doppel_group_counts *counts)
{
    return Py_BuildValue("{sKsKsKsKsK}", "text",
                         (unsigned long long)counts->items[DOPPEL_KIND_TEXT], "image",
                         (unsigned long long)counts->items[DOPPEL_KIND_IMAGE], "audio",
                         (unsigned long long)counts->items[DOPPEL_KIND_AUDIO], "video",
                         (unsigned long long)counts->items[DOPPEL_KIND_VIDEO], "passed_over",
                         (unsigned long long)counts->passed_over);
}

static PyObject *scan_for_groups(PyObject *run, const struct doppel_scan_paths *paths,
                                 const struct doppel_group_options *options,
                                 struct group_listener *listener)
{
    struct binding_call call;
    struct doppel_group_counts counts = {0};
    if (!binding_begin(run, &call))
        return NULL;
    listener->run = call.owner;
    enum doppel_status status =
        doppel_scan(call.run, paths, options, tell_group, listener, &counts, &call.error);
    return binding_end(&call, status, NULL) ? counts_of(&counts) : NULL;
}

/* (run, paths, how many of them are references, options, visit) */
PyObject *binding_scan(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *run, *paths_object, *options_object, *result = NULL;
    Py_ssize_t references;
    struct group_listener listener = {0};
    struct doppel_group_options options = {0};
    struct doppel_walk_options walk = {0};
    struct doppel_strings paths = {0};
    if (!binding_parse(args, "OOnOO", &run, &paths_object, &references, &options_object,
                       &listener.visit) ||
        !binding_strings_of(paths_object, &paths))
        return NULL;
    if (take_group_options(options_object, &options) &&
        binding_walk_options(options_object, &walk)) {
        options.walk = &walk;
        listener.parts = options.digests ? DOPPEL_GROUP_DIGESTS : DOPPEL_GROUP_PLAIN;
        result =
            scan_for_groups(run,
                            &(struct doppel_scan_paths){paths.items, paths.count,
                                                        (size_t)(references < 0 ? 0 : references)},
                            &options, &listener);
    }
    binding_walk_free(&walk);
    free_group_options(&options);
    free((void *)paths.items);
    return result;
}

/* (run, library, options, visit) */
PyObject *binding_library_groups(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *run, *library_object, *options_object, *result = NULL;
    struct group_listener listener = {0};
    struct doppel_group_options options = {0};
    struct doppel_group_counts counts = {0};
    struct binding_call call;
    if (!binding_parse(args, "OOOO", &run, &library_object, &options_object, &listener.visit))
        return NULL;
    struct doppel_library *library = binding_library_of(library_object);
    if (!library)
        return NULL;
    if (take_group_options(options_object, &options) && binding_begin(run, &call)) {
        options.metadata = true;
        listener.run = call.owner;
        listener.parts = options.digests ? DOPPEL_GROUP_DIGESTS : DOPPEL_GROUP_PLAIN;
        enum doppel_status status = doppel_library_groups(call.run, library, &options, tell_group,
                                                          &listener, &counts, &call.error);
        if (binding_end(&call, status, NULL))
            result = counts_of(&counts);
    }
    free_group_options(&options);
    return result;
}
