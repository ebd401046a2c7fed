/* Chunks of texts, some of many, and their vectors: what a whitening is learned from. */
#include <doppel/search_whiten.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/try.h"
#include "search/semantic.h"

enum { MOST_BYTES = 1 << 20, EMBEDDED_AT_ONCE = 256 };

struct doppel_semantic_sample {
    struct doppel_text *text;
    size_t most;
    uint64_t seen, random;
    ARRAY(char *) chunks;
    ARRAY(size_t) sizes;
    float *rows;
    size_t room, count; /* rows */
    uint32_t dimension;
};

static enum doppel_status no_sample_memory(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for texts to learn from");
}

/* ---- life ---- */

enum doppel_status doppel_semantic_sample_new(const struct doppel_text_options *text, size_t most,
                                              struct doppel_semantic_sample **out,
                                              struct doppel_error *error)
{
    const struct doppel_text_options usual = doppel_text_options_default();
    struct doppel_semantic_sample *sample = NULL;
    enum doppel_status status = DOPPEL_OK;
    if (most > DOPPEL_SEMANTIC_SAMPLE_MOST)
        TRY(doppel_fail(error, DOPPEL_E_ARGUMENT, "at most %d chunks are sampled",
                        (int)DOPPEL_SEMANTIC_SAMPLE_MOST));
    sample = calloc(1, sizeof *sample);
    if (!sample)
        TRY(no_sample_memory(error));
    sample->most = most ? most : DOPPEL_SEMANTIC_SAMPLE_MOST;
    sample->random = 1;
    TRY(doppel_text_new(text ? text : &usual, &sample->text, error));
    *out = sample;
    sample = NULL;
done:
    doppel_semantic_sample_free(sample);
    return status;
}

void doppel_semantic_sample_free(struct doppel_semantic_sample *sample)
{
    if (!sample)
        return;
    for (size_t i = 0; i < sample->chunks.count; i++)
        free(sample->chunks.items[i]);
    array_free(&sample->chunks);
    array_free(&sample->sizes);
    doppel_text_free(sample->text);
    free(sample->rows);
    free(sample);
}

/* ---- texts ---- */

/* Below `end`; xorshift64*, the upper half. */
static uint64_t draw_below(struct doppel_semantic_sample *sample, uint64_t end)
{
    sample->random ^= sample->random >> 12;
    sample->random ^= sample->random << 25;
    sample->random ^= sample->random >> 27;
    return (sample->random * UINT64_C(0x2545F4914F6CDD1D) >> 16) % end;
}

enum doppel_status doppel_semantic_sample_add_chunk(struct doppel_semantic_sample *sample,
                                                    const char *chunk, size_t size,
                                                    struct doppel_error *error)
{
    const uint64_t place =
        sample->seen++ < sample->most ? sample->chunks.count : draw_below(sample, sample->seen);
    if (place >= sample->most)
        return DOPPEL_OK;
    char *copy = malloc(size + 1);
    if (!copy)
        return no_sample_memory(error);
    memcpy(copy, chunk, size);
    copy[size] = '\0';
    if (place < sample->chunks.count) {
        free(sample->chunks.items[place]);
        sample->chunks.items[place] = copy;
        sample->sizes.items[place] = size;
        return DOPPEL_OK;
    }
    if (array_push(&sample->sizes, size) && array_push(&sample->chunks, copy))
        return DOPPEL_OK;
    free(copy);
    return no_sample_memory(error);
}

enum doppel_status doppel_semantic_sample_add(struct doppel_semantic_sample *sample,
                                              const char *bytes, size_t size,
                                              struct doppel_error *error)
{
    struct doppel_text_chunker chunker;
    struct doppel_text_chunk chunk;
    const char *plain;
    enum doppel_status status;
    TRY(doppel_text_plain(sample->text, bytes, size < MOST_BYTES ? size : MOST_BYTES, &plain, &size,
                          error));
    TRY(doppel_text_chunker_begin(plain, size, NULL, &chunker, error));
    while (doppel_text_chunker_next(&chunker, &chunk))
        TRY(doppel_semantic_sample_add_chunk(sample, plain + chunk.byte_start,
                                             (size_t)(chunk.byte_end - chunk.byte_start), error));
done:
    return status;
}

enum doppel_status doppel_semantic_sample_add_file(struct doppel_semantic_sample *sample,
                                                   const char *path, struct doppel_error *error)
{
    char *bytes = NULL;
    size_t size;
    enum doppel_status status;
    TRY(semantic_read_file(path, &bytes, &size, error));
    TRY(doppel_semantic_sample_add(sample, bytes, size, error));
done:
    free(bytes);
    return status;
}

