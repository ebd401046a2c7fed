/* Printing decisions, in the format that is asked for. */
#include "tools/output/decision_output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doppel/corpus_stages.h>

#include "tools/memory.h"
#include "tools/output/output.h"
#include "tools/output/messages.h"
#include "tools/signals.h"
#include "core/files/write_all.h"

enum { FLUSH_BYTES = 1 << 16 };

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
    {"semantic.of", "semantic", CELL_TEXT},
    {"semantic.of_path", NULL, CELL_PATH},
    {"semantic.of_line", NULL, CELL_NUMBER},
    {"semantic.cosine", "cosine", CELL_NUMBER},
    {"semantic.false_positive_rate", NULL, CELL_NUMBER},
    {"semantic.tier", "tier", CELL_TEXT},
    {"semantic.extent", NULL, CELL_TEXT},
    {"item", NULL, CELL_NUMBER},
    {"of_item", NULL, CELL_NUMBER},
    {"semantic.item", NULL, CELL_NUMBER},
    {"remark", NULL, CELL_TEXT},
};
static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, NULL, NULL};

/* Of files, which are known by their paths. */
static const struct column file_columns[] = {
    {"item", "item", CELL_NUMBER},
    {"decision", "decision", CELL_TEXT},
    {"of", "of", CELL_TEXT},
    {"replaces", "replaces", CELL_TEXT},
    {"reason", "reason", CELL_TEXT},
    {"action", "action", CELL_TEXT},
    {"lists", "lists", CELL_TEXT},
    {"labels", NULL, CELL_TEXT},
    {"kind", NULL, CELL_TEXT},
    {"distance", NULL, CELL_NUMBER},
    {"similarity", "similarity", CELL_NUMBER},
    {"query_coverage", NULL, CELL_NUMBER},
    {"item_coverage", NULL, CELL_NUMBER},
    {"verified", "verified", CELL_TEXT},
    {"semantic.item", "semantic", CELL_NUMBER},
    {"semantic.of", NULL, CELL_TEXT},
    {"semantic.of_path", NULL, CELL_PATH},
    {"semantic.of_line", NULL, CELL_NUMBER},
    {"semantic.cosine", "cosine", CELL_NUMBER},
    {"semantic.false_positive_rate", NULL, CELL_NUMBER},
    {"semantic.tier", "tier", CELL_TEXT},
    {"semantic.extent", NULL, CELL_TEXT},
    {"id", "id", CELL_TEXT},
    {"line", NULL, CELL_NUMBER},
    {"remark", NULL, CELL_TEXT},
    {"path", "path", CELL_PATH},
};
static const struct layout file_layout = {file_columns, sizeof file_columns / sizeof *file_columns,
                                          NULL, NULL, NULL};

/* Records of corpora alone come from --jsonl, and to dedup. */
static const struct layout *decision_layout(const struct settings *settings)
{
    bool records = settings->verb->bit == VERB_DEDUP || settings->jsonl.count;
    return records ? &layout : &file_layout;
}

struct output *decision_rows(const struct settings *settings, struct report *report)
{
    struct settings lines = *settings;
    if (!settings->format_chosen)
        lines.format = FORMAT_JSON;
    return output_new(&lines, &file_layout, report);
}

bool decision_output_begin(struct decision_output *output, const struct settings *settings,
                           struct report *report)
{
    *output = (struct decision_output){.settings = settings, .report = report};
    bool emits = settings->emit != EMIT_DECISIONS;
    bool rows = (settings->format_given || (settings->format_chosen && !emits)) &&
                settings->format != FORMAT_JSON;
    if (rows && emits) {
        report_fatal(report, "'--emit' prints lines of JSON: leave out '--format'");
        return false;
    }
    if (rows)
        output->output = output_new(settings, decision_layout(settings), report);
    return true;
}

/* ---- lines ---- */

static void note_write_failure(struct decision_output *output)
{
    int reason = errno;
    if (output->failed)
        return;
    output->failed = true;
    if (reason == EPIPE)
        signals_closed_pipe();
    else
        report_fatal(output->report, "standard output: %s", strerror(reason));
}

static void fail_outputs(struct decision_output *output, const struct doppel_error *error)
{
    if (!output->failed)
        report_fatal(output->report, "%s", error->message);
    output->failed = true;
}

