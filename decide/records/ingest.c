/* Records into a library, batch by batch, and what was decided to whoever asks for the next. */
#include "decide/records/ingest_internal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/files/absolute_path.h"
#include "core/try.h"
#include "decide/upstream.h"

enum { LOOK_MS = 100, COMMIT_RECORDS = 4096 };

/* ---- telling ---- */

/* Rows are told as lines of JSON. */
static void take_row_as_line(struct ingest *ingest, const struct row_layout *layout,
                             struct doppel_dedup_decision *decision)
{
    struct json_line *line = &ingest->line;
    json_line_clear(line);
    rows_to_json(layout, decision->line_text, decision->line_size, line);
    bool there = !line->failed && line->size;
    decision->line_text = there ? line->bytes : NULL;
    decision->line_size = there ? line->size - 1 : 0;
}

static struct doppel_dedup_decision decision_of(struct ingest *ingest, const struct told *told)
{
    const struct bytes_pool *strings = &told->batch->strings;
    const struct prepared_record *record = told->record;
    const char *why = pool_string(&ingest->strings, told->why);
    struct doppel_dedup_decision decision = {
        .number = ingest->count - ingest->told_count + (size_t)(told - ingest->told.items),
        .path = ingest_file_path(ingest, told->batch->block.file),
        .line = record->line,
        .id = pool_string(strings, record->id),
        .decision = told->decision,
        .reason = record->unreadable ? pool_string(strings, record->problem)
                  : why              ? why
                                     : doppel_decision_reason_name(told->reason),
        .of = pool_string(&ingest->strings, told->of),
        .of_path = pool_string(&ingest->strings, told->of_path),
        .of_line = told->of_line,
        .replaces = pool_string(&ingest->strings, told->replaces),
        .unique = told->unique,
        .has_match = told->has_match,
        .match = told->match,
        .item = told->item,
        .of_item = told->of_item,
        .same_id = told->same_id,
        .replayed = told->replayed,
    };
    if (!ingest->reader) {
        decision.line_text = pool_string(strings, record->text);
        decision.line_size = record->text_size;
    } else {
        const struct line_block *block = &told->batch->block;
        uint64_t begin = record->offset - block->offset;
        bool there = begin <= block->size && record->size <= block->size - begin;
        decision.line_text = there ? block->bytes + begin : NULL;
        decision.line_size = there ? record->size : 0;
        if (there && block->layout)
            take_row_as_line(ingest, block->layout, &decision);
    }
    return decision;
}

size_t ingest_waiting(const struct ingest *ingest)
{
    return ingest->kept ? ingest->told.count - ingest->told_count : 0;
}

static void forget_told(struct ingest *ingest)
{
    ingest->told.count = ingest->told_count = ingest->strings.count = 0;
    ingest->kept = false;
}

/* What the upstream made of a record that was new. */
static enum doppel_status take_outcome(struct ingest *ingest, struct told *told,
                                       struct doppel_error *error)
{
    struct upstream_outcome outcome = {0};
    enum doppel_status status;
    TRY(upstream_outcome(ingest->upstream, told->item, &outcome, error));
    told->queued = outcome.queued;
    if (outcome.decision == DOPPEL_DECISION_NEW)
        goto done;
    told->decision = outcome.decision;
    told->unique = false;
    told->why = pool_add_string(&ingest->strings, outcome.reason);
    told->upstream = pool_add_string(&ingest->strings, outcome.detail);
    if (told->why == SIZE_MAX || told->upstream == SIZE_MAX)
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an answer");
done:
    upstream_outcome_free(&outcome);
    return status;
}

static enum doppel_status settle_told(struct ingest *ingest, struct doppel_error *error)
{
    enum doppel_status status = upstream_settle(ingest->upstream, false, error);
    for (size_t i = 0; ingest->upstream && i < ingest->told.count && !status; i++) {
        struct told *told = &ingest->told.items[i];
        if (told->decision == DOPPEL_DECISION_NEW && told->item)
            status = take_outcome(ingest, told, error);
    }
    return status;
}

