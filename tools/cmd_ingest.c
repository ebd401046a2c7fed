/* doppel ingest --jsonl FILE: record by record against a library. */
#include "tools/collection.h"
#include "tools/commands.h"
#include "tools/decision_output.h"
#include "tools/report.h"
#include "tools/signals.h"

struct run {
    struct report *report;
    struct decision_output output;
};

/* Called after each group of decisions, too: what is kept is told at once. */
static bool show_progress(void *context, uint64_t done, uint64_t total, uint64_t records)
{
    struct run *run = context;
    (void)records;
    progress_set_total(&run->report->progress, total >> 20);
    progress_update(&run->report->progress, done >> 20, 0);
    return decision_output_flush(&run->output) && !signals_stopped();
}

static struct doppel_ingest_options options_of(const struct settings *settings, struct run *run)
{
    struct doppel_ingest_options options = doppel_ingest_options_default();
    options.files.paths = settings->jsonl.items;
    options.files.count = settings->jsonl.count;
    options.fields = corpus_fields_from(settings);
    options.text = corpus_text_from(settings);
    options.limits = corpus_limits_from(settings);
    corpus_bands_from(settings, &options.bands, &options.rows);
    options.threads = settings->jobs;
    options.keep_shingles = settings->keep_shingles;
    options.on_same_id = settings->on_same_id;
    options.progress = show_progress;
    options.context = run;
    return options;
}

/* Where nothing is said, the library goes on as it began. */
static enum doppel_status fit_library(const struct settings *settings,
                                      struct doppel_library *library,
                                      struct doppel_ingest_options *options,
                                      struct doppel_error *error)
{
    if (corpus_text_is_given(settings))
        return DOPPEL_OK;
    enum doppel_status status =
        doppel_library_text_options(library, &options->text, &options->limits, error);
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
}

int cmd_ingest(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_library *library;
    struct run run = {.report = report};
    if (!settings->jsonl.count)
        return report_fatal(report, "'ingest' needs --jsonl FILE, or --jsonl - for standard input");
    if (!decision_output_begin(&run.output, settings, report))
        return EXIT_WRONG_USE;
    if (open_library(settings, true, false, &library, &error))
        return report_fatal(report, "%s", error.message);
    struct doppel_ingest_options options = options_of(settings, &run);
    progress_begin(&report->progress, "MB", 0);
    enum doppel_status status = fit_library(settings, library, &options, &error);
    if (!status)
        status = doppel_ingest(library, &options, decision_output_take, &run.output, &error);
    bool ended = !status || status == DOPPEL_E_CANCELLED;
    bool written = decision_output_finish(&run.output, ended);
    doppel_library_close(library);
    if (!ended)
        return report_fatal(report, "%s", error.message);
    return written ? EXIT_DONE : EXIT_WRONG_USE;
}
