/* A model's file goes into the folder of models, and is read there. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/try.h"
#include "embed/model.h"
#include "embed/models.h"
#include "embed/whitened/whitened.h"

/* With all folders above it. */
static enum doppel_status make_folder(const char *folder, struct doppel_error *error)
{
    char *path = strdup(folder);
    bool made = path;
    for (char *at = path ? path + 1 : NULL; at && *path && made; at++) {
        if (*at && *at != '/')
            continue;
        char end = *at;
        *at = '\0';
        made = mkdir(path, 0777) == 0 || errno == EEXIST;
        *at = end;
        if (!end)
            break;
    }
    free(path);
    return made ? DOPPEL_OK
                : doppel_fail(error, DOPPEL_E_IO, "%s: cannot be made (%s)", folder,
                              strerror(errno));
}

static bool has_ending(const char *text, const char *ending)
{
    size_t size = strlen(text), ending_size = strlen(ending);
    return size >= ending_size && strcmp(text + size - ending_size, ending) == 0;
}

/* Remove what was being written by those that were killed, an hour ago or longer. */
static void sweep_leftovers(const char *folder)
{
    enum { LEFT_S = 3600 };
    DIR *entries = opendir(folder);
    struct dirent *entry;
    while (entries && (entry = readdir(entries))) {
        struct stat stamp;
        bool unfinished = strstr(entry->d_name, ".model.") &&
                          (has_ending(entry->d_name, ".new") || has_ending(entry->d_name, ".part"));
        if (unfinished &&
            fstatat(dirfd(entries), entry->d_name, &stamp, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(stamp.st_mode) && stamp.st_mtime < time(NULL) - LEFT_S)
            unlinkat(dirfd(entries), entry->d_name, 0);
    }
    if (entries)
        closedir(entries);
}

static enum doppel_status read_whitened_info(const char *path, const char *name,
                                             struct doppel_model_info *out,
                                             struct doppel_error *error)
{
    struct whitened_model model = {0};
    enum doppel_status status = whitened_read(path, name, &model, error);
    if (!status)
        *out = model.info;
    whitened_free(&model);
    return status;
}

enum doppel_status model_read_info(const char *path, const char *name,
                                   struct doppel_model_info *out, struct doppel_error *error)
{
    struct doppel_model *model;
    if (model_file_at(path) == MODEL_FILE_WHITENED)
        return read_whitened_info(path, name, out, error);
    enum doppel_status status = model_map(path, name, &model, error);
    if (status)
        return status;
    if (model_is_whole(model))
        *out = model->info;
    else
        status = doppel_fail(error, DOPPEL_E_CORRUPT, "%s: is damaged; add it again", path);
    doppel_model_free(model);
    return status;
}

/* @param out what was written beside its place */
static enum doppel_status go_to_place(const char *beside, const char *path, const char *name,
                                      const struct doppel_model_info *out,
                                      struct doppel_error *error)
{
    struct doppel_model_info before;
    if (link(beside, path) == 0)
        return DOPPEL_OK;
    if (errno != EEXIST)
        return doppel_fail(error, DOPPEL_E_IO, "%s: cannot be written (%s)", path, strerror(errno));
    const enum doppel_status status = model_read_info(path, name, &before, NULL);
    if (status == DOPPEL_E_CORRUPT || status == DOPPEL_E_VERSION) /* of no use: it is replaced */
        return rename(beside, path) == 0
                   ? DOPPEL_OK
                   : doppel_fail(error, DOPPEL_E_IO, "%s: %s", path, strerror(errno));
    if (status || strcmp(before.revision, out->revision) != 0)
        return doppel_fail(
            error, DOPPEL_E_BUSY,
            "there is another model '%s'; remove it first, or give this one another name", name);
    return DOPPEL_OK;
}

enum doppel_status model_place(const struct model_placing *placing, struct doppel_model_info *out,
                               struct doppel_error *error)
{
    char *path = model_path(placing->folder, placing->name), *beside = NULL;
    enum doppel_status status = DOPPEL_OK;
    if (!path || asprintf(&beside, "%s.%ld.new", path, (long)gettid()) < 0)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory"));
    TRY(make_folder(placing->folder, error));
    sweep_leftovers(placing->folder);
    TRY(placing->write(placing->context, beside, error));
    TRY(model_read_info(beside, placing->name, out, error));
    TRY(go_to_place(beside, path, placing->name, out, error));
done:
    if (beside)
        unlink(beside);
    free(beside);
    free(path);
    return status;
}
