/* doppel model whiten NAME --as NEW: how the vectors of a model are whitened, learned and kept. */
#include <stdlib.h>
#include <string.h>

#include <doppel/corpus.h>
#include <doppel/search_whiten.h>

#include "core/array.h"
#include "core/try.h"
#include "tools/args/commands.h"
#include "tools/args/engine_options.h"
#include "tools/args/paths.h"
#include "tools/output/groups/groups.h"
#include "tools/output/messages.h"
#include "tools/signals.h"
#include "tools/verbs/semantic/embedder.h"
#include "tools/verbs/model/model.h"

struct whiten_command {
    const struct settings *settings;
    struct report *report;
    struct embedder_of_run source;
    struct doppel_semantic_sample *sample;
    ARRAY(const char *) corpora, files; /* of the operands */
};

/* ---- texts of records ---- */

/* What repeats no other is taken, and not embedded yet. */
static enum doppel_status take_record_chunks(void *context, const char *const *texts,
                                             const size_t *sizes, size_t count, float *rows,
                                             enum doppel_status *each, struct doppel_error *error)
{
    struct whiten_command *command = context;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < count && !status; i++) {
        status = doppel_semantic_sample_add_chunk(command->sample, texts[i], sizes[i], error);
        each[i] = DOPPEL_E_TOO_SHORT;
        rows[i] = 0;
    }
    return status;
}

static bool report_unreadable_one(void *context, const struct doppel_dedup_decision *decision)
{
    struct whiten_command *command = context;
    char *where;
    if (decision->decision != DOPPEL_DECISION_UNREADABLE)
        return !signals_stopped();
    if (!decision->line ||
        asprintf(&where, "%s:%llu", decision->path, (unsigned long long)decision->line) < 0)
        where = NULL;
    report_input(command->report, where ? where : decision->path, decision->reason);
    free(where);
    return !signals_stopped();
}

static bool show_read_records(void *context, const char *unit, uint64_t done, uint64_t total)
{
    struct progress *progress = &((const struct whiten_command *)context)->report->progress;
    if (strcmp(progress->unit, unit) != 0)
        progress_begin(progress, unit, total);
    progress_set_total(progress, total);
    progress_update(progress, done, 0);
    return !signals_stopped();
}

static enum doppel_status sample_records(struct whiten_command *command, struct doppel_error *error)
{
    const struct settings *settings = command->settings;
    struct doppel_dedup_semantic_summary summary = {0};
    const struct doppel_dedup_semantic semantic = {
        .dimension = 1,
        .embed = take_record_chunks,
        .context = command,
        .min_cosine = 2, /* nothing is compared */
        .summary = &summary,
    };
    struct doppel_dedup_options options = doppel_dedup_options_default();
    options.files.paths = command->corpora.items;
    options.files.count = command->corpora.count;
    options.files.format = DOPPEL_CORPUS_BY_NAME;
    options.files.max_line_bytes = max_record_from(settings);
    options.fields = corpus_fields_from(settings);
    options.text = corpus_text_from(settings);
    options.threads = settings->jobs;
    options.semantic = &semantic;
    options.progress = show_read_records;
    options.context = command;
    enum doppel_status status = doppel_dedup(&options, report_unreadable_one, command, error);
    if (!status && summary.failure.status)
        status = doppel_fail(error, summary.failure.status, "%s", summary.failure.message);
    return status;
}

/* ---- text files ---- */

static enum doppel_status pass_group(void *context, const struct doppel_group *group,
                                     struct doppel_error *error)
{
    (void)context;
    (void)group;
    (void)error;
    return DOPPEL_OK;
}

static enum doppel_status sample_file(void *context, const struct doppel_group_text *text,
                                      struct doppel_error *error)
{
    struct whiten_command *command = context;
    struct doppel_error why;
    const enum doppel_status status =
        doppel_semantic_sample_add_file(command->sample, text->path, &why);
    if (status == DOPPEL_E_MEMORY)
        return doppel_fail(error, status, "%s", why.message);
    if (status)
        report_input(command->report, text->path, why.message);
    return DOPPEL_OK;
}

/* Those that repeat no other. */
static enum doppel_status sample_files(struct whiten_command *command, struct doppel_error *error)
{
    struct settings texts = *command->settings;
    const struct group_visit visit = {
        .visit = pass_group, .context = command, .visit_text = sample_file};
    texts.kind = DOPPEL_KIND_TEXT;
    texts.operands = (struct strings){command->files.items, command->files.count};
    return scan_groups(&texts, command->report, &visit, error);
}

/* ---- which are which ---- */

static bool operand_ends_in(const char *path, size_t size, const char *ending)
{
    const size_t length = strlen(ending);
    return size > length && memcmp(path + size - length, ending, length) == 0;
}

/* Whether an operand has records: by its name. */
static bool names_records(const char *path)
{
    static const char *const packed[] = {".gz", ".zst"}, *const endings[] = {".jsonl", ".ndjson",
                                                                             ".csv", ".tsv"};
    size_t size = strlen(path);
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        if (operand_ends_in(path, size, packed[i]))
            size -= strlen(packed[i]);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (operand_ends_in(path, size, endings[i]))
            return true;
    return strcmp(path, "-") == 0;
}

