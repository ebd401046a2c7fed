/* Whole corpora of texts: a decision for each record. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

#include <doppel/corpus.h>
#include <doppel/decide.h>

/* Decisions are given away some at a time: taking the GIL for each would cost more than it. */
enum { TOLD_BYTES = 1 << 18 };

struct dedup_listener {
    struct binding_run *run;
    PyObject *visit;
    struct doppel_json json;
};

static PyObject *make_decisions(const void *what)
{
    const struct doppel_json *json = what;
    return Py_BuildValue("(y#)", json->bytes ? json->bytes : "", (Py_ssize_t)json->size);
}

static bool tell_decisions(struct dedup_listener *listener)
{
    bool told = !listener->json.failed &&
                (!listener->json.size ||
                 binding_tell(listener->run, listener->visit, make_decisions, &listener->json));
    doppel_json_clear(&listener->json);
    return told;
}

/* A line of JSON each: whether it belongs to what is without duplicates, and the decision. */
static bool take_dedup_decision(void *context, const struct doppel_dedup_decision *decision)
{
    struct dedup_listener *listener = context;
    struct doppel_decided decided;
    doppel_decided_of_record(decision, &decided);
    doppel_json_array_begin(&listener->json, NULL);
    doppel_json_boolean(&listener->json, NULL, decision->unique);
    doppel_decision_to_json(&listener->json, &decided);
    doppel_json_array_end(&listener->json);
    doppel_json_end_line(&listener->json);
    return listener->json.size < TOLD_BYTES || tell_decisions(listener);
}

static bool go_on_with_dedup(void *context, const char *unit, uint64_t done, uint64_t total)
{
    struct dedup_listener *listener = context;
    doppel_run_show(listener->run->run,
                    &(struct doppel_run_progress){.unit = unit, .done = done, .total = total});
    return !doppel_run_cancelled(listener->run->run);
}

static bool take_dedup_options(PyObject *options, struct doppel_dedup_options *out)
{
    uint64_t shingle = out->text.shingle, threads = 0, memory = 0;
    const char *preset_name = NULL, *cluster = NULL;
    bool characters = false;
    double similarity = -1, containment = -1;
    if (!binding_string(options, "preset", &preset_name) ||
        !binding_string(options, "cluster", &cluster) ||
        !binding_string(options, "id_field", &out->fields.id) ||
        !binding_string(options, "text_field", &out->fields.text) ||
        !binding_number(options, "min_similarity", &similarity) ||
        !binding_number(options, "min_containment", &containment) ||
        !binding_integer(options, "shingle", &shingle) ||
        !binding_integer(options, "threads", &threads) ||
        !binding_integer(options, "memory", &memory) ||
        !binding_flag(options, "characters", &characters))
        return false;
    if (preset_name) {
        const struct doppel_text_preset *preset = doppel_text_preset_by_name(preset_name);
        if (!preset)
            return binding_fail(DOPPEL_E_ARGUMENT, "there is no preset '%s'", preset_name);
        out->text = preset->options;
        out->limits.min_similarity = preset->min_similarity;
        out->bands = preset->bands;
        out->rows = preset->rows;
    }
    if (shingle != doppel_text_options_default().shingle || !preset_name)
        out->text.shingle = shingle <= DOPPEL_TEXT_MAX_SHINGLE ? (uint32_t)shingle : 0;
    if (characters)
        out->text.unit = DOPPEL_TEXT_CHARACTERS;
    if (similarity >= 0) {
        out->limits.min_similarity = similarity;
        out->bands = out->rows = 0;
    }
    if (containment >= 0)
        out->limits.min_containment = containment;
    out->threads = threads < 4096 ? (uint32_t)threads : 4096;
    out->memory_bytes = memory;
    out->cluster = cluster && strcmp(cluster, "components") == 0 ? DOPPEL_CLUSTER_COMPONENTS
                                                                 : DOPPEL_CLUSTER_REPRESENTATIVES;
    return true;
}

/* (run, paths, options, visit): visit is called with lines of decisions. */
PyObject *binding_dedup(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *run, *paths_object, *options_object;
    struct binding_call call;
    struct dedup_listener listener = {0};
    struct doppel_strings paths;
    struct doppel_dedup_options options = doppel_dedup_options_default();
    if (!binding_parse(args, "OOO!O", &run, &paths_object, &PyDict_Type, &options_object,
                       &listener.visit) ||
        !take_dedup_options(options_object, &options) || !binding_strings_of(paths_object, &paths))
        return NULL;
    bool done = false;
    if (binding_begin(run, &call)) {
        listener.run = call.owner;
        options.files.paths = paths.items;
        options.files.count = paths.count;
        options.progress = go_on_with_dedup;
        options.context = &listener;
        enum doppel_status status =
            doppel_dedup(&options, take_dedup_decision, &listener, &call.error);
        if (!status && !tell_decisions(&listener))
            status = doppel_fail(&call.error, DOPPEL_E_CANCELLED, "interrupted");
        done = binding_end(&call, status, NULL);
    }
    doppel_json_free(&listener.json);
    free((void *)paths.items);
    if (!done)
        return NULL;
    Py_RETURN_NONE;
}
