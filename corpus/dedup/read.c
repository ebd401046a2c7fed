/* The first pass: the calling thread reads blocks and files what others made of them, in order. */
#include <stdlib.h>
#include <string.h>

#include "corpus/dedup/parts.h"
#include "corpus/dedup/sign.h"
#include "corpus/read/temporary.h"

struct dedup_slot {
    bool is_signed;
    struct batch batch;
};

/* A ring of slots: read at `head`, filed at `tail`. */
struct dedup_line {
    struct dedup *dedup;
    struct thread_team thread_team; /* its error ends all */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct dedup_slot *slots;
    size_t slot_count;
    uint64_t head, next, tail; /* blocks read, begun to be signed, filed */
    bool ended;                /* no more will be read */
    struct signer *signer;     /* of the calling thread; mostly NULL */
};

/* ---- signing, on all threads but the first ---- */

static struct dedup_slot *take_slot(struct dedup_line *line)
{
    struct dedup_slot *slot = NULL;
    pthread_mutex_lock(&line->lock);
    while (line->next == line->head && !line->ended)
        pthread_cond_wait(&line->changed, &line->lock);
    if (line->next < line->head)
        slot = &line->slots[line->next++ % line->slot_count];
    pthread_mutex_unlock(&line->lock);
    return slot;
}

static void put_slot_line(struct dedup_line *line, struct dedup_slot *slot)
{
    pthread_mutex_lock(&line->lock);
    slot->is_signed = true;
    pthread_cond_broadcast(&line->changed);
    pthread_mutex_unlock(&line->lock);
}

static void sign_slot(struct dedup_line *line, struct signer **signer, struct dedup_slot *slot)
{
    struct doppel_error error;
    bool fine = !thread_team_failed(&line->thread_team);
    if (fine && !*signer && signer_new(line->dedup, signer, &error)) {
        thread_team_fail(&line->thread_team, &error);
        fine = false;
    }
    if (fine && signer_sign(*signer, &slot->batch, &error))
        thread_team_fail(&line->thread_team, &error);
}

static void sign_blocks(struct dedup_line *line)
{
    struct signer *signer = NULL;
    struct dedup_slot *slot;
    while ((slot = take_slot(line))) {
        sign_slot(line, &signer, slot);
        put_slot_line(line, slot);
    }
    signer_free(signer);
}

/* ---- filing, on the calling thread ---- */

static enum doppel_status keep_dedup(struct dedup *dedup, const void *bytes, size_t size,
                                     struct doppel_error *error)
{
    if (dedup->kept < 0) {
        enum doppel_status status = temporary_file(dedup->folder, &dedup->kept, error);
        if (status)
            return status;
    }
    enum doppel_status status =
        temporary_write(dedup->folder, dedup->kept, bytes, size, dedup->kept_bytes, error);
    if (!status)
        dedup->kept_bytes += size;
    return status;
}

/* What will be needed of a record that cannot be read again. */
static enum doppel_status keep_rest_dedup(struct dedup *dedup, const struct batch *batch,
                                          const struct signed_record *record, struct facts *facts,
                                          struct doppel_error *error)
{
    if (facts->flags & (FACT_PLAIN | FACT_AGAIN))
        return DOPPEL_OK;
    uint64_t offset = facts->place - batch->block.offset;
    facts->place = dedup->kept_bytes;
    if (facts->flags & FACT_KEPT) {
        enum doppel_status status = keep_dedup(dedup, batch->shingles.items + record->shingles_at,
                                               facts->shingles * sizeof(uint32_t), error);
        if (status)
            return status;
    }
    if ((!dedup->options->lines && !dedup->options->semantic) || offset > batch->block.size ||
        facts->size > batch->block.size - offset)
        return DOPPEL_OK;
    facts->flags |= FACT_LINE;
    return keep_dedup(dedup, batch->block.bytes + offset, facts->size, error);
}

/* Files without records begin where the next one does. */
static enum doppel_status begin_file(struct dedup *dedup, uint32_t file, struct doppel_error *error)
{
    while (dedup->first_of_file.count <= file)
        if (!array_push(&dedup->first_of_file, dedup->count))
            return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory");
    return DOPPEL_OK;
}

static enum doppel_status file_record(struct dedup *dedup, const struct batch *batch, size_t i,
                                      struct doppel_error *error)
{
    const struct signed_record *record = &batch->records.items[i];
    uint32_t number = dedup->count;
    struct facts facts = record->facts;
    facts.content = facts.parent = number;
    facts.former = facts.holder = NO_RECORD;
    facts.digest_head = digest_head(&record->digest);
    enum doppel_status status = keep_rest_dedup(dedup, batch, record, &facts, error);
    if (!status && record->strings_size)
        status =
            arena_add(&dedup->strings, &dedup->space, batch->strings.items + record->facts.strings,
                      record->strings_size, &facts.strings, error);
    if (!status && record->held)
        status = dedup_keep_held(dedup, number,
                                 (const void *)(batch->shingles.items + record->shingles_at),
                                 record->held, error);
    if (status)
        return status;
    *dedup_facts_of(dedup, number) = facts;
    *dedup_digest_of(dedup, number) = record->digest;
    size_t lanes_bytes = dedup->lanes_of.row_bytes;
    memcpy(dedup_lanes_of(dedup, number), batch->lanes.items + i * lanes_bytes, lanes_bytes);
    dedup->count++;
    return DOPPEL_OK;
}

