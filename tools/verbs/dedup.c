/* doppel dedup FILE.jsonl...: a whole corpus at once. */
#include "tools/args/engine_options.h"
#include "tools/args/commands.h"
#include "tools/output/decision_output.h"
#include "tools/output/messages.h"
#include "tools/signals.h"

static bool show_deduplicated(void *context, uint64_t done, uint64_t total, uint64_t records)
{
    struct report *report = context;
    (void)records;
    progress_set_total(&report->progress, total >> 20);
    progress_update(&report->progress, done >> 20, 0);
    return !signals_stopped();
}

static struct doppel_dedup_options dedup_options_of(const struct settings *settings,
                                                    struct report *report)
{
    struct doppel_dedup_options options = doppel_dedup_options_default();
    options.files.paths = settings->operands.items;
    options.files.count = settings->operands.count;
    options.fields = corpus_fields_from(settings);
    options.text = corpus_text_from(settings);
    options.limits = corpus_limits_from(settings);
    corpus_bands_from(settings, &options.bands, &options.rows);
    options.memory_bytes = settings->memory;
    options.temporary = settings->temporary;
    options.threads = settings->jobs;
    options.lines = settings->emit != EMIT_DECISIONS;
    options.keep_shingles = settings->keep_shingles;
    options.on_same_id = settings->on_same_id;
    options.progress = show_deduplicated;
    options.context = report;
    return options;
}

/* The texts of the library say how those of the corpus are read, unless the user does. */
static enum doppel_status open_against(const struct settings *settings,
                                       struct doppel_dedup_options *options,
                                       struct doppel_error *error)
{
    const struct doppel_library_options read_only = {.read_only = true};
    if (!settings->against)
        return DOPPEL_OK;
    enum doppel_status status =
        doppel_library_open(settings->against, &read_only, &options->against, error);
    if (!status && !corpus_text_is_given(settings))
        status =
            doppel_library_text_options(options->against, &options->text, &options->limits, error);
    return status == DOPPEL_E_NOT_FOUND && options->against ? DOPPEL_OK : status;
}

int cmd_dedup(const struct settings *settings, struct report *report)
{
    if (settings->unit == UNIT_PARAGRAPH)
        return cmd_paragraphs(settings, report);
    struct doppel_error error;
    struct decision_output output;
    if (!decision_output_begin(&output, settings, report))
        return EXIT_WRONG_USE;
    struct doppel_dedup_options options = dedup_options_of(settings, report);
    progress_begin(&report->progress, "MB", 0);
    enum doppel_status status = open_against(settings, &options, &error);
    if (!status)
        status = doppel_dedup(&options, decision_output_take, &output, &error);
    doppel_library_close(options.against);
    bool ended = !status || status == DOPPEL_E_CANCELLED;
    bool written = decision_output_finish(&output, ended);
    if (!ended)
        return report_fatal(report, "%s", error.message);
    return written ? EXIT_DONE : EXIT_WRONG_USE;
}
