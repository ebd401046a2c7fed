/* Record by record into a library: decided, kept, and then told. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "corpus/dedup_sieve.h"
#include "corpus/ingest_batch.h"
#include "corpus/ingest_leaders.h"
#include "corpus/ingest_memory.h"
#include "corpus/record_text.h"

enum { LOOK_MS = 100, COMMIT_RECORDS = 4096 };

/* What was decided of a record, until it is told. */
struct told {
    const struct prepared *record;
    enum doppel_decision decision;
    const char *reason; /* static storage, or NULL */
    uint64_t item, of_item;
    size_t of, of_path; /* strings */
    uint64_t of_line;
    bool replaces, unique, has_match;
    struct doppel_match match;
};

struct ingest {
    struct doppel_library *library;
    struct doppel_ingest_options options;
    doppel_dedup_visitor *visitor;
    void *context;
    struct reader *reader;
    struct batches *batches;
    struct leaders *leaders;
    struct memory memory;
    struct sieve sieve;

    /* the record that is being decided */
    struct ingest_batch *batch;
    const struct prepared *record;
    struct parser *parser;
    struct doppel_text *text;
    struct file_text file;
    const uint32_t *shingles; /* NULL: not asked for yet, or not to be had */
    size_t shingle_count;
    bool tried;

    char *path; /* of the file of the batch, absolute; NULL: its lines cannot be read again */
    uint32_t path_file;
    bool path_known;

    ARRAY(struct told) told; /* since the last commit */
    struct bytes_pool strings;
    ARRAY(struct doppel_ingest_file) files; /* that are decided elsewhere */
    ARRAY(size_t) file_paths;               /* of them; strings */
    uint64_t count;                         /* records told */
    bool stopped;
};

/* ---- the record's own evidence ---- */

/* Its shingles, from the line that is still at hand. */
static enum doppel_status load_own_shingles(struct ingest *ingest, struct doppel_error *error)
{
    const struct line_block *block = &ingest->batch->block;
    struct doppel_corpus_record record;
    struct doppel_text_result result;
    const char *text;
    size_t size;
    if (ingest->tried)
        return DOPPEL_OK;
    ingest->tried = true;
    parser_line(ingest->parser, block->bytes + (ingest->record->offset - block->offset),
                ingest->record->size, &record);
    if (record.error.status ||
        record_text(&record, reader_file_path(ingest->reader, block->file),
                    ingest->options.files.max_line_bytes, &ingest->file, &text, &size, NULL))
        return DOPPEL_OK;
    enum doppel_status status = doppel_text_read(
        ingest->text, text, size, DOPPEL_TEXT_DIGEST | DOPPEL_TEXT_SHINGLES, &result, error);
    if (status == DOPPEL_OK &&
        memcmp(&result.digest, &ingest->record->content, sizeof result.digest) == 0) {
        ingest->shingles = result.shingles;
        ingest->shingle_count = result.shingle_count;
    }
    return status == DOPPEL_E_MEMORY ? status : DOPPEL_OK;
}

static const uint16_t *own_lanes(const struct ingest *ingest)
{
    return (const uint16_t *)(const void *)(ingest->batch->lanes.items + ingest->record->lanes);
}

static struct doppel_text_evidence own_evidence(const struct ingest *ingest)
{
    return (struct doppel_text_evidence){
        .content = ingest->record->content,
        .too_short = ingest->record->too_short,
        .lanes = own_lanes(ingest),
        .lane_count = ingest->options.text.lanes,
        .shingles = ingest->shingles,
        .shingle_count = ingest->shingle_count,
    };
}

/* ---- what the decider asks ---- */

/* The sizes of both sets, found out where they can be: the sieve is the same whatever was read
 * before. */
