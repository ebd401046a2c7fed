/* Texts of corpora: remembered. */
#include "library/items/text_internal.h"

#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/try.h"
#include "library/derived/codes.h"
#include "library/items/rows.h"

void texts_rolled_back(struct doppel_library *library)
{
    free(library->corpus);
    library->corpus = NULL;
    library->text_lanes = 0;
}

/* ---- remembering ---- */

static enum doppel_status last_id(struct doppel_library *library, uint64_t *out,
                                  struct doppel_error *error)
{
    int64_t last = 0;
    enum doppel_status status = rows_number(
        library, "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'item'", NO_VALUES,
        &last, NULL, error);
    if (!status)
        *out = (uint64_t)last;
    return status;
}

/* Put the counter that the items have too. (RETURNING would cost a table of its own each time.) */
static enum doppel_status put_last_id(struct doppel_library *library, uint64_t id,
                                      struct doppel_error *error)
{
    return rows_run(library,
                    id == 1 ? "INSERT INTO sqlite_sequence(name, seq) VALUES('item', ?1)"
                            : "UPDATE sqlite_sequence SET seq = ?1 WHERE name = 'item'",
                    VALUES(ID(id)), error);
}

static enum doppel_status take_next_id(struct doppel_library *library, uint64_t *out,
                                       struct doppel_error *error)
{
    uint64_t last = 0;
    enum doppel_status status;
    TRY(last_id(library, &last, error));
    TRY(put_last_id(library, last + 1, error));
    *out = last + 1;
done:
    return status;
}

enum doppel_status doppel_library_begin(struct doppel_library *library, uint64_t *out_last_id,
                                        struct doppel_error *error)
{
    enum doppel_status status = library_begin(library, error);
    if (!status && out_last_id)
        status = library_end(library, last_id(library, out_last_id, error));
    return status;
}

static enum doppel_status find_corpus(struct doppel_library *library, const char *path,
                                      int64_t *out, struct doppel_error *error)
{
    static const char *const ways[] = {
        "SELECT id FROM corpus WHERE path = ?1",
        "INSERT INTO corpus(id, path, checksum) SELECT number, ?1, " CHECKSUM_OF(
            "number, ?1") " FROM (SELECT coalesce(max(id), 0) + 1 AS number FROM corpus) RETURNING "
                          "id"};
    bool row = false;
    for (size_t i = 0; i < sizeof ways / sizeof *ways && !row; i++) {
        sqlite3_stmt *statement;
        enum doppel_status status =
            doppel_store_statement(library->store, ways[i], &statement, error);
        if (status)
            return status;
        path_bind(statement, 1, path);
        status = doppel_store_step(library->store, statement, &row, error);
        if (status)
            return status;
        if (row)
            *out = sqlite3_column_int64(statement, 0);
        sqlite3_reset(statement);
    }
    return DOPPEL_OK;
}

/* The row of a corpus; the last one is remembered, as records come one file after the other. */
static enum doppel_status number_of_corpus(struct doppel_library *library, const char *path,
                                           int64_t *out, struct doppel_error *error)
{
    if (library->corpus && strcmp(library->corpus, path) == 0) {
        *out = library->corpus_number;
        return DOPPEL_OK;
    }
    enum doppel_status status = find_corpus(library, path, out, error);
    if (status)
        return status;
    free(library->corpus);
    library->corpus = strdup(path);
    library->corpus_number = *out;
    return DOPPEL_OK;
}

static void bind_text(sqlite3_stmt *statement, const struct doppel_library_text *text,
                      const uint8_t *lanes)
{
    text_bind_string(statement, 2, text->record_id);
    text_bind_string(statement, 3, text->origin.source);
    text_bind_string(statement, 4, text->origin.date);
    sqlite3_bind_int64(statement, 6, (int64_t)text->line);
    sqlite3_bind_int64(statement, 7, (int64_t)text->offset);
    sqlite3_bind_int64(statement, 8, (int64_t)text->size);
    sqlite3_bind_int64(statement, 9, past_ns(text->added_ns));
    sqlite3_bind_blob(statement, 10, text->content.bytes, sizeof text->content.bytes,
                      SQLITE_STATIC);
    sqlite3_bind_int64(statement, 11, (int64_t)text->words);
    sqlite3_bind_int64(statement, 12, (int64_t)text->shingle_total);
    sqlite3_bind_int(statement, 13, text->too_short);
    sqlite3_bind_int(statement, 14, (int)text->decision);
    sqlite3_bind_int64(statement, 15, (int64_t)text->leader);
    sqlite3_bind_int(statement, 16, text->leads);
    sqlite3_bind_blob(statement, 17, lanes, (int)text->lane_count * LANE_BYTES, SQLITE_STATIC);
    sqlite3_bind_null(statement, 18);
    if (text->simhash)
        sqlite3_bind_int64(statement, 18, (int64_t)text->simhash);
}

