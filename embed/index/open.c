/* An index of vectors: a folder with a database, which has the model and the ids, and segments. */
#include <doppel/embed_index.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/try.h"
#include "embed/index/vector_index.h"

enum {
    APPLICATION_ID = 0x64706c45, /* "dplE" */
    SCHEMA_VERSION = 1,
    BUSY_TIMEOUT_MS = 5000,
    HEAD_VECTORS = 4096, /* that are looked at one by one */
    ROUNDING = 256       /* 2^-22: a vector's cosine with itself may be that far from 1 */
};

static const char vector_schema[] = DOPPEL_STORE_INDEX_SCHEMA
    "CREATE TABLE vector_model("
    " id INTEGER PRIMARY KEY CHECK (id = 1), name TEXT NOT NULL, revision TEXT NOT NULL,"
    " prefix TEXT NOT NULL, dimension INTEGER NOT NULL, named INTEGER NOT NULL"
    ") STRICT;"
    "CREATE TABLE vector_id("
    " number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE"
    ") STRICT;"
    "CREATE TABLE vector_unnamed(" /* from this number on vectors have no ids yet */
    " number INTEGER PRIMARY KEY"
    ") STRICT;";

/* Given (free); NULL without memory. */
static char *database_path(const char *folder)
{
    char *path;
    return asprintf(&path, "%s/vectors.db", folder) < 0 ? NULL : path;
}

bool doppel_vector_index_is_there(const char *folder)
{
    char *path = database_path(folder);
    const bool is_there = path && access(path, F_OK) == 0;
    free(path);
    return is_there;
}

/* ---- the model ---- */

static enum doppel_status write_model(struct doppel_vector_index *index,
                                      const struct doppel_vector_index_options *options,
                                      struct doppel_error *error)
{
    const struct doppel_embedder_identity *identity = options->make;
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status;
    TRY(doppel_store_statement(index->store,
                               "INSERT OR IGNORE INTO vector_model(id, name, revision, prefix,"
                               " dimension, named) VALUES(1, ?1, ?2, ?3, ?4, ?5)",
                               &statement, error));
    sqlite3_bind_text(statement, 1, identity->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, identity->revision, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 3, identity->prefix, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 4, identity->dimension);
    sqlite3_bind_int(statement, 5, options->named);
    TRY(doppel_store_step(index->store, statement, &row, error));
done:
    return status;
}

/* What does not fit was not written by doppel. */
static bool take_text(sqlite3_stmt *statement, int column, char *out, size_t room)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    const size_t size = text ? strlen(text) : room;
    if (size >= room)
        return false;
    memcpy(out, text, size + 1);
    return true;
}

static enum doppel_status read_model(struct doppel_vector_index *index, struct doppel_error *error)
{
    struct doppel_embedder_identity *identity = &index->identity;
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status;
    TRY(doppel_store_statement(index->store,
                               "SELECT name, revision, prefix, dimension, named FROM vector_model"
                               " WHERE id=1",
                               &statement, error));
    TRY(doppel_store_step(index->store, statement, &row, error));
    if (!row) /* it is written before any vector, by who makes it */
        TRY(doppel_fail(error, DOPPEL_E_NOT_FOUND,
                        "%s: no index of vectors yet: it is just made, or its making was "
                        "interrupted",
                        doppel_store_path(index->store)));
    const int64_t dimension = row ? sqlite3_column_int64(statement, 3) : 0;
    if (dimension < 1 || dimension > DOPPEL_VECTOR_DIMENSION_MAX ||
        !take_text(statement, 0, identity->name, sizeof identity->name) ||
        !take_text(statement, 1, identity->revision, sizeof identity->revision) ||
        !take_text(statement, 2, identity->prefix, sizeof identity->prefix))
        TRY(doppel_fail(error, DOPPEL_E_CORRUPT, "%s: the entry of the model is damaged",
                        doppel_store_path(index->store)));
    identity->dimension = (uint32_t)dimension;
    index->named = sqlite3_column_int(statement, 4) != 0;
    sqlite3_reset(statement);
done:
    return status;
}

/* ---- opening ---- */

