/* The index of the postings of sounds: opened to write, changed with the items, made anew. */
#include "library/sounds.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    /* Postings that wait in the log: half an hour. More would make opens slow, since their keys are
     * derived again; fewer make many small segments. */
    HEAD_POSTINGS = 1 << 19,
    MOST_POSTINGS = 2 * HEAD_POSTINGS,  /* of a transaction, in memory */
    LEAVE_POSTINGS = HEAD_POSTINGS / 8, /* so few may wait when nobody writes */
};

_Static_assert(DOPPEL_SCHEME_PEAKS32 == 10, "IS_SOUND says so");

bool is_sound(const struct doppel_record *record)
{
    return record->scheme == DOPPEL_SCHEME_PEAKS32;
}

/* ---- peaks ---- */

enum doppel_status sounds_strip(const struct doppel_record *record, struct doppel_record *out,
                                struct doppel_error *error)
{
    struct doppel_audio_track track;
    enum doppel_status status =
        doppel_audio_track_read(record->attachment, record->attachment_size, &track, error);
    if (status)
        return status == DOPPEL_E_CORRUPT
                   ? doppel_fail(error, DOPPEL_E_ARGUMENT, "a sound is added with its peaks")
                   : status;
    struct doppel_record stripped = *record;
    stripped.attachment_size = doppel_audio_track_size(&track, true);
    stripped.attachment = malloc(stripped.attachment_size);
    if (stripped.attachment)
        doppel_audio_track_write(&track, true, stripped.attachment);
    doppel_audio_track_free(&track);
    if (!stripped.attachment)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the peaks of a sound");
    *out = stripped;
    return DOPPEL_OK;
}

enum doppel_status sounds_read_peaks(struct doppel_store *store, uint64_t id, uint8_t **out,
                                     size_t *out_size, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status = doppel_store_statement(
        store,
        "SELECT data, " PEAKS_ARE_WHOLE " FROM attachment JOIN item ON item.id = attachment.item"
        " WHERE attachment.item = ?1 AND " IS_SOUND,
        &statement, error);
    if (status)
        return status;
    sqlite3_bind_int64(statement, 1, (int64_t)id);
    status = doppel_store_step(store, statement, &row, error);
    if (status)
        return status;
    if (!row)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "no sound has the id %llu",
                           (unsigned long long)id);
    struct doppel_record record = {0};
    status = sqlite3_column_int(statement, 1) == 1 ? attachment_read(statement, 0, &record)
                                                   : DOPPEL_E_CORRUPT;
    sqlite3_reset(statement);
    if (status)
        return doppel_fail(error, status, "the peaks of item %llu cannot be read",
                           (unsigned long long)id);
    *out = record.attachment;
    *out_size = record.attachment_size;
    return DOPPEL_OK;
}

static enum doppel_status make_postings(const uint8_t *data, size_t size,
                                        struct doppel_index_item *item,
                                        struct doppel_index_posting **out,
                                        struct doppel_error *error)
{
    struct doppel_audio_track track;
    size_t count = 0;
    enum doppel_status status = doppel_audio_track_read(data, size, &track, error);
    if (status)
        return status;
    const struct doppel_sound sound = {track.peaks, track.count, (double)track.duration_ms / 1e3};
    item->length = doppel_sound_hops(&sound);
    status = doppel_sound_postings(&sound, out, &count, error);
    item->count = (uint32_t)count;
    doppel_audio_track_free(&track);
    return status;
}

/* ---- the index ---- */

/* The store's question what an item's postings are. */
static enum doppel_status give_postings(void *context, uint64_t id, struct doppel_index_item *out,
                                        struct doppel_index_posting **out_postings,
                                        struct doppel_error *error)
{
    uint8_t *peaks;
    size_t size;
    enum doppel_status status = sounds_read_peaks(context, id, &peaks, &size, error);
    if (status)
        return status;
    status = make_postings(peaks, size, out, out_postings, error);
    free(peaks);
    return status;
}

static enum doppel_status next_sound(struct doppel_store *store, int64_t after, int64_t *out_id,
                                     struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status = doppel_store_statement(
        store, "SELECT id FROM item WHERE id > ?1 AND " IS_SOUND " ORDER BY id LIMIT 1", &statement,
        error);
    if (status)
        return status;
    sqlite3_bind_int64(statement, 1, after);
    status = doppel_store_step(store, statement, &row, error);
    *out_id = !status && row ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_reset(statement);
    return status;
}

/* Without damaged items, which the library tells of, and mends when their files are added again. */
static enum doppel_status rebuild(void *context, struct doppel_store_index *index,
                                  struct doppel_error *error)
{
    int64_t id = 0;
    enum doppel_status status;
    while (!(status = next_sound(context, id, &id, error)) && id) {
        struct doppel_index_item item = {.payload = (uint64_t)id};
        struct doppel_index_posting *postings = NULL;
        status = give_postings(context, item.payload, &item, &postings, error);
        item.postings = postings;
        if (!status)
            status = doppel_store_index_insert_item(index, &item, error);
        free(postings);
        if (status && status != DOPPEL_E_CORRUPT && status != DOPPEL_E_NOT_FOUND)
            return status;
    }
    return status;
}

struct doppel_store_index_options sounds_index_options(struct doppel_store *store,
                                                       const char *folder)
{
    return (struct doppel_store_index_options){.name = "sounds",
                                               .folder = folder,
                                               .merge = true,
                                               .rebuild = rebuild,
                                               .rebuild_context = store,
                                               .source = give_postings,
                                               .source_context = store};
}

