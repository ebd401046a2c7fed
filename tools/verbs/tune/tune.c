/* doppel tune LABELS.csv: what each limit would catch of labelled pairs, and which to take. */
#include <stdio.h>

#include "tools/output/messages.h"
#include "tools/args/commands.h"
#include "exchange/labelled_pairs.h"
#include "report/threshold_sweep.h"
#include "tools/output/output.h"
#include "tools/verbs/tune/pairs.h"

/* Every fifth step is printed, from .3 on, and the recommended one. */
enum { FIRST_STEP = 30, STRIDE = 5 };

static const struct column columns[] = {
    {"kind", "kind", CELL_TEXT},
    {"scheme", NULL, CELL_TEXT},
    {"limit.min_similarity", "min similarity", CELL_NUMBER},
    {"limit.min_cosine", "min cosine", CELL_NUMBER},
    {"limit.max_fp_rate", "max FP rate", CELL_NUMBER},
    {"usual", "default threshold", CELL_BOOL},
    {"caught", "caught", CELL_NUMBER},
    {"duplicates", "of", CELL_NUMBER},
    {"caught_share", "share", CELL_NUMBER},
    {"false", "false", CELL_NUMBER},
    {"distinct", "of", CELL_NUMBER},
    {"false_share", "share", CELL_NUMBER},
    {"recommended", "recommended", CELL_BOOL},
};

static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, NULL, NULL};

static void put_share(struct doppel_json *row, const char *key, size_t part, size_t whole)
{
    if (whole)
        doppel_json_number(row, key, (double)part / (double)whole, 4);
}

static void print_step(struct output *output, const struct tuned *tuned,
                       const struct threshold_sweep *sweep, int step, bool recommended)
{
    const struct doppel_scheme *info = doppel_scheme_by_id(tuned->scheme);
    const struct sweep_counts *outcome = step < 0 ? &sweep->by_default : &sweep->steps[step];
    struct doppel_json *row = output_begin(output);
    doppel_json_text(row, "kind", doppel_kind_name(info->kind));
    doppel_json_text(row, "scheme", tuned->by_meaning ? "vector" : info->name);
    if (step >= 0) {
        doppel_json_object_begin(row, "limit");
        if (tuned->by_rate)
            doppel_json_rate(row, "max_fp_rate", rate_of_similarity(sweep_threshold(step)));
        else
            doppel_json_number(row, tuned->by_meaning ? "min_cosine" : "min_similarity",
                               sweep_threshold(step), 2);
        doppel_json_object_end(row);
    }
    doppel_json_boolean(row, "usual", step < 0);
    doppel_json_integer(row, "caught", outcome->caught);
    doppel_json_integer(row, "duplicates", sweep->duplicates);
    put_share(row, "caught_share", outcome->caught, sweep->duplicates);
    doppel_json_integer(row, "false", outcome->wrong);
    doppel_json_integer(row, "distinct", sweep->distinct);
    put_share(row, "false_share", outcome->wrong, sweep->distinct);
    doppel_json_boolean(row, "recommended", recommended);
    output_end(output);
}

/* No cosine is the default: what it means depends on the model; and no rate: it is what is asked.
 */
static void print_sweep(struct output *output, const struct tuned *tuned,
                        const struct threshold_sweep *sweep, int recommended)
{
    if (!tuned->by_meaning)
        print_step(output, tuned, sweep, RECOMMEND_DEFAULT, recommended == RECOMMEND_DEFAULT);
    for (int step = 0; step < SWEEP_STEPS; step++)
        if ((step >= FIRST_STEP && step % STRIDE == 0) || step == recommended)
            print_step(output, tuned, sweep, step, step == recommended);
}

