/* The row of an index, and the rows of its segments. */
#include "store/index_internal.h"

#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/digest.h"

/* Nothing that is computed from numbers below these overflows. */
enum { MOST_ID = 1 << 22 };
static const int64_t most_generation = INT64_C(1) << 62, most_record = INT64_C(1) << 39;

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

static enum doppel_status run_manifest_statement(struct doppel_store *store,
                                                 sqlite3_stmt *statement,
                                                 struct doppel_error *error)
{
    bool row;
    return doppel_store_step(store, statement, &row, error);
}

/* ---- the checksum ---- */

/* Of the checksum so far and the next number. */
static uint64_t mix_number(uint64_t sum, uint64_t number)
{
    uint8_t bytes[16];
    put_u64(bytes, sum);
    put_u64(bytes + 8, number);
    return checksum64(bytes, sizeof bytes);
}

static uint64_t sum_of(const char *name, const struct manifest *manifest)
{
    const struct doppel_index_options *options = &manifest->options;
    const uint64_t numbers[] = {
        (uint64_t)manifest->id,
        (uint64_t)options->table,
        options->bits,
        options->design_radius,
        options->lanes,
        options->bands,
        options->rows,
        options->key_bits,
        options->compact,
        options->head_codes,
        manifest->whole,
        (uint64_t)manifest->generation,
        (uint64_t)manifest->flushed,
        manifest->next_payload,
        manifest->build_ms,
        manifest->segments.count,
    };
    uint64_t sum = checksum64(name, strlen(name));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sum = mix_number(sum, numbers[i]);
    for (size_t i = 0; i < manifest->segments.count; i++) {
        const struct segment_row *row = &manifest->segments.items[i];
        sum = mix_number(sum, checksum64(row->name, strlen(row->name)));
        sum = mix_number(mix_number(mix_number(mix_number(sum, row->codes), row->least), row->most),
                         row->stamp);
    }
    return sum;
}

static bool manifest_is_whole(const char *name, const struct manifest *manifest)
{
    return manifest->checksum == sum_of(name, manifest) && manifest->id > 0 &&
           manifest->id <= MOST_ID && manifest->generation > 0 &&
           manifest->generation <= most_generation && manifest->flushed >= 0 &&
           manifest->flushed <= most_record;
}

static enum doppel_status fail_damaged(const struct doppel_store *store, const char *name,
                                       struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_CORRUPT,
                       "%s: the entry of index '%s' is damaged: put a copy of the whole folder in "
                       "its place, or rebuild the index",
                       store->path, name);
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
    out->checksum = column_u64(statement, 15);
}

static enum doppel_status read_manifest_row(struct doppel_store *store, const char *name,
                                            struct manifest *out, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status =
        doppel_store_statement(store,
                               "SELECT id, kind, bits, design_radius, lanes, bands, band_lanes,"
                               " key_bits, compact, head_codes, whole, generation, flushed,"
                               " next_payload, build_ms, checksum"
                               " FROM doppel_index NOT INDEXED WHERE name=?1",
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
                              .most = column_u64(statement, 3),
                              .stamp = column_u64(statement, 4)};
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
                               "SELECT name, codes, least, most, stamp FROM doppel_index_segment"
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
    bool begun = doppel_store_begin_reading(store); /* row and segments as of one moment */
    enum doppel_status status = read_manifest_row(store, name, &manifest, error);
    if (!status)
        status = read_segments(store, &manifest, error);
    doppel_store_end_reading(store, begun);
    if (!status && !manifest_is_whole(name, &manifest))
        status = fail_damaged(store, name, error);
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
        " key_bits, compact, head_codes, whole, generation, flushed, next_payload, build_ms,"
        " checksum) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 1, 1, 0, 0, 0, 0)",
        &statement, error);
    if (status)
        return status;
    const uint32_t values[] = {(uint32_t)options->table, options->bits,    options->design_radius,
                               options->lanes,           options->bands,   options->rows,
                               options->key_bits,        options->compact, options->head_codes};
    sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    for (int i = 0; i < (int)(sizeof values / sizeof *values); i++)
        sqlite3_bind_int64(statement, i + 2, values[i]);
    status = run_manifest_statement(store, statement, error);
    const struct manifest manifest = {.id = sqlite3_last_insert_rowid(store->database),
                                      .options = *options,
                                      .whole = true,
                                      .generation = 1};
    if (!status && manifest.id > MOST_ID) /* there is a row with the last number of all */
        status = fail_damaged(store, name, error);
    return status ? status : manifest_write(store, name, &manifest, error);
}

