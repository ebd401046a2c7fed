/* Files that can be read only once, kept so that they can be read twice. */
#include "corpus/read/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "corpus/read/temporary.h"

static bool can_be_read_twice(const char *path)
{
    struct stat status;
    return strcmp(path, "-") != 0 &&
           (stat(path, &status) != 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
}

static enum doppel_status copy_to_spool(int from, int to, const char *path, const char *folder,
                                        struct doppel_error *error)
{
    enum { BYTES = 1 << 16 };
    char buffer[BYTES];
    uint64_t at = 0;
    for (;;) {
        ssize_t got = read(from, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return doppel_fail(error, DOPPEL_E_IO, "%s cannot be read: %s", path, strerror(errno));
        if (got == 0)
            return DOPPEL_OK;
        enum doppel_status status = temporary_write(folder, to, buffer, (size_t)got, at, error);
        if (status)
            return status;
        at += (uint64_t)got;
    }
}

static enum doppel_status spool_one(struct spool *spool, size_t i, const char *folder,
                                    struct doppel_error *error)
{
    const char *path = spool->shown[i];
    int from = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0) /* reading it says why */
        return DOPPEL_OK;
    enum doppel_status status = temporary_file(folder, &spool->fds[i], error);
    if (!status)
        status = copy_to_spool(from, spool->fds[i], path, folder, error);
    if (from != STDIN_FILENO)
        close(from);
    if (status)
        return status;
    if (asprintf(&spool->names[i], "/proc/self/fd/%d", spool->fds[i]) < 0) {
        spool->names[i] = NULL;
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a corpus");
    }
    spool->paths[i] = spool->names[i];
    return DOPPEL_OK;
}

static bool make_lists(const struct doppel_corpus_files *files, struct spool *spool)
{
    size_t count = files->count ? files->count : 1;
    spool->shown = files->paths;
    spool->paths = calloc(count, sizeof *spool->paths);
    spool->names = calloc(count, sizeof *spool->names);
    spool->fds = malloc(count * sizeof *spool->fds);
    if (!spool->paths || !spool->names || !spool->fds)
        return false;
    spool->count = files->count;
    for (size_t i = 0; i < files->count; i++) {
        spool->paths[i] = files->paths[i];
        spool->fds[i] = -1;
    }
    return true;
}

enum doppel_status spool_files(const struct doppel_corpus_files *files, const char *folder,
                               struct spool *out, struct doppel_error *error)
{
    struct spool spool = {0};
    enum doppel_status status = DOPPEL_OK;
    if (!make_lists(files, &spool))
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a corpus");
    for (size_t i = 0; i < spool.count && !status; i++)
        if (!can_be_read_twice(spool.paths[i]))
            status = spool_one(&spool, i, folder, error);
    if (status)
        spool_free(&spool);
    else
        *out = spool;
    return status;
}

void spool_free(struct spool *spool)
{
    for (size_t i = 0; i < spool->count; i++) {
        if (spool->fds[i] >= 0)
            close(spool->fds[i]);
        free(spool->names[i]);
    }
    free(spool->paths);
    free(spool->names);
    free(spool->fds);
    *spool = (struct spool){0};
}

const char *spool_shown(const struct spool *spool, const char *path)
{
    for (size_t i = 0; i < spool->count; i++)
        if (spool->names[i] && strcmp(spool->names[i], path) == 0)
            return spool->shown[i];
    return path;
}
