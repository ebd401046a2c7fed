/* What is known of an item or a text that may be the one of its group to keep. */
#include "library/ledger/ledger.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum doppel_status item_name(struct doppel_library *library, uint64_t id, char **out,
                             struct doppel_error *error)
{
    sqlite3_stmt *row;
    char *name = NULL;
    enum doppel_status status =
        rows_first(library,
                   "SELECT " NAME_OF_ITEM
                   " FROM item WHERE id = ?1 UNION ALL SELECT coalesce(record_id, corpus.path)"
                   " FROM text LEFT JOIN corpus ON corpus.id = text.corpus WHERE text.id = ?1",
                   VALUES(ID(id)), &row, error);
    if (status)
        return status;
    if (row && string_read(row, 0, &name) == DOPPEL_E_CORRUPT)
        name = NULL;
    sqlite3_reset(row);
    if (!name && !(name = strdup("")))
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", library->directory);
    *out = name;
    return DOPPEL_OK;
}

/* Of an item its file's numbers, of a text its words; columns are the same for both. */
#define CANDIDATE                                                                                  \
    "SELECT " NAME_OF_ITEM ", width, height, coalesce(duration_ms, 0), size,"                      \
    " CASE WHEN " HAS_NO_FILE " THEN 9223372036854775807 ELSE mtime_ns END, about.source,"         \
    " about.date, 1 FROM item LEFT JOIN about ON about.item = item.id AND about." IS_WHOLE(        \
        ABOUT_COLUMNS) " WHERE item.id = ?1 UNION ALL SELECT record_id, 0, 0, 0, words, NULL, "    \
                       "source, date, 0 FROM text WHERE id = ?1"

static enum doppel_status read_candidate(struct doppel_library *library, sqlite3_stmt *statement,
                                         struct doppel_candidate *out, char **out_name,
                                         struct doppel_error *error)
{
    char *name = NULL, *source = NULL, *date = NULL;
    struct doppel_candidate candidate = {
        .width = (uint32_t)sqlite3_column_int64(statement, 1),
        .height = (uint32_t)sqlite3_column_int64(statement, 2),
        .duration_ms = (uint64_t)sqlite3_column_int64(statement, 3),
        .size = sqlite3_column_int64(statement, 4),
        .mtime_ns = sqlite3_column_int64(statement, 5),
    };
    bool is_item = sqlite3_column_int(statement, 8) == 1;
    enum doppel_status status = string_read(statement, 0, &name);
    if (!status)
        status = string_read(statement, 6, &source);
    if (!status)
        status = string_read(statement, 7, &date);
    if (!status && !name && !(name = strdup("")))
        status = DOPPEL_E_MEMORY;
    if (status)
        doppel_fail(error, status, "%s: an item cannot be read", library->directory);
    else
        status = doppel_library_authority(library, source, &candidate.authority, error);
    if (date || !is_item)
        candidate.mtime_ns = doppel_date_ns(date);
    if (!status) {
        candidate.path = name;
        *out = candidate;
        *out_name = name;
        name = NULL;
    }
    free(name);
    free(source);
    free(date);
    return status;
}

enum doppel_status doppel_library_candidate(struct doppel_library *library, uint64_t id,
                                            struct doppel_candidate *out, char **out_name,
                                            struct doppel_error *error)
{
    sqlite3_stmt *row;
    enum doppel_status status = rows_first(library, CANDIDATE, VALUES(ID(id)), &row, error);
    if (status)
        return status;
    if (!row)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "%s: no item has the id %" PRIu64,
                           library->directory, id);
    status = read_candidate(library, row, out, out_name, error);
    sqlite3_reset(row);
    return status;
}
