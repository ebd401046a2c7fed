/* A database that can be made again is renamed, so that another takes its place. */
#include "core/files/quarantine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/files/read_at.h"

static char *join_endings(const char *path, const char *dot, const char *extension,
                          const char *suffix)
{
    char *out = NULL;
    return asprintf(&out, "%s%s%s%s", path, dot, extension, suffix) < 0 ? NULL : out;
}

static bool rename_one(const char *path, const char *extension, const char *suffix)
{
    char *from = join_endings(path, "", "", suffix);
    char *to = join_endings(path, ".", extension, suffix);
    bool done = from && to && rename(from, to) == 0;
    if (!done && from && to && errno == ENOENT) {
        unlink(to); /* it belongs to what was quarantined earlier */
        done = true;
    }
    free(from);
    free(to);
    return done;
}

enum doppel_status quarantine_database(const char *path, const char *extension,
                                       struct doppel_error *error)
{
    if (rename_one(path, extension, "-wal") && rename_one(path, extension, "-shm") &&
        rename_one(path, extension, ""))
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_IO, "%s: the damaged cache cannot be quarantined: %s", path,
                       strerror(errno));
}

int lock_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    free(folder);
    if (fd >= 0)
        flock(fd, LOCK_EX);
    return fd;
}

bool is_no_database(const char *path)
{
    static const char magic[] = "SQLite format 3";
    char head[sizeof magic] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    ssize_t got = read_at(fd, head, sizeof head, 0);
    close(fd);
    return got > 0 && memcmp(head, magic, sizeof magic) != 0;
}
