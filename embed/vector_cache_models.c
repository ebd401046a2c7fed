/* The models that a cache of vectors knows: which one answers now, which there are, and forgetting
 * one. */
#include <stdlib.h>
#include <string.h>

#include "core/digest.h"
#include "embed/endpoint/endpoint.h"
#include "embed/vector_cache_internal.h"

/* ---- which one answers ---- */

static void bind_model_text(sqlite3_stmt *statement, int place, const char *text)
{
    sqlite3_bind_text(statement, place, text, -1, SQLITE_STATIC);
}

/* A checksum of what a model is compared by. */
static int64_t sum_of_model(const void *revision, const void *probe, size_t size)
{
    const uint64_t sums[] = {checksum64(revision, 32), checksum64(probe, size)};
    return (int64_t)checksum64(sums, sizeof sums);
}

/* A row with id, revision, probe and checksum. */
struct known_model {
    int64_t id;
    const unsigned char *revision;
    const void *probe;
    size_t probe_size;
    bool whole;
};

static void read_known_model(sqlite3_stmt *statement, struct known_model *out)
{
    out->id = sqlite3_column_int64(statement, 0);
    out->revision = sqlite3_column_text(statement, 1);
    out->whole = out->revision && sqlite3_column_bytes(statement, 1) == 32;
    out->probe = sqlite3_column_blob(statement, 2);
    out->probe_size = (size_t)sqlite3_column_bytes(statement, 2);
    out->whole = out->whole && out->probe &&
                 sum_of_model(out->revision, out->probe, out->probe_size) ==
                     sqlite3_column_int64(statement, 3);
}

static enum doppel_status select_models(struct vector_cache *cache,
                                        const struct cached_model *model, sqlite3_stmt **out,
                                        struct doppel_error *error)
{
    enum doppel_status status;
    TRY(doppel_store_statement(cache->store,
                               "SELECT id, revision, probe, checksum FROM model"
                               " WHERE name = ? AND prefix = ?",
                               out, error));
    bind_model_text(*out, 1, model->identity->name);
    bind_model_text(*out, 2, model->identity->prefix);
done:
    return status;
}

/* What there is of a model. */
struct found_model {
    int64_t id, damaged; /* rows: that of the nearest probe, and one that is of no use; 0: none */
    char revision[33];
};

/* The row of the model whose probe is the nearest, and near enough. */
static enum doppel_status find_model_row(struct vector_cache *cache,
                                         const struct cached_model *model, struct found_model *out,
                                         struct doppel_error *error)
{
    const uint32_t dimension = model->identity->dimension;
    float *known = malloc(dimension * sizeof *known);
    double cosine, best = -1;
    sqlite3_stmt *statement;
    struct known_model one;
    enum doppel_status status;
    bool row;
    if (!known)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a model");
    TRY(select_models(cache, model, &statement, error));
    for (;;) {
        TRY(doppel_store_step(cache->store, statement, &row, error));
        if (!row)
            break;
        read_known_model(statement, &one);
        out->damaged = one.whole ? out->damaged : one.id;
        if (!one.whole || one.probe_size != 4 * (size_t)dimension)
            continue;
        vectors_read_floats(one.probe, known, dimension);
        if (!endpoint_is_same_probe(known, model->probe, dimension, &cosine) || cosine <= best)
            continue;
        best = cosine;
        out->id = one.id;
        memcpy(out->revision, one.revision, 32);
    }
done:
    free(known);
    return status;
}

/* Its vectors are not found any more. */
static enum doppel_status remove_damaged_model(struct vector_cache *cache, int64_t id,
                                               struct doppel_error *error)
{
    sqlite3_stmt *statement;
    enum doppel_status status;
    TRY(doppel_store_statement(cache->store, "DELETE FROM model WHERE id = ?", &statement, error));
    sqlite3_bind_int64(statement, 1, id);
    TRY(vectors_run(cache, statement, NULL, error));
done:
    return status;
}

static enum doppel_status find_place(struct vector_cache *cache, const struct cached_model *model,
                                     int64_t *out, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    enum doppel_status status;
    *out = 0;
    TRY(doppel_store_statement(
        cache->store,
        "SELECT model FROM place WHERE url = ?1 AND name = ?2 AND prefix = ?3 AND model IN"
        " (SELECT id FROM model WHERE name = ?2 AND prefix = ?3)",
        &statement, error));
    bind_model_text(statement, 1, model->place);
    bind_model_text(statement, 2, model->identity->name);
    bind_model_text(statement, 3, model->identity->prefix);
    TRY(vectors_run(cache, statement, out, error));
done:
    return status;
}

