/* Items that come from elsewhere: from another library, or from a list of fingerprints. Of many the
 * file is not here, and some never had one. */
#include "library/items/import_internal.h"
#include "library/derived/derived.h"
#include "library/ledger/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "core/digest.h"
#include "core/try.h"

/* More than once only when what waits in a derived index had to be committed first. */
enum { MAX_TRIES = 3, MAX_QUALITY = 100 };

/* ---- what an item is known by ---- */

/* Those that somebody calls so, on one of the lists given, or on none. */
#define CALLED                                                                                     \
    "SELECT item.id, digest = ?2 FROM about JOIN item ON item.id = about.item"                     \
    " WHERE external_id = ?1 AND +scheme = ?3 AND " HAS_NO_FILE

static enum doppel_status find_one(struct doppel_library *library, const char *sql,
                                   struct values values, struct present *out,
                                   struct doppel_error *error)
{
    sqlite3_stmt *row;
    enum doppel_status status = rows_first(library, sql, values, &row, error);
    if (status || !row)
        return status;
    out->id = (uint64_t)sqlite3_column_int64(row, 0);
    out->same_bytes = sqlite3_column_int(row, 1) != 0;
    sqlite3_reset(row);
    return DOPPEL_OK;
}

static enum doppel_status find_called(struct doppel_library *library, struct import *import,
                                      struct doppel_error *error)
{
    const struct doppel_record *record = import->addition.record;
    const struct doppel_metadata *about = import->about;
    const struct bound_value name = value_text(about->external_id);
    const struct bound_value digest = value_digest(&record->digest), scheme = ID(record->scheme);
    enum doppel_status status = DOPPEL_OK;
    if (!about->list_count)
        return find_one(library,
                        CALLED " AND NOT EXISTS(SELECT 1 FROM list_item WHERE item = item.id)",
                        VALUES(name, digest, scheme), &import->present, error);
    for (size_t i = 0; i < about->list_count && !status && !import->present.id; i++)
        status = find_one(library,
                          CALLED " AND EXISTS(SELECT 1 FROM list_item JOIN list ON list.id ="
                                 " list_item.list WHERE item = item.id AND name = ?4)",
                          VALUES(name, digest, scheme, value_text(about->lists[i])),
                          &import->present, error);
    return status;
}

static enum doppel_status find_nameless(struct doppel_library *library, struct import *import,
                                        struct doppel_error *error)
{
    const struct doppel_record *record = import->addition.record;
    return find_one(
        library,
        "SELECT id, 1 FROM item WHERE digest = ?1 AND +scheme = ?2 AND version = ?3"
        " AND " HAS_NO_FILE
        " AND NOT EXISTS(SELECT 1 FROM about WHERE about.item = item.id AND external_id NOT NULL)",
        VALUES(value_digest(&record->digest), ID(record->scheme), ID(record->version)),
        &import->present, error);
}

enum doppel_status import_find_known(struct doppel_library *library, struct import *import,
                                     struct doppel_error *error)
{
    return import->about->external_id ? find_called(library, import, error)
                                      : find_nameless(library, import, error);
}

static enum doppel_status find_present(struct doppel_library *library, struct import *import,
                                       struct doppel_error *error)
{
    struct addition *addition = &import->addition;
    enum doppel_status status = DOPPEL_OK;
    import->present = (struct present){0};
    if (*addition->path)
        status =
            present_by_path(library, addition->path, addition->record, &import->present, error);
    if (status || import->present.same_bytes)
        return status;
    if (import->present.id && is_bytes_alone(addition->record))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "%s: the library knows other bytes at this path, and nothing else is "
                           "known of the item",
                           addition->path);
    if (import->present.id) { /* this library's file stays where it is */
        static const struct doppel_file_stamp none;
        import->present = (struct present){0};
        addition->path = "";
        addition->stamp = &none;
        addition->outcome = DOPPEL_ADDED_ELSEWHERE;
    }
    return *addition->path ? DOPPEL_OK : import_find_known(library, import, error);
}

/* ---- what comes in ---- */

static enum doppel_status put_new(struct doppel_library *library, struct addition *addition,
                                  struct doppel_error *error)
{
    enum doppel_status status = item_insert(library, addition, error);
    return status ? status
                  : item_put_computed(library, addition->id, addition->record, true, error);
}

static enum doppel_status put_again(struct doppel_library *library, struct import *import,
                                    struct doppel_error *error)
{
    struct addition *addition = &import->addition;
    addition->id = import->present.id;
    addition->outcome = import->present.same_bytes ? DOPPEL_ADDED_UNCHANGED : DOPPEL_ADDED_UPDATED;
    if (import->present.same_bytes && import->about->list_count)
        return DOPPEL_OK;
    if (import->present.same_bytes) /* now it is here for itself, too */
        return rows_run(library, "DELETE FROM list_said WHERE item = ?1 AND tag = ''",
                        VALUES(ID(addition->id)), error);
    enum doppel_status status;
    TRY(derived_forget(library, addition->id, error));
    TRY(item_update(library, addition->id, addition, error));
    TRY(item_put_computed(library, addition->id, addition->record, false, error));
done:
    return status;
}

