/* A file of a run that appears once it is whole. */
#include "corpus/stages/hidden_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/files/sync_path.h"
#include "core/files/write_all.h"
#include "core/try.h"

enum { STREAM_BYTES = 1 << 18, HIDDEN_ATTEMPTS = 100 };

static enum doppel_status fail_hidden(const char *path, int reason, struct doppel_error *error)
{
    return doppel_fail(error, write_failure(reason), "%s cannot be written: %s", path,
                       strerror(reason));
}

enum doppel_status hidden_file_failed(const struct hidden_file *file, struct doppel_error *error)
{
    return fail_hidden(file->path, errno, error);
}

/* Processes of different machines may have the same number: O_EXCL makes the name unique.
 * @return -1, with errno */
static int open_hidden(const char *folder, const char *name, char **out_path)
{
    for (int attempt = 0; attempt < HIDDEN_ATTEMPTS; attempt++) {
        char *path;
        if (asprintf(&path, "%s/.%s~%ld-%llx", folder, name, (long)getpid(),
                     (unsigned long long)monotonic_ns()) < 0)
            break;
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        *out_path = path;
        if (fd >= 0)
            return fd;
        free(path);
        if (errno != EEXIST)
            return -1;
    }
    errno = ENOMEM;
    return -1;
}

enum doppel_status hidden_file_open(const char *folder, const char *name, struct hidden_file *out,
                                    struct doppel_error *error)
{
    struct hidden_file file = {0};
    enum doppel_status status = DOPPEL_OK;
    if (asprintf(&file.path, "%s/%s", folder, name) < 0)
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory to write it", folder);
    int fd = open_hidden(folder, name, &file.hidden);
    if (fd < 0) {
        status = fail_hidden(file.path, errno, error);
        free(file.path);
        return status;
    }
    file.stream = fdopen(fd, "w");
    if (!file.stream) {
        close(fd);
        status = doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory to write it", file.path);
        hidden_file_drop(&file);
        return status;
    }
    (void)setvbuf(file.stream, NULL, _IOFBF, STREAM_BYTES);
    *out = file;
    return DOPPEL_OK;
}

void hidden_file_drop(struct hidden_file *file)
{
    if (file->stream)
        (void)fclose(file->stream);
    if (file->hidden)
        unlink(file->hidden);
    free(file->hidden);
    free(file->path);
    *file = (struct hidden_file){0};
}

/* This may remove a file that another process is still writing: it then finds ours, see finish. */
static void sweep_hidden(const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    size_t size = strlen(name);
    char *folder = strndup(path, (size_t)(name - path));
    DIR *entries = folder ? opendir(folder) : NULL;
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        if (entry->d_name[0] == '.' && strncmp(entry->d_name + 1, name, size) == 0 &&
            entry->d_name[1 + size] == '~')
            unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries)
        closedir(entries);
    free(folder);
}

enum doppel_status hidden_file_settle(const char *path, struct doppel_error *error)
{
    char *folder = strndup(path, (size_t)(strrchr(path, '/') - path));
    enum doppel_status status = DOPPEL_OK;
    if (!folder)
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory to write it", path);
    if (!sync_path(folder) && errno != EINVAL && errno != ENOTSUP)
        status = fail_hidden(path, errno, error);
    free(folder);
    sweep_hidden(path);
    return status;
}

/* Its bytes come before its name: else power loss could leave an empty file under it. */
static enum doppel_status close_stream(struct hidden_file *file, struct doppel_error *error)
{
    bool good = !ferror(file->stream) && fflush(file->stream) == 0 &&
                (fsync(fileno(file->stream)) == 0 || errno == EINVAL);
    const int reason = errno;
    bool closed = fclose(file->stream) == 0;
    file->stream = NULL;
    if (!good)
        errno = reason;
    return good && closed ? DOPPEL_OK : hidden_file_failed(file, error);
}

enum doppel_status hidden_file_finish(struct hidden_file *file, struct doppel_error *error)
{
    enum doppel_status status;
    TRY(close_stream(file, error));
    if (rename(file->hidden, file->path) != 0) {
        int reason = errno;
        if (reason != ENOENT || access(file->path, F_OK) != 0)
            TRY(fail_hidden(file->path, reason, error));
    }
    TRY(hidden_file_settle(file->path, error));
done:
    return status;
}

enum doppel_status hidden_file_finish_first(struct hidden_file *file, struct doppel_error *error)
{
    enum doppel_status status;
    TRY(close_stream(file, error));
    /* Some file systems have no links. */
    if (link(file->hidden, file->path) != 0 && errno != EEXIST &&
        rename(file->hidden, file->path) != 0 && access(file->path, F_OK) != 0)
        TRY(hidden_file_failed(file, error));
    TRY(hidden_file_settle(file->path, error));
done:
    return status;
}
