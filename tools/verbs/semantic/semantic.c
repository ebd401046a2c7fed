/* --semantic: texts are embedded, and what came of it. */
#include "tools/verbs/semantic/semantic.h"

#include <math.h>
#include <stdio.h>

#include "core/try.h"
#include "tools/args/engine_options.h"
#include "tools/output/messages.h"
#include "tools/output/rows/semantic_rows.h"
#include "tools/verbs/semantic/embedder.h"

static const double usual_fp_rate = 1e-5;

static enum doppel_status embed_for_dedup(void *context, const char *const *texts,
                                          const size_t *sizes, size_t count, float *rows,
                                          enum doppel_status *each, struct doppel_error *error)
{
    const struct embedder_of_run *source = context;
    const struct doppel_model_texts request = {texts, sizes, count};
    return doppel_embedder_embed(source->embedder, &request, rows, each, error);
}

static enum doppel_status foresee_for_dedup(void *context, const char *const *texts,
                                            const size_t *sizes, size_t count,
                                            struct doppel_error *error)
{
    const struct doppel_model_texts request = {texts, sizes, count};
    return embedder_foresee(context, &request, error);
}

static enum doppel_status begin_for_dedup(void *context, struct doppel_error *error)
{
    return embedder_begin(context, error);
}

enum doppel_status semantic_stage_open(const struct settings *settings, struct report *report,
                                       struct semantic_stage *stage, struct doppel_error *error)
{
    struct embedder_of_run *source = &stage->source;
    enum doppel_status status;
    if (!settings->semantic)
        return DOPPEL_OK;
    TRY(embedder_open(settings, report, source, error));
    const struct doppel_embedder_identity *identity = doppel_embedder_identity(source->embedder);
    stage->hand_off = (struct doppel_dedup_hand_off){.folder = settings->hand_off,
                                                     .model = identity->name,
                                                     .revision = identity->revision,
                                                     .replace = settings->replace_outputs};
    stage->options = (struct doppel_dedup_semantic){
        .dimension = identity->dimension,
        .embed = embed_for_dedup,
        .foresee = source->is_service ? foresee_for_dedup : NULL,
        .begin = source->is_service ? begin_for_dedup : NULL,
        .context = source,
        .whitened = doppel_embedder_is_whitened(source->embedder),
        .max_fp_rate =
            settings->max_false_positives > 0 ? settings->max_false_positives : usual_fp_rate,
        .min_cosine = semantic_cosine_from(settings),
        .scores = settings->scores,
        .hand_off = settings->hand_off ? &stage->hand_off : NULL,
        .summary = &stage->summary,
    };
done:
    return status;
}

void semantic_stage_close(struct semantic_stage *stage)
{
    embedder_close(&stage->source);
}

const struct doppel_dedup_semantic *semantic_stage_options(const struct semantic_stage *stage)
{
    return stage->source.embedder ? &stage->options : NULL;
}

/* ---- what came of it ---- */

static void print_too_few(const struct semantic_stage *stage, struct report *report)
{
    /* as many pairs are needed as show 10 at this rate */
    const double texts = ceil(sqrt(20 / stage->options.max_fp_rate));
    if (stage->options.min_cosine != 0)
        report_notice(report, "semantic: no two texts have vectors, to be compared");
    else
        report_warning(report,
                       "semantic: %llu text%s too few to tell what a rate of %g is, which takes "
                       "%.0f: none is linked; give %sa higher --max-fp-rate",
                       (unsigned long long)stage->summary.embedded,
                       stage->summary.embedded == 1 ? " is" : "s are", stage->options.max_fp_rate,
                       texts, semantic_cosine_advice(stage->options.scores));
}

void semantic_stage_print(const struct semantic_stage *stage, struct report *report)
{
    const struct doppel_dedup_semantic_summary *summary = &stage->summary;
    if (!stage->options.embed)
        return;
    embedder_print_usage(&stage->source, summary->failure.status);
    if (summary->failure.status) {
        report_input(report, "--semantic", summary->failure.message);
        return;
    }
    if (stage->options.hand_off)
        report_notice(report, "semantic: %llu vectors are in %s",
                      (unsigned long long)summary->handed_off, stage->hand_off.folder);
    if (summary->min_cosine > 1) {
        print_too_few(stage, report);
        return;
    }
    char embedded[128] = ""; /* a service says it */
    if (!stage->source.is_service)
        snprintf(embedded, sizeof embedded,
                 "%llu text%s embedded (%llu without a word that the model knows), ",
                 (unsigned long long)summary->embedded, summary->embedded == 1 ? "" : "s",
                 (unsigned long long)summary->too_short);
    report_notice(report,
                  "semantic: %s%llu record%s needed not be%s; %llu %s like an earlier one, at a "
                  "%s of %.3f or more",
                  embedded, (unsigned long long)summary->decided, summary->decided == 1 ? "" : "s",
                  *embedded ? "" : " embedded", (unsigned long long)summary->linked,
                  summary->linked == 1 ? "is" : "are", summary->scored ? "score" : "cosine",
                  (double)summary->min_cosine);
}
