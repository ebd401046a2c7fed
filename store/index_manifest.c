/* The row of an index, and the rows of its segments. */
#include "store/index_room.h"

#include <stdlib.h>
#include <string.h>

void manifest_free(struct manifest *manifest)
{
    for (size_t i = 0; i < manifest->segments.count; i++)
        free(manifest->segments.items[i].name);
    array_free(&manifest->segments);
}

static uint32_t column_u32(sqlite3_stmt *statement, int column)
{
    return (uint32_t)sqlite3_column_int64(statement, column);
}

static uint64_t column_u64(sqlite3_stmt *statement, int column)
{
    return (uint64_t)sqlite3_column_int64(statement, column);
}

static enum doppel_status run(struct doppel_store *store, sqlite3_stmt *statement,
                              struct doppel_error *error)
{
    bool row;
    return doppel_store_step(store, statement, &row, error);
}

/* ---- reading ---- */

static void read_columns(sqlite3_stmt *statement, struct manifest *out)
{
    out->id = sqlite3_column_int64(statement, 0);
    out->options.table = (enum doppel_index_table)sqlite3_column_int(statement, 1);
    out->options.bits = column_u32(statement, 2);
    out->options.design_radius = column_u32(statement, 3);
    out->options.lanes = column_u32(statement, 4);
    out->options.bands = column_u32(statement, 5);
    out->options.rows = column_u32(statement, 6);
    out->options.key_bits = column_u32(statement, 7);
    out->options.compact = sqlite3_column_int(statement, 8) != 0;
    out->options.head_codes = column_u32(statement, 9);
    out->whole = sqlite3_column_int(statement, 10) != 0;
    out->generation = sqlite3_column_int64(statement, 11);
    out->flushed = sqlite3_column_int64(statement, 12);
    out->next_payload = column_u64(statement, 13);
    out->build_ms = column_u64(statement, 14);
}

static enum doppel_status read_row(struct doppel_store *store, const char *name,
                                   struct manifest *out, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status =
        doppel_store_statement(store,
                               "SELECT id, kind, bits, design_radius, lanes, bands, band_lanes,"
                               " key_bits, compact, head_codes, whole, generation, flushed,"
                               " next_payload, build_ms FROM doppel_index WHERE name=?1",
                               &statement, error);
    if (status)
        return status;
    sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    status = doppel_store_step(store, statement, &row, error);
    if (status)
        return status;
    if (!row)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "%s: there is no index '%s' in it",
                           store->path, name);
    read_columns(statement, out);
    sqlite3_reset(statement);
    return DOPPEL_OK;
}

/* A name leads nowhere but into the folder. */
static bool is_plain_name(const char *name)
{
    return name && *name && *name != '.' && !strchr(name, '/');
}

static enum doppel_status push_segment(struct doppel_store *store, sqlite3_stmt *statement,
                                       struct manifest *out, struct doppel_error *error)
{
    const char *name = (const char *)sqlite3_column_text(statement, 0);
    if (!is_plain_name(name))
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "%s: the database is damaged: a segment without a name", store->path);
    struct segment_row row = {.name = strdup(name),
                              .codes = column_u64(statement, 1),
                              .least = column_u64(statement, 2),
                              .most = column_u64(statement, 3)};
    if (row.name && array_push(&out->segments, row))
        return DOPPEL_OK;
    free(row.name);
    return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", store->path);
}

static enum doppel_status read_segments(struct doppel_store *store, struct manifest *out,
                                        struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row = true;
    enum doppel_status status =
        doppel_store_statement(store,
                               "SELECT name, codes, least, most FROM doppel_index_segment"
                               " WHERE owner=?1 ORDER BY position",
                               &statement, error);
    if (status)
        return status;
    sqlite3_bind_int64(statement, 1, out->id);
    while (!(status = doppel_store_step(store, statement, &row, error)) && row)
        if ((status = push_segment(store, statement, out, error)))
            break;
    sqlite3_reset(statement);
    return status;
}

