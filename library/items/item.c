/* Reading items: one, by id or path, or all. */
#include "library/derived/derived.h"

#include <stdlib.h>
#include <string.h>

#include "library/items/rows.h"

#define SELECT_ITEM                                                                                \
    "SELECT id, path, added_ns, " STAMP_COLUMNS ", " RECORD_COLUMNS                                \
    ", pixels, duration_ms, fingerprint.data, " ITEM_IS_WHOLE                                      \
    " FROM item LEFT JOIN fingerprint ON fingerprint.item = item.id "

enum {
    COLUMN_ID,
    COLUMN_PATH,
    COLUMN_ADDED,
    COLUMN_STAMP,
    COLUMN_RECORD = COLUMN_STAMP + STAMP_COLUMN_COUNT,
    COLUMN_PIXELS = COLUMN_RECORD + RECORD_COLUMN_COUNT,
    COLUMN_DURATION = COLUMN_PIXELS + 1,
    COLUMN_FINGERPRINT,
    COLUMN_IS_WHOLE
};

/* The matcher takes no higher ids; counting from 1, none is reached. */
static const uint64_t MAX_ID = (UINT64_C(1) << 60) - 1;

void doppel_item_free(struct doppel_item *item)
{
    if (!item)
        return;
    free(item->path);
    doppel_record_free(&item->record);
    *item = (struct doppel_item){0};
}

/* The first bytes of an attachment, which is not read as a whole for them. @return how many */
static size_t read_attachment_head(sqlite3 *database, uint64_t id, uint8_t out[TRACK_HEAD_BYTES])
{
    sqlite3_blob *blob = NULL;
    size_t size = 0;
    if (!sqlite3_blob_open(database, "main", "attachment", "data", (sqlite3_int64)id, 0, &blob)) {
        size = (size_t)sqlite3_blob_bytes(blob);
        size = size < TRACK_HEAD_BYTES ? size : TRACK_HEAD_BYTES;
        if (sqlite3_blob_read(blob, out, (int)size, 0))
            size = 0;
    }
    sqlite3_blob_close(blob);
    return size;
}

/* What the head of a track says. Its length stands in a column, too: where they differ, the one or
 * the other is damaged. */
static void read_track_head(sqlite3_stmt *statement, struct doppel_item *item)
{
    uint8_t head[TRACK_HEAD_BYTES];
    struct doppel_audio_track track = {0};
    if (!has_length(&item->record))
        return;
    size_t size = read_attachment_head(sqlite3_db_handle(statement), item->id, head);
    bool read = size && track_head(&item->record, head, size, &track);
    bool known = sqlite3_column_type(statement, COLUMN_DURATION) != SQLITE_NULL;
    uint64_t duration_ms = (uint64_t)sqlite3_column_int64(statement, COLUMN_DURATION);
    item->damaged_length =
        known ? !read || duration_ms != track.duration_ms : !read && is_track(&item->record);
    if (item->damaged_length)
        return;
    item->duration_ms = track.duration_ms;
    item->damaged_ms = track.damaged_ms;
    item->tags = track.tags;
}

/* Read a row. Of a damaged one what can be reported is reported, and record.error says so.
 * DOPPEL_E_MEMORY. */
static enum doppel_status read_item_row(sqlite3_stmt *statement, struct doppel_item *out)
{
    struct doppel_item item = {
        .id = (uint64_t)sqlite3_column_int64(statement, COLUMN_ID),
        .added_ns = sqlite3_column_int64(statement, COLUMN_ADDED),
    };
    stamp_read(statement, COLUMN_STAMP, &item.stamp);
    enum doppel_status status = path_read(statement, COLUMN_PATH, &item.path);
    if (status == DOPPEL_E_CORRUPT)
        item.path = strdup("");
    if (!item.path)
        return DOPPEL_E_MEMORY;
    if (status || sqlite3_column_int(statement, COLUMN_IS_WHOLE) != 1 || item.id == 0 ||
        item.id > MAX_ID || !record_read(statement, COLUMN_RECORD, &item.record) ||
        (item.record.scheme != DOPPEL_SCHEME_NONE &&
         !fingerprint_read(statement, COLUMN_FINGERPRINT, &item.record))) {
        if (item.record.error.status == DOPPEL_E_MEMORY) {
            doppel_item_free(&item);
            return DOPPEL_E_MEMORY;
        }
        doppel_fail(&item.record.error, DOPPEL_E_CORRUPT,
                    "item %llu is damaged in the library; add its file again, or remove it",
                    (unsigned long long)item.id);
    }
    (void)digest_read(statement, COLUMN_PIXELS, &item.record.pixels);
    read_track_head(statement, &item);
    *out = item;
    return DOPPEL_OK;
}

static enum doppel_status read_attachment(struct doppel_library *library, struct doppel_item *item,
                                          struct doppel_error *error)
{
    sqlite3_stmt *row;
    enum doppel_status status = rows_first(
        library, "SELECT data, " IS_WHOLE("item, data") " FROM attachment WHERE item = ?1",
        VALUES(ID(item->id)), &row, error);
    if (status || !row)
        return status;
    status =
        sqlite3_column_int(row, 1) == 1 ? attachment_read(row, 0, &item->record) : DOPPEL_E_CORRUPT;
    if (status)
        doppel_fail(error, status, "%s: item %llu: the attachment cannot be read",
                    library->directory, (unsigned long long)item->id);
    sqlite3_reset(row);
    return status;
}