static enum doppel_status open_vector_store(struct doppel_vector_index *index,
                                            const struct doppel_vector_index_options *options,
                                            struct doppel_error *error)
{
    const struct doppel_store_options store = {
        .application_id = APPLICATION_ID,
        .schema_version = SCHEMA_VERSION,
        .schema = vector_schema,
        .create = options->make != NULL,
        .read_only = !options->write,
        .durable = options->durable,
        .busy_timeout_ms = BUSY_TIMEOUT_MS,
    };
    char *path = database_path(options->folder);
    if (!path)
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory to open it", options->folder);
    enum doppel_status status = doppel_store_open(path, &store, &index->store, error);
    free(path);
    return status == DOPPEL_E_NOT_FOUND
               ? doppel_fail(error, status, "%s: no index of vectors", options->folder)
               : status;
}

/* Whether there are any. Within a transaction. */
static enum doppel_status has_shared_codes(struct doppel_vector_index *index, const char *name,
                                           bool *out, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    enum doppel_status status;
    TRY(doppel_store_statement(index->store, "SELECT 1 FROM doppel_index WHERE name=?1", &statement,
                               error));
    sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    TRY(doppel_store_step(index->store, statement, out, error));
    sqlite3_reset(statement);
done:
    return status;
}

/* By whoever comes first. */
static enum doppel_status make_shared_codes(struct doppel_vector_index *index,
                                            const struct doppel_store_index_options *codes,
                                            struct doppel_error *error)
{
    const struct doppel_index_load nothing = {0};
    bool there = false;
    enum doppel_status status;
    TRY(doppel_store_begin(index->store, error));
    status = has_shared_codes(index, codes->name, &there, error);
    if (!status && !there)
        status = doppel_store_index_build(index->store, codes, &nothing, error);
    if (status)
        doppel_store_rollback(index->store);
    else
        TRY(doppel_store_commit(index->store, error));
done:
    return status;
}

static enum doppel_status open_vector_codes(struct doppel_vector_index *index,
                                            const struct doppel_vector_index_options *options,
                                            struct doppel_error *error)
{
    struct doppel_index_options make = doppel_index_options_default();
    make.table = DOPPEL_INDEX_VECTORS;
    make.bits = 32 * index->identity.dimension;
    make.head_codes = HEAD_VECTORS;
    const struct doppel_store_index_options codes = {.name = "vectors",
                                                     .folder = options->folder,
                                                     .make = options->make ? &make : NULL,
                                                     .merge = options->shared && options->write,
                                                     .shared = options->shared,
                                                     .immediate = options->shared,
                                                     .salvage = options->salvage};
    struct doppel_store_index_info info;
    enum doppel_status status;
    if (options->shared && options->make)
        TRY(make_shared_codes(index, &codes, error));
    TRY(doppel_store_index_open(index->store, &codes, &index->codes, error));
    doppel_store_index_info(index->codes, &info);
    if (info.options.table != DOPPEL_INDEX_VECTORS || info.options.bits != make.bits)
        TRY(doppel_fail(error, DOPPEL_E_CORRUPT, "%s: its vectors are not those of its model",
                        options->folder));
done:
    return status;
}

enum doppel_status doppel_vector_index_open(const struct doppel_vector_index_options *options,
                                            struct doppel_vector_index **out,
                                            struct doppel_error *error)
{
    struct doppel_vector_index *index = calloc(1, sizeof *index);
    enum doppel_status status;
    if (!index)
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory to open it", options->folder);
    index->shared = options->shared;
    index->folder = strdup(options->folder);
    if (!index->folder)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory to open it", options->folder));
    TRY(open_vector_store(index, options, error));
    if (options->make)
        TRY(write_model(index, options, error));
    TRY(read_model(index, error));
    if (options->make)
        TRY(doppel_embedder_check_identity(&index->identity, options->make, error));
    TRY(open_vector_codes(index, options, error));
    *out = index;
    index = NULL;
done:
    doppel_vector_index_close(index);
    return status;
}

