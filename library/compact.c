/* A library packed: segments merged, the catalogue written again. */
#include "library/derived/codes.h"
#include "core/try.h"
#include "library/derived/derived.h"
#include "library/derived/pairs.h"
#include "library/items/rows.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static uint64_t file_bytes(const struct doppel_library *library, const char *name)
{
    struct stat status;
    char *path = sqlite3_mprintf("%s/%s", library->directory, name);
    uint64_t bytes = path && stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
    sqlite3_free(path);
    return bytes;
}

uint64_t catalogue_bytes(const struct doppel_library *library)
{
    return file_bytes(library, "catalogue.db") + file_bytes(library, "catalogue.db-wal");
}

static uint64_t folder_bytes(const char *path)
{
    uint64_t bytes = 0;
    struct stat status;
    DIR *folder = path ? opendir(path) : NULL;
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode))
            bytes += (uint64_t)status.st_size;
    if (folder)
        closedir(folder);
    return bytes;
}

uint64_t derived_bytes(const struct doppel_library *library, int which)
{
    char *path = derived_folder(library, derivations[which]);
    uint64_t bytes = folder_bytes(path);
    sqlite3_free(path);
    return bytes;
}

/* Indexes of phash64 as they were before pictures were found by a scan. */
static const char *const former_folders[] = {"phash64", "phash64-asks", "phash64-full"};
enum { FORMER_FOLDERS = sizeof former_folders / sizeof *former_folders };

uint64_t codes_bytes(const struct doppel_library *library)
{
    uint64_t bytes = 0;
    for (int i = 0; i < FORMER_FOLDERS; i++) {
        char *path = sqlite3_mprintf("%s/%s", library->directory, former_folders[i]);
        bytes += folder_bytes(path);
        sqlite3_free(path);
    }
    for (int i = 0; i < CODE_TABLES; i++) {
        char *path = sqlite3_mprintf("%s/%s", library->directory, code_tables[i].folder);
        bytes += folder_bytes(path);
        sqlite3_free(path);
    }
    return bytes;
}

static bool add_pairs_bytes(void *context, const char *path, enum doppel_status state)
{
    struct stat status;
    uint64_t *bytes = context;
    (void)state;
    *bytes += stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
    return true;
}

static bool keep_whole_pairs(void *context, const char *path, enum doppel_status state)
{
    (void)context;
    (void)path;
    return state == DOPPEL_OK;
}

static uint64_t all_bytes(const struct doppel_library *library)
{
    uint64_t bytes = catalogue_bytes(library);
    for (int i = 0; i < DERIVATIONS; i++)
        bytes += derived_bytes(library, i);
    (void)met_images_each(library->directory, add_pairs_bytes, &bytes, NULL);
    return bytes + codes_bytes(library);
}

/* ---- room ---- */

static bool has_room(const char *folder, uint64_t bytes)
{
    struct statvfs status;
    return statvfs(folder, &status) || (uint64_t)status.f_bavail * status.f_frsize >= bytes;
}

static enum doppel_status fail_room(const char *folder, uint64_t bytes, struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_NO_SPACE,
                       "%s: to pack the library takes %.1f MB more for that time, which are not "
                       "free",
                       folder, (double)bytes / 1e6);
}

/* It is written once to a temporary file and once to the log, before its own file shrinks. */
static enum doppel_status check_room(const struct doppel_library *library,
                                     struct doppel_error *error)
{
    const char *temporary = getenv("SQLITE_TMPDIR");
    uint64_t bytes = catalogue_bytes(library);
    bool here = !temporary || strcmp(temporary, library->directory) == 0;
    if (!has_room(library->directory, here ? 2 * bytes : bytes))
        return fail_room(library->directory, here ? 2 * bytes : bytes, error);
    return here || has_room(temporary, bytes) ? DOPPEL_OK : fail_room(temporary, bytes, error);
}

/* ---- packing ---- */

