/* A whitened model is learned from vectors of its base, and written into the folder of models. */
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "embed/embedder_internal.h"
#include "embed/models.h"
#include "embed/whitened/whitened.h"

enum { LEARNED_MOST = 1 << 16 }; /* as doppel_vector_whitening_make has it */

struct doppel_model_whiten_options doppel_model_whiten_options_default(void)
{
    return (struct doppel_model_whiten_options){0};
}

static enum doppel_status check_whiten(const struct doppel_model_whiten_options *options,
                                       struct doppel_error *error)
{
    const struct doppel_embedder_identity *base;
    enum doppel_status status;
    if (!options->folder || !*options->folder || !options->name || !options->base ||
        !options->vectors)
        TRY(doppel_fail(error, DOPPEL_E_ARGUMENT,
                        "a whitened model needs a folder, a name, a model, and vectors of it"));
    TRY(model_check_name(options->name, error));
    base = &options->base->identity;
    if (options->base->whitening)
        TRY(doppel_fail(error, DOPPEL_E_ARGUMENT,
                        "the vectors of '%.100s' are whitened already: name the model that it is "
                        "of",
                        base->name));
    if (options->vectors->dimension != base->dimension)
        TRY(doppel_fail(error, DOPPEL_E_ARGUMENT,
                        "vectors of %u numbers are not of '%.100s', whose vectors have %u",
                        options->vectors->dimension, base->name, base->dimension));
    if (options->vectors->count < base->dimension)
        TRY(doppel_fail(error, DOPPEL_E_EMPTY,
                        "%zu passages with a vector are too few to whiten vectors of %u numbers: "
                        "it takes as many at least, and better ten times as many",
                        options->vectors->count, base->dimension));
done:
    return status;
}

static enum doppel_status learn_numbers(const struct doppel_vectors *vectors,
                                        struct whitened_model *out, struct doppel_error *error)
{
    struct doppel_vector_whitening *whitening = NULL;
    enum doppel_status status;
    TRY(doppel_vector_whitening_make(vectors, &whitening, error));
    out->numbers = malloc(doppel_vector_whitening_size(vectors->dimension) * sizeof(float));
    if (!out->numbers)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the model"));
    doppel_vector_whitening_get(whitening, out->numbers);
    out->info.learned_from = vectors->count < LEARNED_MOST ? vectors->count : LEARNED_MOST;
done:
    doppel_vector_whitening_free(whitening);
    return status;
}

static enum doppel_status take_base(const struct doppel_embedder *base, struct whitened_model *out,
                                    struct doppel_error *error)
{
    const struct doppel_embedder_identity *identity = &base->identity;
    const float *probe = doppel_embedder_probe(base);
    memcpy(out->info.base, identity->name, sizeof out->info.base);
    memcpy(out->info.prefix, identity->prefix, sizeof out->info.prefix);
    memcpy(out->base_revision, identity->revision, sizeof out->base_revision);
    out->info.dimension = identity->dimension;
    out->info.of_service = probe != NULL;
    if (!probe)
        return DOPPEL_OK;
    out->probe = malloc(identity->dimension * sizeof *out->probe);
    if (!out->probe)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the model");
    memcpy(out->probe, probe, identity->dimension * sizeof *out->probe);
    return DOPPEL_OK;
}

static enum doppel_status put_whitened(void *context, const char *path, struct doppel_error *error)
{
    return whitened_write(context, path, error);
}

enum doppel_status doppel_model_whiten(const struct doppel_model_whiten_options *options,
                                       struct doppel_model_info *out, struct doppel_error *error)
{
    struct whitened_model model = {0};
    struct doppel_model_info info;
    enum doppel_status status;
    TRY(check_whiten(options, error));
    TRY(take_base(options->base, &model, error));
    TRY(learn_numbers(options->vectors, &model, error));
    if (!whitened_set_revision(&model))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the model"));
    const struct model_placing placing = {options->folder, options->name, put_whitened, &model};
    TRY(model_place(&placing, &info, error));
    *out = info;
done:
    whitened_free(&model);
    return status;
}