static enum doppel_status know_sizes(struct ingest *ingest, uint32_t earlier,
                                     struct doppel_error *error)
{
    const struct leader *leader;
    struct memory *memory = &ingest->memory;
    enum doppel_status status = load_own_shingles(ingest, error);
    if (status || memory->sizes.items[earlier])
        return status;
    status = leaders_get(ingest->leaders, memory->ids.items[earlier], true, &leader, error);
    if (!status)
        memory->sizes.items[earlier] = (uint32_t)leader->shingle_count;
    return status;
}

/* Whether a closer look at a leader is worth it. */
static enum doppel_status sift(struct ingest *ingest, uint32_t earlier, bool *out_passes,
                               struct doppel_error *error)
{
    const struct memory *memory = &ingest->memory;
    enum doppel_status status = know_sizes(ingest, earlier, error);
    *out_passes = !status &&
                  sieve_passes_equal(&ingest->sieve, memory_equal_lanes(memory, earlier),
                                     (uint32_t)ingest->shingle_count, memory->sizes.items[earlier]);
    return status;
}

static enum doppel_status compare(struct ingest *ingest, uint32_t earlier, struct doppel_match *out,
                                  bool *out_matches, struct doppel_error *error)
{
    const struct leader *leader;
    enum doppel_status status = load_own_shingles(ingest, error);
    if (!status)
        status =
            leaders_get(ingest->leaders, ingest->memory.ids.items[earlier], true, &leader, error);
    if (status)
        return status;
    struct doppel_text_evidence item = leader_evidence(leader), record = own_evidence(ingest);
    *out_matches =
        doppel_match_texts(&record, &item, &ingest->options.limits, out) && !leader->missing;
    return DOPPEL_OK;
}

/* What leads is a candidate; of others a description is wanted. */
static enum doppel_status match_texts(void *context, uint32_t number, uint32_t earlier,
                                      struct doppel_match *out, bool *out_matches,
                                      struct doppel_error *error)
{
    struct ingest *ingest = context;
    bool passes = true;
    enum doppel_status status = DOPPEL_OK;
    (void)number; /* always the record at hand */
    if (decider_leads(ingest->memory.decider, earlier))
        status = sift(ingest, earlier, &passes, error);
    if (status || !passes) {
        *out_matches = false;
        return status;
    }
    return compare(ingest, earlier, out, out_matches, error);
}

static struct doppel_origin origin_of(void *context, uint32_t number)
{
    struct ingest *ingest = context;
    const struct leader *leader;
    if (number >= ingest->memory.ids.count) {
        const struct bytes_pool *strings = &ingest->batch->strings;
        return (struct doppel_origin){pool_string(strings, ingest->record->source),
                                      pool_string(strings, ingest->record->date)};
    }
    if (leaders_get(ingest->leaders, ingest->memory.ids.items[number], false, &leader, NULL))
        return (struct doppel_origin){0};
    return (struct doppel_origin){leader->source, leader->date};
}

/* ---- deciding and remembering ---- */

static enum doppel_status add_to_library(struct ingest *ingest, const struct decider_answer *answer,
                                         uint64_t *out_id, struct doppel_error *error)
{
    const struct prepared *record = ingest->record;
    const struct bytes_pool *strings = &ingest->batch->strings;
    uint32_t leader = decider_leader(ingest->memory.decider, answer->number);
    struct doppel_library_text text = {
        .record_id = pool_string(strings, record->id),
        .origin = {pool_string(strings, record->source), pool_string(strings, record->date)},
        .path = ingest->path,
        .line = record->line,
        .offset = record->offset,
        .size = record->size,
        .content = record->content,
        .words = record->words,
        .too_short = record->too_short,
        .decision = answer->decision,
        .leads = answer->leads,
        .leader = leader == answer->number ? 0 : ingest->memory.ids.items[leader],
        .lanes = own_lanes(ingest),
        .lane_count = ingest->options.text.lanes,
    };
    if (ingest->options.keep_shingles && !record->too_short) {
        enum doppel_status status = load_own_shingles(ingest, error);
        if (status)
            return status;
        text.shingles = ingest->shingles;
    }
    text.shingle_total = ingest->shingle_count;
    return doppel_library_add_text(ingest->library, &text, out_id, error);
}

