/* doppel model add|list|remove: the embedding models of this machine. */
#include <stdlib.h>

#include <doppel/embedder.h>

#include "tools/args/commands.h"
#include "tools/args/options.h"
#include "tools/args/paths.h"
#include "tools/output/messages.h"
#include "tools/output/output.h"
#include "tools/verbs/model/model.h"

static const struct column columns[] = {
    {"name", "name", CELL_TEXT},     {"dimension", "dimension", CELL_NUMBER},
    {"tokens", "tokens", CELL_TEXT}, {"vocabulary", "vocabulary", CELL_NUMBER},
    {"size", "size", CELL_SIZE},     {"vectors", "vectors", CELL_NUMBER},
    {"base", "base", CELL_TEXT},     {"learned_from", "learned from", CELL_NUMBER},
    {"prefix", "prefix", CELL_TEXT}, {"revision", "revision", CELL_TEXT},
};
static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, NULL, NULL};

int fail_without_models(struct report *report)
{
    return report_fatal(report, "there is no folder for models: set $DOPPEL_MODELS, or $HOME");
}

static void print_model(struct output *output, const struct doppel_model_info *info)
{
    doppel_model_info_to_json(output_begin(output), info);
    output_end(output);
}

int print_one_model(const struct settings *settings, struct report *report,
                    const struct doppel_model_info *info)
{
    struct output *output = output_new(settings, &layout, report);
    print_model(output, info);
    return output_finish(output) ? EXIT_DONE : EXIT_WRONG_USE;
}

int cmd_model_add(const struct settings *settings, struct report *report)
{
    struct doppel_model_add_options add = doppel_model_add_options_default();
    struct doppel_model_info info;
    struct doppel_error error;
    char *folder = model_folder();
    if (!folder)
        return fail_without_models(report);
    add.folder = folder;
    add.source = settings->operands.items[0];
    add.name = settings->model_name;
    add.prefix = settings->model_prefix;
    enum doppel_status status = doppel_model_add(&add, &info, &error);
    free(folder);
    return status ? report_refusal(report, status, &error)
                  : print_one_model(settings, report, &info);
}

struct model_rows {
    struct output *output;
    struct report *report;
};

static bool print_listed_model(void *context, const struct doppel_model_info *info,
                               const char *problem)
{
    struct model_rows *rows = context;
    if (problem)
        report_input(rows->report, info->name, problem);
    else
        print_model(rows->output, info);
    return true;
}

static bool print_cached_model(void *context, const struct doppel_embedder_cached *model)
{
    struct model_rows *rows = context;
    struct doppel_json *json = output_begin(rows->output);
    doppel_json_text(json, "name", model->identity.name);
    doppel_json_text(json, "revision", model->identity.revision);
    doppel_json_integer(json, "dimension", model->identity.dimension);
    doppel_json_text(json, "prefix", model->identity.prefix[0] ? model->identity.prefix : NULL);
    doppel_json_text(json, "tokens", "service");
    doppel_json_integer(json, "vectors", model->vectors);
    if (model->refused)
        doppel_json_integer(json, "refused", model->refused);
    output_end(rows->output);
    return true;
}

/* What cannot be read is told, and the models of this machine are listed all the same. */
static void print_cached_models(const struct settings *settings, struct model_rows *rows)
{
    struct doppel_error error;
    char *cache = vector_cache_file(settings, false);
    if (cache && doppel_embedder_cache_list(cache, print_cached_model, rows, &error))
        report_input(rows->report, cache, error.message);
    free(cache);
}

int cmd_model_list(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    char *folder = model_folder();
    if (!folder)
        return fail_without_models(report);
    struct model_rows rows = {output_new(settings, &layout, report), report};
    enum doppel_status status = doppel_models_list(folder, print_listed_model, &rows, &error);
    if (!status)
        print_cached_models(settings, &rows);
    bool written = output_finish(rows.output);
    free(folder);
    if (status)
        return report_fatal(report, "%s", error.message);
    return written ? EXIT_DONE : EXIT_WRONG_USE;
}

/* Of this machine, and of services. DOPPEL_E_NOT_FOUND: neither. */
static enum doppel_status remove_model(const char *folder, const char *cache, const char *name,
                                       struct doppel_error *error)
{
    struct doppel_error reason;
    enum doppel_status removed = doppel_model_remove(folder, name, error);
    if (removed && removed != DOPPEL_E_NOT_FOUND && removed != DOPPEL_E_ARGUMENT)
        return removed;
    enum doppel_status forgotten =
        cache ? doppel_embedder_cache_forget(cache, name, &reason) : DOPPEL_E_NOT_FOUND;
    if (!forgotten || forgotten == DOPPEL_E_NOT_FOUND)
        return removed && forgotten ? removed : DOPPEL_OK;
    return doppel_fail(error, forgotten, "%s", reason.message);
}

int cmd_model_remove(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    char *folder = model_folder(), *cache = vector_cache_file(settings, false);
    enum doppel_status status = DOPPEL_OK;
    if (!folder) {
        free(cache);
        return fail_without_models(report);
    }
    for (size_t i = 0; i < settings->operands.count && !status; i++) {
        const char *name = settings->operands.items[i];
        status = remove_model(folder, cache, name, &error);
        if (status != DOPPEL_E_NOT_FOUND)
            continue;
        report_input(report, name, "there is no such model");
        status = DOPPEL_OK;
    }
    free(folder);
    free(cache);
    return status ? report_fatal(report, "%s", error.message) : EXIT_DONE;
}
