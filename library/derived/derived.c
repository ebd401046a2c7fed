/* Derived indexes: opened to write, changed with the items, rebuilt. */
#include "library/derived/derived.h"
#include "library/derived/codes.h"

#include <stdlib.h>
#include <unistd.h>

#include <doppel/local.h>

#include "core/attached.h"

_Static_assert(DOPPEL_SCHEME_PEAKS32 == 10 && DOPPEL_SCHEME_FRAMES64 == 12 &&
                   DOPPEL_SCHEME_LOCAL == 14 && DOPPEL_SCHEME_FRAMES128 == 15,
               "IS_TRACK says so");

const struct derivation *const derivations[DERIVATIONS] = {
    [DERIVED_AUDIO] = &audio_derivation,
    [DERIVED_VIDEOS] = &videos_derivation,
    [DERIVED_PARTS] = &parts_derivation,
};

static unsigned scheme_bit(int64_t scheme)
{
    return scheme >= 0 && scheme < 32 ? 1u << scheme : 0;
}

/* Of item `id`, of the one of a path, and of those with the bytes of a record, as bits. */
static enum doppel_status find_schemes(struct doppel_library *library,
                                       const struct doppel_record *record, const char *path,
                                       uint64_t id, unsigned *out, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    unsigned schemes = 0;
    enum doppel_status status = doppel_store_statement(
        library->store, "SELECT scheme FROM item WHERE id = ?1 OR path = ?2 OR digest = ?3",
        &statement, error);
    if (status)
        return status;
    sqlite3_bind_int64(statement, 1, (int64_t)id);
    sqlite3_bind_null(statement, 2);
    sqlite3_bind_null(statement, 3);
    if (path)
        path_bind(statement, 2, path);
    if (record)
        sqlite3_bind_blob(statement, 3, record->digest.bytes, sizeof record->digest.bytes,
                          SQLITE_STATIC);
    while (!(status = doppel_store_step(library->store, statement, &row, error)) && row)
        schemes |= scheme_bit(sqlite3_column_int64(statement, 0));
    if (!status)
        *out = schemes;
    return status;
}

/* ---- opening ---- */

struct doppel_store_index_options derived_options(const struct derivation *derivation,
                                                  struct doppel_store *store, const char *folder)
{
    return (struct doppel_store_index_options){.name = derivation->name,
                                               .folder = folder,
                                               .merge = true,
                                               .source = derivation->source,
                                               .source_context = store};
}

char *derived_folder(const struct doppel_library *library, const struct derivation *derivation)
{
    return sqlite3_mprintf("%s/%s", library->directory, derivation->name);
}

enum doppel_status derived_next_item(struct doppel_store *store, unsigned schemes, int64_t *id,
                                     struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status = doppel_store_statement(
        store,
        "SELECT id FROM item NOT INDEXED WHERE id > ?1 AND " IS_TRACK " AND ?2 >> scheme & 1"
        " ORDER BY id LIMIT 1",
        &statement, error);
    if (status)
        return status;
    sqlite3_bind_int64(statement, 1, *id);
    sqlite3_bind_int64(statement, 2, schemes);
    status = doppel_store_step(store, statement, &row, error);
    *id = !status && row ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_reset(statement);
    return status;
}

/* Without damaged items, which the library tells of, and mends when their files are added again. */
static enum doppel_status rebuild(void *context, struct doppel_store_index *index,
                                  struct doppel_error *error)
{
    const struct derived *derived = context;
    int64_t id = 0;
    enum doppel_status status;
    while (
        !(status = derived_next_item(derived->store, derived->derivation->schemes, &id, error)) &&
        id) {
        struct track_bytes track = {0};
        status = track_fetch(derived->store, (uint64_t)id, &track, error);
        if (!status)
            status = derived->derivation->put(index, (uint64_t)id, &track, error);
        free(track.data);
        if (status && status != DOPPEL_E_CORRUPT && status != DOPPEL_E_NOT_FOUND)
            return status;
    }
    return status;
}

enum doppel_status derived_open(struct doppel_library *library, int which, bool salvage,
                                struct doppel_error *error)
{
    const struct derivation *derivation = derivations[which];
    struct derived *derived = &library->derived[which];
    struct doppel_index_options make = derivation->options();
    make.head_codes = derivation->head;
    char *folder = derived_folder(library, derivation);
    if (!folder)
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", library->directory);
    struct doppel_store_index_options options = derived_options(derivation, library->store, folder);
    options.make = &make;
    options.salvage = salvage;
    options.rebuild = rebuild;
    options.rebuild_context = derived;
    derived->derivation = derivation;
    derived->store = library->store;
    enum doppel_status status =
        doppel_store_index_open(library->store, &options, &derived->index, error);
    sqlite3_free(folder);
    return status;
}

