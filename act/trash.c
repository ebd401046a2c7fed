/* The trash cans of a user. Source: freedesktop.org, "The FreeDesktop.org Trash
 * specification", 1.0.
 */
#include "act/held.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char INFO_ENDING[] = ".trashinfo";

/* A folder of ours alone, made if it is not there. */
static bool have_folder(const char *path)
{
    struct stat stat;
    if (mkdir(path, 0700) && errno != EEXIST)
        return false;
    return lstat(path, &stat) == 0 && S_ISDIR(stat.st_mode) && stat.st_uid == geteuid();
}

static bool have_can(const char *folder)
{
    char path[PATH_MAX];
    static const char *const parts[] = {"", "/files", "/info"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        int length = snprintf(path, sizeof path, "%s%s", folder, parts[i]);
        if (length >= (int)sizeof path || !have_folder(path))
            return false;
    }
    return true;
}

static bool is_on(const char *path, dev_t device)
{
    struct stat status;
    return stat(path, &status) == 0 && status.st_dev == device;
}

/* The user's own, as $XDG_DATA_HOME/Trash, if it and the folder it lies in are on the file system
 * of the file. */
static bool try_home(const char *home, dev_t device, struct trash_can *out)
{
    struct trash_can trash = {0};
    char above[PATH_MAX];
    size_t size = home ? strlen(home) + 1 : 0;
    if (!size || *home != '/' || size > sizeof trash.folder)
        return false;
    memcpy(trash.folder, home, size);
    memcpy(above, home, size);
    char *slash = strrchr(above, '/');
    slash[slash == above] = '\0';
    bool usable = make_folders_above(trash.folder, NULL) == DOPPEL_OK && is_on(above, device) &&
                  have_can(trash.folder) && is_on(trash.folder, device);
    if (usable)
        *out = trash;
    return usable;
}

/* The top folder of the file system of `path`, where it is mounted. */
static void find_top(const char *path, dev_t device, char top[PATH_MAX])
{
    snprintf(top, PATH_MAX, "%s", path);
    for (char *slash; (slash = strrchr(top, '/'));) {
        char *cut = slash == top ? slash + 1 : slash;
        char kept = *cut;
        *cut = '\0';
        if (!is_on(top, device)) {
            *cut = kept;
            return;
        }
        if (slash == top)
            return;
    }
}

/* $topdir/.Trash/$uid where the administrator has made .Trash, else $topdir/.Trash-$uid. */
static bool try_top(const char *path, dev_t device, struct trash_can *out)
{
    struct trash_can trash;
    struct stat stat;
    char shared[PATH_MAX];
    find_top(path, device, trash.top);
    const char *slash = strcmp(trash.top, "/") ? "/" : "";
    if (snprintf(shared, sizeof shared, "%s%s.Trash", trash.top, slash) >= (int)sizeof shared - 32)
        return false;
    bool usable = false;
    if (lstat(shared, &stat) == 0 && S_ISDIR(stat.st_mode) && stat.st_mode & S_ISVTX) {
        snprintf(trash.folder, sizeof trash.folder, "%.*s/%u", PATH_MAX - 32, shared, geteuid());
        usable = have_can(trash.folder);
    }
    if (!usable) {
        snprintf(trash.folder, sizeof trash.folder, "%.*s-%u", PATH_MAX - 32, shared, geteuid());
        usable = have_can(trash.folder);
    }
    if (usable)
        *out = trash;
    return usable;
}

enum doppel_status trash_find(const char *home, const char *path, const struct stat *stat,
                              struct trash_can *out, struct doppel_error *error)
{
    if (try_home(home, stat->st_dev, out) || try_top(path, stat->st_dev, out))
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_IO,
                       "there is no trash on its file system, and none can be made; '--action "
                       "move-to' would do");
}

static const char *name_in_trash(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *trash_target(const struct trash_can *trash, const char *path)
{
    char files[PATH_MAX + 8], info[PATH_MAX + 8];
    snprintf(files, sizeof files, "%s/files", trash->folder);
    snprintf(info, sizeof info, "%s/info", trash->folder);
    return find_free_path(&(struct free_name){files, name_in_trash(path), info, INFO_ENDING});
}

char *trash_info_path(const char *target)
{
    static const char files[] = "/files";
    const char *name = strrchr(target, '/');
    char *path = NULL;
    if (!name || name - target < (ptrdiff_t)sizeof files - 1 ||
        strncmp(name - (sizeof files - 1), files, sizeof files - 1) != 0)
        return NULL;
    int folder = (int)(name - target - (ptrdiff_t)(sizeof files - 1));
    return asprintf(&path, "%.*s/info%s%s", folder, target, name, INFO_ENDING) < 0 ? NULL : path;
}

/* As in a URL, but with slashes. Source: RFC 3986, section 2. */
static void print_encoded(FILE *stream, const char *path)
{
    for (; *path; path++) {
        unsigned char byte = (unsigned char)*path;
        bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                     (byte >= '0' && byte <= '9') || strchr("/-_.~", byte);
        fprintf(stream, plain ? "%c" : "%%%02X", byte);
    }
}

static const char *path_in_trash(const struct trash_can *trash, const char *path)
{
    size_t length = strlen(trash->top);
    if (!length || strncmp(path, trash->top, length) != 0)
        return path;
    path += length;
    return path + strspn(path, "/");
}

/* Down to the disk, before the file comes. @return false as errno says */
static bool write_info(const char *info, const char *path)
{
    char date[32];
    struct tm local;
    time_t now = time(NULL);
    int fd = open(info, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "w");
    if (!stream) {
        int reason = errno;
        if (fd >= 0) {
            close(fd);
            unlink(info);
        }
        errno = reason;
        return false;
    }
    localtime_r(&now, &local);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &local);
    fputs("[Trash Info]\nPath=", stream);
    print_encoded(stream, path);
    fprintf(stream, "\nDeletionDate=%s\n", date);
    bool written = fflush(stream) == 0 && fsync(fd) == 0;
    int reason = errno;
    (void)fclose(stream);
    if (!written)
        unlink(info);
    errno = reason;
    return written;
}

enum doppel_status act_trash(const struct held_file *held, const struct trash_can *trash,
                             const char *path, const char *target, struct doppel_error *error)
{
    char *info = trash_info_path(target);
    enum doppel_status status = DOPPEL_OK;
    if (!info || !write_info(info, path_in_trash(trash, path)))
        status = doppel_fail(error, DOPPEL_E_IO, "its note in the trash cannot be written: %s",
                             strerror(errno));
    else if ((status = act_move(held, target, NULL, error)))
        unlink(info);
    free(info);
    return status;
}