static void write_held_back(struct decision_output *output)
{
    struct doppel_error error;
    const struct doppel_json *text = &output->text;
    if (output->part && doppel_stage_output_write(output->part, text->bytes, text->size, &error))
        fail_outputs(output, &error);
    if (!output->outputs && !output->part && !write_all(STDOUT_FILENO, text->bytes, text->size))
        note_write_failure(output);
    if (output->outputs &&
        doppel_corpus_outputs_write(output->outputs, text->bytes, text->size, &error))
        fail_outputs(output, &error);
}

bool decision_output_flush(struct decision_output *output)
{
    if (!output->failed)
        write_held_back(output);
    if (output->text.failed)
        no_memory();
    doppel_json_clear(&output->text);
    return !output->failed;
}

static void put_decision_row(struct decision_output *output, const struct doppel_decided *decided)
{
    doppel_json_clear(&output->text);
    doppel_decision_to_json(&output->text, decided);
    output_object(output->output, &output->text);
    doppel_json_clear(&output->text);
}

/* Whether the input itself is printed. Each goes to one of unique, duplicates and unreadable. */
static bool is_emitted(enum emit emit, const struct doppel_decided *decided)
{
    bool unreadable = decided->decision == DOPPEL_DECISION_UNREADABLE;
    switch (emit) {
    case EMIT_UNREADABLE:
        return unreadable;
    case EMIT_UNIQUE:
    case EMIT_DUPLICATES:
        return !unreadable && decided->unique == (emit == EMIT_UNIQUE);
    default:
        return true;
    }
}

static void put_annotated(struct decision_output *output, const struct doppel_decided *decided)
{
    if (output->format == DOPPEL_CORPUS_JSONL)
        decision_write_annotated(&output->text, decided);
    else
        decision_write_annotated_row(&output->text, decided,
                                     output->format == DOPPEL_CORPUS_TSV ? '\t' : ',');
}

static void put_line(struct decision_output *output, const struct doppel_decided *decided)
{
    enum emit emit = output->settings->emit;
    if (emit == EMIT_DECISIONS)
        doppel_decision_to_json(&output->text, decided);
    else if (!is_emitted(emit, decided) || (!decided->is_file && !decided->text))
        return;
    else if (emit == EMIT_ANNOTATED)
        put_annotated(output, decided);
    else
        decision_write_input(&output->text, decided);
    doppel_json_end_line(&output->text);
}

static void report_unreadable_input(struct decision_output *output,
                                    const struct doppel_decided *decided)
{
    bool placed = decided->line && !decided->is_file;
    char *where = must_allocate(strlen(decided->path) + 32);
    sprintf(where, placed ? "%s:%llu" : "%s", decided->path, (unsigned long long)decided->line);
    report_input(output->report, where, decided->why ? decided->why : "cannot be read");
    free(where);
}

/* By its words or by its meaning, as 'find' has it. */
static bool is_matched(const struct doppel_decided *decided)
{
    if (decided->semantic)
        return true;
    return decided->is_file ? decided->of && decided->reason != DOPPEL_BECAUSE_BENIGN
                            : decided->of || decided->of_path;
}

/* A file of records that cannot be opened, or holds none. */
static bool is_whole_input(const struct doppel_decided *decided)
{
    return !decided->is_file && !decided->line;
}

void decision_output_count(struct decision_output *output, const struct doppel_decided *decided)
{
    if (is_whole_input(decided))
        output->unread_inputs++;
    else
        output->counts[decided->decision]++;
    output->unique += decided->unique;
    output->matched += is_matched(decided);
    output->same_ids += decided->same_id != 0;
    if (decided->decision == DOPPEL_DECISION_UNREADABLE)
        report_unreadable_input(output, decided);
}

bool decision_output_put(struct decision_output *output, const struct doppel_decided *decided)
{
    decision_output_count(output, decided);
    if (output->output)
        put_decision_row(output, decided);
    else
        put_line(output, decided);
    return output->text.size < FLUSH_BYTES || decision_output_flush(output);
}

/* ---- inputs ---- */

static bool is_rows(const struct doppel_corpus_input *input)
{
    return input->format != DOPPEL_CORPUS_JSONL;
}

