/* Models of model2vec, and StaticEmbedding of sentence-transformers: a matrix in safetensors, maybe
 * with a row for several tokens and a weight for each, and a tokenizer.json. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/bytes.h"
#include "core/try.h"
#include "embed/model_source.h"
#include "embed/safetensors.h"

struct mapped_file {
    const uint8_t *bytes;
    size_t size;
};

static enum doppel_status map_tensors(const char *path, struct mapped_file *out,
                                      struct doppel_error *error)
{
    struct stat stamp;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &stamp) != 0) {
        int reason = errno;
        if (fd >= 0)
            close(fd);
        return doppel_fail(error, reason == ENOENT ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO, "%s: %s",
                           path, strerror(reason));
    }
    size_t size = (size_t)stamp.st_size;
    void *map = S_ISREG(stamp.st_mode) && size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0)
                                               : MAP_FAILED;
    close(fd);
    if (map == MAP_FAILED)
        return doppel_fail(error, DOPPEL_E_FORMAT, "%s: no file of safetensors, or cut short",
                           path);
    *out = (struct mapped_file){map, size};
    return DOPPEL_OK;
}

/* ---- the matrix ---- */

static enum doppel_status check_matrix(const struct tensor *tensor, const char *path,
                                       struct doppel_error *error)
{
    if (tensor->dimensions != 2 || (!tensor_is_float(tensor) && tensor->type != TENSOR_I8))
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "%s: the embeddings are no matrix of floats or of 8-bit integers", path);
    if (!tensor->shape[0] || !tensor->shape[1])
        return doppel_fail(error, DOPPEL_E_CORRUPT, "%s: the embeddings have no rows", path);
    if (tensor->shape[1] > DOPPEL_MODEL_MAX_DIMENSION || tensor->shape[0] > MODEL_MAX_TOKENS)
        return doppel_fail(error, DOPPEL_E_LIMIT,
                           "%s: %zu rows of %zu numbers are more than doppel takes", path,
                           tensor->shape[0], tensor->shape[1]);
    return DOPPEL_OK;
}

/* Floats that are numbers. @param name for messages */
static enum doppel_status take_floats(const struct tensor *tensor, const char *path,
                                      const char *name, float **out, struct doppel_error *error)
{
    size_t bytes;
    float *floats = size_multiply(tensor->count, sizeof *floats, &bytes) ? malloc(bytes) : NULL;
    if (!floats)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %s", path);
    for (size_t i = 0; i < tensor->count; i++) {
        floats[i] = tensor_float(tensor, i);
        if (isfinite(floats[i]))
            continue;
        free(floats);
        return doppel_fail(error, DOPPEL_E_CORRUPT, "%s: number %zu of '%s' is none", path, i,
                           name);
    }
    *out = floats;
    return DOPPEL_OK;
}

static enum doppel_status take_matrix(const struct mapped_file *file, const char *path,
                                      struct model_source *out, struct doppel_error *error)
{
    static const char *const names[] = {"embeddings", "embedding.weight"};
    struct tensor tensor;
    enum doppel_status status =
        tensor_find(file->bytes, file->size, path, names[0], &tensor, error);
    if (status == DOPPEL_E_NOT_FOUND)
        status = tensor_find(file->bytes, file->size, path, names[1], &tensor, error);
    if (status == DOPPEL_E_NOT_FOUND)
        doppel_fail(error, status = DOPPEL_E_FORMAT, "%s: has no 'embeddings'", path);
    if (status)
        return status;
    TRY(check_matrix(&tensor, path, error));
    out->head.rows = (uint32_t)tensor.shape[0];
    out->head.dimension = (uint32_t)tensor.shape[1];
    TRY(take_floats(&tensor, path, "embeddings", &out->matrix, error));
done:
    return status;
}

/* ---- what is there of each token ---- */

