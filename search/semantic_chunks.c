/* Chunks of texts: embedded, named, kept. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "search/semantic.h"

enum { MOST_TEXT_BYTES = 1 << 20, AT_ONCE = 256 };

static enum doppel_status no_chunk_memory(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to embed a text");
}

/* ---- embedding ---- */

struct chunks_embedding {
    struct doppel_semantic *semantic;
    const char *texts[AT_ONCE];
    size_t sizes[AT_ONCE], count;
    struct semantic_chunk chunks[AT_ONCE];
};

static bool grow_rows(struct doppel_semantic *semantic, size_t count, size_t dimension)
{
    float *rows = realloc(semantic->rows, count * dimension * sizeof *rows + 1);
    if (rows)
        semantic->rows = rows;
    return rows != NULL;
}

/* What has no vector is left out. */
static enum doppel_status embed_chunks(struct chunks_embedding *embedding,
                                       struct doppel_error *error)
{
    struct doppel_semantic *semantic = embedding->semantic;
    struct doppel_embedder *embedder = semantic->options.embedder;
    const size_t dimension = doppel_embedder_identity(embedder)->dimension;
    const struct doppel_model_texts texts = {embedding->texts, embedding->sizes, embedding->count};
    const size_t before = semantic->chunks.count;
    enum doppel_status each[AT_ONCE], status;
    if (!grow_rows(semantic, before + embedding->count, dimension))
        return no_chunk_memory(error);
    float *rows = semantic->rows + before * dimension;
    TRY(doppel_embedder_embed(embedder, &texts, rows, each, error));
    for (size_t i = 0; i < embedding->count; i++) {
        if (each[i])
            continue;
        memmove(semantic->rows + semantic->chunks.count * dimension, rows + i * dimension,
                dimension * sizeof *rows);
        if (!array_push(&semantic->chunks, embedding->chunks[i]))
            TRY(no_chunk_memory(error));
    }
    embedding->count = 0;
done:
    return status;
}

enum doppel_status semantic_embed(struct doppel_semantic *semantic, const char *bytes, size_t size,
                                  struct doppel_error *error)
{
    struct chunks_embedding embedding = {.semantic = semantic};
    struct doppel_text_chunker chunker;
    struct doppel_text_chunk chunk;
    const char *plain;
    size_t plain_size;
    uint64_t total = 0;
    enum doppel_status status;
    semantic->chunks.count = 0;
    if (!semantic->options.embedder)
        TRY(doppel_fail(error, DOPPEL_E_ARGUMENT, "there is no model to embed a text"));
    TRY(doppel_text_plain(semantic->text, bytes, size < MOST_TEXT_BYTES ? size : MOST_TEXT_BYTES,
                          &plain, &plain_size, error));
    TRY(doppel_text_chunker_begin(plain, plain_size, NULL, &chunker, error));
    while (doppel_text_chunker_next(&chunker, &chunk)) {
        embedding.texts[embedding.count] = plain + chunk.byte_start;
        embedding.sizes[embedding.count] = (size_t)(chunk.byte_end - chunk.byte_start);
        embedding.chunks[embedding.count++] =
            (struct semantic_chunk){.start = chunk.start, .end = chunk.end};
        total = chunk.end;
        if (embedding.count == AT_ONCE)
            TRY(embed_chunks(&embedding, error));
    }
    if (embedding.count)
        TRY(embed_chunks(&embedding, error));
    for (uint32_t i = 0; i < semantic->chunks.count; i++) {
        semantic->chunks.items[i].total = total;
        semantic->chunks.items[i].number = i;
        semantic->chunks.items[i].count = (uint32_t)semantic->chunks.count;
    }
done:
    if (status)
        semantic->chunks.count = 0;
    return status;
}

/* ---- ids ---- */

void semantic_id(uint64_t item, const struct semantic_chunk *chunk, char out[SEMANTIC_ID_BYTES])
{
    snprintf(out, SEMANTIC_ID_BYTES,
             "%" PRIu64 ":%" PRIu32 "/%" PRIu32 ":%" PRIu64 "-%" PRIu64 "/%" PRIu64, item,
             chunk->number, chunk->count, chunk->start, chunk->end, chunk->total);
}

bool semantic_parse_id(const char *id, uint64_t *item, struct semantic_chunk *chunk)
{
    return sscanf(id, "%" SCNu64 ":%" SCNu32 "/%" SCNu32 ":%" SCNu64 "-%" SCNu64 "/%" SCNu64, item,
                  &chunk->number, &chunk->count, &chunk->start, &chunk->end, &chunk->total) == 6 &&
           chunk->start <= chunk->end && chunk->end <= chunk->total &&
           chunk->number < chunk->count && chunk->count <= MOST_TEXT_BYTES;
}

/* ---- keeping ---- */

struct chunk_ids {
    const struct doppel_semantic *semantic;
    uint64_t item;
    char id[SEMANTIC_ID_BYTES];
};

static const char *id_of_chunk(void *context, size_t row)
{
    struct chunk_ids *ids = context;
    semantic_id(ids->item, &ids->semantic->chunks.items[row], ids->id);
    return ids->id;
}

enum doppel_status doppel_semantic_lacks(struct doppel_semantic *semantic, uint64_t item, bool *out,
                                         struct doppel_error *error)
{
    if (!semantic->library)
        return semantic_no_library(error);
    return doppel_library_lacks_vectors(semantic->library, item, semantic->options.text.min_words,
                                        out, error);
}

/* The vectors come first: what is noted is there. */
enum doppel_status doppel_semantic_add(struct doppel_semantic *semantic, uint64_t item,
                                       uint64_t *out_chunks, struct doppel_error *error)
{
    const struct doppel_library_vectors noted = {
        item, item, semantic->chunks.count,
        doppel_embedder_identity(semantic->options.embedder)->name};
    const struct doppel_vectors vectors = {
        semantic->rows, semantic->chunks.count,
        doppel_embedder_identity(semantic->options.embedder)->dimension};
    struct chunk_ids ids = {.semantic = semantic, .item = item};
    const struct doppel_vector_index_rows rows = {&vectors, id_of_chunk, &ids};
    enum doppel_status status = DOPPEL_OK;
    if (!semantic->index)
        TRY(semantic_no_library(error));
    if (noted.chunks) {
        TRY(doppel_vector_index_add(semantic->index, &rows, NULL, error));
        TRY(doppel_library_note_vectors(semantic->library, &noted, error));
        TRY(doppel_library_commit(semantic->library, error));
    }
    if (out_chunks)
        *out_chunks = noted.chunks;
done:
    return status;
}
