/* What people say of an item: its source, an id of their own, any JSON, labels and lists. */
#include "library/ledger/ledger.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/try.h"
#include "library/ledger/lists.h"

enum { MAX_META_BYTES = 1 << 20 };

static const char about_damaged[] = "what is said of it is damaged; say it again";

void doppel_metadata_free(struct doppel_metadata *about)
{
    if (!about)
        return;
    free(about->source);
    free(about->date);
    free(about->external_id);
    free(about->meta);
    for (size_t i = 0; i < about->label_count; i++)
        free(about->labels[i]);
    for (size_t i = 0; i < about->list_count; i++)
        free(about->lists[i]);
    free(about->labels);
    free(about->lists);
    *about = (struct doppel_metadata){0};
}

/* ---- reading ---- */

static int by_name_read(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* The names that a query gives, in order: SQLite takes longer to begin to sort than to read them.
 * `*out` given, also on failure. */
static enum doppel_status read_names(struct doppel_library *library, const char *sql, uint64_t id,
                                     char ***out, size_t *out_count, struct doppel_error *error)
{
    ARRAY(char *) names = {0};
    bool row;
    sqlite3_stmt *statement;
    enum doppel_status status = rows_prepare(library, sql, VALUES(ID(id)), &statement, error);
    while (!status && !(status = doppel_store_step(library->store, statement, &row, error)) &&
           row) {
        char *name = NULL;
        enum doppel_status read = string_read(statement, 0, &name);
        if (!read && !array_push(&names, name)) {
            free(name);
            read = DOPPEL_E_MEMORY;
        }
        if (read)
            status = doppel_fail(error, read, "%s: item %" PRIu64 ": a name cannot be read",
                                 library->directory, id);
        if (status)
            sqlite3_reset(statement);
    }
    if (names.count > 1)
        qsort(names.items, names.count, sizeof *names.items, by_name_read);
    *out = names.items;
    *out_count = names.count;
    return status;
}

enum doppel_status metadata_row(struct doppel_library *library, uint64_t id,
                                struct doppel_metadata *about, struct doppel_error *error)
{
    sqlite3_stmt *row;
    enum doppel_status status = rows_first(
        library,
        "SELECT source, date, external_id, meta, " IS_WHOLE(ABOUT_COLUMNS) " FROM about"
                                                                           " WHERE item = ?1",
        VALUES(ID(id)), &row, error);
    if (status || !row)
        return status;
    char **const fields[] = {&about->source, &about->date, &about->external_id, &about->meta};
    if (sqlite3_column_int(row, 4) != 1)
        status = DOPPEL_E_CORRUPT;
    for (int i = 0; i < 4 && !status; i++)
        status = string_read(row, i, fields[i]);
    sqlite3_reset(row);
    return status ? item_damaged(library, id, about_damaged, error) : DOPPEL_OK;
}

/* A record says itself where it comes from. */
static enum doppel_status read_origin(struct doppel_library *library, uint64_t id,
                                      struct doppel_metadata *about, struct doppel_error *error)
{
    sqlite3_stmt *row;
    enum doppel_status status = rows_first(library, "SELECT source, date FROM text WHERE id = ?1",
                                           VALUES(ID(id)), &row, error);
    if (status || !row)
        return status;
    free(about->source);
    free(about->date);
    about->source = about->date = NULL;
    status = string_read(row, 0, &about->source);
    if (!status)
        status = string_read(row, 1, &about->date);
    sqlite3_reset(row);
    return status ? item_damaged(library, id, about_damaged, error) : DOPPEL_OK;
}

static enum doppel_status read_memberships(struct doppel_library *library, uint64_t id,
                                           struct doppel_metadata *about,
                                           struct doppel_error *error)
{
    enum doppel_status status;
    TRY(read_names(library, "SELECT label FROM label WHERE item = ?1", id, &about->labels,
                   &about->label_count, error));
    TRY(read_names(library,
                   "SELECT name FROM list_item JOIN list ON list.id = list_item.list"
                   " WHERE item = ?1",
                   id, &about->lists, &about->list_count, error));
    TRY(doppel_library_state_of(library, id, &about->state, error));
done:
    return status;
}

enum doppel_status doppel_library_get_memberships(struct doppel_library *library, uint64_t id,
                                                  struct doppel_metadata *out,
                                                  struct doppel_error *error)
{
    struct doppel_metadata about = {0};
    enum doppel_status status = read_memberships(library, id, &about, error);
    if (status)
        doppel_metadata_free(&about);
    else
        *out = about;
    return status;
}

enum doppel_status doppel_library_get_metadata(struct doppel_library *library, uint64_t id,
                                               struct doppel_metadata *out,
                                               struct doppel_error *error)
{
    struct doppel_metadata about = {0};
    enum doppel_status status;
    TRY(item_exists(library, id, error));
    TRY(metadata_row(library, id, &about, error));
    TRY(read_origin(library, id, &about, error));
    TRY(read_memberships(library, id, &about, error));
done:
    if (status)
        doppel_metadata_free(&about);
    else
        *out = about;
    return status;
}

/* ---- telling ---- */

static enum doppel_status check_meta(struct doppel_library *library, const char *meta,
                                     struct doppel_error *error)
{
    int64_t is_object = 0;
    enum doppel_status status = DOPPEL_OK;
    if (strlen(meta) > MAX_META_BYTES)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "meta must not be longer than %d bytes",
                           MAX_META_BYTES);
    if (is_utf8(meta))
        status = rows_number(library,
                             "SELECT CASE WHEN json_valid(?1) THEN json_type(?1) = 'object'"
                             " ELSE 0 END",
                             VALUES(value_text(meta)), &is_object, NULL, error);
    if (!status && !is_object)
        status =
            doppel_fail(error, DOPPEL_E_ARGUMENT, "meta must be an object in JSON: '%.100s'", meta);
    return status;
}

