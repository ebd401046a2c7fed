/* What is unique by its words is read again, cut into chunks, and embedded. */
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "corpus/dedup/semantic_internal.h"
#include "corpus/read/temporary.h"

/* @param out borrowed until the next one; NULL: it is gone, or was not kept */
static enum doppel_status read_text_again(struct semantic_embedding *embedding, uint32_t number,
                                          const char **out, size_t *out_size,
                                          struct doppel_error *error)
{
    const struct dedup *dedup = embedding->dedup;
    const uint32_t file = file_of(dedup, number);
    struct doppel_corpus_record record;
    const char *line, *bytes;
    size_t size;
    *out = NULL;
    enum doppel_status status;
    TRY(lines_get(&embedding->lines, number, &line, &size, error));
    if (!line)
        return DOPPEL_OK;
    parser_take_rows(embedding->parser, reader_file_layout(dedup->reader, file));
    parser_line(embedding->parser, line, size, &record);
    if (record.error.status ||
        record_text(&record, &dedup->options->fields, reader_file_path(dedup->reader, file),
                    dedup->options->files.max_line_bytes, &embedding->file, &bytes, &size, NULL))
        return DOPPEL_OK;
    TRY(doppel_text_plain(embedding->text, bytes, size, out, out_size, error));
done:
    return status;
}

/* ---- a batch of chunks ---- */

/* Whatever the caller's part comes to: by its failure the stage is given up, and not the run. */
static enum doppel_status note_failure(struct semantic_embedding *embedding,
                                       enum doppel_status status, struct doppel_error *error)
{
    struct doppel_error *failure = &embedding->summary.failure;
    failure->status = status == DOPPEL_E_CANCELLED ? DOPPEL_OK : status;
    if (!status)
        return DOPPEL_OK;
    if (status == DOPPEL_E_CANCELLED)
        return semantic_interrupted(error);
    return doppel_fail(error, status, "%s", failure->message);
}

static enum doppel_status embed_chunk_batch(struct semantic_embedding *embedding,
                                            struct doppel_error *error)
{
    const struct doppel_dedup_semantic *options = embedding->options;
    const size_t row_bytes = options->dimension * sizeof(float);
    enum doppel_status each[BATCH_TEXTS];
    enum doppel_status status =
        options->embed(options->context, (const char *const *)embedding->batch, embedding->sizes,
                       embedding->count, embedding->batch_rows, each, &embedding->summary.failure);
    TRY(note_failure(embedding, status, error));
    for (size_t i = 0; i < embedding->count; i++) {
        const uint32_t text = embedding->text_of.items[embedding->written + i];
        embedding->texts.items[text].known += each[i] == DOPPEL_OK;
    }
    TRY(temporary_write(embedding->dedup->folder, embedding->fd, embedding->batch_rows,
                        embedding->count * row_bytes, embedding->written * row_bytes, error));
    embedding->written += embedding->count;
done:
    return status;
}

static enum doppel_status foresee_batch(struct semantic_embedding *embedding,
                                        struct doppel_error *error)
{
    const struct doppel_dedup_semantic *options = embedding->options;
    if (!options->foresee)
        return DOPPEL_OK;
    enum doppel_status status =
        options->foresee(options->context, (const char *const *)embedding->batch, embedding->sizes,
                         embedding->count, &embedding->summary.failure);
    return note_failure(embedding, status, error);
}

static enum doppel_status flush_batch(struct semantic_embedding *embedding,
                                      struct doppel_error *error)
{
    enum doppel_status status = embedding->foreseeing ? foresee_batch(embedding, error)
                                                      : embed_chunk_batch(embedding, error);
    for (size_t i = 0; i < embedding->count; i++)
        free(embedding->batch[i]);
    embedding->count = 0;
    return status;
}

/* ---- texts and their chunks ---- */

