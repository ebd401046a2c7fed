/* A second stage: what is unique by its words is embedded, and compared by meaning. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/try.h"
#include "corpus/dedup/lines.h"
#include "corpus/read/record_text.h"
#include "corpus/read/temporary.h"

enum { BATCH_TEXTS = 256, MOST_TEXT_BYTES = 1 << 20 }; /* of a text: its beginning says enough */

struct semantic_embedding {
    struct dedup *dedup;
    const struct doppel_dedup_semantic *options;
    struct doppel_dedup_semantic_summary summary;
    struct line_loader lines;
    struct parser *parser;
    struct doppel_text *text;
    struct file_text file;
    char *texts[BATCH_TEXTS];
    size_t sizes[BATCH_TEXTS], count;
    float *batch_rows;
    ARRAY(uint32_t) numbers; /* of rows */
    int fd;                  /* rows, in a file without a name */
    float *rows;             /* mapped, when all are there */
    size_t rows_bytes;
    uint64_t compared;
    ARRAY(struct doppel_vector_pair) pairs;
    bool foreseeing; /* texts are shown, and not embedded yet */
    struct doppel_error *error;
};

static enum doppel_status no_memory_to_embed(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to embed texts");
}

static enum doppel_status interrupted_embedding(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted while embedding: none is told");
}

/* ---- texts ---- */

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

/* Whatever the caller's part comes to: by its failure the stage is given up, and not the run. */
static enum doppel_status note_failure(struct semantic_embedding *embedding,
                                       enum doppel_status status, struct doppel_error *error)
{
    struct doppel_error *failure = &embedding->summary.failure;
    if (!status)
        return DOPPEL_OK;
    if (status == DOPPEL_E_CANCELLED) {
        failure->status = DOPPEL_OK;
        return interrupted_embedding(error);
    }
    failure->status = status;
    return doppel_fail(error, status, "%s", failure->message);
}

static enum doppel_status embed_texts(struct semantic_embedding *embedding,
                                      struct doppel_error *error)
{
    const struct doppel_dedup_semantic *options = embedding->options;
    const size_t row_bytes = options->dimension * sizeof(float);
    enum doppel_status each[BATCH_TEXTS];
    enum doppel_status status =
        options->embed(options->context, (const char *const *)embedding->texts, embedding->sizes,
                       embedding->count, embedding->batch_rows, each, &embedding->summary.failure);
    TRY(note_failure(embedding, status, error));
    for (size_t i = 0; i < embedding->count; i++)
        embedding->summary.too_short += each[i] != DOPPEL_OK;
    TRY(temporary_write(embedding->dedup->folder, embedding->fd, embedding->batch_rows,
                        embedding->count * row_bytes, embedding->summary.embedded * row_bytes,
                        error));
    embedding->summary.embedded += embedding->count;
done:
    return status;
}

static enum doppel_status foresee_texts(struct semantic_embedding *embedding,
                                        struct doppel_error *error)
{
    const struct doppel_dedup_semantic *options = embedding->options;
    if (!options->foresee)
        return DOPPEL_OK;
    enum doppel_status status =
        options->foresee(options->context, (const char *const *)embedding->texts, embedding->sizes,
                         embedding->count, &embedding->summary.failure);
    return note_failure(embedding, status, error);
}

static enum doppel_status flush_texts(struct semantic_embedding *embedding,
                                      struct doppel_error *error)
{
    enum doppel_status status =
        embedding->foreseeing ? foresee_texts(embedding, error) : embed_texts(embedding, error);
    for (size_t i = 0; i < embedding->count; i++)
        free(embedding->texts[i]);
    embedding->count = 0;
    return status;
}

static enum doppel_status push_text(struct semantic_embedding *embedding, uint32_t number,
                                    const char *text, size_t size, struct doppel_error *error)
{
    const size_t kept = size < MOST_TEXT_BYTES ? size : MOST_TEXT_BYTES;
    char *copy = malloc(kept + 1);
    if (!copy || (!embedding->foreseeing && !array_push(&embedding->numbers, number))) {
        free(copy);
        return no_memory_to_embed(error);
    }
    memcpy(copy, text, kept);
    copy[kept] = '\0';
    embedding->texts[embedding->count] = copy;
    embedding->sizes[embedding->count++] = kept;
    return embedding->count == BATCH_TEXTS ? flush_texts(embedding, error) : DOPPEL_OK;
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
            TRY(interrupted_embedding(error));
        if (!dedup_is_unique(dedup, i)) {
            embedding->summary.decided += !embedding->foreseeing;
            continue;
        }
        TRY(read_text_again(embedding, i, &text, &size, error));
        if (text)
            TRY(push_text(embedding, i, text, size, error));
    }
    if (embedding->count)
        TRY(flush_texts(embedding, error));
done:
    return status;
}

static enum doppel_status embed_unique(struct semantic_embedding *embedding,
                                       struct doppel_error *error)
{
    const struct doppel_dedup_semantic *options = embedding->options;
    enum doppel_status status;
    embedding->foreseeing = options->foresee;
    if (embedding->foreseeing)
        TRY(read_unique(embedding, error));
    embedding->foreseeing = false;
    if (options->begin) {
        status = options->begin(options->context, &embedding->summary.failure);
        TRY(note_failure(embedding, status, error));
    }
    TRY(read_unique(embedding, error));
done:
    return status;
}

/* ---- pairs ---- */

static bool note_semantic_pairs(void *context, const struct doppel_vector_pair *pairs, size_t count)
{
    struct semantic_embedding *embedding = context;
    for (size_t i = 0; i < count; i++)
        if (!array_push(&embedding->pairs, pairs[i]))
            return no_memory_to_embed(embedding->error) == DOPPEL_OK;
    return true;
}