void doppel_semantic_sample_texts(const struct doppel_semantic_sample *sample,
                                  struct doppel_model_texts *out, uint64_t *out_seen)
{
    *out = (struct doppel_model_texts){(const char *const *)sample->chunks.items,
                                       sample->sizes.items, sample->chunks.count};
    *out_seen = sample->seen;
}

/* ---- vectors ---- */

static enum doppel_status begin_sampled_rows(struct doppel_semantic_sample *sample, size_t room,
                                             uint32_t dimension, struct doppel_error *error)
{
    free(sample->rows);
    sample->rows = malloc(room * dimension * sizeof *sample->rows + 1);
    sample->room = room;
    sample->count = 0;
    sample->dimension = dimension;
    return sample->rows ? DOPPEL_OK : no_sample_memory(error);
}

/* What has no vector is left out. */
static enum doppel_status embed_some(struct doppel_semantic_sample *sample,
                                     struct doppel_embedder *embedder, size_t first, size_t count,
                                     struct doppel_error *error)
{
    const struct doppel_model_texts texts = {(const char *const *)sample->chunks.items + first,
                                             sample->sizes.items + first, count};
    const size_t dimension = sample->dimension;
    float *rows = sample->rows + sample->count * dimension;
    enum doppel_status each[EMBEDDED_AT_ONCE], status;
    TRY(doppel_embedder_embed(embedder, &texts, rows, each, error));
    for (size_t i = 0; i < count; i++)
        if (!each[i])
            memmove(sample->rows + sample->count++ * dimension, rows + i * dimension,
                    dimension * sizeof *rows);
done:
    return status;
}

enum doppel_status doppel_semantic_sample_embed(struct doppel_semantic_sample *sample,
                                                struct doppel_embedder *embedder,
                                                struct doppel_run *run, struct doppel_vectors *out,
                                                struct doppel_error *error)
{
    const size_t all = sample->chunks.count;
    enum doppel_status status;
    TRY(begin_sampled_rows(sample, all, doppel_embedder_identity(embedder)->dimension, error));
    doppel_run_begin(run, "texts embedded", all);
    for (size_t i = 0; i < all && !status; i += EMBEDDED_AT_ONCE) {
        const size_t left = all - i;
        status = doppel_run_cancelled(run)
                     ? doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted")
                     : embed_some(sample, embedder, i,
                                  left < EMBEDDED_AT_ONCE ? left : EMBEDDED_AT_ONCE, error);
        doppel_run_advance(run, i);
    }
    doppel_run_end(run);
    TRY(status);
    *out = (struct doppel_vectors){sample->rows, sample->count, sample->dimension};
done:
    return status;
}

/* ---- of a library ---- */

static bool take_sampled_row(void *context, const char *id, const float *row)
{
    struct doppel_semantic_sample *sample = context;
    (void)id;
    if (sample->count == sample->room)
        return false;
    memcpy(sample->rows + sample->count++ * sample->dimension, row,
           sample->dimension * sizeof *row);
    return true;
}

static enum doppel_status sample_index(struct doppel_semantic_sample *sample,
                                       struct doppel_vector_index *index,
                                       struct doppel_error *error)
{
    const uint64_t there = semantic_count(index);
    const size_t room = there < sample->most ? (size_t)there : sample->most;
    enum doppel_status status;
    TRY(begin_sampled_rows(sample, room, doppel_vector_index_identity(index)->dimension, error));
    status = doppel_vector_index_sample(index, room, take_sampled_row, sample, error);
    if (status == DOPPEL_E_CANCELLED) /* there are enough */
        status = DOPPEL_OK;
done:
    return status;
}

enum doppel_status doppel_semantic_sample_library(struct doppel_semantic_sample *sample,
                                                  struct doppel_library *library,
                                                  const char *directory,
                                                  const struct doppel_embedder_identity *identity,
                                                  struct doppel_vectors *out,
                                                  struct doppel_error *error)
{
    struct doppel_vector_index *index = NULL;
    char *folder = NULL;
    enum doppel_status status = DOPPEL_OK;
    if (asprintf(&folder, "%s/vectors", directory) < 0) {
        folder = NULL;
        TRY(no_sample_memory(error));
    }
    const struct doppel_vector_index_options options = {.folder = folder, .shared = true};
    TRY(semantic_open_known(library, &options, &index, error));
    TRY(doppel_embedder_check_identity(doppel_vector_index_identity(index), identity, error));
    TRY(sample_index(sample, index, error));
    *out = (struct doppel_vectors){sample->rows, sample->count, sample->dimension};
done:
    doppel_vector_index_close(index);
    free(folder);
    return status;
}