enum doppel_status doppel_library_check_metadata(struct doppel_library *library,
                                                 const struct doppel_metadata *about,
                                                 struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (about->external_id)
        status = name_check(about->external_id, "an external id", error);
    if (!status && about->meta)
        status = check_meta(library, about->meta, error);
    for (size_t i = 0; i < about->label_count && !status; i++)
        status = name_check(about->labels[i], "a label", error);
    for (size_t i = 0; i < about->list_count && !status; i++)
        status = name_check(about->lists[i], "the name of a list", error);
    return status;
}

/* Where it comes from decides which copy is kept, so the log tells it, unless what it told last of
 * the item says so already. */
static enum doppel_status log_source(struct doppel_library *library, uint64_t id,
                                     const char *source, struct doppel_error *error)
{
    int64_t told = 0;
    char *name = NULL;
    enum doppel_status status = rows_number(
        library,
        "SELECT source IS ?2 FROM log WHERE entry IN (SELECT entry FROM log WHERE item = ?1"
        " AND item != 0 UNION ALL SELECT entry FROM log WHERE last_item >= ?1 AND item <= ?1)"
        " ORDER BY entry DESC LIMIT 1",
        VALUES(ID(id), value_string(source)), &told, NULL, error);
    if (status || told)
        return status;
    status = item_name(library, id, &name, error);
    const struct doppel_log_entry entry = {
        .action = DOPPEL_LOG_METADATA, .item = id, .name = name, .source = source};
    if (!status)
        status = log_append(library, &entry, error);
    free(name);
    return status;
}

#define ABOUT_VALUES "?1, ?2, ?3, ?4, ?5"

static enum doppel_status put_about(struct doppel_library *library, uint64_t id,
                                    const struct doppel_metadata *said, struct doppel_error *error)
{
    struct doppel_metadata former = {0};
    enum doppel_status status = metadata_row(library, id, &former, error);
    if (status == DOPPEL_E_CORRUPT) /* what is said now takes its place */
        doppel_metadata_free(&former);
    else if (status)
        goto done;
    TRY(rows_run(library,
                 "INSERT OR REPLACE INTO about(" ABOUT_COLUMNS ", checksum) VALUES(" ABOUT_VALUES
                 ", " CHECKSUM_OF(ABOUT_VALUES) ")",
                 VALUES(ID(id), value_string(said->source ? said->source : former.source),
                        value_string(said->date ? said->date : former.date),
                        value_text(said->external_id ? said->external_id : former.external_id),
                        value_text(said->meta ? said->meta : former.meta)),
                 error));
    if (said->source && (!former.source || strcmp(said->source, former.source) != 0))
        TRY(log_source(library, id, said->source, error));
done:
    doppel_metadata_free(&former);
    return status;
}