static enum doppel_status write_row(struct doppel_store *store, const char *name,
                                    const struct manifest *manifest, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    enum doppel_status status =
        doppel_store_statement(store,
                               "UPDATE doppel_index SET whole=?2, generation=?3, flushed=?4,"
                               " next_payload=?5, build_ms=?6, checksum=?7 WHERE id=?1",
                               &statement, error);
    if (status)
        return status;
    sqlite3_bind_int64(statement, 1, manifest->id);
    sqlite3_bind_int64(statement, 2, manifest->whole);
    sqlite3_bind_int64(statement, 3, manifest->generation);
    sqlite3_bind_int64(statement, 4, manifest->flushed);
    sqlite3_bind_int64(statement, 5, (int64_t)manifest->next_payload);
    sqlite3_bind_int64(statement, 6, (int64_t)manifest->build_ms);
    sqlite3_bind_int64(statement, 7, (int64_t)sum_of(name, manifest));
    return run_manifest_statement(store, statement, error);
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
    return run_manifest_statement(store, statement, error);
}

static enum doppel_status write_segment(struct doppel_store *store, const struct manifest *manifest,
                                        size_t position, struct doppel_error *error)
{
    const struct segment_row *row = &manifest->segments.items[position];
    sqlite3_stmt *statement;
    enum doppel_status status = doppel_store_statement(
        store,
        "INSERT INTO doppel_index_segment(owner, position, name, codes, least, most, stamp)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        &statement, error);
    if (status)
        return status;
    sqlite3_bind_int64(statement, 1, manifest->id);
    sqlite3_bind_int64(statement, 2, (int64_t)position);
    sqlite3_bind_text(statement, 3, row->name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 4, (int64_t)row->codes);
    sqlite3_bind_int64(statement, 5, (int64_t)row->least);
    sqlite3_bind_int64(statement, 6, (int64_t)row->most);
    sqlite3_bind_int64(statement, 7, (int64_t)row->stamp);
    return run_manifest_statement(store, statement, error);
}

enum doppel_status manifest_write(struct doppel_store *store, const char *name,
                                  const struct manifest *manifest, struct doppel_error *error)
{
    enum doppel_status status = write_row(store, name, manifest, error);
    if (!status)
        status = forget_segments(store, manifest->id, error);
    for (size_t i = 0; i < manifest->segments.count && !status; i++)
        status = write_segment(store, manifest, i, error);
    return status;
}

/* The row's own id may be wrong: what is left without an index is taken away. */
enum doppel_status manifest_drop(struct doppel_store *store, const char *name,
                                 struct doppel_error *error)
{
    static const char *const texts[] = {
        "DELETE FROM doppel_index_segment"
        " WHERE owner NOT IN (SELECT id FROM doppel_index WHERE name<>?1)",
        "DELETE FROM doppel_index_log"
        " WHERE record>>40 NOT IN (SELECT id FROM doppel_index WHERE name<>?1)",
        "DELETE FROM doppel_index WHERE name=?1"};
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < sizeof texts / sizeof *texts && !status; i++) {
        sqlite3_stmt *statement;
        status = doppel_store_statement(store, texts[i], &statement, error);
        if (status)
            break;
        sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
        status = run_manifest_statement(store, statement, error);
    }
    return status;
}
