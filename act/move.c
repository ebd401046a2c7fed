/* A duplicate is moved to where nothing is, also onto another file system. */
#include "act/held.h"
#include "core/try.h"
#include "core/files/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "core/files/read_at.h"

/* A place in a folder that is held open. */
struct folder_place {
    int folder;
    const char *name;
};

static enum doppel_status not_moved(int reason, struct doppel_error *error)
{
    if (reason == EEXIST)
        return doppel_fail(error, DOPPEL_E_IO, "another file came to where it was to go");
    if (reason == EXDEV)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "cannot be moved: that is another file system");
    return doppel_fail(error, DOPPEL_E_IO, "cannot be moved: %s", strerror(reason));
}

/* File systems that know no rename without overwriting have links, which never overwrite. */
static int rename_by_link(const struct folder_place *from, const struct folder_place *to)
{
    if (linkat(from->folder, from->name, to->folder, to->name, 0))
        return -1;
    if (unlinkat(from->folder, from->name, 0) == 0)
        return 0;
    int reason = errno;
    unlinkat(to->folder, to->name, 0);
    errno = reason;
    return -1;
}

static int rename_to_free(const struct folder_place *from, const struct folder_place *to)
{
    int done = renameat2(from->folder, from->name, to->folder, to->name, RENAME_NOREPLACE);
    return done && (errno == EINVAL || errno == ENOSYS) ? rename_by_link(from, to) : done;
}

/* Move what stands at its name, and move it back when it is another file than the one held.
 * @return also DOPPEL_E_UNSUPPORTED: it would be another file system */