static enum doppel_status keep_told(struct ingest *ingest, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; ingest->on_keep && i < ingest->told.count && !status; i++) {
        const struct doppel_dedup_decision decision = decision_of(ingest, &ingest->told.items[i]);
        status = ingest->on_keep(ingest->on_keep_context, &decision, error);
    }
    return status;
}

/* Make what was decided lasting: it can be reported then. */
static enum doppel_status commit_told(struct ingest *ingest, struct doppel_error *error)
{
    enum doppel_status status;
    TRY(keep_told(ingest, error));
    TRY(doppel_library_commit(ingest->library, error));
    if (ingest->told.count)
        TRY(settle_told(ingest, error));
done:
    ingest->kept = !status && ingest->told.count;
    return status;
}

/* Take turns with others; what they have changed meanwhile is looked up again. */
static enum doppel_status begin_turn(struct ingest *ingest, struct doppel_error *error)
{
    bool changed = false;
    enum doppel_status status = DOPPEL_OK;
    if (!ingest->options.check)
        TRY(doppel_library_begin(ingest->library, NULL, error));
    ingest->has_states = doppel_library_has_states(ingest->library);
    ingest->has_words = doppel_library_has_labels(ingest->library);
    TRY(canonical_begin(ingest, error));
    TRY(doppel_library_changed(ingest->library, &ingest->version, &changed, error));
done:
    if (changed)
        leaders_forget_all(ingest->leaders);
    return status;
}

/* ---- batches ---- */

/* The path under which lines of the batch can be read again, which are then taken for JSON. @return
 * false without memory */
static bool find_batch_path(struct ingest *ingest)
{
    uint32_t file = ingest->batch->block.file;
    if (ingest->path_known && ingest->path_file == file)
        return true;
    free(ingest->path);
    bool plain = ingest->reader && reader_file_is_plain(ingest->reader, file) &&
                 !ingest->batch->block.layout;
    ingest->path = plain ? absolute_path(reader_file_path(ingest->reader, file)) : NULL;
    ingest->path_file = file;
    ingest->path_known = !plain || ingest->path;
    return ingest->path_known;
}

static bool progress_goes_on(struct ingest *ingest)
{
    uint64_t done = 0, total = 0;
    if (ingest->reader)
        reader_progress(ingest->reader, &done, &total);
    if (ingest->options.progress &&
        !ingest->options.progress(ingest->options.context, done, total, ingest->count))
        ingest->stopped = true;
    return !ingest->stopped;
}

static enum doppel_status open_batch(struct ingest *ingest, struct ingest_batch *batch,
                                     struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (batch->error.status) { /* what came before is kept and reported */
        ingest->failure = batch->error;
        return commit_told(ingest, error);
    }
    if (ingest->options.looks) {
        ingest->options.looks->texts += batch->looks.texts;
        ingest->options.looks->ocr += batch->looks.ocr;
    }
    ingest->batch = batch;
    ingest->at = 0;
    if (!find_batch_path(ingest))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a path");
    for (size_t i = 0; i < batch->records.count && !status; i++)
        status = people_check(ingest, &batch->records.items[i], error);
    return status;
}

/* What is ready is one transaction, a group. */
static enum doppel_status end_batch_group(struct ingest *ingest, struct doppel_error *error)
{
    if (ingest->told.count)
        return commit_told(ingest, error);
    if (ingest->batches)
        batches_give_back(ingest->batches);
    else
        ingest_batch_clear(&ingest->pushed[1]);
    ingest->in_group = false;
    return DOPPEL_OK;
}

/* All that waits is a group of one batch. */
static enum doppel_status take_pushed(struct ingest *ingest, struct ingest_batch **out)
{
    *out = NULL;
    if (ingest->in_group)
        return DOPPEL_OK;
    if (!ingest->pushed[0].records.count)
        return DOPPEL_E_NOT_FOUND;
    struct ingest_batch empty = ingest->pushed[1];
    ingest->pushed[1] = ingest->pushed[0];
    ingest->pushed[0] = empty;
    *out = &ingest->pushed[1];
    return DOPPEL_OK;
}

