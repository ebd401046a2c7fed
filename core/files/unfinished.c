/* A folder that gets its name when it is whole. */
#include "core/files/unfinished.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/write_all.h"

enum { OPEN_FOLDERS = 16, ATTEMPTS = 10 };

static const char lock_name[] = ".unfinished";
static const char ending[] = ".doppel-unfinished-XXXXXX";

/* The file in an unfinished folder that its maker locks; given (free). */
static char *lock_path(const char *folder)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s", folder, lock_name) < 0 ? NULL : path;
}

static int remove_entry(const char *path, const struct stat *stat, int type, struct FTW *walk)
{
    (void)stat;
    (void)type;
    bool is_lock = walk->level == 1 && strcmp(path + walk->base, lock_name) == 0;
    return walk->level == 0 || is_lock ? 0 : remove(path);
}

/* The lock goes last: by it the next sweep sees what this one leaves if it is killed. */
static void remove_tree(const char *path)
{
    char *lock = lock_path(path);
    if (lock && nftw(path, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS) == 0) {
        unlink(lock);
        rmdir(path);
    }
    free(lock);
}

/* Hold a folder that nobody else holds and that is still there. @return -1: it is not */
static int hold_folder(const char *folder, int flags)
{
    struct stat status;
    char *path = lock_path(folder);
    int fd = path ? open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600) : -1;
    free(path);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &status) == 0 && status.st_nlink)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Nobody else calls anything so. */
static bool is_unfinished(const char *name)
{
    size_t size = strlen(name), fixed = strlen(ending) - strlen("XXXXXX");
    return size >= strlen(ending) && strncmp(name + size - strlen(ending), ending, fixed) == 0;
}

/* Whoever made what nobody holds ended without it. */
static void sweep_unfinished(const char *parent)
{
    DIR *folder = opendir(parent);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char *left = NULL;
        if (!is_unfinished(entry->d_name) || asprintf(&left, "%s/%s", parent, entry->d_name) < 0)
            continue;
        int lock = hold_folder(left, 0);
        if (lock >= 0) {
            remove_tree(left);
            close(lock);
        } else {
            rmdir(left); /* an empty one, of which the lock was not made */
        }
        free(left);
    }
    if (folder)
        closedir(folder);
}

static void sweep_beside(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *parent = slash ? strndup(path, (size_t)(slash - path) + 1) : NULL;
    if (parent || !slash)
        sweep_unfinished(parent ? parent : ".");
    free(parent);
}

static enum doppel_status fail_folder_of(const char *name, struct doppel_error *error)
{
    return doppel_fail(error, write_failure(errno), "%s: cannot be made: %s", name,
                       strerror(errno));
}

enum doppel_status unfinished_make(const char *name, struct unfinished *out,
                                   struct doppel_error *error)
{
    size_t size = strlen(name);
    while (size > 1 && name[size - 1] == '/')
        size--;
    char *path = malloc(size + sizeof ending);
    if (!path)
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", name);
    memcpy(path, name, size);
    path[size] = '\0';
    sweep_beside(path);
    int lock = -1;
    for (int attempt = 0; lock < 0 && attempt < ATTEMPTS; attempt++) {
        memcpy(path + size, ending, sizeof ending);
        if (!mkdtemp(path))
            break;
        lock = hold_folder(path, O_CREAT | O_EXCL); /* else another one's sweep came between */
    }
    if (lock < 0) {
        free(path);
        return fail_folder_of(name, error);
    }
    *out = (struct unfinished){path, lock};
    return DOPPEL_OK;
}

static void forget_unfinished(struct unfinished *unfinished)
{
    close(unfinished->lock);
    free(unfinished->path);
    *unfinished = (struct unfinished){.lock = -1};
}

enum doppel_status unfinished_rename(struct unfinished *unfinished, const char *name,
                                     struct doppel_error *error)
{
    char *lock = lock_path(name);
    if (!lock || rename(unfinished->path, name)) {
        free(lock);
        return fail_folder_of(name, error);
    }
    unlink(lock);
    free(lock);
    forget_unfinished(unfinished);
    return DOPPEL_OK;
}

void unfinished_remove(struct unfinished *unfinished)
{
    if (!unfinished->path)
        return;
    remove_tree(unfinished->path);
    forget_unfinished(unfinished);
}