static void note_vectors_compared(void *context, uint64_t done, uint64_t total)
{
    struct semantic_embedding *embedding = context;
    (void)total;
    embedding->compared = done;
}

static bool is_comparing_stopped(void *context)
{
    const struct semantic_embedding *embedding = context;
    return !dedup_goes_on(embedding->dedup, "vectors compared", embedding->compared,
                          embedding->summary.embedded);
}

/* By the later text; then the nearest first. */
static int compare_semantic_pairs(const void *a, const void *b)
{
    const struct doppel_vector_pair *x = a, *y = b;
    if (x->b != y->b)
        return x->b < y->b ? -1 : 1;
    if (x->cosine != y->cosine)
        return x->cosine > y->cosine ? -1 : 1;
    return x->a < y->a ? -1 : x->a > y->a;
}

/* Each to the nearest of those before it that are linked to none. */
static enum doppel_status link_texts(struct semantic_embedding *embedding,
                                     struct doppel_error *error)
{
    struct dedup *dedup = embedding->dedup;
    const uint32_t *numbers = embedding->numbers.items;
    bool *linked = calloc(embedding->numbers.count + 1, sizeof *linked);
    if (!linked)
        return no_memory_to_embed(error);
    if (embedding->pairs.count)
        qsort(embedding->pairs.items, embedding->pairs.count, sizeof *embedding->pairs.items,
              compare_semantic_pairs);
    bool room = true;
    for (size_t i = 0; i < embedding->pairs.count && room; i++) {
        const struct doppel_vector_pair *pair = &embedding->pairs.items[i];
        if (linked[pair->a] || linked[pair->b])
            continue;
        const struct semantic_found found = {numbers[pair->b], numbers[pair->a], pair->cosine};
        room = array_push(&dedup->semantic, found);
        linked[pair->b] = true;
    }
    free(linked);
    embedding->summary.linked = dedup->semantic.count;
    return room ? DOPPEL_OK : no_memory_to_embed(error);
}

static enum doppel_status map_rows(struct semantic_embedding *embedding, struct doppel_error *error)
{
    const size_t bytes = embedding->numbers.count * embedding->options->dimension * sizeof(float);
    void *rows = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, embedding->fd, 0);
    if (rows == MAP_FAILED)
        return no_memory_to_embed(error);
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
            status = no_memory_to_embed(error);
    }
    doppel_vector_whitening_free(whitening);
    return status;
}

static enum doppel_status choose_cosine(struct semantic_embedding *embedding,
                                        const struct doppel_vectors *vectors,
                                        struct doppel_error *error)
{
    struct dedup *dedup = embedding->dedup;
    struct doppel_vector_background_options options = doppel_vector_background_options_default();
    options.threads = dedup->threads;
    options.context = embedding;
    options.stopped = is_comparing_stopped;
    enum doppel_status status =
        doppel_vector_background_make(vectors, &options, &dedup->background, error);
    embedding->summary.min_cosine = 2;
    if (status)
        return status == DOPPEL_E_EMPTY ? DOPPEL_OK : status;
    const float asked = embedding->options->min_cosine;
    embedding->summary.pairs = doppel_vector_background_pairs(dedup->background);
    embedding->summary.min_cosine =
        asked != 0
            ? asked
            : doppel_vector_background_cosine(dedup->background, embedding->options->max_fp_rate);
    return DOPPEL_OK;
}

static enum doppel_status compare_embedded(struct semantic_embedding *embedding,
                                           struct doppel_error *error)
{
    const struct doppel_vectors vectors = {embedding->rows, embedding->numbers.count,
                                           embedding->options->dimension};
    struct doppel_vector_join_options options = doppel_vector_join_options_default();
    enum doppel_status status;
    if (embedding->options->min_cosine == 0)
        TRY(whiten_rows(embedding, &vectors, error));
    TRY(choose_cosine(embedding, &vectors, error));
    if (embedding->summary.min_cosine > 1)
        return DOPPEL_OK;
    options.min_cosine = embedding->summary.min_cosine;
    options.threads = embedding->dedup->threads;
    options.context = embedding;
    options.stopped = is_comparing_stopped;
    options.progress = note_vectors_compared;
    TRY(doppel_vectors_join(&vectors, &options, note_semantic_pairs, embedding, NULL, error));
    TRY(link_texts(embedding, error));
done:
    return status == DOPPEL_E_CANCELLED ? interrupted_embedding(error) : status;
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
        TRY(no_memory_to_embed(error));
    TRY(doppel_text_new(&options->text, &embedding->text, error));
    TRY(temporary_file(embedding->dedup->folder, &embedding->fd, error));
done:
    return status;
}

static void end_embedding(struct semantic_embedding *embedding)
{
    for (size_t i = 0; i < embedding->count; i++)
        free(embedding->texts[i]);
    if (embedding->rows)
        munmap(embedding->rows, embedding->rows_bytes);
    if (embedding->fd >= 0)
        close(embedding->fd);
    lines_free(&embedding->lines);
    parser_free(embedding->parser);
    doppel_text_free(embedding->text);
    file_text_free(&embedding->file);
    free(embedding->batch_rows);
    array_free(&embedding->numbers);
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
    enum doppel_status status;
    TRY(begin_embedding(&embedding, error));
    TRY(embed_unique(&embedding, error));
    if (embedding.numbers.count) {
        TRY(map_rows(&embedding, error));
        TRY(compare_embedded(&embedding, error));
    }
    dedup->embedded = (uint32_t)embedding.summary.embedded;
done:
    if (embedding.summary.failure.status && embedding.options->summary)
        status = DOPPEL_OK; /* which is said there */
    if (embedding.options->summary)
        *embedding.options->summary = embedding.summary;
    end_embedding(&embedding);
    return status;
}
