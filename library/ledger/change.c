/* Changing a library: adding, updating, moving and removing items. */
#include "library/ledger/change.h"
#include "core/try.h"
#include "library/derived/codes.h"
#include "library/derived/derived.h"
#include "library/items/import_internal.h"
#include "library/ledger/ledger.h"
#include "core/digest.h"

#include <stdlib.h>
#include <string.h>

/* ---- removing ---- */

/* An item, or a record. Those who follow it move in the indexes when it is gone: one that is made
 * just then must not have it. */
static enum doppel_status delete_item(struct doppel_library *library, uint64_t id,
                                      struct doppel_error *error)
{
    enum doppel_status status;
    TRY(derived_forget(library, id, error));
    TRY(text_vectors_hand_on(library, id, error));
    TRY(links_leave(library, id, error));
    TRY(rows_run(library, "DELETE FROM item WHERE id = ?1", VALUES(ID(id)), error));
    TRY(rows_run(library, "DELETE FROM text WHERE id = ?1", VALUES(ID(id)), error));
    TRY(links_hand_on(library, id, error));
done:
    return status;
}

/* ---- adding ---- */

static enum doppel_status add_new(struct doppel_library *library, struct addition *addition,
                                  uint64_t former, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (former)
        TRY(delete_item(library, former, error));
    if (former)
        TRY(text_codes_free_followers(library, former, error));
    TRY(item_insert(library, addition, error));
    TRY(item_put_computed(library, addition->id, addition->record, true, error));
    if (former)
        TRY(about_move(library, former, addition->id, error));
done:
    addition->outcome = former ? DOPPEL_ADDED_UPDATED : DOPPEL_ADDED_NEW;
    const struct doppel_log_entry entry = {
        .action = former ? DOPPEL_LOG_UPDATED : DOPPEL_LOG_ADDED,
        .item = addition->id,
        .name = addition->path,
        .former = former,
    };
    return status || addition->decided ? status : log_append(library, &entry, error);
}

/* The same bytes at the same path. */
static enum doppel_status add_again(struct doppel_library *library, struct addition *addition,
                                    const struct present *present, struct doppel_error *error)
{
    addition->id = present->id;
    bool poorer = !present->same_scheme && is_bytes_alone(addition->record);
    bool same = present->same_scheme || poorer;
    addition->outcome = same ? DOPPEL_ADDED_UNCHANGED : DOPPEL_ADDED_UPDATED;
    if (poorer || (same && present->settled && stamp_equal(&present->stamp, addition->stamp)))
        return DOPPEL_OK;
    enum doppel_status status = DOPPEL_OK;
    if (!present->same_scheme)
        status = derived_forget(library, present->id, error);
    if (!status)
        status = item_update(library, present->id, addition, error);
    if (status || present->same_scheme)
        return status;
    status = item_put_computed(library, present->id, addition->record, false, error);
    const struct doppel_log_entry entry = {
        .action = DOPPEL_LOG_REFRESHED, .item = present->id, .name = addition->path};
    return status ? status : log_append(library, &entry, error);
}

static enum doppel_status add_moved(struct doppel_library *library, struct addition *addition,
                                    uint64_t id, const char *former_path,
                                    struct doppel_error *error)
{
    addition->id = id;
    addition->outcome = DOPPEL_ADDED_MOVED;
    bool held = false; /* then the postings stay as they are */
    enum doppel_status status;
    TRY(derived_holds(library, id, addition->record, &held, error));
    if (!held)
        TRY(derived_forget(library, id, error));
    TRY(item_update(library, id, addition, error));
    if (!held)
        TRY(item_put_computed(library, id, addition->record, false, error));
    const struct doppel_log_entry entry = {
        .action = DOPPEL_LOG_MOVED, .item = id, .name = addition->path, .former_name = former_path};
    TRY(log_append(library, &entry, error));
done:
    return status;
}

static enum doppel_status add(struct doppel_library *library, struct addition *addition,
                              struct doppel_error *error)
{
    struct present present;
    enum doppel_status status =
        present_by_path(library, addition->path, addition->record, &present, error);
    if (status)
        return status;
    if (present.id && present.same_bytes)
        return add_again(library, addition, &present, error);
    if (present.id)
        return add_new(library, addition, present.id, error);
    char *former_path;
    uint64_t first, id;
    status = library_moved(library, &addition->record->digest, &first, &id, &former_path, error);
    if (status)
        return status;
    bool poorer = false; /* what is known of the item is not given up for bytes alone */
    int64_t scheme = 0;
    if (former_path && is_bytes_alone(addition->record)) {
        status = rows_number(library, "SELECT scheme FROM item WHERE id = ?1", VALUES(ID(id)),
                             &scheme, NULL, error);
        poorer = scheme != DOPPEL_SCHEME_NONE;
    }
    if (!status)
        status = former_path && !poorer ? add_moved(library, addition, id, former_path, error)
                                        : add_new(library, addition, 0, error);
    free(former_path);
    return status;
}

static enum doppel_status check_addition(const char *name, const struct doppel_record *record,
                                         struct doppel_error *error)
{
    bool codeless = is_track(record) || is_bytes_alone(record);
    if (record->error.status || (record->fingerprint.count == 0) != codeless)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s: has no fingerprint to be added", name);
    if (record->fingerprint.scheme != record->scheme ||
        record->fingerprint.version != record->version)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "%s: the fingerprint is of another scheme than its record", name);
    return DOPPEL_OK;
}