static enum doppel_status insert_model(struct vector_cache *cache, const struct cached_model *model,
                                       int64_t *out, struct doppel_error *error)
{
    const struct doppel_embedder_identity *identity = model->identity;
    sqlite3_stmt *statement;
    enum doppel_status status;
    TRY(doppel_store_statement(
        cache->store,
        "INSERT INTO model(name, prefix, revision, dimension, checksum, probe)"
        " VALUES(?, ?, ?, ?, ?, ?) RETURNING id",
        &statement, error));
    vectors_write_floats(cache->row, model->probe, identity->dimension);
    bind_model_text(statement, 1, identity->name);
    bind_model_text(statement, 2, identity->prefix);
    bind_model_text(statement, 3, identity->revision);
    sqlite3_bind_int64(statement, 4, identity->dimension);
    const size_t size = 4 * (size_t)identity->dimension;
    sqlite3_bind_int64(statement, 5, sum_of_model(identity->revision, cache->row, size));
    sqlite3_bind_blob(statement, 6, cache->row, (int)size, SQLITE_STATIC);
    TRY(vectors_run(cache, statement, out, error));
done:
    return status;
}

static enum doppel_status insert_place(struct vector_cache *cache, const struct cached_model *model,
                                       int64_t id, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    enum doppel_status status;
    TRY(doppel_store_statement(cache->store,
                               "INSERT OR REPLACE INTO place(url, name, prefix, model)"
                               " VALUES(?, ?, ?, ?)",
                               &statement, error));
    bind_model_text(statement, 1, model->place);
    bind_model_text(statement, 2, model->identity->name);
    bind_model_text(statement, 3, model->identity->prefix);
    sqlite3_bind_int64(statement, 4, id);
    TRY(vectors_run(cache, statement, NULL, error));
done:
    return status;
}

static enum doppel_status note_model_of(struct vector_cache *cache,
                                        const struct cached_model *model, char revision[33],
                                        struct doppel_error *error)
{
    struct found_model found = {0};
    int64_t here = 0;
    enum doppel_status status;
    memcpy(found.revision, model->identity->revision, sizeof found.revision);
    TRY(find_model_row(cache, model, &found, error));
    if (found.damaged)
        TRY(remove_damaged_model(cache, found.damaged, error));
    TRY(find_place(cache, model, &here, error));
    if (here && here != found.id && !model->trusted)
        return doppel_fail(error, DOPPEL_E_VERSION,
                           "%.200s: '%.100s' has other vectors than those that %.120s has of it: "
                           "it is another model",
                           model->place, model->identity->name, doppel_store_path(cache->store));
    if (!found.id)
        TRY(insert_model(cache, model, &found.id, error));
    if (here != found.id)
        TRY(insert_place(cache, model, found.id, error));
    cache->model = found.id;
    memcpy(revision, found.revision, sizeof found.revision);
done:
    return status;
}

enum doppel_status vector_cache_choose(struct vector_cache *cache, const struct cached_model *model,
                                       char out_revision[33], struct doppel_error *error)
{
    char revision[33] = "";
    enum doppel_status status;
    uint8_t *row = malloc(sizeof(struct doppel_digest) + 4 * (size_t)model->identity->dimension);
    if (!row)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a model");
    free(cache->row);
    cache->row = row;
    cache->model = 0;
    cache->dimension = model->identity->dimension;
    TRY(vectors_check_usable(cache, error));
    TRY(doppel_store_begin(cache->store, error));
    status = note_model_of(cache, model, revision, error);
    if (status)
        doppel_store_rollback(cache->store);
    else
        status = doppel_store_commit(cache->store, error);
    if (!status)
        memcpy(out_revision, revision, sizeof revision);
done:
    return vectors_note_damage(cache, status);
}

/* ---- which there are ---- */

/* In the order of the columns of the statement. */
static void take_model_row(sqlite3_stmt *statement, struct doppel_embedder_cached *out)
{
    const struct {
        char *to;
        size_t room;
    } texts[] = {{out->identity.name, sizeof out->identity.name},
                 {out->identity.prefix, sizeof out->identity.prefix},
                 {out->identity.revision, sizeof out->identity.revision}};
    *out = (struct doppel_embedder_cached){0};
    for (int i = 0; i < 3; i++) {
        const unsigned char *text = sqlite3_column_text(statement, i);
        size_t size = (size_t)sqlite3_column_bytes(statement, i);
        if (text)
            memcpy(texts[i].to, text, size < texts[i].room ? size : texts[i].room - 1);
    }
    out->identity.dimension = (uint32_t)sqlite3_column_int64(statement, 3);
    out->refused = (uint64_t)sqlite3_column_int64(statement, 5);
    out->vectors = (uint64_t)sqlite3_column_int64(statement, 4) - out->refused;
}