static enum doppel_status insert_text(struct doppel_library *library,
                                      const struct doppel_library_text *text, uint64_t id,
                                      struct doppel_error *error)
{
    uint8_t lanes[DOPPEL_TEXT_MAX_LANES * LANE_BYTES];
    int64_t corpus = 0;
    sqlite3_stmt *statement;
    enum doppel_status status = DOPPEL_OK;
    if (text->path)
        status = number_of_corpus(library, text->path, &corpus, error);
    if (!status)
        status = doppel_store_statement(library->store,
                                        "INSERT INTO text(" TEXT_COLUMNS
                                        ", simhash, checksum) VALUES(" TEXT_VALUES
                                        ", ?18, " CHECKSUM_OF(TEXT_VALUES) ")",
                                        &statement, error);
    if (status)
        return status;
    for (uint32_t i = 0; i < text->lane_count; i++)
        put_u16(lanes + LANE_BYTES * i, text->lanes[i]);
    bind_text(statement, text, lanes);
    sqlite3_bind_int64(statement, 1, (int64_t)id);
    if (text->path)
        sqlite3_bind_int64(statement, 5, corpus);
    return library_run(library, statement, error);
}

static enum doppel_status insert_shingles(struct doppel_library *library, uint64_t id,
                                          const struct doppel_library_text *text,
                                          struct doppel_error *error)
{
    size_t size = 0;
    uint8_t *bytes = NULL;
    if (size_multiply(text->shingle_total, SHINGLE_BYTES, &size))
        bytes = malloc(size ? size : 1);
    if (!bytes)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the shingles of a text");
    for (size_t i = 0; i < text->shingle_total; i++)
        put_u32(bytes + SHINGLE_BYTES * i, text->shingles[i]);
    sqlite3_stmt *statement;
    enum doppel_status status =
        doppel_store_statement(library->store,
                               "INSERT INTO text_shingles(text, data, checksum)"
                               " VALUES(?1, ?2, " CHECKSUM_OF("?1, ?2") ")",
                               &statement, error);
    if (status) {
        free(bytes);
        return status;
    }
    sqlite3_bind_int64(statement, 1, (int64_t)id);
    sqlite3_bind_blob64(statement, 2, bytes, size, free);
    return library_run(library, statement, error);
}

static enum doppel_status add_text(struct doppel_library *library,
                                   const struct doppel_library_text *text, uint64_t *out_id,
                                   struct doppel_error *error)
{
    enum doppel_status status;
    TRY(take_next_id(library, out_id, error));
    TRY(insert_text(library, text, *out_id, error));
    if (text->shingles)
        TRY(insert_shingles(library, *out_id, text, error));
    TRY(text_codes_put_record(library, *out_id, text, error));
done:
    return status;
}

static enum doppel_status check_lanes(struct doppel_library *library,
                                      const struct doppel_library_text *text,
                                      struct doppel_error *error)
{
    struct doppel_text_options options;
    if (!library->text_lanes) {
        enum doppel_status status = doppel_library_text_options(library, &options, NULL, error);
        if (status)
            return status;
        library->text_lanes = options.lanes;
    }
    return text->lanes && text->lane_count == library->text_lanes
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_ARGUMENT, "%s: its signatures have %u lanes",
                             library->directory, library->text_lanes);
}

enum doppel_status doppel_library_add_text(struct doppel_library *library,
                                           const struct doppel_library_text *text, uint64_t *out_id,
                                           struct doppel_error *error)
{
    uint64_t id = 0;
    enum doppel_status status;
    TRY(library_begin(library, error));
    TRY(check_lanes(library, text, error));
    TRY(library_end(library, add_text(library, text, &id, error)));
    *out_id = id;
done:
    return status;
}