static enum doppel_status file_batch(struct dedup *dedup, struct batch *batch,
                                     struct doppel_error *error)
{
    size_t before = dedup->count, count = batch->records.count;
    struct doppel_text_looks *looks = dedup->options->looks;
    if (looks) {
        looks->texts += batch->looks.texts;
        looks->ocr += batch->looks.ocr;
    }
    enum doppel_status status = begin_file(dedup, batch->block.file, error);
    if (!status)
        status = dedup_reserve_records(dedup, before + count, error);
    for (size_t i = 0; i < count && !status; i++)
        status = file_record(dedup, batch, i, error);
    if (before / LET_GO_RECORDS != dedup->count / LET_GO_RECORDS)
        let_go(dedup);
    reader_take_back(dedup->reader, &batch->block);
    return status;
}

/* ---- reading, on the calling thread ---- */

static bool reading_goes_on(struct dedup *dedup)
{
    uint64_t done, total;
    reader_progress(dedup->reader, &done, &total);
    dedup->cancelled = !dedup_goes_on(dedup, "bytes", done, total);
    return !dedup->cancelled;
}

static void end_reading(struct dedup_line *line)
{
    pthread_mutex_lock(&line->lock);
    line->ended = true;
    pthread_cond_broadcast(&line->changed);
    pthread_mutex_unlock(&line->lock);
}

/* Only this thread moves `head` and `tail`. */
static void read_block_line(struct dedup_line *line)
{
    struct doppel_error error;
    struct dedup_slot *slot = &line->slots[line->head % line->slot_count];
    enum doppel_status status = reading_goes_on(line->dedup)
                                    ? reader_next(line->dedup->reader, &slot->batch.block, &error)
                                    : DOPPEL_E_NOT_FOUND;
    if (status == DOPPEL_OK) {
        pthread_mutex_lock(&line->lock);
        line->head++;
        pthread_cond_broadcast(&line->changed);
        pthread_mutex_unlock(&line->lock);
        return;
    }
    if (status != DOPPEL_E_NOT_FOUND)
        thread_team_fail(&line->thread_team, &error);
    end_reading(line);
}

/* Wait for the block that is to be filed next; when nobody has begun with it, do it here. */
static void await_signed(struct dedup_line *line, struct dedup_slot *slot)
{
    pthread_mutex_lock(&line->lock);
    bool here = line->next == line->tail;
    line->next += here;
    while (!here && !slot->is_signed)
        pthread_cond_wait(&line->changed, &line->lock);
    pthread_mutex_unlock(&line->lock);
    if (here)
        sign_slot(line, &line->signer, slot);
}

static void file_block(struct dedup_line *line)
{
    struct doppel_error error;
    struct dedup_slot *slot = &line->slots[line->tail % line->slot_count];
    await_signed(line, slot);
    if (!thread_team_failed(&line->thread_team) && file_batch(line->dedup, &slot->batch, &error)) {
        thread_team_fail(&line->thread_team, &error);
        end_reading(line);
    }
    slot->is_signed = false;
    line->tail++;
}

static bool is_signed(struct dedup_line *line)
{
    pthread_mutex_lock(&line->lock);
    bool is = line->tail < line->head && line->slots[line->tail % line->slot_count].is_signed;
    pthread_mutex_unlock(&line->lock);
    return is;
}

static void read_and_file(struct dedup_line *line)
{
    while (!line->ended || line->tail < line->head) {
        bool full = line->head - line->tail == line->slot_count;
        if (line->ended || full || is_signed(line))
            file_block(line);
        else
            read_block_line(line);
    }
}

static void read_or_sign(void *context, uint32_t thread)
{
    struct dedup_line *line = context;
    if (thread)
        sign_blocks(line);
    else
        read_and_file(line);
}

enum doppel_status dedup_read(struct dedup *dedup, struct doppel_error *error)
{
    struct dedup_line line = {.dedup = dedup, .slot_count = 2 * (size_t)dedup->threads + 1};
    line.slots = calloc(line.slot_count, sizeof *line.slots);
    if (!line.slots)
        return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory");
    pthread_mutex_init(&line.lock, NULL);
    pthread_cond_init(&line.changed, NULL);
    thread_team_init(&line.thread_team, dedup->threads + 1);
    enum doppel_status status = thread_team_run(&line.thread_team, read_or_sign, &line, error);
    if (!status)
        status = begin_file(dedup, (uint32_t)reader_file_count(dedup->reader), error);
    for (size_t i = 0; i < line.slot_count; i++)
        batch_free(&line.slots[i].batch);
    free(line.slots);
    signer_free(line.signer);
    thread_team_end(&line.thread_team);
    pthread_cond_destroy(&line.changed);
    pthread_mutex_destroy(&line.lock);
    return status;
}