char *sounds_folder(const struct doppel_library *library)
{
    return sqlite3_mprintf("%s/sounds", library->directory);
}

static enum doppel_status open_index(struct doppel_library *library, struct doppel_error *error)
{
    struct doppel_index_options make = doppel_sounds_index_options();
    make.head_codes = HEAD_POSTINGS;
    char *folder = sounds_folder(library);
    if (!folder)
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", library->directory);
    struct doppel_store_index_options options = sounds_index_options(library->store, folder);
    options.make = &make;
    enum doppel_status status =
        doppel_store_index_open(library->store, &options, &library->sounds_index, error);
    sqlite3_free(folder);
    return status;
}

enum doppel_status sounds_prepare(struct doppel_library *library, struct doppel_error *error)
{
    struct doppel_store_index_info info = {0};
    if (library->sounds_index)
        doppel_store_index_info(library->sounds_index, &info);
    if (library->sounds_index && info.log_codes < MOST_POSTINGS)
        return DOPPEL_OK;
    enum doppel_status status = doppel_library_commit(library, error);
    return status || library->sounds_index ? status : open_index(library, error);
}

enum doppel_status sounds_put(struct doppel_library *library, uint64_t id,
                              const struct doppel_record *record, struct doppel_error *error)
{
    struct doppel_index_item item = {.payload = id};
    struct doppel_index_posting *postings;
    enum doppel_status status =
        make_postings(record->attachment, record->attachment_size, &item, &postings, error);
    if (status)
        return status;
    item.postings = postings;
    status = doppel_store_index_insert_item(library->sounds_index, &item, error);
    free(postings);
    return status;
}

/* Nothing to forget where the index was not opened: no sound was concerned then. (But one that
 * moved and is of another scheme now: its postings lead to no peaks.) */
enum doppel_status sounds_forget(struct doppel_library *library, uint64_t id,
                                 struct doppel_error *error)
{
    bool sound = false;
    if (!library->sounds_index)
        return DOPPEL_OK;
    enum doppel_status status = sounds_concern(library, NULL, id, &sound, error);
    return status || !sound ? status
                            : doppel_store_index_remove(library->sounds_index, &id, 1, error);
}

void sounds_close(struct doppel_library *library)
{
    struct doppel_store_index_info info;
    if (!library->sounds_index)
        return;
    doppel_store_index_info(library->sounds_index, &info);
    if (info.log_codes > LEAVE_POSTINGS)
        doppel_store_index_flush(library->sounds_index, NULL);
    doppel_store_index_close(library->sounds_index);
    library->sounds_index = NULL;
}

/* ---- which items ---- */

/* Step a bound statement whose row says yes. */
static enum doppel_status has_row(struct doppel_library *library, sqlite3_stmt *statement,
                                  bool *out, struct doppel_error *error)
{
    bool row;
    enum doppel_status status = doppel_store_step(library->store, statement, &row, error);
    sqlite3_reset(statement);
    if (!status)
        *out = row;
    return status;
}

enum doppel_status sounds_concern(struct doppel_library *library, const char *path, uint64_t id,
                                  bool *out, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    enum doppel_status status = doppel_store_statement(
        library->store, "SELECT 1 FROM item WHERE (id = ?1 OR path = ?2) AND " IS_SOUND, &statement,
        error);
    if (status)
        return status;
    sqlite3_bind_int64(statement, 1, (int64_t)id);
    sqlite3_bind_null(statement, 2);
    if (path)
        path_bind(statement, 2, path);
    return has_row(library, statement, out, error);
}

enum doppel_status sounds_holds(struct doppel_library *library, uint64_t id,
                                const struct doppel_record *record, bool *out,
                                struct doppel_error *error)
{
    sqlite3_stmt *statement;
    enum doppel_status status =
        doppel_store_statement(library->store,
                               "SELECT 1 FROM item WHERE id = ?1 AND scheme = ?2 AND version = ?3"
                               " AND " SOUND_IS_WHOLE,
                               &statement, error);
    if (status)
        return status;
    sqlite3_bind_int64(statement, 1, (int64_t)id);
    sqlite3_bind_int(statement, 2, (int)record->scheme);
    sqlite3_bind_int(statement, 3, record->version);
    return has_row(library, statement, out, error);
}

/* ---- missing files ---- */

static bool is_file_missing(const char *folder, sqlite3_stmt *statement)
{
    char *path = sqlite3_mprintf("%s/%s", folder, sqlite3_column_text(statement, 0));
    bool missing = path && access(path, F_OK) != 0;
    sqlite3_free(path);
    return missing;
}

void sounds_mend(struct doppel_library *library)
{
    sqlite3_stmt *statement;
    bool row = false, missing = false;
    char *folder = sounds_folder(library);
    if (!folder || doppel_store_statement(library->store,
                                          "SELECT coalesce(doppel_index_segment.name, '')"
                                          " FROM doppel_index LEFT JOIN doppel_index_segment"
                                          " ON owner = id WHERE doppel_index.name = 'sounds'",
                                          &statement, NULL))
        goto end;
    while (!missing && !doppel_store_step(library->store, statement, &row, NULL) && row)
        missing = is_file_missing(folder, statement);
    sqlite3_reset(statement);
    if (missing)
        (void)open_index(library, NULL);
end:
    sqlite3_free(folder);
}