/* Removals in the log of an index (docs/formats.md); no row where there is no such index. */
#define REMOVALS                                                                                   \
    "SELECT (SELECT count(*) FROM doppel_index_log WHERE record >> 40 = doppel_index.id"           \
    " AND substr(data, 1, 1) = x'02') FROM doppel_index WHERE name = ?1"

/* What waits in the log takes less room there than in a segment: so it becomes one only when
 * something is to be left out, or merged. */
static enum doppel_status merge_library_index(struct doppel_library *library, int which,
                                              struct doppel_error *error)
{
    int64_t removals = 0;
    bool found = false;
    enum doppel_status status = rows_number(
        library, REMOVALS, VALUES(value_text(derivations[which]->name)), &removals, &found, error);
    if (status || !found)
        return status;
    if (!library->derived[which].index)
        status = derived_open(library, which, false, error);
    if (status)
        return status;
    struct doppel_store_index *index = library->derived[which].index;
    const struct doppel_index_info info = doppel_index_info(doppel_store_index_get(index));
    if (!removals && !info.removed && info.segments < 2)
        return DOPPEL_OK;
    status = doppel_store_index_flush(index, error);
    return status ? status : doppel_store_index_compact(index, true, error);
}

/* A salvage that was ended early left it. */
static void remove_unnamed(const struct doppel_library *library)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char *path = sqlite3_mprintf("%s/catalogue.db.new%s", library->directory, endings[i]);
        if (path)
            unlink(path);
        sqlite3_free(path);
    }
}

/* @return DOPPEL_E_BUSY when somebody else writes */
static enum doppel_status check_only_writer(struct doppel_library *library,
                                            struct doppel_error *error)
{
    enum doppel_status status = doppel_store_begin(library->store, error);
    if (!status) {
        remove_unnamed(library); /* who salvages has the catalogue to itself */
        doppel_store_rollback(library->store);
    }
    return status;
}

static enum doppel_status merge_all_indexes(struct doppel_library *library,
                                            struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (int i = 0; i < DERIVATIONS; i++)
        TRY(merge_library_index(library, i, error));
    for (int i = 0; i < CODE_TABLES; i++)
        TRY(codes_merge(library, (enum code_table)i, error));
done:
    derived_close(library);
    codes_close(library);
    return status;
}

static enum doppel_status remove_former_index(struct doppel_library *library, const char *folder,
                                              struct doppel_error *error)
{
    const unsigned versions = doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64)->version;
    enum doppel_status status = DOPPEL_OK;
    for (unsigned version = 1; version <= versions && !status; version++) {
        char *name = sqlite3_mprintf("%s.%u", folder, version);
        status = name ? doppel_store_index_forget(library->store, name, error)
                      : doppel_fail(error, DOPPEL_E_MEMORY, "no memory");
        sqlite3_free(name);
    }
    char *path = sqlite3_mprintf("%s/%s", library->directory, folder);
    if (path && !status)
        doppel_store_index_remove_folder(path);
    sqlite3_free(path);
    return status;
}

static enum doppel_status remove_former_indexes(struct doppel_library *library,
                                                struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (int i = 0; i < FORMER_FOLDERS && !status; i++)
        status = remove_former_index(library, former_folders[i], error);
    return status;
}

enum doppel_status doppel_library_compact(struct doppel_library *library, uint64_t *out_before,
                                          uint64_t *out_after, struct doppel_error *error)
{
    enum doppel_status status;
    TRY(doppel_library_commit(library, error));
    TRY(check_only_writer(library, error));
    TRY(check_room(library, error));
    uint64_t before = all_bytes(library);
    TRY(remove_former_indexes(library, error));
    TRY(merge_all_indexes(library, error));
    TRY(met_images_each(library->directory, keep_whole_pairs, NULL, error));
    TRY(doppel_store_execute(library->store, "VACUUM", error));
    doppel_store_empty_log(library->store);
    TRY(doppel_store_execute(library->store, "PRAGMA optimize", error));
    if (out_before)
        *out_before = before;
    if (out_after)
        *out_after = all_bytes(library);
done:
    return status;
}