static enum doppel_status sort_operands(struct whiten_command *command, struct doppel_error *error)
{
    const struct strings *operands = &command->settings->operands;
    for (size_t i = 1; i < operands->count; i++) {
        const char *path = operands->items[i];
        if (names_records(path) ? !array_push(&command->corpora, path)
                                : !array_push(&command->files, path))
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory");
    }
    return DOPPEL_OK;
}

/* ---- vectors ---- */

static enum doppel_status vectors_of_texts(struct whiten_command *command,
                                           struct doppel_vectors *out, struct doppel_error *error)
{
    struct report *report = command->report;
    struct doppel_model_texts texts;
    uint64_t seen;
    enum doppel_status status;
    TRY(sort_operands(command, error));
    if (command->corpora.count)
        TRY(sample_records(command, error));
    if (command->files.count)
        TRY(sample_files(command, error));
    doppel_semantic_sample_texts(command->sample, &texts, &seen);
    if (seen > texts.count)
        report_notice(report, "%llu passages, of which %zu are learned from",
                      (unsigned long long)seen, texts.count);
    if (command->source.is_service) {
        TRY(embedder_foresee(&command->source, &texts, error));
        TRY(embedder_begin(&command->source, error));
    }
    status = doppel_semantic_sample_embed(command->sample, command->source.embedder, report->run,
                                          out, error);
    embedder_print_usage(&command->source, status != DOPPEL_OK);
done:
    return status;
}

static enum doppel_status vectors_of_library(struct whiten_command *command,
                                             struct doppel_vectors *out, struct doppel_error *error)
{
    const struct doppel_library_options read_only = {.read_only = true};
    char *directory = library_directory(command->settings);
    struct doppel_library *library = NULL;
    enum doppel_status status = DOPPEL_OK;
    if (!directory)
        TRY(doppel_fail(error, DOPPEL_E_NOT_FOUND,
                        "there is no folder for a library: give --library, or texts"));
    TRY(doppel_library_open(directory, &read_only, &library, error));
    status = doppel_semantic_sample_library(command->sample, library, directory,
                                            doppel_embedder_identity(command->source.embedder), out,
                                            error);
    if (status == DOPPEL_E_NOT_FOUND)
        TRY(doppel_fail(error, status,
                        "%s: no text of this library has a vector: give texts to learn from",
                        directory));
done:
    doppel_library_close(library);
    free(directory);
    return status;
}

/* ---- the verb ---- */

/* What is wrong with the name is not to be said after all was embedded. */
static enum doppel_status try_name(const struct doppel_model_whiten_options *options,
                                   struct doppel_error *error)
{
    const struct doppel_vectors none = {.dimension =
                                            doppel_embedder_identity(options->base)->dimension};
    struct doppel_model_whiten_options without = *options;
    struct doppel_model_info unwanted;
    without.vectors = &none;
    const enum doppel_status status = doppel_model_whiten(&without, &unwanted, error);
    return status == DOPPEL_E_EMPTY ? DOPPEL_OK : status;
}

static enum doppel_status whiten_model(struct whiten_command *command, const char *folder,
                                       struct doppel_model_info *out, struct doppel_error *error)
{
    const struct settings *settings = command->settings;
    struct settings named = *settings;
    struct doppel_model_whiten_options options = doppel_model_whiten_options_default();
    const struct doppel_text_options text = corpus_text_from(settings);
    struct doppel_vectors vectors;
    enum doppel_status status;
    named.model = settings->operands.items[0];
    TRY(embedder_open(&named, command->report, &command->source, error));
    options.folder = folder;
    options.name = settings->model_name;
    options.base = command->source.embedder;
    options.vectors = &vectors;
    TRY(try_name(&options, error));
    TRY(doppel_semantic_sample_new(&text, 0, &command->sample, error));
    TRY(settings->operands.count > 1 ? vectors_of_texts(command, &vectors, error)
                                     : vectors_of_library(command, &vectors, error));
    TRY(doppel_model_whiten(&options, out, error));
done:
    return status;
}

int cmd_model_whiten(const struct settings *settings, struct report *report)
{
    struct whiten_command command = {.settings = settings, .report = report};
    struct doppel_model_info info;
    struct doppel_error error;
    char *folder = model_folder();
    if (!folder)
        return fail_without_models(report);
    const enum doppel_status status = whiten_model(&command, folder, &info, &error);
    const bool no_base = status == DOPPEL_E_NOT_FOUND && !command.source.embedder;
    doppel_semantic_sample_free(command.sample);
    embedder_close(&command.source);
    array_free(&command.corpora);
    array_free(&command.files);
    free(folder);
    if (no_base)
        return report_refusal(report, status, &error);
    return status ? report_fatal(report, "%s", error.message)
                  : print_one_model(settings, report, &info);
}