/* A tensor with as many numbers as there are tokens. DOPPEL_E_NOT_FOUND: none. */
static enum doppel_status find_of_tokens(const struct mapped_file *file, const char *path,
                                         const char *name, uint32_t tokens, struct tensor *out,
                                         struct doppel_error *error)
{
    enum doppel_status status = tensor_find(file->bytes, file->size, path, name, out, error);
    if (!status && (out->count != tokens || out->shape[1] != 1))
        status = doppel_fail(error, DOPPEL_E_CORRUPT,
                             "%s: '%s' has %zu numbers, the tokenizer has %u tokens", path, name,
                             out->count, tokens);
    return status;
}

static enum doppel_status take_mapping(const struct mapped_file *file, const char *path,
                                       struct model_source *out, struct doppel_error *error)
{
    struct tensor tensor;
    enum doppel_status status =
        find_of_tokens(file, path, "mapping", out->head.tokens, &tensor, error);
    if (status)
        return status;
    if (tensor.type != TENSOR_I32 && tensor.type != TENSOR_I64)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "%s: 'mapping' has no whole numbers", path);
    out->mapping = malloc(tensor.count * sizeof *out->mapping);
    if (!out->mapping)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %s", path);
    for (size_t i = 0; i < tensor.count; i++) {
        int64_t row = tensor_integer(&tensor, i);
        if (row < 0 || row >= out->head.rows)
            return doppel_fail(error, DOPPEL_E_CORRUPT,
                               "%s: 'mapping' gives token %zu row %lld of %u", path, i,
                               (long long)row, out->head.rows);
        out->mapping[i] = (uint32_t)row;
    }
    return DOPPEL_OK;
}

static enum doppel_status take_weights(const struct mapped_file *file, const char *path,
                                       struct model_source *out, struct doppel_error *error)
{
    struct tensor tensor;
    enum doppel_status status =
        find_of_tokens(file, path, "weights", out->head.tokens, &tensor, error);
    if (status)
        return status;
    if (!tensor_is_float(&tensor))
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "%s: 'weights' has no floats", path);
    return take_floats(&tensor, path, "weights", &out->weights, error);
}

static enum doppel_status take_tensors(const char *path, struct model_source *out,
                                       struct doppel_error *error)
{
    struct mapped_file file = {0};
    enum doppel_status status = map_tensors(path, &file, error);
    if (status)
        return status;
    TRY(take_matrix(&file, path, out, error));
    status = take_mapping(&file, path, out, error);
    if (status == DOPPEL_E_NOT_FOUND && out->head.tokens != out->head.rows)
        status =
            doppel_fail(error, DOPPEL_E_CORRUPT, "%s: %u rows, but the tokenizer has %u tokens",
                        path, out->head.rows, out->head.tokens);
    if (status != DOPPEL_E_NOT_FOUND)
        TRY(status);
    status = take_weights(&file, path, out, error);
    if (status == DOPPEL_E_NOT_FOUND)
        status = DOPPEL_OK;
done:
    munmap((void *)file.bytes, file.size);
    return status;
}

/* ---- the folder ---- */

static bool holds_both(const char *folder, const char *sub)
{
    static const char *const names[] = {"model.safetensors", "tokenizer.json"};
    char path[4096];
    for (int i = 0; i < 2; i++)
        if ((size_t)snprintf(path, sizeof path, "%s%s/%s", folder, sub, names[i]) >= sizeof path ||
            access(path, F_OK) != 0)
            return false;
    return true;
}

enum doppel_status model2vec_read(const char *folder, struct model_source *out,
                                  struct doppel_error *error)
{
    char path[4096];
    const char *sub = holds_both(folder, "") ? "" : "/0_StaticEmbedding";
    enum doppel_status status;
    if (!holds_both(folder, sub))
        return doppel_fail(error, DOPPEL_E_FORMAT,
                           "%s: has no model.safetensors and tokenizer.json, as a model of "
                           "model2vec has",
                           folder);
    snprintf(path, sizeof path, "%s%s/tokenizer.json", folder, sub);
    TRY(tokenizer_read(path, out, error));
    snprintf(path, sizeof path, "%s%s/model.safetensors", folder, sub);
    TRY(take_tensors(path, out, error));
done:
    return status;
}