static bool note_chunk(struct semantic_embedding *embedding, const struct doppel_text_chunk *chunk)
{
    const struct embedded_chunk place = {(uint32_t)chunk->start, (uint32_t)chunk->end};
    return embedding->chunks.count < UINT32_MAX && array_push(&embedding->chunks, place) &&
           array_push(&embedding->text_of, (uint32_t)(embedding->texts.count - 1));
}

static enum doppel_status push_chunk(struct semantic_embedding *embedding, const char *text,
                                     const struct doppel_text_chunk *chunk,
                                     struct doppel_error *error)
{
    const size_t size = (size_t)(chunk->byte_end - chunk->byte_start);
    char *copy = malloc(size + 1);
    if (!copy || (!embedding->foreseeing && !note_chunk(embedding, chunk))) {
        free(copy);
        return semantic_no_memory(error);
    }
    memcpy(copy, text + chunk->byte_start, size);
    copy[size] = '\0';
    embedding->batch[embedding->count] = copy;
    embedding->sizes[embedding->count++] = size;
    return embedding->count == BATCH_TEXTS ? flush_batch(embedding, error) : DOPPEL_OK;
}

static enum doppel_status push_text(struct semantic_embedding *embedding, uint32_t number,
                                    const char *text, size_t size, struct doppel_error *error)
{
    const struct doppel_text_chunk_options *chunks = &embedding->options->chunks;
    const struct embedded_text embedded = {number, (uint32_t)embedding->chunks.count, 0};
    struct doppel_text_chunker chunker;
    struct doppel_text_chunk chunk;
    enum doppel_status status;
    size = size < UINT32_MAX ? size : UINT32_MAX; /* so that places fit */
    TRY(doppel_text_chunker_begin(text, size, chunks->most ? chunks : NULL, &chunker, error));
    if (!embedding->foreseeing && !array_push(&embedding->texts, embedded))
        TRY(semantic_no_memory(error));
    while (doppel_text_chunker_next(&chunker, &chunk))
        TRY(push_chunk(embedding, text, &chunk, error));
done:
    return status;
}

/* Read all that repeats no other, and embed it, or show it first. */
static enum doppel_status read_unique(struct semantic_embedding *embedding,
                                      struct doppel_error *error)
{
    const struct dedup *dedup = embedding->dedup;
    const char *unit = embedding->foreseeing ? "texts counted" : "texts embedded";
    enum doppel_status status = DOPPEL_OK;
    for (uint32_t i = dedup->first; i < dedup->count; i++) {
        const char *text;
        size_t size;
        if (i % BATCH_TEXTS == 0 &&
            !dedup_goes_on(dedup, unit, i - dedup->first, dedup->count - dedup->first))
            TRY(semantic_interrupted(error));
        if (!dedup_is_unique(dedup, i)) {
            embedding->summary.decided += !embedding->foreseeing;
            continue;
        }
        TRY(read_text_again(embedding, i, &text, &size, error));
        if (text)
            TRY(push_text(embedding, i, text, size, error));
    }
    if (embedding->count)
        TRY(flush_batch(embedding, error));
done:
    return status;
}

enum doppel_status semantic_embed_unique(struct semantic_embedding *embedding,
                                         struct doppel_error *error)
{
    const struct doppel_dedup_semantic *options = embedding->options;
    struct doppel_dedup_semantic_summary *summary = &embedding->summary;
    enum doppel_status status;
    embedding->foreseeing = options->foresee;
    if (embedding->foreseeing)
        TRY(read_unique(embedding, error));
    embedding->foreseeing = false;
    if (options->begin) {
        status = options->begin(options->context, &summary->failure);
        TRY(note_failure(embedding, status, error));
    }
    TRY(read_unique(embedding, error));
    summary->embedded = embedding->texts.count;
    summary->chunks = embedding->written;
    for (size_t i = 0; i < embedding->texts.count; i++)
        summary->too_short += !embedding->texts.items[i].known;
done:
    return status;
}
