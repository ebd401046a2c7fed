/* The folder of an index: made, locked by its writer, and cleared of what a crash has left. */
#include "store/index_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/digest.h"
#include "core/files/read_at.h"
#include "core/files/sync_path.h"
#include "core/files/write_all.h"

enum { FOLDER_MODE = 0700, RETRY_MS = 10, STAMP_BYTES = 4096 };

static enum doppel_status fail_folder(struct doppel_error *error, const char *path,
                                      const char *what)
{
    return doppel_fail(error, write_failure(errno), "%s: %s: %s", path, what, strerror(errno));
}

enum doppel_status segment_folder_make(const char *path, bool durable, struct doppel_error *error)
{
    struct stat status;
    if (mkdir(path, FOLDER_MODE)) {
        int reason = errno;
        if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
            return DOPPEL_OK;
        errno = reason;
        return fail_folder(error, path, "the directory cannot be made");
    }
    if (durable && !sync_parent(path))
        return fail_folder(error, path, "the directory cannot be made lasting");
    return DOPPEL_OK;
}

enum doppel_status segment_folder_lock(const char *path, uint32_t timeout_ms, int *out_fd,
                                       struct doppel_error *error)
{
    const struct timespec pause = {.tv_nsec = RETRY_MS * 1000000L};
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return fail_folder(error, path, "cannot be opened");
    for (uint32_t waited = 0; flock(fd, LOCK_EX | LOCK_NB); waited += RETRY_MS) {
        enum doppel_status status = DOPPEL_OK;
        if (errno != EWOULDBLOCK && errno != EINTR)
            status = fail_folder(error, path, "cannot be locked");
        else if (waited >= timeout_ms)
            status = doppel_fail(error, DOPPEL_E_BUSY,
                                 "%s: another process is writing to this index; try again when it "
                                 "is done",
                                 path);
        if (status) {
            close(fd);
            return status;
        }
        nanosleep(&pause, NULL);
    }
    *out_fd = fd;
    return DOPPEL_OK;
}

/* ---- orphans ---- */

static bool ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name), end = strlen(ending);
    return length > end && strcmp(name + length - end, ending) == 0;
}

static bool is_live(const char *name, const struct segment_rows *live)
{
    for (size_t i = 0; i < live->count; i++)
        if (strcmp(live->items[i].name, name) == 0)
            return true;
    return false;
}

static bool is_orphan(const char *name, const struct segment_rows *live)
{
    return ends_with(name, SEGMENT_ENDING ".new") ||
           (ends_with(name, SEGMENT_ENDING) && !is_live(name, live));
}

bool segment_folder_has_orphans(const char *path, const struct segment_rows *live)
{
    DIR *folder = opendir(path);
    bool found = false;
    for (struct dirent *entry; folder && !found && (entry = readdir(folder));)
        found = is_orphan(entry->d_name, live);
    if (folder)
        closedir(folder);
    return found;
}

void segment_folder_sweep(const char *path, const struct segment_rows *live)
{
    DIR *folder = opendir(path);
    if (!folder)
        return;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (is_orphan(entry->d_name, live))
            unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
}

void segment_folder_set_aside(const char *folder, const char *name)
{
    char *from = NULL, *to = NULL;
    if (asprintf(&from, "%s/%s", folder, name) < 0)
        from = NULL;
    if (asprintf(&to, "%s/%s.damaged", folder, name) < 0)
        to = NULL;
    if (from && to)
        (void)rename(from, to);
    free(from);
    free(to);
}

enum doppel_status segment_folder_stamp(const char *folder, const char *name, uint64_t *out,
                                        struct doppel_error *error)
{
    uint8_t page[STAMP_BYTES];
    ssize_t got = -1;
    char *path;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", folder);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0)
        got = read_at(fd, page, sizeof page, 0);
    int reason = errno;
    if (fd >= 0)
        close(fd);
    if (got < 0)
        doppel_fail(error, reason == ENOENT ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO,
                    "cannot read the index file %s: %s", path, strerror(reason));
    else
        *out = checksum64(page, (size_t)got);
    free(path);
    return got >= 0 ? DOPPEL_OK : reason == ENOENT ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO;
}
