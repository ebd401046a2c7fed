/* The vectors of a library: whose they are; copied with it. */
#include <stdio.h>
#include <stdlib.h>

#include "core/try.h"
#include "search/semantic.h"

/* Given (free); NULL without memory. */
static char *vectors_folder(const char *directory)
{
    char *folder;
    return asprintf(&folder, "%s/vectors", directory) < 0 ? NULL : folder;
}

static enum doppel_status no_upkeep_memory(const char *directory, struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory for its vectors", directory);
}

enum doppel_status doppel_semantic_model(struct doppel_library *library, const char *directory,
                                         struct doppel_embedder_identity *out,
                                         struct doppel_error *error)
{
    char *folder = vectors_folder(directory);
    struct doppel_vector_index *index = NULL;
    const struct doppel_vector_index_options options = {.folder = folder, .shared = true};
    enum doppel_status status;
    if (!folder)
        TRY(no_upkeep_memory(directory, error));
    TRY(semantic_open_known(library, &options, &index, error));
    *out = *doppel_vector_index_identity(index);
done:
    doppel_vector_index_close(index);
    free(folder);
    return status;
}

enum doppel_status doppel_semantic_copy(struct doppel_library *library, const char *directory,
                                        const char *copy, struct doppel_error *error)
{
    char *from = vectors_folder(directory), *to = vectors_folder(copy);
    struct doppel_vector_index *index = NULL;
    const struct doppel_vector_index_options options = {.folder = from, .shared = true};
    enum doppel_status status = DOPPEL_OK;
    if (!from || !to)
        TRY(no_upkeep_memory(directory, error));
    status = semantic_open_known(library, &options, &index, error);
    if (status == DOPPEL_E_NOT_FOUND) { /* and none is known */
        status = DOPPEL_OK;
        goto done;
    }
    TRY(status);
    TRY(doppel_vector_index_copy(index, to, error));
done:
    doppel_vector_index_close(index);
    free(from);
    free(to);
    return status;
}
