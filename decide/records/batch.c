/* Reading ahead: a ring of batches that threads fill. */
#include "decide/records/batch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "corpus/read/record_metadata.h"
#include "corpus/read/record_path.h"
#include "corpus/read/record_text.h"

#define POOL_FAILED SIZE_MAX
#define POOL_NULL (SIZE_MAX - 1)

/* Those of pipes are small, and several are decided at once. */
enum { BATCHES_A_THREAD = 2, MORE_BATCHES = 12 };

struct batch_slot {
    struct ingest_batch batch;
    bool ready;
};

struct batches {
    const struct doppel_ingest_options *options;
    struct reader *reader;
    bool with_files;
    atomic_bool stop;
    pthread_t *threads;
    uint32_t thread_count;

    pthread_mutex_t reading; /* whoever reads the next block */
    pthread_mutex_t lock;    /* of all below */
    pthread_cond_t changed;
    struct batch_slot *slots;
    size_t slot_count;
    uint64_t begun, taken; /* batches */
    bool ended;            /* none will begin any more */
    size_t given, group;   /* batches with the caller, from `taken` on; how many it will be */
};

/* ---- pools ---- */

size_t pool_add(struct bytes_pool *pool, const void *bytes, size_t size)
{
    if (pool->capacity - pool->count < size) {
        size_t wanted = pool->capacity ? pool->capacity : 4096;
        while (wanted - pool->count < size)
            wanted *= 2;
        char *grown = realloc(pool->items, wanted);
        if (!grown)
            return POOL_FAILED;
        pool->items = grown;
        pool->capacity = wanted;
    }
    if (size)
        memcpy(pool->items + pool->count, bytes, size);
    pool->count += size;
    return pool->count - size;
}

size_t pool_add_string(struct bytes_pool *pool, const char *string)
{
    return string ? pool_add(pool, string, strlen(string) + 1) : POOL_NULL;
}

const char *pool_string(const struct bytes_pool *pool, size_t at)
{
    return at >= POOL_NULL ? NULL : pool->items + at;
}

/* ---- preparing: one thread's tools ---- */

struct preparer {
    struct batches *batches;
    struct parser *parser;
    struct doppel_text *text;
    struct file_text file;
    struct ingest_batch *batch;
};

static bool out_of_memory(struct preparer *preparer)
{
    doppel_fail(&preparer->batch->error, DOPPEL_E_MEMORY, "no memory for a record");
    return false;
}

static enum doppel_status sign(struct preparer *preparer, const struct doppel_corpus_record *record,
                               struct doppel_text_result *out, struct doppel_error *error)
{
    const struct batches *batches = preparer->batches;
    const unsigned want = DOPPEL_TEXT_DIGEST | DOPPEL_TEXT_MINHASH | DOPPEL_TEXT_SIMHASH |
                          (batches->options->looks ? record_looks(record) : 0);
    const char *text, *path = reader_file_path(batches->reader, record->file);
    size_t size;
    enum doppel_status status = record->error.status;
    if (status)
        return doppel_fail(error, status, "%s", record->error.message);
    status =
        record_text(record, &batches->options->fields, path, batches->options->files.max_line_bytes,
                    &preparer->file, &text, &size, error);
    if (!status)
        status = doppel_text_read(preparer->text, text, size, want, out, error);
    if (!status)
        count_looks(&preparer->batch->looks, want, out);
    return status;
}

static enum doppel_status locate(const struct preparer *preparer,
                                 const struct doppel_corpus_record *record, char out[PATH_MAX],
                                 struct doppel_error *error)
{
    const struct batches *batches = preparer->batches;
    return record_path(record, &batches->options->fields,
                       reader_file_path(batches->reader, record->file), out, error);
}

static void free_prepared(const struct prepared_record *prepared)
{
    record_metadata_free(prepared->said);
    doppel_record_free(prepared->read);
    free(prepared->read);
    free(prepared->exact);
}

/* @param prepared taken. @return false without memory, also where one of its strings has none */
static bool add_prepared(struct ingest_batch *batch, const struct prepared_record *prepared)
{
    bool whole = prepared->id != POOL_FAILED && prepared->source != POOL_FAILED &&
                 prepared->date != POOL_FAILED && prepared->problem != POOL_FAILED &&
                 prepared->path != POOL_FAILED && prepared->lanes != POOL_FAILED &&
                 prepared->text != POOL_FAILED;
    if (whole && array_push(&batch->records, *prepared))
        return true;
    free_prepared(prepared);
    return false;
}