static enum doppel_status next_ingest_batch(struct ingest *ingest, struct doppel_error *error)
{
    struct ingest_batch *batch;
    if (!ingest->in_group && !progress_goes_on(ingest))
        return DOPPEL_OK;
    enum doppel_status status =
        ingest->batches ? batches_next(ingest->batches, ingest->in_group ? 0 : LOOK_MS, &batch)
                        : take_pushed(ingest, &batch);
    if (status)
        return status; /* the end */
    if (!batch)
        return ingest->in_group ? end_batch_group(ingest, error) : DOPPEL_OK;
    ingest->in_group = true;
    return open_batch(ingest, batch, error);
}

/* A check, which has no transaction, answers batch by batch. */
static enum doppel_status end_batch(struct ingest *ingest, struct doppel_error *error)
{
    ingest->batch = NULL;
    return ingest->options.check ? commit_told(ingest, error) : DOPPEL_OK;
}

/* Of what is pushed, each has its own sender. */
static enum doppel_status decide_for_client(struct ingest *ingest,
                                            const struct prepared_record *record,
                                            struct doppel_error *error)
{
    if (ingest->reader)
        return ingest_decide_record(ingest, record, error);
    doppel_library_set_client(ingest->library,
                              pool_string(&ingest->batch->strings, record->client));
    enum doppel_status status = ingest_decide_record(ingest, record, error);
    doppel_library_set_client(ingest->library, NULL);
    return status;
}

static enum doppel_status decide_record(struct ingest *ingest, struct doppel_error *error)
{
    enum doppel_status status;
    TRY(ingest->told.count ? DOPPEL_OK : begin_turn(ingest, error));
    TRY(decide_for_client(ingest, &ingest->batch->records.items[ingest->at++], error));
    if (ingest->told.count == COMMIT_RECORDS || !progress_goes_on(ingest))
        TRY(commit_told(ingest, error));
done:
    return status;
}

/* ---- pushing ---- */

const char *ingest_file_path(const struct ingest *ingest, uint32_t file)
{
    return ingest->reader ? reader_file_path(ingest->reader, file) : "-";
}

enum doppel_status ingest_push(struct ingest *ingest, struct pushed *pushed,
                               struct doppel_error *error)
{
    pushed->number = ingest->pushed_count + 1;
    enum doppel_status status = ingest_batch_push(&ingest->pushed[0], ingest->text,
                                                  ingest->options.text.lanes, pushed, error);
    ingest->pushed_count += !status;
    return status;
}

size_t ingest_pushed(const struct ingest *ingest)
{
    return ingest->pushed[0].records.count;
}

/* ---- the next ---- */

static bool is_at_file(const struct ingest *ingest)
{
    const struct ingest_batch *batch = ingest->batch;
    return batch && ingest->at < batch->records.count && batch->records.items[ingest->at].is_file;
}

/* Something is done that brings the next decision nearer. */
static enum doppel_status work_on(struct ingest *ingest, struct doppel_error *error)
{
    if (!ingest->batch)
        return next_ingest_batch(ingest, error);
    if (ingest->at == ingest->batch->records.count)
        return end_batch(ingest, error);
    return is_at_file(ingest) ? commit_told(ingest, error) : decide_record(ingest, error);
}

static enum doppel_status hand_out_files(struct ingest *ingest, struct ingest_found *out,
                                         struct doppel_error *error)
{
    enum doppel_status status = ingest_gather_files(ingest, error);
    *out = (struct ingest_found){.files = ingest->files.items, .file_count = ingest->files.count};
    return status;
}

enum doppel_status ingest_next(struct ingest *ingest, struct ingest_found *out,
                               struct doppel_error *error)
{
    for (;;) {
        if (ingest_waiting(ingest)) {
            const struct told *told = &ingest->told.items[ingest->told_count];
            *out = (struct ingest_found){.decision = decision_of(ingest, told),
                                         .upstream = pool_string(&ingest->strings, told->upstream),
                                         .queued = told->queued};
            ingest->told_count++;
            ingest->count++;
            return DOPPEL_OK;
        }
        if (ingest->kept || !ingest->told.count)
            forget_told(ingest);
        if (ingest->failure.status)
            return doppel_fail(error, ingest->failure.status, "%s", ingest->failure.message);
        if (ingest->stopped && !ingest->told.count)
            return doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
        if (is_at_file(ingest) && !ingest->told.count)
            return hand_out_files(ingest, out, error);
        enum doppel_status status = work_on(ingest, error);
        if (status)
            return status;
    }
}

