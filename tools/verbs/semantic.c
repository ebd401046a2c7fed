/* --semantic: texts are embedded, and what came of it. */
#include "tools/verbs/semantic.h"

#include <math.h>

#include "core/try.h"
#include "tools/output/messages.h"
#include "tools/verbs/embedder.h"

static const double usual_fp_rate = 1e-5;

static enum doppel_status embed_for_dedup(void *context, const char *const *texts,
                                          const size_t *sizes, size_t count, float *rows,
                                          enum doppel_status *each, struct doppel_error *error)
{
    const struct doppel_model_texts request = {texts, sizes, count};
    return doppel_embedder_embed(context, &request, rows, each, error);
}

enum doppel_status semantic_stage_open(const struct settings *settings,
                                       struct semantic_stage *stage, struct doppel_error *error)
{
    enum doppel_status status;
    if (!settings->semantic)
        return DOPPEL_OK;
    TRY(embedder_of_settings(settings, &stage->embedder, error));
    stage->options = (struct doppel_dedup_semantic){
        .dimension = doppel_embedder_identity(stage->embedder)->dimension,
        .embed = embed_for_dedup,
        .context = stage->embedder,
        .max_fp_rate =
            settings->max_false_positives > 0 ? settings->max_false_positives : usual_fp_rate,
        .min_cosine = (float)settings->semantic_cosine,
        .summary = &stage->summary,
    };
done:
    return status;
}

void semantic_stage_close(struct semantic_stage *stage)
{
    doppel_embedder_free(stage->embedder);
    stage->embedder = NULL;
}

const struct doppel_dedup_semantic *semantic_stage_options(const struct semantic_stage *stage)
{
    return stage->embedder ? &stage->options : NULL;
}

/* ---- what came of it ---- */

void semantic_stage_print(const struct semantic_stage *stage, struct report *report)
{
    const struct doppel_dedup_semantic_summary *summary = &stage->summary;
    if (!stage->options.embed)
        return;
    if (summary->failure.status) {
        report_input(report, "--semantic", summary->failure.message);
        return;
    }
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