enum doppel_status doppel_embedder_cache_list(const char *path,
                                              doppel_embedder_cached_visitor *visit, void *context,
                                              struct doppel_error *error)
{
    struct vector_cache *cache = NULL;
    struct doppel_embedder_cached model;
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status = vector_cache_open_existing(path, &cache, error);
    if (status)
        return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
    TRY(doppel_store_statement(cache->store,
                               "SELECT name, prefix, revision, dimension, (SELECT count(*) FROM"
                               " vector WHERE vector.model = model.id), (SELECT count(*) FROM"
                               " vector WHERE vector.model = model.id AND " VECTOR_IS_ZERO ")"
                               " FROM model"
                               " ORDER BY name, prefix, id",
                               &statement, error));
    for (;;) {
        TRY(doppel_store_step(cache->store, statement, &row, error));
        if (!row)
            break;
        take_model_row(statement, &model);
        if (!visit(context, &model))
            TRY(doppel_fail(error, DOPPEL_E_CANCELLED, "%s: ended early", path));
    }
done:
    vector_cache_close(cache);
    return status;
}

/* ---- forgetting one ---- */

static enum doppel_status run_for_name(struct vector_cache *cache, const char *sql,
                                       const char *name, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    enum doppel_status status;
    TRY(doppel_store_statement(cache->store, sql, &statement, error));
    bind_model_text(statement, 1, name);
    TRY(vectors_run(cache, statement, NULL, error));
done:
    return status;
}

/* In parts, so that others may write between them, and the log stays short. */
static enum doppel_status remove_vectors_of(struct vector_cache *cache, const char *name,
                                            struct doppel_error *error)
{
    enum doppel_status status;
    int64_t left = 1;
    sqlite3_stmt *statement;
    while (left) {
        TRY(run_for_name(cache,
                         "DELETE FROM vector WHERE number IN (SELECT number FROM vector WHERE model"
                         " IN (SELECT id FROM model WHERE name = ?) LIMIT 10000)",
                         name, error));
        TRY(doppel_store_statement(cache->store,
                                   "SELECT EXISTS(SELECT 1 FROM vector WHERE model IN"
                                   " (SELECT id FROM model WHERE name = ?))",
                                   &statement, error));
        bind_model_text(statement, 1, name);
        TRY(vectors_run(cache, statement, &left, error));
    }
done:
    return status;
}

static enum doppel_status remove_model_rows(struct vector_cache *cache, const char *name,
                                            struct doppel_error *error)
{
    static const char *const statements[] = {
        "DELETE FROM place WHERE name = ?",
        "DELETE FROM vector WHERE model IN (SELECT id FROM model WHERE name = ?)",
        "DELETE FROM model WHERE name = ?",
    };
    enum doppel_status status;
    TRY(doppel_store_begin(cache->store, error));
    for (size_t i = 0; i < sizeof statements / sizeof *statements && !status; i++)
        status = run_for_name(cache, statements[i], name, error);
    if (status)
        doppel_store_rollback(cache->store);
    else
        status = doppel_store_commit(cache->store, error);
done:
    return status;
}

enum doppel_status doppel_embedder_cache_forget(const char *path, const char *name,
                                                struct doppel_error *error)
{
    struct vector_cache *cache = NULL;
    sqlite3_stmt *statement;
    int64_t known = 0;
    enum doppel_status status;
    TRY(vector_cache_open_existing(path, &cache, error));
    TRY(doppel_store_statement(cache->store, "SELECT count(*) FROM model WHERE name = ?",
                               &statement, error));
    bind_model_text(statement, 1, name);
    TRY(vectors_run(cache, statement, &known, error));
    if (!known)
        TRY(doppel_fail(error, DOPPEL_E_NOT_FOUND, "%s: has no vectors of '%.100s'", path, name));
    TRY(remove_vectors_of(cache, name, error));
    TRY(remove_model_rows(cache, name, error));
done:
    vector_cache_close(cache);
    return status;
}
