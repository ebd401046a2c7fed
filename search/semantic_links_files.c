/* Text files, embedded and linked by their meaning, without a library. */
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "search/semantic_links.h"

enum { BATCH_CHUNKS = 256 };

/* Chunks on their way to a vector. File i is item i + 1. */
struct file_embedding {
    struct semantic_linking *linking;
    const struct doppel_semantic_files *files;
    bool foreseeing; /* chunks are shown, and not embedded yet */
    char *batch[BATCH_CHUNKS];
    size_t sizes[BATCH_CHUNKS], count;
    struct semantic_chunk chunks[BATCH_CHUNKS];
    uint64_t items[BATCH_CHUNKS];
    float *rows; /* of a batch */
};

static struct doppel_embedder *embedder_of(const struct file_embedding *embedding)
{
    return embedding->linking->semantic->options.embedder;
}

/* ---- batches ---- */

/* What has no vector is left out. */
static enum doppel_status embed_file_chunks(struct file_embedding *embedding,
                                            const struct doppel_model_texts *texts,
                                            struct doppel_error *error)
{
    const size_t dimension = embedding->linking->dimension;
    enum doppel_status each[BATCH_CHUNKS], status;
    TRY(doppel_embedder_embed(embedder_of(embedding), texts, embedding->rows, each, error));
    for (size_t i = 0; i < texts->count; i++)
        if (!each[i] &&
            !semantic_linking_add(embedding->linking, embedding->items[i], &embedding->chunks[i],
                                  embedding->rows + i * dimension))
            TRY(semantic_linking_no_memory(error));
done:
    return status;
}

static void drop_file_chunks(struct file_embedding *embedding)
{
    for (size_t i = 0; i < embedding->count; i++)
        free(embedding->batch[i]);
    embedding->count = 0;
}

static enum doppel_status flush_file_chunks(struct file_embedding *embedding,
                                            struct doppel_error *error)
{
    const struct doppel_semantic_files *files = embedding->files;
    const struct doppel_model_texts texts = {(const char *const *)embedding->batch,
                                             embedding->sizes, embedding->count};
    enum doppel_status status = embedding->foreseeing
                                    ? files->foresee(files->context, &texts, error)
                                    : embed_file_chunks(embedding, &texts, error);
    drop_file_chunks(embedding);
    return status;
}

/* ---- files ---- */

static enum doppel_status push_file_chunk(struct file_embedding *embedding, uint64_t item,
                                          const char *text, const struct doppel_text_chunk *chunk,
                                          struct doppel_error *error)
{
    const size_t size = (size_t)(chunk->byte_end - chunk->byte_start), at = embedding->count;
    char *copy = malloc(size + 1);
    if (!copy)
        return semantic_linking_no_memory(error);
    memcpy(copy, text + chunk->byte_start, size);
    copy[size] = '\0';
    embedding->batch[at] = copy;
    embedding->sizes[at] = size;
    embedding->items[at] = item;
    embedding->chunks[at] = (struct semantic_chunk){.start = chunk->start, .end = chunk->end};
    embedding->count++;
    return embedding->count == BATCH_CHUNKS ? flush_file_chunks(embedding, error) : DOPPEL_OK;
}

static enum doppel_status push_file_text(struct file_embedding *embedding, uint64_t item,
                                         const char *bytes, size_t size, struct doppel_error *error)
{
    struct doppel_text_chunker chunker;
    struct doppel_text_chunk chunk;
    const char *plain;
    enum doppel_status status;
    TRY(doppel_text_plain(embedding->linking->semantic->text, bytes, size, &plain, &size, error));
    TRY(doppel_text_chunker_begin(plain, size, NULL, &chunker, error));
    while (doppel_text_chunker_next(&chunker, &chunk))
        TRY(push_file_chunk(embedding, item, plain, &chunk, error));
done:
    return status;
}

/* One that cannot be read is reported once. */
static enum doppel_status push_file(struct file_embedding *embedding, size_t number,
                                    struct doppel_error *error)
{
    struct doppel_run *run = embedding->linking->semantic->run;
    const char *path = embedding->files->files[number].path;
    struct doppel_error why;
    char *bytes = NULL;
    size_t size;
    enum doppel_status status = semantic_read_file(path, &bytes, &size, &why);
    if (status == DOPPEL_E_MEMORY)
        TRY(semantic_linking_no_memory(error));
    if (status && !embedding->foreseeing)
        doppel_run_failed(run, path, &why);
    status = status ? DOPPEL_OK : push_file_text(embedding, number + 1, bytes, size, error);
done:
    free(bytes);
    return status;
}

