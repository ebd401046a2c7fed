/* Texts of files by their meaning: searched for, and compared. */
#include <stdlib.h>
#include <string.h>

#include "core/files/read_beginning.h"
#include "core/try.h"
#include "search/semantic.h"

enum { MOST_FILE_BYTES = 1 << 20 };

enum doppel_status semantic_read_file(const char *path, char **out, size_t *out_size,
                                      struct doppel_error *error)
{
    char *bytes = NULL;
    size_t size;
    enum doppel_status status;
    TRY(read_file_beginning(path, MOST_FILE_BYTES, &bytes, &size, error));
    if (size >= 4 && (memcmp(bytes, "PK\3\4", 4) == 0 || memcmp(bytes, "%PDF", 4) == 0))
        TRY(doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                        "a document: the meaning of plain texts alone is taken"));
    *out = bytes;
    *out_size = size;
    bytes = NULL;
done:
    free(bytes);
    return status;
}

enum doppel_status doppel_semantic_search_file(struct doppel_semantic *semantic, const char *path,
                                               struct doppel_semantic_results *results,
                                               struct doppel_error *error)
{
    char *bytes = NULL;
    size_t size;
    enum doppel_status status;
    TRY(semantic_read_file(path, &bytes, &size, error));
    TRY(doppel_semantic_search(semantic, bytes, size, results, error));
done:
    free(bytes);
    return status;
}

/* ---- comparing ---- */

static enum doppel_status embed_file(struct doppel_semantic *semantic, const char *path,
                                     struct doppel_error *error)
{
    char *bytes = NULL;
    size_t size;
    enum doppel_status status;
    TRY(semantic_read_file(path, &bytes, &size, error));
    TRY(semantic_embed(semantic, bytes, size, error));
done:
    free(bytes);
    return status;
}

/* The value of the nearest. @param semantic of which the first rows are searched for; NULL: their
 * cosine */
static float nearest_rows(const struct doppel_semantic *semantic, const struct doppel_vectors *a,
                          const struct doppel_vectors *b)
{
    float nearest = -1;
    for (size_t i = 0; i < a->count; i++)
        for (size_t j = 0; j < b->count; j++) {
            const float cosine = doppel_vector_cosine(a->rows + i * a->dimension,
                                                      b->rows + j * b->dimension, a->dimension);
            const float value =
                semantic ? semantic_hit_value(semantic, (uint32_t)i, cosine) : cosine;
            nearest = value > nearest ? value : nearest;
        }
    return nearest;
}

enum doppel_status doppel_semantic_compare_files(struct doppel_semantic *semantic, const char *a,
                                                 const char *b, float *out,
                                                 struct doppel_error *error)
{
    const uint32_t dimension = doppel_embedder_identity(semantic->options.embedder)->dimension;
    float *first = NULL;
    enum doppel_status status;
    TRY(embed_file(semantic, a, error));
    const struct doppel_vectors rows = {semantic->rows, semantic->chunks.count, dimension};
    first = semantic->rows;
    semantic->rows = NULL;
    TRY(embed_file(semantic, b, error));
    const struct doppel_vectors others = {semantic->rows, semantic->chunks.count, dimension};
    *out = nearest_rows(NULL, &rows, &others);
done:
    free(first);
    return status;
}

enum doppel_status doppel_semantic_rate_files(struct doppel_semantic *semantic, const char *a,
                                              const char *b, double *out,
                                              struct doppel_error *error)
{
    const uint32_t dimension = doppel_embedder_identity(semantic->options.embedder)->dimension;
    float *first = NULL, lowest;
    enum doppel_status status;
    TRY(semantic_weigh(semantic, error));
    TRY(embed_file(semantic, a, error));
    TRY(semantic_find_levels(semantic, &lowest, error));
    const struct doppel_vectors rows = {semantic->rows, semantic->chunks.count, dimension};
    first = semantic->rows;
    semantic->rows = NULL;
    TRY(embed_file(semantic, b, error));
    const struct doppel_vectors others = {semantic->rows, semantic->chunks.count, dimension};
    *out = !rows.count || !others.count
               ? 1
               : semantic_stated_rate(semantic, nearest_rows(semantic, &rows, &others),
                                      (double)rows.count * (double)others.count);
done:
    free(first);
    return status;
}