static bool take_parsed_record(void *context, const struct doppel_corpus_record *record)
{
    struct preparer *preparer = context;
    struct ingest_batch *batch = preparer->batch;
    struct doppel_text_result result = {0};
    struct doppel_error error = {0};
    bool is_file = preparer->batches->with_files && !record->error.status && !record->text;
    char path[PATH_MAX];
    bool unreadable = (is_file ? locate(preparer, record, path, &error)
                               : sign(preparer, record, &result, &error)) != DOPPEL_OK;
    is_file &= !unreadable;
    struct prepared_record prepared = {
        .line = record->line,
        .offset = record->offset,
        .size = record->size,
        .id = pool_add_string(&batch->strings, record->id),
        .source = pool_add_string(&batch->strings, record->source),
        .date = pool_add_string(&batch->strings, record->date),
        .problem = error.status == DOPPEL_E_MEMORY
                       ? POOL_FAILED
                       : pool_add_string(&batch->strings, unreadable ? error.message : NULL),
        .lanes = pool_add(&batch->lanes, result.lanes,
                          preparer->batches->options->text.lanes * sizeof *result.lanes),
        .path = pool_add_string(&batch->strings, is_file ? path : NULL),
        .text = POOL_NULL,
        .said = parser_give_metadata(preparer->parser),
        .is_file = is_file,
        .unreadable = unreadable,
        .too_short = result.too_short,
        .content = result.digest,
        .words = result.words,
        .simhash = result.simhash,
    };
    return add_prepared(batch, &prepared) || out_of_memory(preparer);
}

static bool copy_fingerprint(const struct doppel_fingerprint *from, struct doppel_fingerprint *out)
{
    if (from->scheme == DOPPEL_SCHEME_NONE) /* of bytes alone */
        return true;
    if (doppel_fingerprint_make(doppel_scheme_by_id(from->scheme), from->code_bits, from->count,
                                out, NULL))
        return false;
    out->version = from->version;
    for (uint32_t i = 0; i < from->count; i++) {
        out->codes[i] = from->codes[i];
        out->positions[i] = from->positions[i];
    }
    return true;
}

/* NULL: no memory. */
static struct doppel_exact_digests *copy_exact(const struct doppel_exact_digests *from)
{
    struct doppel_exact_digests *exact = malloc(sizeof *exact);
    if (exact)
        *exact = *from;
    return exact;
}

static struct doppel_record *copy_record(const struct doppel_record *from)
{
    struct doppel_record *record = malloc(sizeof *record);
    if (!record)
        return NULL;
    *record = *from;
    record->fingerprint = (struct doppel_fingerprint){0};
    record->attachment = from->attachment_size ? malloc(from->attachment_size) : NULL;
    if ((from->attachment_size && !record->attachment) ||
        !copy_fingerprint(&from->fingerprint, &record->fingerprint)) {
        doppel_record_free(record);
        free(record);
        return NULL;
    }
    if (from->attachment_size)
        memcpy(record->attachment, from->attachment, from->attachment_size);
    return record;
}

/* As if the text had been read. */
static struct doppel_text_result result_of_signature(const struct doppel_library_text *signature)
{
    struct doppel_text_result result = {.digest = signature->content,
                                        .words = signature->words,
                                        .simhash = signature->simhash,
                                        .too_short = signature->too_short};
    memcpy(result.lanes, signature->lanes, signature->lane_count * sizeof *result.lanes);
    return result;
}

enum doppel_status ingest_batch_push(struct ingest_batch *batch, struct doppel_text *text,
                                     uint32_t lanes, const struct pushed *pushed,
                                     struct doppel_error *error)
{
    enum { WANT = DOPPEL_TEXT_DIGEST | DOPPEL_TEXT_MINHASH | DOPPEL_TEXT_SIMHASH };
    struct doppel_text_result result = {0};
    struct doppel_error problem = {0};
    bool is_text = !pushed->path && !pushed->record;
    if (pushed->signature)
        result = result_of_signature(pushed->signature);
    else if (is_text)
        doppel_text_read(text, pushed->text, pushed->text_size, WANT, &result, &problem);
    const struct prepared_record prepared = {
        .line = pushed->number,
        .id = pool_add_string(&batch->strings, pushed->id),
        .source = pool_add_string(&batch->strings, pushed->source),
        .date = pool_add_string(&batch->strings, pushed->date),
        .client = pool_add_string(&batch->strings, pushed->client),
        .problem = pool_add_string(&batch->strings, problem.status ? problem.message : NULL),
        .lanes = pool_add(&batch->lanes, result.lanes, lanes * sizeof *result.lanes),
        .path = pool_add_string(&batch->strings, pushed->path),
        .text = is_text && pushed->text ? pool_add(&batch->strings, pushed->text, pushed->text_size)
                                        : POOL_NULL,
        .text_size = pushed->text_size,
        .said = pushed->metadata ? record_metadata_copy(pushed->metadata) : NULL,
        .read = pushed->record ? copy_record(pushed->record) : NULL,
        .exact = pushed->exact ? copy_exact(pushed->exact) : NULL,
        .is_file = !is_text,
        .unreadable = problem.status,
        .too_short = result.too_short,
        .content = result.digest,
        .words = result.words,
        .simhash = result.simhash,
    };
    bool whole = (prepared.said || !pushed->metadata) && (prepared.read || !pushed->record) &&
                 (prepared.exact || !pushed->exact) && problem.status != DOPPEL_E_MEMORY;
    if (whole && add_prepared(batch, &prepared))
        return DOPPEL_OK;
    if (!whole)
        free_prepared(&prepared);
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an input");
}

