/* What ingest and check have in common: files that are named, streams, and records. */
#include "tools/args/engine_options.h"
#include "tools/output/messages.h"
#include "tools/verbs/decide.h"

#include <string.h>

#include "tools/args/metadata_options.h"
#include "tools/args/library_options.h"
#include "tools/output/decision_output.h"
#include "tools/output/decision_row.h"
#include "decide/decider.h"

struct run {
    struct settings settings; /* those of the texts are the library's */
    struct report *report;
    struct doppel_library *library;
    struct decision_output output;
    bool only_asked;
};

static bool is_stream(const struct settings *settings)
{
    return settings->operands.count == 1 && strcmp(settings->operands.items[0], "-") == 0;
}

/* ---- what is wanted ---- */

static struct doppel_ingest_options options_of(struct run *run)
{
    static const char *const standard_input[] = {"-"};
    const struct settings *settings = &run->settings;
    struct doppel_ingest_options options = doppel_ingest_options_default();
    bool stream = is_stream(settings);
    options.files.paths = stream ? standard_input : settings->jsonl.items;
    options.files.count = stream ? 1 : settings->jsonl.count;
    options.fields = corpus_fields_from(settings);
    options.text = corpus_text_from(settings);
    options.limits = corpus_limits_from(settings);
    corpus_bands_from(settings, &options.bands, &options.rows);
    options.threads = settings->jobs;
    options.plain_records = settings->ignore_metadata;
    options.keep_shingles = settings->keep_shingles;
    options.on_same_id = settings->on_same_id;
    options.check = run->only_asked;
    return options;
}

/* Where nothing is said, the library goes on as it began. */
static enum doppel_status fit_library(struct run *run, struct doppel_ingest_options *options,
                                      struct doppel_error *error)
{
    if (corpus_text_is_given(&run->settings))
        return DOPPEL_OK;
    enum doppel_status status =
        doppel_library_text_options(run->library, &options->text, &options->limits, error);
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
}

/* Files of text are read as the records are. */
static void fit_files(struct run *run, const struct doppel_ingest_options *options)
{
    struct doppel_scheme *scheme = &run->settings.by_kind[DOPPEL_KIND_TEXT];
    enum doppel_scheme_id id =
        options->text.lanes == 256 ? DOPPEL_SCHEME_MINHASH256 : DOPPEL_SCHEME_MINHASH128;
    if (!scheme->id)
        return;
    *scheme = *doppel_scheme_by_id(id);
    run->settings.text = options->text;
    scheme->version = doppel_text_version(scheme->version, &options->text);
    run->settings.text_similarity = options->limits.min_similarity;
}

static enum doppel_status fit_records(struct run *run, struct doppel_ingest_options *options,
                                      struct doppel_error *error)
{
    *options = options_of(run);
    enum doppel_status status = fit_library(run, options, error);
    if (!status && is_stream(&run->settings))
        fit_files(run, options);
    return status;
}

static bool is_of_records(const struct settings *settings)
{
    return settings->jsonl.count || is_stream(settings);
}

/* ---- deciding ---- */

/* What is kept is told at once. @return false: nobody reads on */
static bool tell(struct run *run, const struct decided *decided, bool last)
{
    bool read = decided->is_file ? decision_row_tell(&run->output, &decided->file)
                                 : decision_output_take(&run->output, &decided->record);
    return read && (!last || decision_output_flush(&run->output));
}

static enum doppel_status pull_all(struct run *run, struct doppel_decider *decider,
                                   struct doppel_error *error)
{
    struct decided decided;
    enum doppel_status status;
    while (!(status = doppel_decider_pull(decider, &decided, error)))
        if (!tell(run, &decided, !doppel_decider_waiting(decider)))
            return DOPPEL_E_CANCELLED;
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
}

static enum doppel_status decide(struct run *run, struct doppel_error *error)
{
    struct doppel_decider *decider = NULL;
    const struct doppel_metadata about = about_of(&run->settings);
    struct decider_options options = {.streams = is_stream(&run->settings)};
    enum doppel_status status = DOPPEL_OK;
    if (is_of_records(&run->settings))
        status = fit_records(run, &options.records, error);
    options.records.source = run->settings.source;
    options.records.about = metadata_is_given(&run->settings) ? &about : NULL;
    options.files = (struct file_stream_options){.settings = &run->settings,
                                                 .search = search_options_from(&run->settings),
                                                 .run = run->report->run,
                                                 .library = run->library,
                                                 .read = read_options_from(&run->settings),
                                                 .walk = walk_options_from(&run->settings),
                                                 .only_asked = run->only_asked};
    if (!status)
        status = doppel_decider_new(&options, &decider, error);
    if (!status)
        status = pull_all(run, decider, error);
    doppel_decider_free(decider);
    return status;
}

/* ---- the verb ---- */

static bool check_input(const struct settings *settings, struct report *report)
{
    const char *verb = settings->verb->name;
    bool files = settings->operands.count || settings->files_from;
    if (!files && !settings->jsonl.count) {
        report_fatal(report,
                     "'%s' wants %s, - for a stream, or --jsonl FILE for records; see 'doppel %s "
                     "--help'",
                     verb, settings->verb->operands, verb);
        return false;
    }
    if (files && settings->jsonl.count) {
        report_fatal(report, "give %s or '--jsonl', not both", settings->verb->operands);
        return false;
    }
    for (size_t i = 0; i < settings->operands.count; i++)
        if (strcmp(settings->operands.items[i], "-") == 0 &&
            (settings->operands.count > 1 || settings->files_from)) {
            report_fatal(report, "- is a stream of its own: '%s -'", verb);
            return false;
        }
    return true;
}

static int code_of(const struct run *run)
{
    if (!run->only_asked)
        return EXIT_DONE;
    return run->output.matched ? EXIT_DONE : EXIT_NO_MATCH;
}

int decide_verb(const struct settings *settings, struct report *report, bool only_asked)
{
    struct doppel_error error;
    struct run run = {.settings = *settings, .report = report, .only_asked = only_asked};
    if (!check_input(settings, report) ||
        !decision_output_begin(&run.output, &run.settings, report))
        return EXIT_WRONG_USE;
    if (about_check(settings, &error))
        return report_fatal(report, "%s", error.message);
    if (open_library(settings, !only_asked, only_asked, &run.library, &error))
        return report_fatal(report, "%s", error.message);
    enum doppel_status status = decide(&run, &error);
    bool ended = !status || status == DOPPEL_E_CANCELLED;
    bool written = decision_output_finish(&run.output, ended);
    doppel_library_close(run.library);
    if (!ended)
        return report_fatal(report, "%s", error.message);
    return written ? code_of(&run) : EXIT_WRONG_USE;
}