/* What is told of the record that it is a duplicate, a part or a revision of. */
static enum doppel_status describe_of(struct ingest *ingest, uint32_t of, struct told *told,
                                      struct doppel_error *error)
{
    const struct leader *leader;
    told->of_item = ingest->memory.ids.items[of];
    enum doppel_status status = leaders_get(ingest->leaders, told->of_item, false, &leader, error);
    if (status)
        return status;
    told->of = pool_add_string(&ingest->strings, leader->record_id);
    bool here = leader->path && ingest->path && strcmp(leader->path, ingest->path) == 0;
    told->of_path =
        pool_add_string(&ingest->strings,
                        here ? reader_file_path(ingest->reader, ingest->path_file) : leader->path);
    told->of_line = leader->line;
    return DOPPEL_OK;
}

static enum doppel_status tell_later(struct ingest *ingest, const struct decider_answer *answer,
                                     uint64_t item, struct doppel_error *error)
{
    struct told told = {
        .record = ingest->record,
        .decision = answer->decision,
        .reason = answer->reason,
        .item = item,
        .of = SIZE_MAX,
        .of_path = SIZE_MAX,
        .replaces = answer->replaces != NO_NUMBER,
        .unique = answer->kept && answer->decision != DOPPEL_DECISION_DUPLICATE,
        .has_match = answer->has_match,
        .match = answer->match,
    };
    enum doppel_status status = DOPPEL_OK;
    if (answer->of != NO_NUMBER)
        status = describe_of(ingest, answer->of, &told, error);
    if (!status && !array_push(&ingest->told, told))
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for decisions");
    return status;
}

static enum doppel_status decide(struct ingest *ingest, const struct prepared *record,
                                 struct doppel_error *error)
{
    struct memory *memory = &ingest->memory;
    struct decider_answer answer;
    uint64_t id = 0;
    ingest->record = record;
    ingest->shingles = NULL;
    ingest->shingle_count = 0;
    ingest->tried = false;
    enum doppel_status status = DOPPEL_OK;
    memory->candidates.count = memory->hits.count = 0;
    struct decider_record asked = {
        .id = pool_string(&ingest->batch->strings, record->id),
        .content = record->content,
        .unreadable = record->unreadable,
        .too_short = record->too_short,
        .only_asked = ingest->options.check,
    };
    if (decider_wants_candidates(memory->decider, &asked))
        status = memory_search(memory, own_lanes(ingest), error);
    asked.candidates = memory->candidates.items;
    asked.candidate_count = memory->candidates.count;
    if (!status)
        status = decider_next(memory->decider, &asked, &answer, error);
    if (!status && answer.kept)
        status = add_to_library(ingest, &answer, &id, error);
    if (!status && !asked.only_asked)
        status = memory_add(memory, &answer, own_lanes(ingest), id, (uint32_t)ingest->shingle_count,
                            error);
    return status ? status : tell_later(ingest, &answer, id, error);
}

/* ---- telling ---- */

static bool tell(struct ingest *ingest, const struct told *told)
{
    const struct bytes_pool *strings = &ingest->batch->strings;
    const struct prepared *record = told->record;
    struct doppel_dedup_decision decision = {
        .number = ingest->count++,
        .path = reader_file_path(ingest->reader, ingest->batch->block.file),
        .line = record->line,
        .id = pool_string(strings, record->id),
        .decision = told->decision,
        .reason = record->unreadable ? pool_string(strings, record->problem) : told->reason,
        .of = pool_string(&ingest->strings, told->of),
        .of_path = pool_string(&ingest->strings, told->of_path),
        .of_line = told->of_line,
        .unique = told->unique,
        .has_match = told->has_match,
        .match = told->match,
        .item = told->item,
        .of_item = told->of_item,
    };
    if (told->replaces)
        decision.replaces = decision.of;
    if (!record->unreadable) {
        const struct line_block *block = &ingest->batch->block;
        decision.line_text = block->bytes + (record->offset - block->offset);
        decision.line_size = record->size;
    }
    return ingest->visitor(ingest->context, &decision);
}

