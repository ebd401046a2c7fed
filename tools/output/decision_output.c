/* Printing decisions, in the format that is asked for. */
#include "tools/output/decision_output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/memory.h"
#include "tools/output/output.h"
#include "tools/output/messages.h"
#include "tools/signals.h"

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
    {"item", NULL, CELL_NUMBER},
    {"of_item", NULL, CELL_NUMBER},
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
    {"kind", NULL, CELL_TEXT},
    {"distance", NULL, CELL_NUMBER},
    {"similarity", "similarity", CELL_NUMBER},
    {"query_coverage", NULL, CELL_NUMBER},
    {"item_coverage", NULL, CELL_NUMBER},
    {"verified", "verified", CELL_TEXT},
    {"id", "id", CELL_TEXT},
    {"line", NULL, CELL_NUMBER},
    {"remark", NULL, CELL_TEXT},
    {"path", "path", CELL_PATH},
};
static const struct layout file_layout = {file_columns, sizeof file_columns / sizeof *file_columns,
                                          NULL, NULL, NULL};

/* Records of corpora alone come from --jsonl, and to dedup. */
static const struct layout *layout_of(const struct settings *settings)
{
    bool records = settings->verb->bit == VERB_DEDUP || settings->jsonl.count;
    return records ? &layout : &file_layout;
}

bool decision_output_begin(struct decision_output *output, const struct settings *settings,
                           struct report *report)
{
    *output = (struct decision_output){.settings = settings, .report = report};
    bool rows = settings->format_given && settings->format != FORMAT_JSON;
    if (rows && settings->emit != EMIT_DECISIONS) {
        report_fatal(report, "'--emit' prints lines of JSON: leave out '--format'");
        return false;
    }
    if (rows)
        output->output = output_new(settings, layout_of(settings), report);
    return true;
}

/* ---- lines ---- */

static void note_failure(struct decision_output *output)
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

bool decision_output_flush(struct decision_output *output)
{
    for (size_t done = 0; done < output->text.size && !output->failed;) {
        ssize_t put = write(STDOUT_FILENO, output->text.bytes + done, output->text.size - done);
        if (put >= 0)
            done += (size_t)put;
        else if (errno != EINTR)
            note_failure(output);
    }
    if (output->text.failed)
        no_memory();
    doppel_json_clear(&output->text);
    return !output->failed;
}

static void put_row(struct decision_output *output, const struct doppel_dedup_decision *decision)
{
    doppel_json_clear(&output->text);
    decision_write(&output->text, decision);
    output_object(output->output, &output->text);
    doppel_json_clear(&output->text);
}

static void put_line(struct decision_output *output, const struct doppel_dedup_decision *decision)
{
    bool readable = decision->decision != DOPPEL_DECISION_UNREADABLE && decision->line_text;
    switch (output->settings->emit) {
    case EMIT_DECISIONS:
        decision_write(&output->text, decision);
        break;
    case EMIT_ANNOTATED:
        if (!readable)
            return;
        decision_write_annotated(&output->text, decision);
        break;
    default:
        if (!readable || decision->unique != (output->settings->emit == EMIT_UNIQUE))
            return;
        doppel_json_append(&output->text, decision->line_text, decision->line_size);
    }
    doppel_json_end_line(&output->text);
}

static void report_unreadable(struct decision_output *output,
                              const struct doppel_dedup_decision *decision)
{
    char *where = must_allocate(strlen(decision->path) + 32);
    sprintf(where, decision->line ? "%s:%llu" : "%s", decision->path,
            (unsigned long long)decision->line);
    report_input(output->report, where, decision->reason ? decision->reason : "cannot be read");
    free(where);
}

bool decision_output_take(void *context, const struct doppel_dedup_decision *decision)
{
    struct decision_output *output = context;
    output->counts[decision->decision]++;
    output->unique += decision->unique;
    output->matched += decision->of_item != 0 || decision->of_path;
    output->same_ids += decision->same_id != 0;
    if (decision->decision == DOPPEL_DECISION_UNREADABLE)
        report_unreadable(output, decision);
    if (output->output)
        put_row(output, decision);
    else
        put_line(output, decision);
    return output->text.size < FLUSH_BYTES || decision_output_flush(output);
}

/* ---- files ---- */

