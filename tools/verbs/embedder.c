/* What texts are embedded by, as the command line has it. */
#include "tools/verbs/embedder.h"

#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "tools/args/paths.h"

struct only_model {
    char name[DOPPEL_MODEL_MAX_NAME + 1];
    size_t count;
};

static bool note_model(void *context, const struct doppel_model_info *info, const char *problem)
{
    struct only_model *only = context;
    (void)problem;
    memcpy(only->name, info->name, sizeof only->name);
    only->count++;
    return true;
}

static enum doppel_status find_only_model(const char *folder, struct only_model *out,
                                          struct doppel_error *error)
{
    enum doppel_status status = doppel_models_list(folder, note_model, out, error);
    if (status || out->count == 1)
        return status;
    return out->count ? doppel_fail(error, DOPPEL_E_ARGUMENT,
                                    "there are %zu embedding models: say which with --model, see "
                                    "'doppel model list'",
                                    out->count)
                      : doppel_fail(error, DOPPEL_E_NOT_FOUND,
                                    "--semantic wants an embedding model: add one with 'doppel "
                                    "model add'");
}

enum doppel_status embedder_of_settings(const struct settings *settings,
                                        struct doppel_embedder **out, struct doppel_error *error)
{
    struct doppel_embedder_options options = doppel_embedder_options_default();
    struct only_model only = {0};
    char *folder = model_folder();
    enum doppel_status status;
    if (!folder)
        TRY(doppel_fail(error, DOPPEL_E_NOT_FOUND,
                        "there is no folder for models: set $DOPPEL_MODELS, or $HOME"));
    if (!settings->model)
        TRY(find_only_model(folder, &only, error));
    options.folder = folder;
    options.name = settings->model ? settings->model : only.name;
    TRY(doppel_embedder_open(&options, out, error));
done:
    free(folder);
    return status;
}