/* ---- from outside ---- */

static enum doppel_status choose_ingest_bands(struct ingest *ingest, struct doppel_error *error)
{
    const struct doppel_ingest_options *options = &ingest->options;
    ingest->bands = options->bands;
    ingest->rows = options->rows;
    return ingest->bands && ingest->rows
               ? DOPPEL_OK
               : doppel_index_bands_choose(options->text.lanes, options->limits.min_similarity,
                                           DOPPEL_INDEX_BANDS_USUAL, &ingest->bands, &ingest->rows,
                                           error);
}

static enum doppel_status open_ingest_parts(struct ingest *ingest, struct doppel_error *error)
{
    const struct doppel_ingest_options *options = &ingest->options;
    ingest->parser = parser_new(&options->fields);
    if (!ingest->parser)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a parser");
    enum doppel_status status;
    TRY(doppel_text_new(&options->text, &ingest->text, error));
    sieve_init(&ingest->sieve, options->text.lanes, &options->limits);
    if (!options->check)
        TRY(doppel_library_set_text_options(ingest->library, &options->text, &options->limits,
                                            error));
    TRY(doppel_library_commit(ingest->library, error));
    TRY(leaders_new(ingest->library, options, &ingest->leaders, error));
    TRY(choose_ingest_bands(ingest, error));
    TRY(begin_turn(ingest, error));
    TRY(doppel_library_commit(ingest->library, error));
    if (!options->files.count)
        return DOPPEL_OK;
    TRY(reader_new(&options->files, &ingest->reader, error));
    TRY(batches_new(options, ingest->reader, ingest->with_files, &ingest->batches, error));
done:
    return status;
}

enum doppel_status ingest_new(struct doppel_library *library,
                              const struct doppel_ingest_options *options, bool with_files,
                              struct upstream *upstream, struct ingest **out,
                              struct doppel_error *error)
{
    struct ingest *ingest = calloc(1, sizeof *ingest);
    if (!ingest)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decide about records");
    ingest->library = library;
    ingest->upstream = upstream;
    ingest->options = *options;
    ingest->with_files = with_files;
    if (!ingest->options.threads)
        ingest->options.threads = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    enum doppel_status status = open_ingest_parts(ingest, error);
    if (status)
        ingest_free(ingest);
    else
        *out = ingest;
    return status;
}

void ingest_set_on_keep(struct ingest *ingest, ingest_on_keep *on_keep, void *context)
{
    ingest->on_keep = on_keep;
    ingest->on_keep_context = context;
}

void ingest_free(struct ingest *ingest)
{
    if (!ingest)
        return;
    batches_free(ingest->batches);
    reader_free(ingest->reader);
    ingest_batch_free(&ingest->pushed[0]);
    ingest_batch_free(&ingest->pushed[1]);
    leaders_free(ingest->leaders);
    parser_free(ingest->parser);
    doppel_text_free(ingest->text);
    file_text_free(&ingest->file);
    free(ingest->path);
    array_free(&ingest->told);
    array_free(&ingest->marked);
    array_free(&ingest->apart);
    array_free(&ingest->near);
    array_free(&ingest->files);
    free(ingest->strings.items);
    json_line_free(&ingest->line);
    free(ingest->name.items);
    free(ingest);
}

enum doppel_status doppel_ingest(struct doppel_library *library,
                                 const struct doppel_ingest_options *options,
                                 doppel_dedup_visitor *visitor, void *context,
                                 struct doppel_error *error)
{
    struct ingest *ingest = NULL;
    struct ingest_found found;
    enum doppel_status status = ingest_new(library, options, false, NULL, &ingest, error);
    while (!status && !(status = ingest_next(ingest, &found, error)))
        if (!visitor(context, &found.decision))
            status = doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
    ingest_free(ingest);
    if (status && status != DOPPEL_E_NOT_FOUND && !options->check)
        doppel_library_rollback(library); /* what was decided last, and not told */
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
}
