/* --semantic: a model, and what came of it. */
#include "tools/verbs/semantic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "tools/args/paths.h"
#include "tools/output/messages.h"

static const double usual_fp_rate = 1e-5;

/* ---- which model ---- */

struct only_model {
    char name[DOPPEL_MODEL_MAX_NAME + 1];
    size_t count;
};

static bool note_model(void *context, const struct doppel_model_info *info, const char *problem)
{
    struct only_model *only = context;
    (void)problem;
    strcpy(only->name, info->name);
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

static enum doppel_status embed_by_model(void *context, const char *const *texts,
                                         const size_t *sizes, size_t count, float *rows,
                                         enum doppel_status *each, struct doppel_error *error)
{
    const struct doppel_model_texts request = {texts, sizes, count};
    return doppel_model_embed(context, &request, rows, each, error);
}

enum doppel_status semantic_stage_open(const struct settings *settings,
                                       struct semantic_stage *stage, struct doppel_error *error)
{
    struct only_model only = {0};
    if (!settings->semantic)
        return DOPPEL_OK;
    char *folder = model_folder();
    enum doppel_status status;
    if (!folder)
        TRY(doppel_fail(error, DOPPEL_E_NOT_FOUND,
                        "there is no folder for models: set $DOPPEL_MODELS, or $HOME"));
    if (!settings->model)
        TRY(find_only_model(folder, &only, error));
    const struct doppel_model_open_options open = {
        .folder = folder, .name = settings->model ? settings->model : only.name};
    TRY(doppel_model_open(&open, &stage->model, error));
    stage->options = (struct doppel_dedup_semantic){
        .dimension = doppel_model_info(stage->model)->dimension,
        .embed = embed_by_model,
        .context = stage->model,
        .max_fp_rate =
            settings->max_false_positives > 0 ? settings->max_false_positives : usual_fp_rate,
        .min_cosine = (float)settings->semantic_cosine,
        .summary = &stage->summary,
    };
done:
    free(folder);
    return status;
}

void semantic_stage_close(struct semantic_stage *stage)
{
    doppel_model_free(stage->model);
    stage->model = NULL;
}

const struct doppel_dedup_semantic *semantic_stage_options(const struct semantic_stage *stage)
{
    return stage->model ? &stage->options : NULL;
}

/* ---- what came of it ---- */

void semantic_stage_print(const struct semantic_stage *stage, struct report *report)
{
    const struct doppel_dedup_semantic_summary *summary = &stage->summary;
    if (!stage->options.embed)
        return;
    if (summary->min_cosine > 1) {
        /* as many pairs are needed as show 10 at this rate */
        const double texts = ceil(sqrt(20 / stage->options.max_fp_rate));
        report_notice(report,
                      "semantic: %llu texts are too few to tell what a rate of %g is, which takes "
                      "%.0f: give --min-cosine, or a higher --max-fp-rate",
                      (unsigned long long)summary->embedded, stage->options.max_fp_rate, texts);
        return;
    }
    report_notice(
        report,
        "semantic: %llu texts embedded (%llu without a word that the model knows), %llu "
        "records needed not be; %llu are like an earlier one, at a cosine of %.3f or more",
        (unsigned long long)summary->embedded, (unsigned long long)summary->too_short,
        (unsigned long long)summary->decided, (unsigned long long)summary->linked,
        (double)summary->min_cosine);
}