/* Open, and with room in the log for the codes of one more transaction, in memory. */
static bool is_ready(const struct doppel_library *library, int which)
{
    struct doppel_store_index_info info;
    if (!library->derived[which].index)
        return false;
    doppel_store_index_info(library->derived[which].index, &info);
    return info.log_codes < 2 * (uint64_t)derivations[which]->head;
}

enum doppel_status derived_prepare(struct doppel_library *library,
                                   const struct doppel_record *record, const char *path,
                                   uint64_t id, struct doppel_error *error)
{
    unsigned schemes = 0;
    bool ready = true;
    if (record && !is_track(record) && !id && (!path || !*path)) /* a code: it concerns no track */
        return DOPPEL_OK;
    enum doppel_status status = find_schemes(library, record, path, id, &schemes, error);
    if (status)
        return status;
    schemes |= record ? scheme_bit(record->scheme) : 0;
    for (int i = 0; i < DERIVATIONS; i++)
        ready = ready && (!(derivations[i]->schemes & schemes) || is_ready(library, i));
    if (!ready)
        status = doppel_library_commit(library, error);
    for (int i = 0; i < DERIVATIONS && !status; i++)
        if (derivations[i]->schemes & schemes && !library->derived[i].index)
            status = derived_open(library, i, false, error);
    return status;
}

void derived_close(struct doppel_library *library)
{
    for (int i = 0; i < DERIVATIONS; i++) {
        struct doppel_store_index *index = library->derived[i].index;
        struct doppel_store_index_info info;
        if (!index)
            continue;
        doppel_store_index_info(index, &info);
        if (info.log_codes > derivations[i]->leave)
            doppel_store_index_flush(index, NULL);
        doppel_store_index_close(index);
        library->derived[i].index = NULL;
    }
}

/* ---- changing ---- */

enum doppel_status derived_put(struct doppel_library *library, uint64_t id,
                               const struct doppel_record *record, struct doppel_error *error)
{
    const struct track_bytes track = {record->scheme, record->attachment, record->attachment_size};
    enum doppel_status status = DOPPEL_OK;
    for (int i = 0; i < DERIVATIONS && !status; i++)
        if (derivations[i]->schemes & scheme_bit(record->scheme))
            status = derivations[i]->put(library->derived[i].index, id, &track, error);
    return status ? status : codes_put(library, id, record, error);
}

/* Nothing to forget where an index was not opened: no item of its was concerned then. */
enum doppel_status derived_forget(struct doppel_library *library, uint64_t id,
                                  struct doppel_error *error)
{
    unsigned schemes = 0;
    enum doppel_status status = find_schemes(library, NULL, NULL, id, &schemes, error);
    for (int i = 0; i < DERIVATIONS && !status; i++)
        if (library->derived[i].index && derivations[i]->schemes & schemes)
            status = derivations[i]->remove(library->derived[i].index, id, library->store, error);
    return status ? status : codes_forget(library, id, schemes, error);
}

/* ---- items ---- */

bool is_track(const struct doppel_record *record)
{
    return scheme_is_attached(record->scheme);
}

bool has_length(const struct doppel_record *record)
{
    return record->scheme == DOPPEL_SCHEME_PEAKS32 || record->scheme == DOPPEL_SCHEME_FRAMES64 ||
           record->scheme == DOPPEL_SCHEME_CHROMAPRINT || record->scheme == DOPPEL_SCHEME_FRAMES128;
}

static bool parts_head(const uint8_t *head, size_t size, struct doppel_audio_track *out)
{
    struct doppel_local_video video;
    if (doppel_local_video_head(head, size, &video, NULL))
        return false;
    out->duration_ms = video.duration_ms;
    out->damaged_ms = video.damaged_ms;
    return true;
}

bool track_head(const struct doppel_record *record, const uint8_t *head, size_t size,
                struct doppel_audio_track *out)
{
    struct doppel_video_track video = {0};
    *out = (struct doppel_audio_track){0};
    if (record->scheme == DOPPEL_SCHEME_FRAMES128)
        return parts_head(head, size, out);
    if (record->scheme != DOPPEL_SCHEME_FRAMES64)
        return has_length(record) && !doppel_audio_track_head(head, size, out, NULL);
    if (doppel_video_track_head(head, size, &video, NULL))
        return false;
    out->duration_ms = video.duration_ms;
    out->damaged_ms = video.damaged_ms;
    return true;
}

static bool derivation_is_of(int which, enum doppel_scheme_id scheme)
{
    return derivations[which]->schemes & scheme_bit(scheme);
}

