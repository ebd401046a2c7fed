/* The vectors of a library: whose they are; copied with it, and verified. */
#include <doppel/search_semantic.h>

#include <stdio.h>
#include <stdlib.h>

#include "core/try.h"

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

enum doppel_status doppel_semantic_model(const char *directory,
                                         struct doppel_embedder_identity *out,
                                         struct doppel_error *error)
{
    char *folder = vectors_folder(directory);
    struct doppel_vector_index *index = NULL;
    const struct doppel_vector_index_options options = {.folder = folder, .shared = true};
    enum doppel_status status;
    if (!folder)
        TRY(no_upkeep_memory(directory, error));
    TRY(doppel_vector_index_open(&options, &index, error));
    *out = *doppel_vector_index_identity(index);
done:
    doppel_vector_index_close(index);
    free(folder);
    return status;
}

enum doppel_status doppel_semantic_copy(const char *directory, const char *copy,
                                        struct doppel_error *error)
{
    char *from = vectors_folder(directory), *to = vectors_folder(copy);
    struct doppel_vector_index *index = NULL;
    const struct doppel_vector_index_options options = {.folder = from, .shared = true};
    enum doppel_status status = DOPPEL_OK;
    if (!from || !to)
        TRY(no_upkeep_memory(directory, error));
    if (!doppel_vector_index_is_there(from))
        goto done;
    TRY(doppel_vector_index_open(&options, &index, error));
    TRY(doppel_vector_index_copy(index, to, error));
done:
    doppel_vector_index_close(index);
    free(from);
    free(to);
    return status;
}

/* ---- verifying ---- */

struct vectors_verified {
    const char *folder;
    bool repair;
    doppel_problem_visitor *visit;
    void *context;
};

static bool report_vectors(const struct vectors_verified *verified, const char *path,
                           const char *detail, bool repaired)
{
    const struct doppel_problem problem = {
        .problem = "vectors", .path = path, .detail = detail, .repaired = repaired};
    return verified->visit(verified->context, &problem);
}

static bool report_segment(void *context, const struct doppel_store_segment *segment)
{
    const struct vectors_verified *verified = context;
    char *path;
    if (!segment->error)
        return true;
    if (asprintf(&path, "%s/%s", verified->folder, segment->name) < 0)
        return false;
    const bool more = report_vectors(verified, path, segment->error->message, verified->repair);
    free(path);
    return more;
}

enum doppel_status doppel_semantic_verify(const char *directory, bool repair,
                                          doppel_problem_visitor *visit, void *context,
                                          struct doppel_error *error)
{
    char *folder = vectors_folder(directory);
    struct doppel_vector_index *index = NULL;
    const struct vectors_verified verified = {folder, repair, visit, context};
    const struct doppel_vector_index_options options = {
        .folder = folder, .write = repair, .salvage = true};
    struct doppel_error why;
    enum doppel_status status = DOPPEL_OK;
    if (!folder)
        TRY(no_upkeep_memory(directory, error));
    if (!doppel_vector_index_is_there(folder))
        goto done;
    if (doppel_vector_index_open(&options, &index, &why)) {
        if (!report_vectors(&verified, folder, why.message, false))
            TRY(doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted"));
        goto done;
    }
    TRY((repair ? doppel_store_index_repair : doppel_store_index_verify)(
        doppel_vector_index_codes(index), report_segment, (void *)&verified, error));
done:
    doppel_vector_index_close(index);
    free(folder);
    return status;
}
