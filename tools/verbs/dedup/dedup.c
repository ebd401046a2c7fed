/* doppel dedup FILE...: a whole corpus at once. */
#include <string.h>

#include "core/try.h"
#include "tools/args/engine_options.h"
#include "tools/args/commands.h"
#include "tools/output/messages.h"
#include "tools/signals.h"
#include "tools/verbs/dedup/dedup.h"

/* ---- what the engine calls ---- */

static bool show_deduplicated(void *context, const char *unit, uint64_t done, uint64_t total)
{
    struct dedup_command *command = context;
    struct progress *progress = &command->report->progress;
    if (strcmp(progress->unit, unit) != 0)
        progress_begin(progress, unit, total);
    if (strcmp(unit, "bytes") == 0)
        command->summary.bytes = done;
    progress_set_total(progress, total);
    progress_update(progress, done, 0);
    return !signals_stopped();
}

static bool begin_input(void *context, const struct doppel_corpus_input *input)
{
    struct dedup_command *command = context;
    return decision_output_begin_input(&command->output, input);
}

bool take_corpus_decision(void *context, const struct doppel_dedup_decision *decision)
{
    struct dedup_command *command = context;
    struct doppel_decided decided;
    doppel_decided_of_record(decision, &decided);
    corpus_summary_take(&command->summary, decision);
    return decision_output_put(&command->output, &decided) &&
           clusters_take(&command->clusters, decision) &&
           !(command->output.outputs && signals_stopped());
}

/* ---- options ---- */

static unsigned lines_of(enum emit emit)
{
    static const unsigned lines[] = {
        [EMIT_DECISIONS] = 0,
        [EMIT_UNIQUE] = DOPPEL_LINES_UNIQUE,
        [EMIT_DUPLICATES] = DOPPEL_LINES_DUPLICATES,
        [EMIT_ANNOTATED] = DOPPEL_LINES_ALL,
        [EMIT_UNREADABLE] = DOPPEL_LINES_UNREADABLE,
    };
    return lines[emit];
}

static struct doppel_dedup_options dedup_options_of(struct dedup_command *command)
{
    const struct settings *settings = command->settings;
    struct doppel_dedup_options options = doppel_dedup_options_default();
    options.files.paths = settings->operands.items;
    options.files.count = settings->operands.count;
    options.files.format = (enum doppel_corpus_format)settings->input_format;
    options.files.max_line_bytes = max_record_from(settings);
    options.fields = corpus_fields_from(settings);
    options.text = corpus_text_from(settings);
    options.limits = corpus_limits_from(settings);
    corpus_bands_from(settings, &options.bands, &options.rows);
    options.memory_bytes = settings->memory;
    options.temporary = settings->temporary;
    options.threads = settings->jobs;
    options.lines = lines_of(settings->emit);
    options.keep_shingles = settings->keep_shingles;
    options.parts = settings->by_parts;
    options.on_same_id = settings->on_same_id;
    options.cluster = settings->cluster;
    options.progress = show_deduplicated;
    options.input = begin_input;
    options.looks = &command->looks;
    options.context = command;
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
    if (!status)
        doppel_library_fit_unit(options->against, doppel_scheme_by_id(DOPPEL_SCHEME_MINHASH128),
                                &options->text);
    return status == DOPPEL_E_NOT_FOUND && options->against ? DOPPEL_OK : status;
}

static enum doppel_status open_outputs(struct dedup_command *command, struct doppel_error *error)
{
    const struct settings *settings = command->settings;
    const struct doppel_corpus_outputs_options options = {
        .folder = settings->output_dir,
        .files = command->options.files,
        .replace = settings->replace_outputs,
        .threads = command->options.threads,
    };
    enum doppel_status status = DOPPEL_OK;
    if (settings->output_dir)
        TRY(doppel_corpus_outputs_new(&options, &command->output.outputs, error));
    TRY(clusters_open(&command->clusters, settings->clusters, error));
done:
    return status;
}

/* ---- the run ---- */

/* What goes to files is there when all of it is, and not after an interruption. */
static enum doppel_status finish_outputs(struct dedup_command *command, enum doppel_status status,
                                         struct doppel_error *error)
{
    struct doppel_corpus_outputs *outputs = command->output.outputs;
    TRY(status);
    if (command->output.failed)
        TRY(DOPPEL_E_CANCELLED); /* and said */
    if (outputs)
        TRY(doppel_corpus_outputs_finish(outputs, error));
done:
    status = clusters_close(&command->clusters, status, error);
    doppel_corpus_outputs_free(outputs);
    return status;
}

static void report_looks(const struct dedup_command *command)
{
    char hint[160];
    if (command->options.text.unit != DOPPEL_TEXT_CHARACTERS &&
        doppel_text_looks_hint(&command->looks, hint, sizeof hint))
        report_notice(command->report, "%s", hint);
}

static int run_dedup(struct dedup_command *command)
{
    struct doppel_error error;
    struct report *report = command->report;
    bool begun = false;
    enum doppel_status status;
    corpus_summary_begin(&command->summary);
    TRY(open_outputs(command, &error));
    progress_begin(&report->progress, "bytes", 0);
    TRY(open_against(command->settings, &command->options, &error));
    TRY(semantic_stage_open(command->settings, report, &command->semantic, &error));
    command->options.semantic = semantic_stage_options(&command->semantic);
    if (command->options.semantic)
        command->summary.semantic = &command->semantic.summary;
    begun = true;
    TRY(doppel_dedup(&command->options, take_corpus_decision, command, &error));
done:
    doppel_library_close(command->options.against);
    bool ended = begun && (!status || status == DOPPEL_E_CANCELLED);
    bool written = decision_output_finish(&command->output, ended);
    status = finish_outputs(command, status, &error);
    if (written && ended)
        corpus_summary_print(&command->summary, &command->output);
    if (written && !status)
        report_looks(command);
    if (written && !status)
        semantic_stage_print(&command->semantic, report);
    semantic_stage_close(&command->semantic);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    return written ? EXIT_DONE : EXIT_WRONG_USE;
}

int cmd_dedup(const struct settings *settings, struct report *report)
{
    if (settings->unit == UNIT_PARAGRAPH)
        return cmd_paragraphs(settings, report);
    struct dedup_command command = {.settings = settings, .report = report};
    if (!decision_output_begin(&command.output, settings, report))
        return EXIT_WRONG_USE;
    command.options = dedup_options_of(&command);
    int code = settings->stage < 0 ? run_dedup(&command) : run_dedup_stage(&command);
    corpus_summary_free(&command.summary);
    return code;
}