static enum doppel_status put_imported(struct doppel_library *library, struct import *import,
                                       struct doppel_error *error)
{
    struct addition *addition = &import->addition;
    const struct doppel_metadata *about = import->about;
    enum doppel_status status;
    TRY(import->present.id ? put_again(library, import, error) : put_new(library, addition, error));
    const struct doppel_log_entry entry = {
        .action = DOPPEL_LOG_IMPORTED,
        .item = addition->id,
        .name = *addition->path ? addition->path : about->external_id,
        .source = about->source,
    };
    if (addition->outcome != DOPPEL_ADDED_UNCHANGED)
        TRY(log_append(library, &entry, error));
    TRY(metadata_put(library, addition->id, about, error));
done:
    return status;
}

enum doppel_status import_one(struct doppel_library *library, struct import *import,
                              struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (int i = 0; i < MAX_TRIES && !(i && library->writing); i++) {
        TRY(library_begin(library, error));
        TRY(find_present(library, import, error));
        TRY(derived_prepare(library, import->addition.record, import->addition.path,
                            import->present.id, error));
    }
    TRY(library_begin(library, error));
    TRY(put_imported(library, import, error));
done:
    return status;
}

/* ---- what may come in ---- */

static bool is_readable(const struct doppel_record *record)
{
    struct doppel_text_extra extra = {0};
    if (!record->attachment_size)
        return true;
    if (record->kind != DOPPEL_KIND_TEXT)
        return record->attachment_size <= MAX_ATTACHMENT_BYTES;
    bool good = record->attachment_size <= MAX_ATTACHMENT_BYTES &&
                !doppel_text_attachment_read(record->attachment, record->attachment_size, &extra);
    doppel_text_extra_free(&extra);
    return good;
}

static enum doppel_status check_item(const struct doppel_item *item, struct doppel_error *error)
{
    const struct doppel_record *record = &item->record;
    if (item->path && *item->path && (item->path[0] != '/' || digest_is_none(&record->digest)))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "%s: an item with a path has an absolute one, and a digest", item->path);
    if (item->path && *item->path && is_bytes_alone(record))
        return DOPPEL_OK;
    if (record->error.status || (record->fingerprint.count == 0) != is_track(record))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "there is no fingerprint to be added");
    if (!fingerprint_fits(&record->fingerprint, record) || record->quality > MAX_QUALITY)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "the fingerprint is not what its scheme and kind make");
    if (!is_readable(record))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "the attachment is not what its scheme makes");
    return DOPPEL_OK;
}

enum doppel_status import_check(struct doppel_library *library, const struct doppel_item *item,
                                const struct doppel_metadata *about, struct doppel_error *error)
{
    enum doppel_status status = check_item(item, error);
    return status ? status : doppel_library_check_metadata(library, about, error);
}

/* Two names of one code are two items, near each other. */
enum doppel_status import_make_digest(struct doppel_record *record, const char *name,
                                      struct doppel_error *error)
{
    size_t size = doppel_fingerprint_size(&record->fingerprint), length = name ? strlen(name) : 0;
    size_t all = size + record->attachment_size + length;
    uint8_t *bytes = malloc(all);
    if (!bytes)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a fingerprint");
    doppel_fingerprint_write(&record->fingerprint, bytes);
    if (record->attachment_size)
        memcpy(bytes + size, record->attachment, record->attachment_size);
    if (length) /* bytes, no string: NOLINTNEXTLINE(bugprone-not-null-terminated-result) */
        memcpy(bytes + size + record->attachment_size, name, length);
    record->digest = doppel_digest_bytes(bytes, all);
    free(bytes);
    return DOPPEL_OK;
}

enum doppel_status doppel_library_find_without_file(struct doppel_library *library,
                                                    const struct doppel_record *record,
                                                    const struct doppel_metadata *about,
                                                    uint64_t *out_id, bool *out_same,
                                                    struct doppel_error *error)
{
    struct doppel_record own = *record;
    struct import import = {.about = about, .addition.record = &own};
    enum doppel_status status;
    if (digest_is_none(&own.digest))
        TRY(import_make_digest(&own, about->external_id, error));
    TRY(import_find_known(library, &import, error));
    *out_id = import.present.id;
    *out_same = import.present.same_bytes;
done:
    return status;
}

enum doppel_status doppel_library_import(struct doppel_library *library,
                                         const struct doppel_item *item,
                                         const struct doppel_metadata *about,
                                         enum doppel_added *out_added, uint64_t *out_id,
                                         struct doppel_error *error)
{
    static const struct doppel_metadata nothing;
    struct doppel_record record = item->record, stripped = {0};
    struct import import = {.about = about ? about : &nothing,
                            .addition = {.path = item->path ? item->path : "",
                                         .stamp = &item->stamp,
                                         .record = &record,
                                         .unproven = true,
                                         .added_ns = item->added_ns}};
    bool track = is_track(&record);
    enum doppel_status status;
    TRY(import_check(library, item, import.about, error));
    if (digest_is_none(&record.digest))
        TRY(import_make_digest(&record, import.about->external_id, error));
    if (track) {
        TRY(track_strip(&record, &stripped, error));
        import.addition.record = &stripped;
    }
    TRY(library_end(library, import_one(library, &import, error)));
    *out_added = import.addition.outcome;
    *out_id = import.addition.id;
done:
    free(stripped.attachment);
    return status;
}