/* What stands before its lines, with the columns that are added. */
static void write_head(struct doppel_json *head, const struct doppel_corpus_input *input,
                       enum emit emit)
{
    doppel_json_clear(head);
    if (emit == EMIT_ANNOTATED && is_rows(input) && input->head_size)
        decision_write_row_names(head, input);
    else
        doppel_json_append(head, input->head, input->head_size);
}

/* Lines of several files follow each other: without marks, and names of columns only once, which
 * must be the same. */
static void begin_on_stdout(struct decision_output *output, const struct doppel_corpus_input *input,
                            const struct doppel_json *head)
{
    const struct doppel_json *first = &output->head;
    size_t mark = head->size >= 3 && memcmp(head->bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    if (!input->opened || (is_rows(input) && !head->size))
        return;
    size_t size = is_rows(input) ? head->size - mark : 0;
    if (!output->first) {
        output->first = must_have(strdup(input->path));
        output->format = input->format;
        doppel_json_append(&output->head, head->bytes + mark, size);
        doppel_json_append(&output->text, head->bytes + mark, size);
    } else if (input->format != output->format || first->size != size ||
               (size && memcmp(first->bytes, head->bytes + mark, size) != 0)) {
        report_fatal(output->report,
                     "%s has other columns than %s: write each to a file of its own, with "
                     "--output-dir",
                     input->path, output->first);
        output->failed = true;
    }
}

bool decision_output_begin_input(struct decision_output *output,
                                 const struct doppel_corpus_input *input)
{
    struct doppel_error error;
    struct doppel_json head = {0};
    struct doppel_corpus_input begun = *input;
    if (output->settings->emit == EMIT_DECISIONS)
        return true;
    if (!decision_output_flush(output))
        return false;
    write_head(&head, input, output->settings->emit);
    begun.head = head.bytes;
    begun.head_size = head.size;
    if (!output->outputs)
        begin_on_stdout(output, input, &head);
    else if (doppel_corpus_outputs_begin(output->outputs, &begun, &error))
        fail_outputs(output, &error);
    output->format = input->format;
    doppel_json_free(&head);
    return !output->failed;
}

/* ---- the end ---- */

uint64_t decision_output_total(const struct decision_output *output)
{
    uint64_t total = 0;
    for (int i = 0; i < DECISIONS; i++)
        total += output->counts[i];
    return total;
}

void decision_output_describe(const struct decision_output *output, char *out, size_t size)
{
    char counts[512] = "", unread[48] = "";
    size_t used = 0;
    uint64_t records = decision_output_total(output);
    for (int i = 0; i < DECISIONS; i++)
        if (output->counts[i])
            used += (size_t)snprintf(counts + used, sizeof counts - used, ", %llu %s",
                                     (unsigned long long)output->counts[i],
                                     doppel_decision_name((enum doppel_decision)i));
    if (output->unread_inputs)
        snprintf(unread, sizeof unread, "; %llu file%s not read",
                 (unsigned long long)output->unread_inputs, output->unread_inputs == 1 ? "" : "s");
    snprintf(out, size, "%llu %s%s%s; %llu unique%s", (unsigned long long)records,
             decision_layout(output->settings) == &layout ? "record" : "input",
             records == 1 ? "" : "s", counts, (unsigned long long)output->unique, unread);
}

/* Of a corpus, and of a stream, its verb says more. */
static void print_decision_counts(const struct decision_output *output)
{
    char line[640];
    struct report *report = output->report;
    const struct settings *settings = output->settings;
    if (settings->verb->bit == VERB_DEDUP || settings->stream)
        return;
    if (!decision_output_total(output) && !settings->jsonl.count) {
        report_no_input(report, settings->verb->name);
    } else if (report->verbose || report->terminal || !decision_output_total(output)) {
        decision_output_describe(output, line, sizeof line);
        report_notice(report, "%s", line);
    }
}

static void say_same_ids(const struct decision_output *output)
{
    uint64_t count = output->same_ids;
    if (count)
        report_notice(output->report,
                      "%llu id%s something else, too: \"same_id\" in the answer says which item",
                      (unsigned long long)count, count == 1 ? " is that of" : "s are those of");
}

bool decision_output_finish(struct decision_output *output, bool ended)
{
    bool written = output->output ? output_finish(output->output) : decision_output_flush(output);
    doppel_json_free(&output->text);
    doppel_json_free(&output->head);
    free(output->first);
    say_same_ids(output);
    if (written && ended)
        print_decision_counts(output);
    return written;
}
