/* doppel dedup --unit paragraph: paragraphs that recur, and texts without them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/args/engine_options.h"
#include "tools/args/commands.h"
#include "tools/output/decision_output.h"
#include "tools/memory.h"
#include "tools/output/output.h"
#include "tools/output/messages.h"
#include "tools/signals.h"

enum { SAMPLE_BYTES = 200 };

struct paragraph_command {
    const struct settings *settings;
    struct report *report;
    struct output *output; /* of the list; else NULL */
};

static const struct column columns[] = {
    {"documents", "documents", CELL_NUMBER},
    {"id", "first in", CELL_TEXT},
    {"path", NULL, CELL_PATH},
    {"line", "line", CELL_NUMBER},
    {"paragraph", "paragraph", CELL_NUMBER},
    {"bytes", NULL, CELL_NUMBER},
    {"text", "text", CELL_TEXT},
};
static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, NULL, NULL};

/* ---- output ---- */

/* The beginning of a paragraph; not cut within a character. */
static void put_sample(struct doppel_json *row, const struct doppel_paragraph *paragraph)
{
    char sample[SAMPLE_BYTES + 1];
    size_t size = paragraph->text_size < SAMPLE_BYTES ? paragraph->text_size : SAMPLE_BYTES;
    if (size < paragraph->text_size)
        while (size > SAMPLE_BYTES - 4 && ((unsigned char)paragraph->text[size] & 0xC0) == 0x80)
            size--;
    memcpy(sample, paragraph->text, size);
    for (size_t i = 0; i < size; i++)
        if (!sample[i])
            sample[i] = ' ';
    sample[size] = '\0';
    doppel_json_text(row, "text", sample);
}

static bool list_paragraph(void *context, const struct doppel_paragraph *paragraph)
{
    struct paragraph_command *run = context;
    struct doppel_json *row = output_begin(run->output);
    doppel_json_integer(row, "documents", paragraph->documents);
    doppel_json_text(row, "id", paragraph->id);
    doppel_json_path(row, "path", paragraph->path);
    doppel_json_integer(row, "line", paragraph->line);
    doppel_json_integer(row, "paragraph", paragraph->number);
    doppel_json_integer(row, "bytes", paragraph->text_size);
    put_sample(row, paragraph);
    output_end(run->output);
    return !signals_stopped();
}

static void report_unreadable_record(struct paragraph_command *run,
                                     const struct doppel_stripped_record *record)
{
    char *where = must_allocate(strlen(record->path) + 32);
    sprintf(where, record->line ? "%s:%llu" : "%s", record->path, (unsigned long long)record->line);
    report_input(run->report, where, record->unreadable);
    free(where);
}

static bool take_stripped_record(void *context, const struct doppel_stripped_record *record)
{
    struct paragraph_command *run = context;
    if (record->unreadable)
        report_unreadable_record(run, record);
    else if (!run->output) {
        fwrite_unlocked(record->json, 1, record->json_size, stdout);
        putc_unlocked('\n', stdout);
    }
    return !ferror(stdout) && !signals_stopped();
}

static bool show_counted(void *context, uint64_t done, uint64_t total)
{
    struct paragraph_command *run = context;
    progress_set_total(&run->report->progress, total);
    progress_update(&run->report->progress, done, 0);
    return !signals_stopped();
}

/* ---- all ---- */

static struct doppel_paragraph_options paragraph_options_of(const struct settings *settings,
                                                            struct paragraph_command *run)
{
    struct doppel_paragraph_options options = doppel_paragraph_options_default();
    options.files.paths = settings->operands.items;
    options.files.count = settings->operands.count;
    options.files.max_line_bytes = max_record_from(settings);
    options.fields = corpus_fields_from(settings);
    options.text = corpus_text_from(settings);
    options.max_documents = settings->max_documents;
    options.memory_bytes = settings->memory;
    options.temporary = settings->temporary;
    options.threads = settings->jobs;
    options.paragraph = run->output ? list_paragraph : NULL;
    options.record = take_stripped_record;
    options.progress = show_counted;
    options.context = run;
    return options;
}

static void print_paragraph_counts(const struct paragraph_command *run,
                                   const struct doppel_paragraph_counts *counts)
{
    if (!run->report->verbose && !run->report->terminal)
        return;
    report_notice(run->report,
                  "%llu records; %llu paragraphs, %llu different ones, %llu of them in two records "
                  "and more, %llu in more than %u",
                  (unsigned long long)counts->records, (unsigned long long)counts->paragraphs,
                  (unsigned long long)counts->distinct, (unsigned long long)counts->recurring,
                  (unsigned long long)counts->frequent, run->settings->max_documents);
}

static bool finish(struct paragraph_command *run)
{
    if (run->output)
        return output_finish(run->output);
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    if (errno == EPIPE)
        signals_closed_pipe();
    else
        report_fatal(run->report, "standard output: %s", strerror(errno ? errno : EIO));
    return false;
}

int cmd_paragraphs(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_paragraph_counts counts;
    struct paragraph_command run = {.settings = settings, .report = report};
    if (settings->emit != EMIT_DECISIONS && settings->emit != EMIT_UNIQUE)
        return report_fatal(report, "'--unit paragraph' goes with '--emit unique', the texts "
                                    "without what recurs, or none, for a list of that");
    if (settings->emit == EMIT_UNIQUE && settings->format_given && settings->format != FORMAT_JSON)
        return report_fatal(report, "'--emit' prints lines of JSON: leave out '--format'");
    if (settings->emit == EMIT_DECISIONS)
        run.output = output_new(settings, &layout, report);
    struct doppel_paragraph_options options = paragraph_options_of(settings, &run);
    progress_begin(&report->progress, "bytes", 0);
    enum doppel_status status = doppel_paragraphs(&options, &counts, &error);
    bool written = finish(&run);
    if (written && !status)
        print_paragraph_counts(&run, &counts);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    return written ? EXIT_DONE : EXIT_WRONG_USE;
}
