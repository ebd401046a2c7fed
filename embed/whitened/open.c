/* An embedder of a whitened model is one of its base, whose vectors are whitened. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "embed/embedder_internal.h"
#include "embed/model.h"
#include "embed/whitened/whitened.h"

/* ---- which one ---- */

static enum doppel_status check_base_kind(const struct whitened_model *model, bool asks_service,
                                          struct doppel_error *error)
{
    if (model->info.of_service == asks_service)
        return DOPPEL_OK;
    return asks_service
               ? doppel_fail(error, DOPPEL_E_ARGUMENT,
                             "'%s' whitens vectors of the model '%.100s', which is one of this "
                             "machine: no service has it (leave --embeddings out)",
                             model->info.name, model->info.base)
               : doppel_fail(error, DOPPEL_E_ARGUMENT,
                             "'%s' whitens vectors of the model '%.100s' of a service: say where "
                             "it is (--embeddings URL)",
                             model->info.name, model->info.base);
}

static enum doppel_status read_named(const char *path, const char *name, bool asks_service,
                                     struct whitened_model *out, struct doppel_error *error)
{
    const enum model_file there = model_file_at(path);
    enum doppel_status status;
    if (asks_service && there == MODEL_FILE_OTHER) /* it may have been the whitened one */
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "%s: is damaged, and may be what vectors of a service are to be "
                           "whitened by: remove it with 'doppel model remove %s'",
                           path, name);
    if (there != MODEL_FILE_WHITENED)
        return DOPPEL_OK;
    TRY(whitened_read(path, name, out, error));
    status = check_base_kind(out, asks_service, error);
    if (status)
        whitened_free(out);
done:
    return status;
}

enum doppel_status whitened_find(const struct doppel_embedder_options *options,
                                 struct whitened_model *out, struct doppel_error *error)
{
    const char *name = options->endpoint ? options->endpoint->model : options->name;
    if (!options->folder || !name || !model_name_is_good(name))
        return DOPPEL_OK; /* where that is a mistake, it is said when a model is opened */
    char *path = model_path(options->folder, name);
    if (!path)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an embedder");
    const enum doppel_status status = read_named(path, name, options->endpoint, out, error);
    free(path);
    return status;
}

/* ---- its base ---- */

enum doppel_status whitened_fail_base(const struct whitened_model *model,
                                      const struct doppel_error *reason, struct doppel_error *error)
{
    const struct doppel_model_info *info = &model->info;
    if (reason->status == DOPPEL_E_NOT_FOUND && !info->of_service)
        return doppel_fail(error, reason->status,
                           "'%s' whitens vectors of the model '%.100s', which is not here: add "
                           "that one again with 'doppel model add'",
                           info->name, info->base);
    if (reason->status == DOPPEL_E_VERSION)
        return doppel_fail(error, reason->status,
                           "%.300s; '%s' whitens vectors of the former one: remove it, and make it "
                           "again with 'doppel model whiten'",
                           reason->message, info->name);
    return doppel_fail(error, reason->status, "%s", reason->message);
}

enum doppel_status whitened_take(struct doppel_embedder *embedder,
                                 const struct whitened_model *model, struct doppel_error *error)
{
    struct doppel_embedder_identity *identity = &embedder->identity;
    const struct doppel_model_info *info = &model->info;
    enum doppel_status status;
    if (identity->dimension != info->dimension || strcmp(identity->prefix, info->prefix) != 0 ||
        strcmp(identity->revision, model->base_revision) != 0) {
        struct doppel_error reason;
        doppel_fail(&reason, DOPPEL_E_VERSION,
                    "the model '%.100s' has the revision %.8s by now, and had %.8s", info->base,
                    identity->revision, model->base_revision);
        return whitened_fail_base(model, &reason, error);
    }
    TRY(doppel_vector_whitening_set(model->numbers, info->dimension, &embedder->whitening, error));
    memset(identity->name, 0, sizeof identity->name);
    memcpy(identity->name, info->name, strlen(info->name));
    memcpy(identity->revision, info->revision, sizeof info->revision);
done:
    return status;
}

bool doppel_embedder_is_whitened(const struct doppel_embedder *embedder)
{
    return embedder->whitening != NULL;
}

/* ---- vectors ---- */

/* Of length 1. @return DOPPEL_E_TOO_SHORT: it has no direction; DOPPEL_E_CORRUPT */
static enum doppel_status scale_whitened(float *row, size_t dimension)
{
    double squares = 0;
    for (size_t i = 0; i < dimension; i++)
        squares += (double)row[i] * (double)row[i];
    if (!isfinite(squares))
        return DOPPEL_E_CORRUPT;
    const float scale = squares > 0 ? (float)(1 / sqrt(squares)) : 0;
    const bool is_short = squares <= 0 || !isfinite(scale);
    for (size_t i = 0; i < dimension; i++)
        row[i] = is_short ? 0 : row[i] * scale;
    return is_short ? DOPPEL_E_TOO_SHORT : DOPPEL_OK;
}

enum doppel_status whiten_embedded(struct doppel_embedder *embedder, size_t count, float *rows,
                                   enum doppel_status *each, struct doppel_error *error)
{
    const size_t dimension = embedder->identity.dimension;
    for (size_t i = 0; i < count; i++) {
        float *row = rows + i * dimension;
        if (each[i])
            continue;
        if (!doppel_vector_whiten(embedder->whitening, row, row))
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to embed texts");
        each[i] = scale_whitened(row, dimension);
        if (each[i] == DOPPEL_E_CORRUPT)
            return doppel_fail(error, DOPPEL_E_CORRUPT,
                               "the model '%.100s' has vectors that no number can hold: remove it, "
                               "and make it again with 'doppel model whiten'",
                               embedder->identity.name);
    }
    return DOPPEL_OK;
}