static void put_file_line(struct decision_output *output, const struct decided_row *decided)
{
    enum emit emit = output->settings->emit;
    bool readable = decided->decision != DOPPEL_DECISION_UNREADABLE;
    if (emit != EMIT_DECISIONS && !readable)
        return;
    if (emit != EMIT_DECISIONS && emit != EMIT_ANNOTATED &&
        decided->unique != (emit == EMIT_UNIQUE))
        return;
    const struct doppel_json *line = emit == EMIT_DECISIONS ? &decided->row : &decided->input;
    if (line->failed || decided->row.failed)
        no_memory();
    if ((emit == EMIT_UNIQUE || emit == EMIT_DUPLICATES) && decided->is_path)
        doppel_json_append(&output->text, decided->path, strlen(decided->path));
    else
        doppel_json_append(&output->text, line->bytes, line->size);
    doppel_json_end_line(&output->text);
}

bool decision_output_row(struct decision_output *output, struct decided_row *decided)
{
    output->counts[decided->decision]++;
    output->unique += decided->unique;
    output->matched += decided->matched;
    output->same_ids += decided->same_id;
    if (decided->decision == DOPPEL_DECISION_UNREADABLE)
        report_input(output->report, decided->path, decided->reason);
    if (output->output)
        output_object(output->output, &decided->row);
    else
        put_file_line(output, decided);
    doppel_json_free(&decided->row);
    doppel_json_free(&decided->input);
    return output->text.size < FLUSH_BYTES || decision_output_flush(output);
}

/* ---- the end ---- */

static void summarise(const struct decision_output *output)
{
    char line[512];
    size_t used = 0;
    uint64_t records = 0;
    if (!output->report->verbose && !output->report->terminal)
        return;
    for (int i = 0; i < DECISIONS; i++)
        records += output->counts[i];
    for (int i = 0; i < DECISIONS; i++)
        if (output->counts[i])
            used += (size_t)snprintf(line + used, sizeof line - used, ", %llu %s",
                                     (unsigned long long)output->counts[i],
                                     doppel_decision_name((enum doppel_decision)i));
    report_notice(output->report, "%llu %s%s%s; %llu unique", (unsigned long long)records,
                  layout_of(output->settings) == &layout ? "record" : "input",
                  records == 1 ? "" : "s", used ? line : "", (unsigned long long)output->unique);
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
    say_same_ids(output);
    if (written && ended)
        summarise(output);
    return written;
}

/* ---- what is wanted ---- */

struct doppel_corpus_fields corpus_fields_from(const struct settings *settings)
{
    return (struct doppel_corpus_fields){settings->id_field, settings->text_field,
                                         settings->path_field, settings->source_field,
                                         settings->date_field};
}

struct doppel_text_options corpus_text_from(const struct settings *settings)
{
    struct doppel_text_options text = settings->text;
    if (settings->preset && settings->text_format < 0)
        text.format = settings->preset->options.format;
    if (settings->lanes >= 0)
        text.lanes = settings->lanes == LANES_256 ? 256 : 128;
    return text;
}

bool corpus_text_is_given(const struct settings *settings)
{
    return settings->preset || settings->text_format >= 0 || settings->unit >= 0 ||
           settings->shingle || settings->min_words || settings->lanes >= 0 ||
           settings->text.lanes != doppel_text_options_default().lanes ||
           settings->min_similarity >= 0 || settings->min_containment >= 0;
}

struct doppel_text_limits corpus_limits_from(const struct settings *settings)
{
    struct doppel_text_limits limits = doppel_text_limits_default();
    if (settings->preset)
        limits.min_similarity = settings->preset->min_similarity;
    if (settings->min_similarity >= 0)
        limits.min_similarity = settings->min_similarity;
    if (settings->min_containment >= 0)
        limits.min_containment = settings->min_containment;
    return limits;
}

void corpus_bands_from(const struct settings *settings, uint32_t *out_bands, uint32_t *out_rows)
{
    const struct doppel_text_preset *preset = settings->preset;
    *out_bands = settings->bands;
    *out_rows = settings->rows;
    if (preset && !settings->bands && !settings->rows && settings->min_similarity < 0 &&
        corpus_text_from(settings).lanes == preset->options.lanes) {
        *out_bands = preset->bands;
        *out_rows = preset->rows;
    }
}
