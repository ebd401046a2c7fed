/* doppel -L redis://… find: what in a cluster is like the files, or a code. */
#include "tools/clustered/clustered.h"

#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "tools/args/engine_options.h"
#include "tools/clustered/files.h"
#include "tools/clustered/library.h"
#include "tools/output/matches.h"
#include "tools/signals.h"

struct clustered_finding {
    const struct settings *settings;
    struct report *report;
    struct doppel_shards *shards;
    struct output *output;
    struct doppel_compare_options compare;
    size_t missing; /* shards, when it was reported last */
    bool matched;
};

/* ---- rows ---- */

/* Also of those without a match: a program sees by each row whether it is all. */
static void end_found_row(struct clustered_finding *finding, struct doppel_json *row,
                          const struct doppel_shards_answers *answers)
{
    if (finding->settings->format == FORMAT_JSON)
        doppel_shards_missing_to_json(row, answers);
    output_end(finding->output);
}

/* In a table, a query without a match is no row: the exit code tells. */
static void print_nothing(struct clustered_finding *finding, const char *query,
                          const struct doppel_shards_answers *answers)
{
    if (finding->settings->format != FORMAT_JSON)
        return;
    struct doppel_json *row = output_begin(finding->output);
    doppel_json_path(row, "query", query);
    doppel_json_boolean(row, "match", false);
    end_found_row(finding, row, answers);
}

static void print_answer(struct clustered_finding *finding, const char *query,
                         const struct doppel_shards_answers *answers, size_t number)
{
    const struct doppel_search_results *results = &answers->results[number];
    bool matched = false;
    for (size_t i = 0; i < results->count; i++) {
        const struct doppel_search_result *result = &results->items[i];
        const struct doppel_shards_item *item = doppel_shards_answers_item(answers, result->id);
        if (!item || !clustered_is_wanted(finding->settings, &item->about))
            continue;
        struct doppel_json *row = output_begin(finding->output);
        doppel_json_path(row, "query", query);
        doppel_shards_result_to_json(row, answers, result);
        end_found_row(finding, row, answers);
        matched = true;
    }
    if (!matched)
        print_nothing(finding, query, answers);
    finding->matched |= matched;
}

/* Which nodes have the shards that are missing: some of them. */
static void name_missing(const struct clustered_finding *finding,
                         const struct doppel_shards_answers *answers, char *out, size_t size)
{
    enum { NAMED = 3 };
    char names[NAMED][DOPPEL_SHARDS_NODE_BYTES] = {0};
    size_t count = 0, used = 0;
    for (size_t i = 0; i < answers->missing_count && count < NAMED; i++) {
        char name[DOPPEL_SHARDS_NODE_BYTES];
        bool is_named = !doppel_shards_node_of(finding->shards, answers->missing[i], name);
        for (size_t j = 0; j < count; j++)
            is_named |= strcmp(names[j], name) == 0;
        if (!is_named)
            memcpy(names[count++], name, sizeof name);
    }
    out[0] = '\0';
    for (size_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : " of ", names[i]);
}

/* It is a failed input, once for each change of it. */
static void report_missing_shards(struct clustered_finding *finding,
                                  const struct doppel_shards_answers *answers)
{
    char nodes[4 * DOPPEL_SHARDS_NODE_BYTES], text[sizeof nodes + 128];
    if (answers->missing_count && answers->missing_count != finding->missing) {
        name_missing(finding, answers, nodes, sizeof nodes);
        snprintf(text, sizeof text,
                 "%zu of %d shards%s did not answer: what they have is not found",
                 answers->missing_count, DOPPEL_SHARDS, nodes);
        report_input(finding->report, "the library", text);
    }
    finding->missing = answers->missing_count;
}

/* ---- asking ---- */

static enum doppel_status find_batch(void *context, const struct clustered_batch *batch,
                                     struct doppel_error *error)
{
    const struct intake_file *files = batch->files;
    const size_t count = batch->count;
    struct clustered_finding *finding = context;
    const struct doppel_record *queries[CLUSTERED_FILES];
    struct doppel_shards_answers answers = {0};
    size_t asked = 0, number = 0;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < count; i++)
        if (!clustered_obstacle(&files[i]))
            queries[asked++] = &files[i].record;
    if (asked)
        TRY(doppel_shards_find(finding->shards, queries, asked, &finding->compare, &answers,
                               error));
    report_missing_shards(finding, &answers);
    for (size_t i = 0; i < count; i++) {
        const char *obstacle = clustered_obstacle(&files[i]);
        if (obstacle)
            report_input(finding->report, files[i].path, obstacle);
        else
            print_answer(finding, files[i].path, &answers, number++);
    }
    if (signals_stopped())
        status = doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted");
done:
    doppel_shards_answers_free(&answers);
    return status;
}

static enum doppel_status find_clustered_code(struct clustered_finding *finding,
                                              struct doppel_error *error)
{
    enum { BEST_QUALITY = 100 }; /* as of a code alone in any library */
    const struct settings *settings = finding->settings;
    const struct doppel_scheme *scheme = settings_scheme(settings, settings->scheme->kind);
    struct doppel_record record = {.kind = scheme->kind,
                                   .scheme = scheme->id,
                                   .version = scheme->version,
                                   .quality = BEST_QUALITY};
    const struct doppel_record *query = &record;
    struct doppel_shards_answers answers = {0};
    enum doppel_status status;
    TRY(doppel_fingerprint_from_hex(scheme, settings->code, &record.fingerprint, error));
    TRY(doppel_shards_find(finding->shards, &query, 1, &finding->compare, &answers, error));
    report_missing_shards(finding, &answers);
    print_answer(finding, settings->code, &answers, 0);
done:
    doppel_shards_answers_free(&answers);
    doppel_fingerprint_free(&record.fingerprint);
    return status;
}

static enum doppel_status find_clustered_files(struct clustered_finding *finding,
                                               struct doppel_error *error)
{
    const struct clustered_reading reading = {.settings = finding->settings,
                                              .report = finding->report,
                                              .every_name = true,
                                              .stdin_operand = true,
                                              .take = find_batch,
                                              .context = finding};
    bool any;
    const enum doppel_status status = clustered_read(&reading, &any, error);
    if (!status && !any)
        report_no_input(finding->report, "look for");
    return status;
}

int clustered_find(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct clustered_finding finding = {
        .settings = settings, .report = report, .compare = compare_options_from(settings)};
    enum doppel_status status = clustered_open(settings, report, &finding.shards, &error);
    if (status)
        return clustered_fatal(settings, report, &error);
    finding.output = find_print_output(settings, report);
    status = settings->code ? find_clustered_code(&finding, &error)
                            : find_clustered_files(&finding, &error);
    const bool written = output_finish(finding.output);
    doppel_shards_close(finding.shards);
    if (status && status != DOPPEL_E_CANCELLED)
        return clustered_fatal(settings, report, &error);
    if (!written)
        return EXIT_WRONG_USE;
    return finding.matched ? EXIT_DONE : EXIT_NO_MATCH;
}
