/* Texts of files by their meaning: searched for, and compared. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/open_deep.h"
#include "core/files/read_at.h"
#include "core/try.h"
#include "search/semantic.h"

enum { MOST_FILE_BYTES = 1 << 20 };

enum doppel_status semantic_read_file(const char *path, char **out, size_t *out_size,
                                      struct doppel_error *error)
{
    struct stat file;
    enum doppel_status status = DOPPEL_OK;
    char *bytes = NULL;
    ssize_t size = -1;
    const int fd = open_deep(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &file))
        TRY(doppel_fail(error, errno == ENOENT ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO, "%s: %s", path,
                        strerror(errno)));
    if (!S_ISREG(file.st_mode))
        TRY(doppel_fail(error, DOPPEL_E_FORMAT, "%s: no regular file", path));
    /* of some file systems no size is known before */
    const size_t room =
        file.st_size > 0 && file.st_size < MOST_FILE_BYTES ? (size_t)file.st_size : MOST_FILE_BYTES;
    bytes = malloc(room);
    if (!bytes)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory to read it", path));
    size = read_at(fd, bytes, room, 0);
    if (size < 0)
        TRY(doppel_fail(error, DOPPEL_E_IO, "%s: %s", path, strerror(errno)));
    *out = bytes;
    *out_size = (size_t)size;
    bytes = NULL;
done:
    if (fd >= 0)
        close(fd);
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

static float nearest_rows(const struct doppel_vectors *a, const struct doppel_vectors *b)
{
    float nearest = -1;
    for (size_t i = 0; i < a->count; i++)
        for (size_t j = 0; j < b->count; j++) {
            const float cosine = doppel_vector_cosine(a->rows + i * a->dimension,
                                                      b->rows + j * b->dimension, a->dimension);
            nearest = cosine > nearest ? cosine : nearest;
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
    *out = nearest_rows(&rows, &others);
done:
    free(first);
    return status;
}