static enum doppel_status push_files(struct file_embedding *embedding, struct doppel_error *error)
{
    struct doppel_run *run = embedding->linking->semantic->run;
    const size_t count = embedding->files->count;
    enum doppel_status status = DOPPEL_OK;
    doppel_run_begin(run, embedding->foreseeing ? "texts counted" : "texts embedded", count);
    for (size_t i = 0; i < count; i++) {
        if (doppel_run_cancelled(run))
            TRY(doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted"));
        TRY(push_file(embedding, i, error));
        doppel_run_advance(run, i + 1);
    }
    if (embedding->count)
        TRY(flush_file_chunks(embedding, error));
done:
    doppel_run_end(run);
    return status;
}

/* Which chunk of how many each is, now that it is known. Rows of a text follow each other. */
static void number_chunks(struct semantic_linking *linking)
{
    struct semantic_chunk *chunks = linking->chunks.items;
    const uint64_t *items = linking->items.items;
    for (size_t i = 0, end; i < linking->chunks.count; i = end) {
        for (end = i + 1; end < linking->chunks.count && items[end] == items[i]; end++)
            ;
        for (size_t j = i; j < end; j++) {
            chunks[j].total = chunks[end - 1].end;
            chunks[j].number = (uint32_t)(j - i);
            chunks[j].count = (uint32_t)(end - i);
        }
    }
}

static enum doppel_status embed_files(struct semantic_linking *linking,
                                      const struct doppel_semantic_files *files,
                                      struct doppel_error *error)
{
    struct file_embedding embedding = {.linking = linking, .files = files};
    enum doppel_status status = DOPPEL_OK;
    embedding.rows = malloc((size_t)BATCH_CHUNKS * linking->dimension * sizeof *embedding.rows);
    if (!embedding.rows)
        TRY(semantic_linking_no_memory(error));
    embedding.foreseeing = files->foresee != NULL;
    if (embedding.foreseeing)
        TRY(push_files(&embedding, error));
    embedding.foreseeing = false;
    if (files->begin)
        TRY(files->begin(files->context, error));
    TRY(push_files(&embedding, error));
    number_chunks(linking);
done:
    drop_file_chunks(&embedding);
    free(embedding.rows);
    return status;
}

/* ---- whitening ---- */

static enum doppel_status whiten_files(struct semantic_linking *linking, struct doppel_error *error)
{
    const struct doppel_vectors vectors = {linking->rows, linking->chunks.count,
                                           linking->dimension};
    struct doppel_vector_whitening *whitening = NULL;
    enum doppel_status status = doppel_vector_whitening_make(&vectors, &whitening, error);
    if (status)
        return status == DOPPEL_E_EMPTY ? DOPPEL_OK : status;
    for (size_t i = 0; i < vectors.count && !status; i++) {
        float *row = linking->rows + i * vectors.dimension;
        if (!doppel_vector_whiten(whitening, row, row))
            status = semantic_linking_no_memory(error);
    }
    doppel_vector_whitening_free(whitening);
    return status;
}

/* ---- links ---- */

static enum doppel_status visit_file_link(const struct semantic_linking *linking,
                                          const struct doppel_semantic_files *files,
                                          const struct chosen_link *chosen,
                                          doppel_semantic_pair_visitor *visit, void *context,
                                          struct doppel_error *error)
{
    const struct doppel_semantic_file
        *file = &files->files[linking->texts.items[chosen->text].item - 1],
        *of = &files->files[linking->texts.items[chosen->of].item - 1];
    const struct doppel_name name = {.path = (char *)file->path, .kind = DOPPEL_KIND_TEXT};
    struct doppel_semantic_pair pair = {
        .name = &name, .group = file->group, .of_group = of->group, .link = chosen->link};
    pair.link.of_item = 0;
    pair.link.of_path = of->path;
    return visit(context, &pair, error);
}

enum doppel_status doppel_semantic_link_files(struct doppel_semantic *semantic,
                                              const struct doppel_semantic_files *files,
                                              doppel_semantic_pair_visitor *visit, void *context,
                                              struct doppel_error *error)
{
    struct semantic_linking linking = {.semantic = semantic};
    enum doppel_status status = DOPPEL_OK;
    if (!semantic->options.embedder)
        TRY(doppel_fail(error, DOPPEL_E_ARGUMENT, "there is no model to embed texts"));
    linking.dimension = doppel_embedder_identity(semantic->options.embedder)->dimension;
    TRY(embed_files(&linking, files, error));
    TRY(semantic_linking_sort(&linking, error));
    for (size_t i = 0; i < linking.texts.count; i++) {
        const struct doppel_semantic_file *file = &files->files[linking.texts.items[i].item - 1];
        linking.texts.items[i].reference = file->reference;
        linking.texts.items[i].group = file->group;
    }
    if (semantic->options.min_cosine == 0 &&
        !doppel_embedder_is_whitened(semantic->options.embedder))
        TRY(whiten_files(&linking, error));
    TRY(semantic_linking_weigh(&linking, error));
    TRY(semantic_linking_find(&linking, error));
    semantic_linking_sum_up(&linking, files->summary);
    for (size_t i = 0; i < linking.links.count; i++)
        TRY(visit_file_link(&linking, files, &linking.links.items[i], visit, context, error));
done:
    semantic_weigh_no_more(semantic); /* which is of these files alone */
    semantic_linking_free(&linking);
    return status;
}