/* @param former what has no file takes its place; 0: nobody's */
static enum doppel_status add_checked(struct doppel_library *library, struct addition *addition,
                                      uint64_t former, struct doppel_error *error)
{
    const struct doppel_record *record = addition->record;
    struct doppel_record stripped = {0};
    enum doppel_status status;
    if (is_track(record)) {
        TRY(track_strip(record, &stripped, error));
        addition->record = &stripped;
    }
    TRY(derived_prepare(library, record, addition->path, 0, error));
    TRY(library_begin(library, error));
    TRY(library_end(library, *addition->path ? add(library, addition, error)
                                             : add_new(library, addition, former, error)));
done:
    addition->record = record;
    free(stripped.attachment);
    return status;
}

static enum doppel_status add_file(struct doppel_library *library, struct addition *addition,
                                   struct doppel_error *error)
{
    if (addition->path[0] != '/')
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s: a library holds absolute paths only",
                           addition->path);
    enum doppel_status status = check_addition(addition->path, addition->record, error);
    return status ? status : add_checked(library, addition, 0, error);
}

enum doppel_status doppel_library_add(struct doppel_library *library, const char *path,
                                      const struct doppel_file_stamp *stamp,
                                      const struct doppel_record *record,
                                      enum doppel_added *out_added, uint64_t *out_id,
                                      struct doppel_error *error)
{
    struct addition addition = {.path = path, .stamp = stamp, .record = record};
    enum doppel_status status = add_file(library, &addition, error);
    if (status)
        return status;
    *out_added = addition.outcome;
    *out_id = addition.id;
    return DOPPEL_OK;
}

enum doppel_status doppel_library_add_decided(struct doppel_library *library, const char *path,
                                              const struct doppel_file_stamp *stamp,
                                              const struct doppel_record *record,
                                              enum doppel_added *out_added, uint64_t *out_id,
                                              struct doppel_error *error)
{
    struct addition addition = {.path = path, .stamp = stamp, .record = record, .decided = true};
    enum doppel_status status = add_file(library, &addition, error);
    if (status)
        return status;
    *out_added = addition.outcome;
    *out_id = addition.id;
    return DOPPEL_OK;
}

enum doppel_status doppel_library_add_without_file(struct doppel_library *library,
                                                   const struct doppel_record *record,
                                                   const char *name, uint64_t former,
                                                   uint64_t *out_id, struct doppel_error *error)
{
    static const struct doppel_file_stamp none;
    struct doppel_record own = *record;
    struct addition addition = {
        .path = "", .stamp = &none, .record = &own, .unproven = true, .decided = true};
    enum doppel_status status;
    TRY(check_addition(name ? name : "it", record, error));
    if (digest_is_none(&own.digest))
        TRY(import_make_digest(&own, name, error));
    TRY(add_checked(library, &addition, former, error));
    *out_id = addition.id;
done:
    return status;
}

/* ---- knowing, removing ---- */

enum doppel_status doppel_library_known(struct doppel_library *library, const char *path,
                                        const struct doppel_file_stamp *stamp,
                                        const struct doppel_scheme *scheme, uint64_t *out_id)
{
    struct doppel_record record = {.scheme = scheme->id, .version = scheme->version};
    struct present present;
    if (present_by_path(library, path, &record, &present, NULL) || !present.id ||
        !present.settled || !present.same_scheme || !stamp_equal(&present.stamp, stamp))
        return DOPPEL_E_NOT_FOUND;
    *out_id = present.id;
    return DOPPEL_OK;
}

/* The name of an item, also of a damaged one, or the path of the corpus of a text, "" without one;
 * given (free). */
static enum doppel_status find_path(struct doppel_library *library, uint64_t id, char **out,
                                    struct doppel_error *error)
{
    sqlite3_stmt *row;
    enum doppel_status status = rows_first(
        library,
        "SELECT " NAME_OF_ITEM " FROM item WHERE id = ?1 UNION ALL SELECT corpus.path FROM text"
        " LEFT JOIN corpus ON corpus.id = text.corpus WHERE text.id = ?1",
        VALUES(ID(id)), &row, error);
    if (status)
        return status;
    if (!row)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "%s: no item has the id %llu",
                           library->directory, (unsigned long long)id);
    char *path = NULL;
    if (path_read(row, 0, &path) == DOPPEL_E_CORRUPT)
        path = strdup("");
    sqlite3_reset(row);
    if (!path)
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", library->directory);
    *out = path;
    return DOPPEL_OK;
}

enum doppel_status item_remove(struct doppel_library *library, uint64_t id, const char *reason,
                               struct doppel_error *error)
{
    char *path = NULL;
    enum doppel_status status;
    TRY(find_path(library, id, &path, error));
    TRY(text_codes_forget_record(library, id, error));
    TRY(delete_item(library, id, error));
    TRY(text_codes_free_followers(library, id, error));
    TRY(about_move(library, id, 0, error));
    const struct doppel_log_entry entry = {
        .action = DOPPEL_LOG_REMOVED, .item = id, .name = path, .reason = reason};
    TRY(log_append(library, &entry, error));
done:
    free(path);
    return status;
}

enum doppel_status doppel_library_remove(struct doppel_library *library, uint64_t id,
                                         struct doppel_error *error)
{
    enum doppel_status status;
    TRY(derived_prepare(library, NULL, NULL, id, error));
    TRY(library_begin(library, error));
    TRY(library_end(library, item_remove(library, id, NULL, error)));
done:
    return status;
}