void ingest_batch_clear(struct ingest_batch *batch)
{
    for (size_t i = 0; i < batch->records.count; i++)
        free_prepared(&batch->records.items[i]);
    batch->records.count = batch->strings.count = batch->lanes.count = 0;
    batch->looks = (struct doppel_text_looks){0};
}

static void prepare(struct preparer *preparer, struct ingest_batch *batch)
{
    const char *path = reader_file_path(preparer->batches->reader, batch->block.file);
    preparer->batch = batch;
    ingest_batch_clear(batch);
    /* Whoever writes to standard input waits for an answer to each line. */
    batch->block.with_blanks =
        strcmp(path, "-") == 0 && !preparer->batches->options->files.descriptor;
    parser_block(preparer->parser, &batch->block, take_parsed_record, preparer);
}

/* ---- the ring ---- */

void ingest_batch_free(struct ingest_batch *batch)
{
    line_block_free(&batch->block);
    ingest_batch_clear(batch);
    array_free(&batch->records);
    free(batch->strings.items);
    free(batch->lanes.items);
}

static struct batch_slot *batch_slot(struct batches *batches, uint64_t number)
{
    return &batches->slots[number % batches->slot_count];
}

/* The slot of the next batch, once the one that it held is taken; NULL at the end. */
static struct batch_slot *begin_slot(struct batches *batches)
{
    pthread_mutex_lock(&batches->lock);
    while (!batches->ended && batches->begun >= batches->taken + batches->slot_count)
        pthread_cond_wait(&batches->changed, &batches->lock);
    struct batch_slot *slot = batches->ended ? NULL : batch_slot(batches, batches->begun++);
    pthread_mutex_unlock(&batches->lock);
    return slot;
}

static void end(struct batches *batches, bool take_back)
{
    pthread_mutex_lock(&batches->lock);
    batches->ended = true;
    batches->begun -= take_back;
    pthread_cond_broadcast(&batches->changed);
    pthread_mutex_unlock(&batches->lock);
}

static void put_slot(struct batches *batches, struct batch_slot *slot)
{
    pthread_mutex_lock(&batches->lock);
    slot->ready = true;
    batches->ended |= slot->batch.error.status != DOPPEL_OK;
    pthread_cond_broadcast(&batches->changed);
    pthread_mutex_unlock(&batches->lock);
}

/* Blocks come in order: who has the right to read takes the next slot, too. */
static struct batch_slot *read_next_block(struct batches *batches)
{
    pthread_mutex_lock(&batches->reading);
    struct batch_slot *slot = begin_slot(batches);
    if (slot) {
        struct line_block block;
        slot->batch.error = (struct doppel_error){0};
        enum doppel_status status = reader_next(batches->reader, &block, &slot->batch.error);
        if (!status && block.damage.status == DOPPEL_E_CANCELLED) {
            line_block_free(&block);
            status = DOPPEL_E_NOT_FOUND;
        }
        if (status == DOPPEL_E_NOT_FOUND) {
            end(batches, true);
            slot = NULL;
        } else {
            line_block_free(&slot->batch.block);
            if (!status)
                slot->batch.block = block;
        }
    }
    pthread_mutex_unlock(&batches->reading);
    return slot;
}

/* Of the records as they are wanted; NULL: no memory. */
static struct parser *new_parser(const struct batches *batches)
{
    const struct doppel_ingest_options *options = batches->options;
    struct parser *parser = parser_new(&options->fields);
    if (!parser)
        return NULL;
    if (batches->with_files)
        parser_take_paths(parser);
    if (options->plain_records || parser_take_metadata(parser))
        return parser;
    parser_free(parser);
    return NULL;
}

