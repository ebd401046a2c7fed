/* A part of a corpus file, read once more. */
#include "corpus/read/reread.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/files/read_at.h"
#include "corpus/read/reader.h"

bool is_same_file_stat(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static enum doppel_status read_part(int fd, const struct reread_part *part, const char *path,
                                    struct doppel_error *error)
{
    ssize_t got = read_at(fd, part->buffer, part->size, part->offset);
    if (got < 0)
        return doppel_fail(error, DOPPEL_E_IO, "%s cannot be read again: %s", path,
                           strerror(errno));
    if ((size_t)got < part->size)
        return doppel_fail(error, DOPPEL_E_CHANGED, "%s became shorter while it was read", path);
    memset(part->buffer + part->size, 0, PARSE_SLACK);
    return DOPPEL_OK;
}

enum doppel_status reread(const struct corpus_file *file, const struct reread_part *part,
                          struct doppel_error *error)
{
    int fd = file->fd >= 0 ? file->fd : open(file->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return doppel_fail(error, DOPPEL_E_IO, "%s cannot be opened again: %s", file->path,
                           strerror(errno));
    struct stat status;
    enum doppel_status result;
    if (!part->known && (fstat(fd, &status) != 0 || !is_same_file_stat(&status, &file->status)))
        result = doppel_fail(error, DOPPEL_E_CHANGED, "%s changed while it was read", file->path);
    else
        result = read_part(fd, part, file->path, error);
    if (fd != file->fd)
        close(fd);
    return result;
}