/* Make what was decided lasting, then tell it. */
static enum doppel_status commit(struct ingest *ingest, struct doppel_error *error)
{
    enum doppel_status status = doppel_library_commit(ingest->library, error);
    for (size_t i = 0; i < ingest->told.count && !status; i++)
        if (!tell(ingest, &ingest->told.items[i]))
            status = doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
    ingest->told.count = 0;
    ingest->strings.count = 0;
    return status;
}

/* Take turns with others; what they have added meanwhile comes first. */
static enum doppel_status begin(struct ingest *ingest, struct doppel_error *error)
{
    uint64_t last_id;
    if (ingest->options.check)
        return memory_catch_up(&ingest->memory, 0, error);
    enum doppel_status status = doppel_library_begin(ingest->library, &last_id, error);
    return status ? status : memory_catch_up(&ingest->memory, last_id, error);
}

/* The path under which lines of the batch can be read again. */
static void find_path(struct ingest *ingest)
{
    uint32_t file = ingest->batch->block.file;
    if (ingest->path_known && ingest->path_file == file)
        return;
    free(ingest->path);
    ingest->path = reader_file_is_plain(ingest->reader, file)
                       ? realpath(reader_file_path(ingest->reader, file), NULL)
                       : NULL;
    ingest->path_file = file;
    ingest->path_known = true;
}

static bool go_on(struct ingest *ingest)
{
    uint64_t done, total;
    reader_progress(ingest->reader, &done, &total);
    if (ingest->options.progress &&
        !ingest->options.progress(ingest->options.context, done, total, ingest->count))
        ingest->stopped = true;
    return !ingest->stopped;
}

static enum doppel_status ingest_record(struct ingest *ingest, const struct prepared *record,
                                        struct doppel_error *error)
{
    enum doppel_status status = ingest->told.count ? DOPPEL_OK : begin(ingest, error);
    if (!status)
        status = decide(ingest, record, error);
    if (!status && (ingest->told.count == COMMIT_RECORDS || !go_on(ingest)))
        status = commit(ingest, error);
    return status;
}

/* ---- files among the records ---- */

/* The path of a file as it is seen from the working folder. */
static bool locate(struct ingest *ingest, const char *path, size_t *out)
{
    const char *corpus = reader_file_path(ingest->reader, ingest->batch->block.file);
    const char *slash = strrchr(corpus, '/');
    size_t folder = path[0] == '/' || !slash ? 0 : (size_t)(slash - corpus) + 1;
    *out = pool_add(&ingest->strings, corpus, folder);
    return *out != SIZE_MAX && pool_add_string(&ingest->strings, path) != SIZE_MAX;
}

/* The records from `*at` on that name files; `*at` is behind them then. */
static bool gather_files(struct ingest *ingest, size_t *at)
{
    const struct ingest_batch *batch = ingest->batch;
    const struct bytes_pool *strings = &batch->strings;
    ingest->files.count = ingest->file_paths.count = 0;
    for (; *at < batch->records.count && batch->records.items[*at].is_file; ++*at) {
        const struct prepared *record = &batch->records.items[*at];
        const struct doppel_ingest_file file = {
            .line = record->line,
            .id = pool_string(strings, record->id),
            .source = pool_string(strings, record->source),
            .date = pool_string(strings, record->date),
        };
        size_t path;
        if (!locate(ingest, pool_string(strings, record->path), &path) ||
            !array_push(&ingest->file_paths, path) || !array_push(&ingest->files, file))
            return false;
    }
    for (size_t i = 0; i < ingest->files.count; i++)
        ingest->files.items[i].path = pool_string(&ingest->strings, ingest->file_paths.items[i]);
    return true;
}

