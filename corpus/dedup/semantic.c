/* A second stage: what is unique by its words is embedded, and compared by meaning. */
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/try.h"
#include "corpus/dedup/semantic_hand_off.h"
#include "corpus/read/temporary.h"

enum doppel_status semantic_no_memory(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to embed texts");
}

enum doppel_status semantic_interrupted(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted while embedding: none is told");
}

/* ---- what a cosine is worth ---- */

static bool is_comparing_stopped(void *context)
{
    const struct semantic_embedding *embedding = context;
    return !dedup_goes_on(embedding->dedup, "vectors compared", embedding->compared,
                          embedding->summary.chunks);
}

/* What a rate is of: how much nearer two are than what is usual around them. */
static enum doppel_status find_semantic_levels(struct semantic_embedding *embedding,
                                               const struct doppel_vectors *vectors,
                                               struct doppel_error *error)
{
    struct doppel_vector_cohort_options options = doppel_vector_cohort_options_default();
    enum doppel_status status;
    options.threads = embedding->dedup->threads;
    options.context = embedding;
    options.stopped = is_comparing_stopped;
    TRY(doppel_vector_cohort_make(vectors, &options, &embedding->cohort, error));
    TRY(doppel_vector_cohort_levels(embedding->cohort, &embedding->levels, error));
done:
    return status;
}

static enum doppel_status choose_threshold(struct semantic_embedding *embedding,
                                           const struct doppel_vectors *vectors,
                                           struct doppel_error *error)
{
    struct dedup *dedup = embedding->dedup;
    struct doppel_vector_background_options options = doppel_vector_background_options_default();
    options.groups = embedding->text_of.items;
    options.levels = embedding->levels;
    options.min_cosine = -1;
    options.threads = dedup->threads;
    options.context = embedding;
    options.stopped = is_comparing_stopped;
    enum doppel_status status =
        doppel_vector_background_make(vectors, &options, &dedup->background, error);
    embedding->summary.scored = embedding->levels != NULL;
    embedding->summary.min_cosine = 2;
    if (status)
        return status == DOPPEL_E_EMPTY ? DOPPEL_OK : status;
    const float asked = embedding->options->min_cosine;
    embedding->summary.pairs = doppel_vector_background_pairs(dedup->background);
    embedding->summary.min_cosine =
        asked != 0
            ? asked
            : doppel_vector_background_cosine(dedup->background, embedding->options->max_fp_rate);
    return semantic_learn_rates(embedding, error);
}

/* ---- rows ---- */

static enum doppel_status map_rows(struct semantic_embedding *embedding, struct doppel_error *error)
{
    const size_t bytes = embedding->written * embedding->options->dimension * sizeof(float);
    void *rows = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, embedding->fd, 0);
    if (rows == MAP_FAILED)
        return semantic_no_memory(error);
    embedding->rows = rows;
    embedding->rows_bytes = bytes;
    return DOPPEL_OK;
}

/* What all texts of a corpus have in common says nothing, and means of words have so much in common
 * that one pair in a hundred of no relation has a cosine of .9. */
static enum doppel_status whiten_rows(struct semantic_embedding *embedding,
                                      const struct doppel_vectors *vectors,
                                      struct doppel_error *error)
{
    struct doppel_vector_whitening *whitening = NULL;
    enum doppel_status status = doppel_vector_whitening_make(vectors, &whitening, error);
    if (status)
        return status == DOPPEL_E_EMPTY ? DOPPEL_OK : status;
    for (size_t i = 0; i < vectors->count && !status; i++) {
        float *row = embedding->rows + i * vectors->dimension;
        if (!doppel_vector_whiten(whitening, row, row))
            status = semantic_no_memory(error);
    }
    doppel_vector_whitening_free(whitening);
    return status;
}

/* ---- pairs ---- */

/* Chunks of two texts; those that are near enough for how many pairs these have are kept. */
static bool note_near_rows(struct semantic_embedding *embedding,
                           const struct doppel_vector_pair *pair)
{
    const uint32_t a = embedding->text_of.items[pair->a], b = embedding->text_of.items[pair->b];
    const struct embedded_text *texts = embedding->texts.items;
    if (a == b)
        return true;
    const uint64_t chunk_pairs = (uint64_t)texts[a].known * texts[b].known;
    const float value = semantic_value(embedding, pair->a, pair->b, pair->cosine);
    const double rate = semantic_rate(embedding, chunk_pairs, value);
    const struct near_texts near = {a, b, pair->cosine, value, (float)rate};
    if (embedding->options->min_cosine == 0 && chunk_pairs > 1 &&
        rate > embedding->options->max_fp_rate)
        return true;
    return array_push(&embedding->pairs, near);
}