void doppel_vector_index_close(struct doppel_vector_index *index)
{
    if (!index)
        return;
    doppel_store_index_close(index->codes);
    doppel_store_close(index->store);
    free(index->folder);
    free(index->id);
    free(index);
}

const struct doppel_embedder_identity *doppel_vector_index_identity(
    const struct doppel_vector_index *index)
{
    return &index->identity;
}

bool doppel_vector_index_is_named(const struct doppel_vector_index *index)
{
    return index->named;
}

struct doppel_store_index *doppel_vector_index_codes(struct doppel_vector_index *index)
{
    return index->codes;
}

enum doppel_status doppel_vector_index_refresh(struct doppel_vector_index *index,
                                               struct doppel_error *error)
{
    return doppel_store_index_refresh(index->codes, NULL, error);
}

/* ---- searching ---- */

struct vector_search_visit {
    struct doppel_vector_index *index;
    doppel_vector_found_visitor *visit;
    void *context;
    enum doppel_status status;
    struct doppel_error *error;
};

/* From any thread. */
static bool is_named_yet(void *context, uint64_t number)
{
    return number < *(const uint64_t *)context;
}

static bool visit_found_vector(void *context, const struct doppel_index_hit *hit)
{
    struct vector_search_visit *search = context;
    struct doppel_vector_found found = {hit->query, hit->payload, NULL,
                                        doppel_index_cosine_of_distance(hit->distance)};
    if (search->index->named) {
        search->status = vector_id_of(search->index, hit->payload, &found.id, search->error);
        if (search->status || !found.id)
            return !search->status;
    }
    return search->visit(search->context, &found);
}

enum doppel_status doppel_vector_index_search(struct doppel_vector_index *index,
                                              const struct doppel_vector_index_request *request,
                                              doppel_vector_found_visitor *visit, void *context,
                                              struct doppel_error *error)
{
    struct doppel_error why = {0};
    struct vector_search_visit search = {index, visit, context, DOPPEL_OK, &why};
    enum doppel_status status;
    uint64_t *codes = NULL, unnamed = UINT64_MAX;
    TRY(vector_index_check_dimension(index, request->queries->dimension, error));
    if (index->named)
        TRY(vector_index_unnamed(index, &unnamed, error));
    codes = vector_codes(request->queries, 0, request->queries->count);
    if (!codes)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory to search for vectors"));
    const struct doppel_index_request asked = {
        .queries = codes,
        .count = request->queries->count,
        .radius = doppel_index_distance_of_cosine(request->min_cosine) + ROUNDING,
        .recall = request->recall,
        .nearest = request->nearest,
        .threads = request->threads,
        .filter = unnamed < UINT64_MAX ? is_named_yet : NULL,
        .filter_context = &unnamed,
        .counts = request->counts};
    status = doppel_index_search(doppel_store_index_get(index->codes), &asked, visit_found_vector,
                                 &search, error);
    if (search.status)
        TRY(doppel_fail(error, search.status, "%s", why.message));
done:
    free(codes);
    return status;
}

/* ---- a sample ---- */

enum doppel_status doppel_vector_index_sample(struct doppel_vector_index *index, size_t most,
                                              doppel_vector_sample_visitor *visit, void *context,
                                              struct doppel_error *error)
{
    const size_t words = (index->identity.dimension + (size_t)1) / 2;
    uint64_t *codes = malloc((most * words + 1) * sizeof *codes);
    uint64_t *numbers = malloc((most + 1) * sizeof *numbers);
    size_t count = 0;
    bool more = true;
    enum doppel_status status = DOPPEL_OK;
    if (!codes || !numbers)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a sample of vectors"));
    TRY(doppel_index_sample(doppel_store_index_get(index->codes), most, codes, numbers, &count,
                            error));
    for (size_t i = 0; i < count && more; i++) {
        const char *id = NULL;
        if (index->named)
            TRY(vector_id_of(index, numbers[i], &id, error));
        if (id || !index->named)
            more = visit(context, id, (const float *)(const void *)(codes + i * words));
    }
    status = more ? DOPPEL_OK : DOPPEL_E_CANCELLED;
done:
    free(codes);
    free(numbers);
    return status;
}