static enum doppel_status ingest_files(struct ingest *ingest, size_t *at,
                                       struct doppel_error *error)
{
    enum doppel_status status = commit(ingest, error);
    if (status)
        return status;
    if (!gather_files(ingest, at))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the files of records");
    status = ingest->options.decide_files(ingest->options.context, ingest->files.items,
                                          ingest->files.count, error);
    ingest->count += ingest->files.count;
    ingest->strings.count = 0;
    go_on(ingest);
    return status;
}

static enum doppel_status ingest_batch(struct ingest *ingest, struct ingest_batch *batch,
                                       struct doppel_error *error)
{
    enum doppel_status status = batch->error.status;
    if (status)
        return doppel_fail(error, status, "%s", batch->error.message);
    ingest->batch = batch;
    find_path(ingest);
    for (size_t i = 0; i < batch->records.count && !status && !ingest->stopped;)
        status = batch->records.items[i].is_file
                     ? ingest_files(ingest, &i, error)
                     : ingest_record(ingest, &batch->records.items[i++], error);
    return status || !ingest->told.count ? status : commit(ingest, error);
}

static enum doppel_status run(struct ingest *ingest, struct doppel_error *error)
{
    struct ingest_batch *batch;
    enum doppel_status status;
    while (go_on(ingest)) {
        status = batches_next(ingest->batches, LOOK_MS, &batch);
        if (status == DOPPEL_E_NOT_FOUND)
            return DOPPEL_OK;
        if (batch)
            status = ingest_batch(ingest, batch, error);
        if (status)
            return status;
    }
    return doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
}

/* ---- from outside ---- */

static enum doppel_status prepare(struct ingest *ingest, struct doppel_error *error)
{
    const struct doppel_ingest_options *options = &ingest->options;
    const struct decider_host host = {match_texts, origin_of, ingest, options->text.lanes};
    sieve_init(&ingest->sieve, options->text.lanes, &options->limits);
    ingest->parser = parser_new(&options->fields);
    if (!ingest->parser)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a parser");
    enum doppel_status status = doppel_text_new(&options->text, &ingest->text, error);
    if (!status && !options->check)
        status = doppel_library_set_text_options(ingest->library, &options->text, &options->limits,
                                                 error);
    if (!status)
        status = doppel_library_commit(ingest->library, error);
    if (!status)
        status = leaders_new(ingest->library, options, &ingest->leaders, error);
    if (!status)
        status = memory_open(&ingest->memory, ingest->library, options, &host, error);
    if (!status)
        status = begin(ingest, error);
    if (!status)
        status = doppel_library_commit(ingest->library, error);
    if (!status)
        status = reader_new(&options->files, &ingest->reader, error);
    if (!status)
        status = batches_new(options, ingest->reader, &ingest->batches, error);
    return status;
}

enum doppel_status doppel_ingest(struct doppel_library *library,
                                 const struct doppel_ingest_options *options,
                                 doppel_dedup_visitor *visitor, void *context,
                                 struct doppel_error *error)
{
    struct ingest ingest = {
        .library = library, .options = *options, .visitor = visitor, .context = context};
    if (!ingest.options.threads)
        ingest.options.threads = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    enum doppel_status status = prepare(&ingest, error);
    if (!status)
        status = run(&ingest, error);
    batches_free(ingest.batches);
    reader_free(ingest.reader);
    leaders_free(ingest.leaders);
    memory_close(&ingest.memory);
    parser_free(ingest.parser);
    doppel_text_free(ingest.text);
    file_text_free(&ingest.file);
    free(ingest.path);
    array_free(&ingest.told);
    array_free(&ingest.files);
    array_free(&ingest.file_paths);
    free(ingest.strings.items);
    return status;
}
