/* doppel dedup FILE.jsonl...: a whole corpus at once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/commands.h"
#include "tools/decision.h"
#include "tools/memory.h"
#include "tools/output.h"
#include "tools/report.h"
#include "tools/signals.h"

enum { DECISIONS = DOPPEL_DECISION_CONFLICT + 1, FLUSH_BYTES = 1 << 16 };

struct run {
    const struct settings *settings;
    struct report *report;
    struct output *output; /* of tables and CSV; else NULL */
    struct decision_text text;
    uint64_t counts[DECISIONS], unique;
    bool failed; /* to write */
};

static const struct column columns[] = {
    {"id", "id", CELL_TEXT},
    {"path", NULL, CELL_PATH},
    {"line", "line", CELL_NUMBER},
    {"decision", "decision", CELL_TEXT},
    {"of", "of", CELL_TEXT},
    {"of_line", NULL, CELL_NUMBER},
    {"reason", "reason", CELL_TEXT},
    {"similarity", "similarity", CELL_NUMBER},
    {"query_coverage", NULL, CELL_NUMBER},
    {"item_coverage", NULL, CELL_NUMBER},
    {"verified", "verified", CELL_TEXT},
};
static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, NULL, NULL};

/* ---- output ---- */

static void note_failure(struct run *run)
{
    int reason = errno;
    if (run->failed)
        return;
    run->failed = true;
    if (reason == EPIPE)
        signals_closed_pipe();
    else
        report_fatal(run->report, "standard output: %s", strerror(reason));
}

static bool flush(struct run *run)
{
    for (size_t done = 0; done < run->text.size && !run->failed;) {
        ssize_t put = write(STDOUT_FILENO, run->text.bytes + done, run->text.size - done);
        if (put >= 0)
            done += (size_t)put;
        else if (errno != EINTR)
            note_failure(run);
    }
    run->text.size = 0;
    return !run->failed;
}

static void put_row(struct run *run, const struct doppel_dedup_decision *decision)
{
    run->text.size = 0;
    decision_append(&run->text, decision);
    json_t *row = json_loadb(run->text.bytes, run->text.size, 0, NULL);
    run->text.size = 0;
    if (row)
        output_row(run->output, row);
}

static void put_line(struct run *run, const struct doppel_dedup_decision *decision)
{
    bool readable = decision->decision != DOPPEL_DECISION_UNREADABLE && decision->line_text;
    switch (run->settings->emit) {
    case EMIT_DECISIONS:
        decision_append(&run->text, decision);
        break;
    case EMIT_ANNOTATED:
        if (!readable)
            return;
        decision_append_annotated(&run->text, decision);
        break;
    default:
        if (!readable || decision->unique != (run->settings->emit == EMIT_UNIQUE))
            return;
        decision_append_line(&run->text, decision);
    }
    decision_end_line(&run->text);
}

static void report_unreadable(struct run *run, const struct doppel_dedup_decision *decision)
{
    char *where = must_allocate(strlen(decision->path) + 32);
    sprintf(where, decision->line ? "%s:%llu" : "%s", decision->path,
            (unsigned long long)decision->line);
    report_input(run->report, where, decision->reason ? decision->reason : "cannot be read");
    free(where);
}

static bool take(void *context, const struct doppel_dedup_decision *decision)
{
    struct run *run = context;
    run->counts[decision->decision]++;
    run->unique += decision->unique;
    if (decision->decision == DOPPEL_DECISION_UNREADABLE)
        report_unreadable(run, decision);
    if (run->output)
        put_row(run, decision);
    else
        put_line(run, decision);
    return run->text.size < FLUSH_BYTES || flush(run);
}

/* ---- what is wanted ---- */

static bool show_progress(void *context, uint64_t done, uint64_t total, uint64_t records)
{
    struct run *run = context;
    (void)records;
    progress_set_total(&run->report->progress, total >> 20);
    progress_update(&run->report->progress, done >> 20, 0);
    return !signals_stopped();
}

/* The preset's bands are for its own limit and lanes. */
static void set_matching(const struct settings *settings, struct doppel_dedup_options *options)
{
    const struct doppel_text_preset *preset = settings->preset;
    if (settings->min_containment >= 0)
        options->limits.min_containment = settings->min_containment;
    if (preset)
        options->limits.min_similarity = preset->min_similarity;
    if (settings->min_similarity >= 0)
        options->limits.min_similarity = settings->min_similarity;
    options->bands = settings->bands;
    options->rows = settings->rows;
    if (preset && !settings->bands && !settings->rows && settings->min_similarity < 0 &&
        options->text.lanes == preset->options.lanes) {
        options->bands = preset->bands;
        options->rows = preset->rows;
    }
}

static struct doppel_dedup_options options_of(const struct settings *settings, struct run *run)
{
    struct doppel_dedup_options options = doppel_dedup_options_default();
    options.files.paths = settings->operands.items;
    options.files.count = settings->operands.count;
    options.fields = (struct doppel_corpus_fields){settings->id_field, settings->text_field,
                                                   settings->path_field, settings->source_field,
                                                   settings->date_field};
    options.text = settings->text;
    if (settings->preset && settings->text_format < 0)
        options.text.format = settings->preset->options.format;
    if (settings->lanes >= 0)
        options.text.lanes = settings->lanes == LANES_256 ? 256 : 128;
    set_matching(settings, &options);
    options.memory_bytes = settings->memory;
    options.temporary = settings->temporary;
    options.threads = settings->jobs;
    options.lines = settings->emit != EMIT_DECISIONS;
    options.keep_shingles = settings->keep_shingles;
    options.on_same_id = settings->on_same_id;
    options.progress = show_progress;
    options.context = run;
    return options;
}

/* ---- all ---- */

static void summarise(const struct run *run)
{
    char line[512];
    size_t used = 0;
    uint64_t records = 0;
    if (!run->report->verbose && !run->report->terminal)
        return;
    for (int i = 0; i < DECISIONS; i++)
        records += run->counts[i];
    for (int i = 0; i < DECISIONS; i++)
        if (run->counts[i])
            used += (size_t)snprintf(line + used, sizeof line - used, ", %llu %s",
                                     (unsigned long long)run->counts[i],
                                     doppel_decision_name((enum doppel_decision)i));
    report_notice(run->report, "%llu records%s; %llu unique", (unsigned long long)records,
                  used ? line : "", (unsigned long long)run->unique);
}

static bool finish(struct run *run)
{
    bool written = run->output ? output_finish(run->output) : flush(run);
    decision_text_free(&run->text);
    return written;
}

int cmd_dedup(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct run run = {.settings = settings, .report = report};
    bool rows = settings->format_given && settings->format != FORMAT_JSON;
    if (rows && settings->emit != EMIT_DECISIONS)
        return report_fatal(report, "'--emit' prints lines of JSON: leave out '--format'");
    if (rows)
        run.output = output_new(settings, &layout, report);
    struct doppel_dedup_options options = options_of(settings, &run);
    progress_begin(&report->progress, "MB", 0);
    enum doppel_status status = doppel_dedup(&options, take, &run, &error);
    bool written = finish(&run);
    if (written && (!status || status == DOPPEL_E_CANCELLED))
        summarise(&run);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    return written ? EXIT_DONE : EXIT_WRONG_USE;
}