static void say_recommended(const struct settings *settings, struct report *report,
                            const struct tuned *tuned, const struct threshold_sweep *sweep,
                            int step)
{
    const char *kind = doppel_kind_name(doppel_scheme_by_id(tuned->scheme)->kind);
    if (!sweep->duplicates || !sweep->distinct)
        report_notice(report, "%s: no threshold is recommended without pairs of both labels", kind);
    else if (step == RECOMMEND_NONE)
        report_notice(report,
                      "%s: no threshold catches any and keeps false matches within %g of the pairs "
                      "(--max-fp-share)",
                      kind, settings->max_fp_share);
    else if (step == RECOMMEND_DEFAULT)
        report_notice(report, "%s: recommended: the default threshold", kind);
    else if (tuned->by_rate)
        report_notice(report, "%s: recommended: --max-fp-rate %.1e", kind,
                      rate_of_similarity(sweep_threshold(step)));
    else
        report_notice(report, "%s: recommended: --min-%s %.2f", kind,
                      tuned->by_meaning ? "cosine" : "similarity", sweep_threshold(step));
}

/* What is made of the pairs of a kind. */
struct tuned_verdict {
    struct threshold_sweep sweep;
    int recommended;
    char title[128];
};

static struct tuned_verdict verdict_of_kind(const struct settings *settings,
                                            const struct tuned *tuned)
{
    struct tuned_verdict verdict = {.sweep = sweep_of(&tuned->pairs)};
    const struct doppel_scheme *scheme = doppel_scheme_by_id(tuned->scheme);
    bool both = verdict.sweep.duplicates && verdict.sweep.distinct;
    verdict.recommended =
        both ? sweep_recommend(&verdict.sweep, settings->max_fp_share) : RECOMMEND_NONE;
    snprintf(verdict.title, sizeof verdict.title,
             "%s by %s: %zu pairs that are the same, %zu that are not",
             doppel_kind_name(scheme->kind),
             tuned->by_rate      ? "rate, 10 to the power of -10 times the threshold"
             : tuned->by_meaning ? "meaning"
                                 : scheme->name,
             verdict.sweep.duplicates, verdict.sweep.distinct);
    return verdict;
}

static int print_tuned(const struct settings *settings, struct report *report,
                       const struct tuned tuned[TUNED_KINDS])
{
    struct tuned_verdict verdicts[TUNED_KINDS];
    struct sweep_panel panels[TUNED_KINDS];
    struct doppel_error error;
    size_t count = 0;
    struct output *output = output_new(settings, &layout, report);
    for (size_t kind = 0; kind < TUNED_KINDS; kind++) {
        if (!tuned[kind].pairs.count)
            continue;
        struct tuned_verdict *verdict = &verdicts[count];
        *verdict = verdict_of_kind(settings, &tuned[kind]);
        panels[count++] =
            (struct sweep_panel){verdict->title, &verdict->sweep, verdict->recommended};
        print_sweep(output, &tuned[kind], &verdict->sweep, verdict->recommended);
        say_recommended(settings, report, &tuned[kind], &verdict->sweep, verdict->recommended);
    }
    if (!output_finish(output))
        return EXIT_WRONG_USE;
    if (!count)
        return report_fatal(report, "%s: no pair to tune by", settings->operands.items[0]);
    if (settings->chart && sweep_chart_write(settings->chart, panels, count, &error))
        return report_fatal(report, "%s", error.message);
    return EXIT_DONE;
}

int cmd_tune(const struct settings *settings, struct report *report)
{
    const char *path = settings->operands.items[0];
    struct doppel_error error;
    struct labels labels;
    struct tuned tuned[TUNED_KINDS] = {0};
    enum doppel_status status = labels_read(report->run, path, &labels, &error);
    if (status == DOPPEL_OK) {
        status = tune_pairs(settings, report, path, &labels, tuned, &error);
        labels_free(&labels);
    }
    int code = EXIT_DONE;
    if (status == DOPPEL_OK)
        code = print_tuned(settings, report, tuned);
    else if (status != DOPPEL_E_CANCELLED)
        code = report_refusal(report, status, &error); /* no labels */
    tuned_free(tuned);
    return code;
}