enum doppel_status track_strip(const struct doppel_record *record, struct doppel_record *out,
                               struct doppel_error *error)
{
    const struct track_bytes whole = {record->scheme, record->attachment, record->attachment_size};
    struct track_bytes stripped;
    enum doppel_status status =
        derivation_is_of(DERIVED_PARTS, record->scheme) ? parts_strip(&whole, &stripped, error)
        : record->scheme == DOPPEL_SCHEME_PEAKS32       ? audio_strip(&whole, &stripped, error)
                                                        : videos_strip(&whole, &stripped, error);
    if (status == DOPPEL_E_CORRUPT)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           derivation_is_of(DERIVED_PARTS, record->scheme)
                               ? "a picture, or a frame, is added with its keypoints"
                           : record->scheme == DOPPEL_SCHEME_PEAKS32
                               ? "a recording is added with its peaks"
                               : "a video is added with its frames");
    if (status)
        return status;
    *out = *record;
    out->attachment = stripped.data;
    out->attachment_size = stripped.size;
    return DOPPEL_OK;
}

enum doppel_status track_fetch(struct doppel_store *store, uint64_t id, struct track_bytes *out,
                               struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status = doppel_store_statement(
        store,
        "SELECT data, " ATTACHMENT_IS_WHOLE ", scheme FROM attachment"
        " JOIN item ON item.id = attachment.item WHERE attachment.item = ?1 AND " IS_TRACK,
        &statement, error);
    if (status)
        return status;
    sqlite3_bind_int64(statement, 1, (int64_t)id);
    status = doppel_store_step(store, statement, &row, error);
    if (status)
        return status;
    if (!row)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "no audio, video or picture has the id %llu",
                           (unsigned long long)id);
    struct doppel_record record = {0};
    enum doppel_scheme_id scheme = (enum doppel_scheme_id)sqlite3_column_int(statement, 2);
    status = sqlite3_column_int(statement, 1) == 1 ? attachment_read(statement, 0, &record)
                                                   : DOPPEL_E_CORRUPT;
    sqlite3_reset(statement);
    if (status)
        return doppel_fail(error, status, "what is kept of item %llu cannot be read",
                           (unsigned long long)id);
    *out = (struct track_bytes){scheme, record.attachment, record.attachment_size};
    return DOPPEL_OK;
}

enum doppel_status derived_holds(struct doppel_library *library, uint64_t id,
                                 const struct doppel_record *record, bool *out,
                                 struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status =
        doppel_store_statement(library->store,
                               "SELECT 1 FROM item WHERE id = ?1 AND scheme = ?2 AND version = ?3"
                               " AND " IS_TRACK " AND " TRACK_IS_WHOLE " AND " HAS_TRACK("?4"),
                               &statement, error);
    if (status)
        return status;
    sqlite3_bind_int64(statement, 1, (int64_t)id);
    sqlite3_bind_int(statement, 2, (int)record->scheme);
    sqlite3_bind_int(statement, 3, record->version);
    sqlite3_bind_blob64(statement, 4, record->attachment, record->attachment_size, SQLITE_STATIC);
    status = doppel_store_step(library->store, statement, &row, error);
    sqlite3_reset(statement);
    if (!status)
        *out = row;
    return status;
}

/* ---- missing files ---- */

static bool is_file_missing(const char *folder, sqlite3_stmt *statement)
{
    char *path = sqlite3_mprintf("%s/%s", folder, sqlite3_column_text(statement, 0));
    bool missing = path && access(path, F_OK) != 0;
    sqlite3_free(path);
    return missing;
}

/* @param lost in: false; out: whether it is segments that are missing, and not only the folder */
static bool is_incomplete(struct doppel_library *library, const struct derivation *derivation,
                          bool *lost)
{
    sqlite3_stmt *statement;
    bool row = false, missing = false;
    char *folder = derived_folder(library, derivation);
    if (!folder || doppel_store_statement(library->store,
                                          "SELECT coalesce(doppel_index_segment.name, '')"
                                          " FROM doppel_index LEFT JOIN doppel_index_segment"
                                          " ON owner = id WHERE doppel_index.name = ?1",
                                          &statement, NULL))
        goto end;
    sqlite3_bind_text(statement, 1, derivation->name, -1, SQLITE_STATIC);
    while (!missing && !doppel_store_step(library->store, statement, &row, NULL) && row)
        missing = is_file_missing(folder, statement);
    *lost = missing && sqlite3_column_bytes(statement, 0);
    sqlite3_reset(statement);
end:
    sqlite3_free(folder);
    return missing;
}

void derived_mend(struct doppel_library *library)
{
    for (int i = 0; i < DERIVATIONS; i++)
        if (is_incomplete(library, derivations[i], &library->derived[i].was_incomplete))
            (void)derived_open(library, i, false, NULL);
}
