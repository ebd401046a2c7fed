/* Files that are held open while something is done about them. */
#include "act/held.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/files/read_at.h"

enum { BLOCK_BYTES = 256 * 1024 };

static int open_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = strdup(slash ? path : ".");
    if (!folder)
        return -1;
    if (slash)
        folder[slash == path ? 1 : slash - path] = '\0';
    int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    return fd;
}

static enum doppel_status not_openable(struct doppel_error *error)
{
    if (errno == ENOENT || errno == ENOTDIR)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "is gone");
    if (errno == ELOOP)
        return doppel_fail(error, DOPPEL_E_CHANGED, "is a symbolic link");
    return doppel_fail(error, DOPPEL_E_IO, "cannot be opened: %s", strerror(errno));
}

static bool stat_has_stamp(const struct stat *stat, const struct doppel_file_stamp *stamp)
{
    struct doppel_file_stamp now = doppel_file_stamp_of(stat);
    if (stamp && !stamp->inode)
        return now.size == stamp->size && now.mtime_ns == stamp->mtime_ns;
    return !stamp || doppel_file_stamp_equal(&now, stamp);
}

enum doppel_status held_open(const struct doppel_run *run, const char *path,
                             const struct doppel_file_stamp *stamp, struct held_file *out,
                             struct doppel_error *error)
{
    const char *slash = strrchr(path, '/');
    struct held_file held = {open_folder_of(path), -1, slash ? slash + 1 : path, path, {0}, run};
    enum doppel_status status = DOPPEL_OK;
    if (held.folder >= 0) /* O_NONBLOCK: it may be a FIFO by now */
        held.file = openat(held.folder, held.name,
                           O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (held.file < 0 || fstat(held.file, &held.stat))
        status = not_openable(error);
    else if (!S_ISREG(held.stat.st_mode) || !stat_has_stamp(&held.stat, stamp))
        status = doppel_fail(error, DOPPEL_E_CHANGED, "has changed since it was read");
    if (status)
        held_close(&held);
    else
        *out = held;
    return status;
}

void held_close(struct held_file *held)
{
    if (held->file >= 0)
        close(held->file);
    if (held->folder >= 0)
        close(held->folder);
    held->file = held->folder = -1;
}

bool held_cancelled(const struct held_file *held)
{
    return held->run && doppel_run_cancelled(held->run);
}

bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool is_as_it_was(const struct stat *now, const struct stat *then)
{
    return is_same_file(now, then) && now->st_size == then->st_size &&
           same_time(now->st_mtim, then->st_mtim);
}

bool held_unchanged(const struct held_file *held)
{
    struct stat now;
    return fstatat(held->folder, held->name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
           is_as_it_was(&now, &held->stat) && same_time(now.st_ctim, held->stat.st_ctim);
}

bool held_being_written(const struct held_file *held)
{
    /* A lease on reading is granted only while nobody can write; it is given back at once. */
    bool refused = fcntl(held->file, F_SETLEASE, F_RDLCK) && errno == EAGAIN;
    fcntl(held->file, F_SETLEASE, F_UNLCK);
    return refused;
}

static enum doppel_status compare_blocks(const struct held_file *a, const struct held_file *b,
                                         char *blocks, struct doppel_error *error)
{
    for (uint64_t at = 0;; at += BLOCK_BYTES) {
        if (held_cancelled(a))
            return doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted");
        ssize_t of_a = read_at(a->file, blocks, BLOCK_BYTES, at);
        ssize_t of_b = read_at(b->file, blocks + BLOCK_BYTES, BLOCK_BYTES, at);
        if (of_a < 0 || of_b < 0)
            return doppel_fail(error, DOPPEL_E_IO, "cannot be compared: %s", strerror(errno));
        if (of_a != of_b || memcmp(blocks, blocks + BLOCK_BYTES, (size_t)of_a) != 0)
            return doppel_fail(error, DOPPEL_E_CHANGED, "is not the same, byte by byte");
        if (of_a < BLOCK_BYTES)
            return DOPPEL_OK;
    }
}

enum doppel_status held_same_bytes(const struct held_file *a, const struct held_file *b,
                                   struct doppel_error *error)
{
    char *blocks = malloc(2 * (size_t)BLOCK_BYTES);
    if (!blocks)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to compare");
    posix_fadvise(a->file, 0, 0, POSIX_FADV_SEQUENTIAL);
    posix_fadvise(b->file, 0, 0, POSIX_FADV_SEQUENTIAL);
    enum doppel_status status = compare_blocks(a, b, blocks, error);
    free(blocks);
    return status ? status : held_both_unchanged(a, b, error);
}

enum doppel_status held_both_unchanged(const struct held_file *a, const struct held_file *b,
                                       struct doppel_error *error)
{
    return held_unchanged(a) && held_unchanged(b)
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_CHANGED, "has changed while it was compared");
}