static bool note_semantic_pairs(void *context, const struct doppel_vector_pair *pairs, size_t count)
{
    struct semantic_embedding *embedding = context;
    for (size_t i = 0; i < count; i++)
        if (!note_near_rows(embedding, &pairs[i]))
            return semantic_no_memory(embedding->error) == DOPPEL_OK;
    return true;
}

static void note_vectors_compared(void *context, uint64_t done, uint64_t total)
{
    struct semantic_embedding *embedding = context;
    (void)total;
    embedding->compared = done;
}

static enum doppel_status compare_embedded(struct semantic_embedding *embedding,
                                           struct doppel_error *error)
{
    const struct doppel_vectors vectors = {embedding->rows, embedding->written,
                                           embedding->options->dimension};
    struct doppel_vector_join_options options = doppel_vector_join_options_default();
    enum doppel_status status;
    if (embedding->options->min_cosine == 0 && !embedding->options->whitened)
        TRY(whiten_rows(embedding, &vectors, error));
    if (embedding->options->min_cosine == 0 && embedding->options->scores)
        TRY(find_semantic_levels(embedding, &vectors, error));
    TRY(choose_threshold(embedding, &vectors, error));
    if (embedding->summary.min_cosine > 1)
        return DOPPEL_OK;
    options.levels = embedding->levels;
    options.min_score = embedding->summary.min_cosine;
    options.min_cosine = embedding->levels ? -1 : embedding->summary.min_cosine;
    options.threads = embedding->dedup->threads;
    options.context = embedding;
    options.stopped = is_comparing_stopped;
    options.progress = note_vectors_compared;
    TRY(doppel_vectors_join(&vectors, &options, note_semantic_pairs, embedding, NULL, error));
    TRY(semantic_link_texts(embedding, error));
done:
    return status == DOPPEL_E_CANCELLED ? semantic_interrupted(error) : status;
}

/* ---- all ---- */

static enum doppel_status begin_embedding(struct semantic_embedding *embedding,
                                          struct doppel_error *error)
{
    const struct doppel_dedup_options *options = embedding->dedup->options;
    enum doppel_status status;
    embedding->parser = parser_new(&options->fields);
    embedding->batch_rows =
        malloc((size_t)BATCH_TEXTS * embedding->options->dimension * sizeof(float));
    if (!embedding->parser || !embedding->batch_rows)
        TRY(semantic_no_memory(error));
    TRY(doppel_text_new(&options->text, &embedding->text, error));
    TRY(temporary_file(embedding->dedup->folder, &embedding->fd, error));
done:
    return status;
}

static void end_embedding(struct semantic_embedding *embedding)
{
    for (size_t i = 0; i < embedding->count; i++)
        free(embedding->batch[i]);
    if (embedding->rows)
        munmap(embedding->rows, embedding->rows_bytes);
    if (embedding->fd >= 0)
        close(embedding->fd);
    lines_free(&embedding->lines);
    parser_free(embedding->parser);
    doppel_text_free(embedding->text);
    file_text_free(&embedding->file);
    free(embedding->batch_rows);
    array_free(&embedding->texts);
    array_free(&embedding->chunks);
    array_free(&embedding->text_of);
    doppel_vector_cohort_free(embedding->cohort);
    array_free(&embedding->pairs);
}

enum doppel_status dedup_find_semantic(struct dedup *dedup, struct doppel_error *error)
{
    struct semantic_embedding embedding = {.dedup = dedup,
                                           .options = dedup->options->semantic,
                                           .lines = {.dedup = dedup},
                                           .fd = -1,
                                           .error = error};
    if (!embedding.options || dedup->cancelled)
        return DOPPEL_OK;
    struct hand_off_files files = {0};
    enum doppel_status status;
    TRY(begin_embedding(&embedding, error));
    TRY(semantic_embed_unique(&embedding, error));
    if (embedding.written)
        TRY(map_rows(&embedding, error));
    TRY(hand_off_write(&embedding, &files, error));
    if (embedding.written)
        TRY(compare_embedded(&embedding, error));
    dedup->embedded = (uint32_t)embedding.summary.embedded;
done:
    status = hand_off_close(&files, status, error);
    if (embedding.summary.failure.status && embedding.options->summary)
        status = DOPPEL_OK; /* which is said there */
    if (embedding.options->summary)
        *embedding.options->summary = embedding.summary;
    end_embedding(&embedding);
    return status;
}
