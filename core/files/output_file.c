/* A file that appears when it is whole. */
#include "core/files/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/write_all.h"

static enum doppel_status fail_to_write(const char *path, struct doppel_error *error)
{
    return doppel_fail(error, write_failure(errno), "%s: cannot be written (%s)", path,
                       strerror(errno));
}

/* What is there and no plain file (a pipe, a device) is written in place. */
static bool is_special(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

/* @return NULL, with errno, when it cannot be made */
static FILE *open_beside(const char *path, char **out_temporary)
{
    size_t size = strlen(path) + 32;
    char *temporary = malloc(size);
    if (!temporary)
        return NULL;
    snprintf(temporary, size, "%s.%ld.part", path, (long)getpid());
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "w");
    if (stream) {
        *out_temporary = temporary;
        return stream;
    }
    free(temporary);
    return NULL;
}

enum doppel_status output_file_open(const char *path, FILE *stream, struct output_file *out,
                                    struct doppel_error *error)
{
    struct output_file file = {.path = path, .stream = stream, .borrowed = stream != NULL};
    if (!stream && is_special(path))
        file.stream = fopen(path, "we");
    else if (!stream)
        file.stream = open_beside(path, &file.temporary);
    if (!file.stream)
        return fail_to_write(path, error);
    *out = file;
    return DOPPEL_OK;
}

enum doppel_status output_file_try(const char *path, struct doppel_error *error)
{
    char *temporary;
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        return fail_to_write(path, error);
    }
    if (is_special(path))
        return DOPPEL_OK;
    FILE *stream = open_beside(path, &temporary);
    if (!stream)
        return fail_to_write(path, error);
    (void)fclose(stream);
    unlink(temporary);
    free(temporary);
    return DOPPEL_OK;
}

enum doppel_status output_file_close(struct output_file *file, enum doppel_status status,
                                     struct doppel_error *error)
{
    bool good = !ferror(file->stream);
    good = (file->borrowed ? fflush(file->stream) : fclose(file->stream)) == 0 && good;
    if (!status && !good)
        status = fail_to_write(file->path, error);
    if (!status && file->temporary && rename(file->temporary, file->path) != 0)
        status = fail_to_write(file->path, error);
    if (status && file->temporary)
        unlink(file->temporary);
    free(file->temporary);
    return status;
}