/* What a list said, too, is said by somebody now. */
static enum doppel_status put_label(struct doppel_library *library, uint64_t id, const char *label,
                                    struct doppel_error *error)
{
    const struct values values = VALUES(ID(id), value_text(label));
    enum doppel_status status =
        rows_run(library, "INSERT OR IGNORE INTO label(item, label) VALUES(?1, ?2)", values, error);
    return status || rows_changed(library)
               ? status
               : rows_run(library, "DELETE FROM list_said WHERE item = ?1 AND tag = ?2", values,
                          error);
}

enum doppel_status metadata_put(struct doppel_library *library, uint64_t id,
                                const struct doppel_metadata *about, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if ((about->source || about->date || about->external_id || about->meta))
        status = put_about(library, id, about, error);
    for (size_t i = 0; i < about->label_count && !status; i++)
        status = put_label(library, id, about->labels[i], error);
    for (size_t i = 0; i < about->list_count && !status; i++)
        status = list_put_item(library, id, about->lists[i], error);
    return status;
}

static enum doppel_status store_metadata(struct doppel_library *library, uint64_t id,
                                         const struct doppel_metadata *about,
                                         struct doppel_error *error)
{
    enum doppel_status status;
    TRY(item_exists(library, id, error));
    TRY(doppel_library_check_metadata(library, about, error));
    TRY(metadata_put(library, id, about, error));
done:
    return status;
}

enum doppel_status doppel_library_set_metadata(struct doppel_library *library, uint64_t id,
                                               const struct doppel_metadata *about,
                                               struct doppel_error *error)
{
    enum doppel_status status = library_begin(library, error);
    return status ? status : library_end(library, store_metadata(library, id, about, error));
}

/* ---- taking back ---- */

static enum doppel_status unlabel(struct doppel_library *library, uint64_t id, const char *label,
                                  struct doppel_error *error)
{
    enum doppel_status status =
        rows_run(library, "DELETE FROM label WHERE item = ?1 AND label = ?2",
                 VALUES(ID(id), value_text(label)), error);
    if (!status && rows_changed(library) == 0)
        status = doppel_fail(error, DOPPEL_E_NOT_FOUND, "item %" PRIu64 " has no label '%.100s'",
                             id, label);
    return status;
}

enum doppel_status doppel_library_unlabel(struct doppel_library *library, uint64_t id,
                                          const char *label, struct doppel_error *error)
{
    enum doppel_status status = library_begin(library, error);
    return status ? status : library_end(library, unlabel(library, id, label, error));
}

enum doppel_status about_move(struct doppel_library *library, uint64_t from, uint64_t to,
                              struct doppel_error *error)
{
    static const char *const moves[] = {
        "UPDATE about SET item = ?2, checksum = " CHECKSUM_OF(
            "?2, source, date, external_id, meta") " WHERE item = ?1 AND " IS_WHOLE(ABOUT_COLUMNS),
        "UPDATE label SET item = ?2 WHERE item = ?1",
        "UPDATE list_item SET item = ?2 WHERE item = ?1",
        "UPDATE list_said SET item = ?2 WHERE item = ?1",
        "UPDATE list_match SET item = ?2, checksum = " CHECKSUM_OF(
            "?2, hour, matches, last_ns") " WHERE item = ?1",
    };
    static const char *const deletions[] = {
        "DELETE FROM about WHERE item = ?1",     "DELETE FROM label WHERE item = ?1",
        "DELETE FROM list_item WHERE item = ?1", "DELETE FROM exact WHERE item = ?1",
        "DELETE FROM list_said WHERE item = ?1", "DELETE FROM list_match WHERE item = ?1",
        "DELETE FROM upstream WHERE item = ?1"};
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; to && i < sizeof moves / sizeof *moves && !status; i++)
        status = rows_run(library, moves[i], VALUES(ID(from), ID(to)), error);
    for (size_t i = 0; i < sizeof deletions / sizeof *deletions && !status; i++)
        status = rows_run(library, deletions[i], VALUES(ID(from)), error);
    if (!status)
        status = state_changed(library, from, error);
    return status || !to ? status : state_changed(library, to, error);
}

enum doppel_status doppel_library_by_external_id(struct doppel_library *library,
                                                 const char *external_id, uint64_t *out,
                                                 struct doppel_error *error)
{
    int64_t item;
    bool found;
    enum doppel_status status = rows_number(
        library, "SELECT item FROM about WHERE external_id = ?1 ORDER BY item DESC LIMIT 1",
        VALUES(value_text(external_id)), &item, &found, error);
    if (status)
        return status;
    if (!found)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "%s: nothing is called %s",
                           library->directory, external_id);
    *out = (uint64_t)item;
    return DOPPEL_OK;
}