static enum doppel_status move_checked(const struct held_file *held, const struct folder_place *to,
                                       struct doppel_error *error)
{
    struct folder_place from = {held->folder, held->name};
    struct stat now;
    if (!held_unchanged(held))
        return doppel_fail(error, DOPPEL_E_CHANGED, "has changed since it was read");
    if (rename_to_free(&from, to))
        return not_moved(errno, error);
    if (fstatat(to->folder, to->name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
        is_as_it_was(&now, &held->stat))
        return DOPPEL_OK;
    if (rename_to_free(to, &from))
        return doppel_fail(error, DOPPEL_E_CHANGED, "has changed, and was moved");
    return doppel_fail(error, DOPPEL_E_CHANGED, "has changed since it was read");
}

/* ---- copies ---- */

static enum doppel_status copy_held_bytes(const struct held_file *from, int to,
                                          struct doppel_error *error)
{
    enum { BLOCK_BYTES = 256 * 1024 };
    char *block = malloc(BLOCK_BYTES);
    enum doppel_status status =
        block ? DOPPEL_OK : doppel_fail(error, DOPPEL_E_MEMORY, "no memory to copy");
    ssize_t got = 0;
    for (off_t at = 0; !status; at += got) {
        got = read_at(from->file, block, BLOCK_BYTES, (uint64_t)at);
        if (got == 0)
            break;
        if (held_cancelled(from))
            status = doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted");
        else if (got < 0 || !write_all(to, block, (size_t)got))
            status = doppel_fail(error, DOPPEL_E_IO, "cannot be copied: %s", strerror(errno));
    }
    free(block);
    return status;
}

/* As many as can be had: not every file system has them, and some are not ours to set. */
static void copy_attributes(int from, int to)
{
    char names[4096], value[4096];
    ssize_t size = flistxattr(from, names, sizeof names);
    for (const char *name = names; size > 0 && name < names + size; name += strlen(name) + 1) {
        ssize_t length = fgetxattr(from, name, value, sizeof value);
        if (length >= 0 && fsetxattr(to, name, value, (size_t)length, 0))
            continue;
    }
}

static enum doppel_status make_like(int to, const struct stat *like, struct doppel_error *error)
{
    struct timespec times[2] = {like->st_atim, like->st_mtim};
    mode_t mode = like->st_mode & 07777;
    if (fchown(to, like->st_uid, like->st_gid)) {
        mode &= 0777; /* it is ours now: it must not run as its owner */
        if (fchown(to, (uid_t)-1, like->st_gid))
            mode &= 0707;
    }
    if (fchmod(to, mode) || futimens(to, times) || fsync(to))
        return doppel_fail(error, DOPPEL_E_IO, "cannot be copied: %s", strerror(errno));
    return DOPPEL_OK;
}

enum doppel_status copy_into(const struct held_file *held, const struct stat *like, int folder,
                             const char *name, struct doppel_error *error)
{
    int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    struct held_file copy = {folder,   openat(folder, name, flags, 0600), name, held->path, {0},
                             held->run};
    if (copy.file < 0)
        return doppel_fail(error, DOPPEL_E_IO, "cannot be copied: %s", strerror(errno));
    enum doppel_status status;
    TRY(copy_held_bytes(held, copy.file, error));
    if (like == &held->stat)
        copy_attributes(held->file, copy.file);
    TRY(make_like(copy.file, like, error));
    if (fstat(copy.file, &copy.stat))
        TRY(doppel_fail(error, DOPPEL_E_IO, "cannot be copied: %s", strerror(errno)));
    TRY(held_same_bytes(held, &copy, error));
done:
    close(copy.file);
    if (status)
        unlinkat(folder, name, 0);
    return status;
}

/* The file has its copy: it goes, if it still is that file. */
static enum doppel_status remove_copied(const struct held_file *held, const char *temporary,
                                        struct doppel_error *error)
{
    struct folder_place aside = {held->folder, temporary}, back = {held->folder, held->name};
    enum doppel_status status = move_checked(held, &aside, error);
    if (status || unlinkat(held->folder, temporary, 0) == 0)
        return status;
    doppel_fail(error, DOPPEL_E_IO, "cannot be removed: %s", strerror(errno));
    (void)rename_to_free(&aside, &back);
    return DOPPEL_E_IO;
}

static enum doppel_status move_by_copy(const struct held_file *held, const struct folder_place *to,
                                       const char *temporary, struct doppel_error *error)
{
    struct folder_place from = {to->folder, temporary};
    enum doppel_status status = copy_into(held, &held->stat, to->folder, temporary, error);
    if (status)
        return status;
    if (rename_to_free(&from, to)) {
        status = not_moved(errno, error);
        unlinkat(to->folder, temporary, 0);
        return status;
    }
    int folder = openat(to->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || fsync(folder))
        status = doppel_fail(error, DOPPEL_E_IO, "cannot be moved: %s", strerror(errno));
    if (folder >= 0)
        close(folder);
    if (!status)
        status = remove_copied(held, temporary, error);
    if (status)
        unlinkat(to->folder, to->name, 0);
    return status;
}

enum doppel_status act_move(const struct held_file *held, const char *target, const char *temporary,
                            struct doppel_error *error)
{
    const char *slash = strrchr(target, '/');
    char *copy = strdup(target);
    struct folder_place to = {copy ? open(dirname(copy), O_PATH | O_DIRECTORY | O_CLOEXEC) : -1,
                              slash ? slash + 1 : target};
    struct doppel_error reason;
    free(copy);
    if (to.folder < 0)
        return not_moved(errno, error);
    enum doppel_status status = move_checked(held, &to, &reason);
    if (status == DOPPEL_E_UNSUPPORTED && temporary)
        status = move_by_copy(held, &to, temporary, error);
    else if (status)
        doppel_fail(error, status, "%s", reason.message);
    close(to.folder);
    return status;
}

/* ---- names ---- */

enum doppel_status make_folders_above(const char *path, struct doppel_error *error)
{
    char *copy = strdup(path);
    enum doppel_status status = DOPPEL_OK;
    if (!copy)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a path");
    for (char *slash = strchr(copy + 1, '/'); slash && !status; slash = strchr(slash + 1, '/')) {
        struct stat stat_;
        *slash = '\0';
        if (mkdir(copy, 0777) && (errno != EEXIST || stat(copy, &stat_) || !S_ISDIR(stat_.st_mode)))
            status = doppel_fail(error, DOPPEL_E_IO, "%s: cannot be made: %s", copy,
                                 errno == EEXIST ? "is no folder" : strerror(errno));
        *slash = '/';
    }
    free(copy);
    return status;
}

static bool is_free(const char *folder, const char *name, const char *ending)
{
    struct stat stat;
    char *path = NULL;
    if (asprintf(&path, "%s/%s%s", folder, name, ending) < 0)
        return false;
    bool free_name = lstat(path, &stat) && errno == ENOENT;
    free(path);
    return free_name;
}

/* At most `most` bytes of a name, up to the end of a character. */
static size_t cut_length(const char *name, size_t length, size_t most)
{
    if (length <= most)
        return length;
    for (length = most; length && ((unsigned char)name[length] & 0xc0) == 0x80;)
        length--;
    return length;
}

char *find_free_path(const struct free_name *wanted)
{
    enum { LONGEST = NAME_MAX - 24 }; /* leaves room for a number and ".trashinfo" */
    const char *dot = strrchr(wanted->name, '.');
    const char *ending = dot && dot != wanted->name && strlen(dot) < 16 ? dot : "";
    size_t length = strlen(wanted->name) - strlen(ending);
    size_t stem = cut_length(wanted->name, length, LONGEST - strlen(ending));
    for (unsigned number = 1; number < 1000000; number++) {
        char name[NAME_MAX + 32], digits[16] = "", *path = NULL;
        if (number > 1)
            snprintf(digits, sizeof digits, ".%u", number);
        snprintf(name, sizeof name, "%.*s%s%s", (int)stem, wanted->name, digits, ending);
        if (!is_free(wanted->folder, name, "") ||
            (wanted->also && !is_free(wanted->also, name, wanted->also_ending)))
            continue;
        return asprintf(&path, "%s/%s", wanted->folder, name) < 0 ? NULL : path;
    }
    return NULL;
}
