/* INDEX of `doppel index`: a folder with a database and segment files. */
#include "tools/verbs/index/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/try.h"
#include "tools/memory.h"

enum { APPLICATION_ID = 0x64706c49 /* "dplI" */, SCHEMA_VERSION = 2, BUSY_TIMEOUT_MS = 5000 };

static const char database_name[] = "index.db", index_name[] = "codes";

char *path_in(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = must_allocate(size);
    snprintf(path, size, "%s/%s", folder, name);
    return path;
}

static enum doppel_status check_folder(const char *path, struct doppel_error *error)
{
    struct stat status;
    if (stat(path, &status))
        return doppel_fail(error, errno == ENOENT ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO, "%s: %s",
                           path, errno == ENOENT ? "no such index" : strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return doppel_fail(error, DOPPEL_E_FORMAT,
                           "%s: not an index: those are folders that 'doppel index build' makes",
                           path);
    return DOPPEL_OK;
}

static enum doppel_status open_database(const char *path,
                                        const struct index_folder_options *options,
                                        struct doppel_store **out, struct doppel_error *error)
{
    char *database = path_in(path, database_name);
    const struct doppel_store_options store_options = {
        .application_id = APPLICATION_ID,
        .schema_version = SCHEMA_VERSION,
        .schema = DOPPEL_STORE_INDEX_SCHEMA,
        .create = options->make != NULL,
        .read_only = !options->write,
        .durable = options->durable,
        .busy_timeout_ms = BUSY_TIMEOUT_MS,
    };
    enum doppel_status status = doppel_store_open(database, &store_options, out, error);
    if (status == DOPPEL_E_NOT_FOUND)
        status =
            doppel_fail(error, status, "%s: not an index: it has no %s; see 'doppel index build'",
                        path, database_name);
    free(database);
    return status;
}

/* An index of codes: of any other, codes would have no bits. */
static enum doppel_status check_index_table(const char *path, struct doppel_store_index *index,
                                            struct doppel_error *error)
{
    struct doppel_store_index_info info;
    doppel_store_index_info(index, &info);
    return info.options.table == DOPPEL_INDEX_HAMMING
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_FORMAT, "%s: not an index of codes", path);
}

static enum doppel_status open_vectors_folder(const char *path,
                                              const struct index_folder_options *options,
                                              struct index_folder *out, struct doppel_error *error)
{
    const struct doppel_vector_index_options vectors = {.folder = path,
                                                        .write = options->write,
                                                        .durable = options->durable,
                                                        .salvage = options->salvage};
    struct index_folder folder = {0};
    enum doppel_status status = doppel_vector_index_open(&vectors, &folder.vectors, error);
    if (status)
        return status;
    folder.index = doppel_vector_index_codes(folder.vectors);
    *out = folder;
    return DOPPEL_OK;
}

enum doppel_status index_folder_open(const char *path, const struct index_folder_options *options,
                                     struct index_folder *out, struct doppel_error *error)
{
    struct index_folder folder = {0};
    const struct doppel_store_index_options index_options = {
        .name = index_name, .folder = path, .make = options->make, .salvage = options->salvage};
    enum doppel_status status;
    TRY(check_folder(path, error));
    if (doppel_vector_index_is_there(path))
        return open_vectors_folder(path, options, out, error);
    TRY(open_database(path, options, &folder.store, error));
    TRY(doppel_store_index_open(folder.store, &index_options, &folder.index, error));
    TRY(check_index_table(path, folder.index, error));
done:
    if (status)
        index_folder_close(&folder);
    else
        *out = folder;
    return status;
}

void index_folder_close(struct index_folder *folder)
{
    if (!folder->vectors)
        doppel_store_index_close(folder->index);
    doppel_vector_index_close(folder->vectors);
    doppel_store_close(folder->store);
    *folder = (struct index_folder){0};
}

/* ---- files ---- */

uint64_t index_folder_bytes(const char *path)
{
    uint64_t bytes = 0;
    struct stat status;
    DIR *folder = opendir(path);
    if (!folder)
        return 0;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode))
            bytes += (uint64_t)status.st_size;
    closedir(folder);
    return bytes;
}