enum doppel_status manifest_read(struct doppel_store *store, const char *name, struct manifest *out,
                                 struct doppel_error *error)
{
    struct manifest manifest = {0};
    enum doppel_status status = read_row(store, name, &manifest, error);
    if (!status)
        status = read_segments(store, &manifest, error);
    if (status)
        manifest_free(&manifest);
    else
        *out = manifest;
    return status;
}

/* ---- writing ---- */

enum doppel_status manifest_make(struct doppel_store *store, const char *name,
                                 const struct doppel_index_options *options,
                                 struct doppel_error *error)
{
    sqlite3_stmt *statement;
    enum doppel_status status = doppel_store_statement(
        store,
        "INSERT INTO doppel_index(name, kind, bits, design_radius, lanes, bands, band_lanes,"
        " key_bits, compact, head_codes, whole, generation, flushed, next_payload, build_ms)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 1, 1, 0, 0, 0)",
        &statement, error);
    if (status)
        return status;
    const uint32_t values[] = {(uint32_t)options->table, options->bits,    options->design_radius,
                               options->lanes,           options->bands,   options->rows,
                               options->key_bits,        options->compact, options->head_codes};
    sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    for (int i = 0; i < (int)(sizeof values / sizeof *values); i++)
        sqlite3_bind_int64(statement, i + 2, values[i]);
    return run(store, statement, error);
}

static enum doppel_status write_row(struct doppel_store *store, const struct manifest *manifest,
                                    struct doppel_error *error)
{
    sqlite3_stmt *statement;
    enum doppel_status status =
        doppel_store_statement(store,
                               "UPDATE doppel_index SET whole=?2, generation=?3, flushed=?4,"
                               " next_payload=?5, build_ms=?6 WHERE id=?1",
                               &statement, error);
    if (status)
        return status;
    sqlite3_bind_int64(statement, 1, manifest->id);
    sqlite3_bind_int64(statement, 2, manifest->whole);
    sqlite3_bind_int64(statement, 3, manifest->generation);
    sqlite3_bind_int64(statement, 4, manifest->flushed);
    sqlite3_bind_int64(statement, 5, (int64_t)manifest->next_payload);
    sqlite3_bind_int64(statement, 6, (int64_t)manifest->build_ms);
    return run(store, statement, error);
}

static enum doppel_status forget_segments(struct doppel_store *store, int64_t owner,
                                          struct doppel_error *error)
{
    sqlite3_stmt *statement;
    enum doppel_status status = doppel_store_statement(
        store, "DELETE FROM doppel_index_segment WHERE owner=?1", &statement, error);
    if (status)
        return status;
    sqlite3_bind_int64(statement, 1, owner);
    return run(store, statement, error);
}

static enum doppel_status write_segment(struct doppel_store *store, const struct manifest *manifest,
                                        size_t position, struct doppel_error *error)
{
    const struct segment_row *row = &manifest->segments.items[position];
    sqlite3_stmt *statement;
    enum doppel_status status = doppel_store_statement(
        store,
        "INSERT INTO doppel_index_segment(owner, position, name, codes, least, most)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
        &statement, error);
    if (status)
        return status;
    sqlite3_bind_int64(statement, 1, manifest->id);
    sqlite3_bind_int64(statement, 2, (int64_t)position);
    sqlite3_bind_text(statement, 3, row->name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 4, (int64_t)row->codes);
    sqlite3_bind_int64(statement, 5, (int64_t)row->least);
    sqlite3_bind_int64(statement, 6, (int64_t)row->most);
    return run(store, statement, error);
}

enum doppel_status manifest_write(struct doppel_store *store, const struct manifest *manifest,
                                  struct doppel_error *error)
{
    enum doppel_status status = write_row(store, manifest, error);
    if (!status)
        status = forget_segments(store, manifest->id, error);
    for (size_t i = 0; i < manifest->segments.count && !status; i++)
        status = write_segment(store, manifest, i, error);
    return status;
}