static void *fill_batches(void *context)
{
    struct batches *batches = context;
    struct preparer preparer = {.batches = batches, .parser = new_parser(batches)};
    struct batch_slot *slot;
    struct doppel_error error = {0};
    if (!preparer.parser)
        doppel_fail(&error, DOPPEL_E_MEMORY, "no memory for a parser");
    else
        doppel_text_new(&batches->options->text, &preparer.text, &error);
    while ((slot = read_next_block(batches))) {
        if (error.status)
            slot->batch.error = error;
        if (!slot->batch.error.status)
            prepare(&preparer, &slot->batch);
        put_slot(batches, slot);
    }
    parser_free(preparer.parser);
    doppel_text_free(preparer.text);
    file_text_free(&preparer.file);
    return NULL;
}

/* ---- from outside ---- */

static void start_threads(struct batches *batches, uint32_t wanted)
{
    for (uint32_t i = 0; i < wanted; i++)
        if (pthread_create(&batches->threads[batches->thread_count], NULL, fill_batches, batches) ==
            0)
            batches->thread_count++;
}

enum doppel_status batches_new(const struct doppel_ingest_options *options, struct reader *reader,
                               bool with_files, struct batches **out, struct doppel_error *error)
{
    struct batches *batches = calloc(1, sizeof *batches);
    if (!batches)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read ahead");
    uint32_t threads = options->threads ? options->threads : 1;
    batches->options = options;
    batches->reader = reader;
    batches->with_files = with_files;
    batches->slot_count = (size_t)threads * BATCHES_A_THREAD + MORE_BATCHES;
    batches->slots = calloc(batches->slot_count, sizeof *batches->slots);
    batches->threads = calloc(threads, sizeof *batches->threads);
    pthread_mutex_init(&batches->reading, NULL);
    pthread_mutex_init(&batches->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&batches->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    reader_stop_by(reader, &batches->stop);
    if (with_files)
        reader_take_paths(reader);
    if (batches->slots && batches->threads && reader_check_fields(reader, &options->fields))
        start_threads(batches, threads);
    if (!batches->thread_count) {
        batches_free(batches);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read ahead");
    }
    *out = batches;
    return DOPPEL_OK;
}

void batches_free(struct batches *batches)
{
    if (!batches)
        return;
    atomic_store(&batches->stop, true);
    end(batches, false);
    for (uint32_t i = 0; i < batches->thread_count; i++)
        pthread_join(batches->threads[i], NULL);
    for (size_t i = 0; batches->slots && i < batches->slot_count; i++)
        ingest_batch_free(&batches->slots[i].batch);
    pthread_cond_destroy(&batches->changed);
    pthread_mutex_destroy(&batches->lock);
    pthread_mutex_destroy(&batches->reading);
    free(batches->slots);
    free(batches->threads);
    free(batches);
}

static struct timespec in_ms(unsigned wait_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += wait_ms / 1000;
    until.tv_nsec += (long)(wait_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    return until;
}

/* At most half, so that threads have what to fill meanwhile. */
static size_t count_ready(struct batches *batches)
{
    size_t count = 0;
    while (count < batches->slot_count / 2 && batch_slot(batches, batches->taken + count)->ready)
        count++;
    return count;
}

/* @return false at the end */
static bool wait_for_group(struct batches *batches, unsigned wait_ms)
{
    struct timespec until = in_ms(wait_ms);
    int waited = 0;
    while (!(batches->group = count_ready(batches)) && waited == 0) {
        if (batches->ended && batches->begun == batches->taken)
            return false;
        waited = pthread_cond_timedwait(&batches->changed, &batches->lock, &until);
    }
    return true;
}

enum doppel_status batches_next(struct batches *batches, unsigned wait_ms,
                                struct ingest_batch **out)
{
    bool more = true;
    *out = NULL;
    pthread_mutex_lock(&batches->lock);
    if (!batches->given)
        more = wait_for_group(batches, wait_ms);
    if (batches->given < batches->group)
        *out = &batch_slot(batches, batches->taken + batches->given++)->batch;
    pthread_mutex_unlock(&batches->lock);
    return more ? DOPPEL_OK : DOPPEL_E_NOT_FOUND;
}

void batches_give_back(struct batches *batches)
{
    pthread_mutex_lock(&batches->lock);
    for (; batches->given; batches->given--)
        batch_slot(batches, batches->taken++)->ready = false;
    pthread_cond_broadcast(&batches->changed);
    pthread_mutex_unlock(&batches->lock);
}