/* Step to the one row of a bound SELECT_ITEM, and read it. */
static enum doppel_status read_one(struct doppel_library *library, sqlite3_stmt *statement,
                                   bool with_attachment, struct doppel_item *out,
                                   struct doppel_error *error)
{
    bool row;
    struct doppel_item item = {0};
    enum doppel_status status = doppel_store_step(library->store, statement, &row, error);
    if (status)
        return status;
    if (!row)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "%s: no such item", library->directory);
    status = read_item_row(statement, &item);
    sqlite3_reset(statement);
    if (status)
        return doppel_fail(error, doppel_store_note_failure(library->store, status),
                           "%s: no memory for an item", library->directory);
    status = item.record.error.status;
    if (status)
        doppel_fail(error, status, "%s: %s", library->directory, item.record.error.message);
    else if (with_attachment)
        status = doppel_store_note_failure(library->store, read_attachment(library, &item, error));
    if (status)
        doppel_item_free(&item);
    else
        *out = item;
    return status;
}

enum doppel_status doppel_library_read_failure(struct doppel_library *library,
                                               struct doppel_error *error)
{
    return doppel_store_read_failure(library->store, error);
}

enum doppel_status doppel_library_get(struct doppel_library *library, uint64_t id,
                                      bool with_attachment, struct doppel_item *out,
                                      struct doppel_error *error)
{
    sqlite3_stmt *statement;
    enum doppel_status status =
        doppel_store_statement(library->store, SELECT_ITEM "WHERE item.id = ?1", &statement, error);
    if (status)
        return status;
    sqlite3_bind_int64(statement, 1, (int64_t)id);
    return read_one(library, statement, with_attachment, out, error);
}

enum doppel_status doppel_library_by_path(struct doppel_library *library, const char *path,
                                          struct doppel_item *out, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    enum doppel_status status = doppel_store_statement(
        library->store, SELECT_ITEM "WHERE item.path = ?1", &statement, error);
    if (status)
        return status;
    path_bind(statement, 1, path);
    return read_one(library, statement, false, out, error);
}

enum doppel_status doppel_library_by_digest(struct doppel_library *library,
                                            const struct doppel_digest *digest, uint64_t *out_id,
                                            struct doppel_error *error)
{
    int64_t id;
    bool found;
    enum doppel_status status =
        rows_number(library, "SELECT id FROM item WHERE digest = ?1 ORDER BY scheme = 0, id",
                    VALUES(value_digest(digest)), &id, &found, error);
    if (status)
        return status;
    if (!found)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "%s: no item has these bytes",
                           library->directory);
    *out_id = (uint64_t)id;
    return DOPPEL_OK;
}

static enum doppel_status visit_rows(struct doppel_library *library, sqlite3_stmt *statement,
                                     doppel_item_visitor *visitor, void *context,
                                     struct doppel_error *error)
{
    for (;;) {
        bool row;
        enum doppel_status status = doppel_store_step(library->store, statement, &row, error);
        if (status || !row)
            return status;
        struct doppel_item item;
        status = read_item_row(statement, &item);
        if (status)
            return doppel_fail(error, status, "%s: no memory for an item", library->directory);
        bool go_on = visitor(context, &item);
        doppel_item_free(&item);
        if (!go_on)
            return visit_ended(error);
    }
}

enum doppel_status doppel_library_each(struct doppel_library *library, doppel_item_visitor *visitor,
                                       void *context, struct doppel_error *error)
{
    return doppel_library_each_from(library, 1, visitor, context, error);
}

/* @param sql of a number */
static enum doppel_status visit_selected(struct doppel_library *library, const char *sql,
                                         int64_t number, doppel_item_visitor *visitor,
                                         void *context, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    if (library->visiting)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a visit of all items is in progress already");
    enum doppel_status status =
        rows_prepare(library, sql, VALUES(value_integer(number)), &statement, error);
    if (status)
        return status;
    library->visiting = true;
    visit_begin(error);
    status = visit_rows(library, statement, visitor, context, error);
    library->visiting = false;
    sqlite3_reset(statement);
    return status;
}

enum doppel_status doppel_library_each_from(struct doppel_library *library, uint64_t first,
                                            doppel_item_visitor *visitor, void *context,
                                            struct doppel_error *error)
{
    /* ids below 1 are damaged ones, which are reported, too */
    return visit_selected(library, SELECT_ITEM "WHERE item.id >= ?1 ORDER BY item.id",
                          first > 1 ? (int64_t)first : INT64_MIN, visitor, context, error);
}

enum doppel_status items_each_but(struct doppel_library *library, enum doppel_scheme_id scheme,
                                  doppel_item_visitor *visitor, void *context,
                                  struct doppel_error *error)
{
    return visit_selected(library, SELECT_ITEM "WHERE item.scheme NOT IN (0, ?1) ORDER BY item.id",
                          (int64_t)scheme, visitor, context, error);
}

enum doppel_status items_visit_one(struct doppel_library *library, int64_t id,
                                   enum doppel_scheme_id scheme, doppel_item_visitor *visitor,
                                   void *context, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    enum doppel_status status =
        rows_prepare(library, SELECT_ITEM "WHERE item.id = ?1 AND item.scheme IN (0, ?2)",
                     VALUES(value_integer(id), value_integer((int64_t)scheme)), &statement, error);
    if (status)
        return status;
    status = visit_rows(library, statement, visitor, context, error);
    sqlite3_reset(statement);
    return status;
}
