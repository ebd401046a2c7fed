/* A path longer than PATH_MAX is opened folder by folder. */
#include "core/files/open_deep.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* As many whole folders of a path as fit, with their '/'. @return 0: a name is too long */
static size_t folders_that_fit(const char *path, char out[PATH_MAX])
{
    size_t length = strnlen(path, PATH_MAX - 1);
    while (length && path[length - 1] != '/')
        length--;
    memcpy(out, path, length);
    out[length] = '\0';
    return length;
}

int open_deep(const char *path, int flags)
{
    char folders[PATH_MAX];
    int fd = open(path, flags), folder = AT_FDCWD;
    while (fd < 0 && errno == ENAMETOOLONG) {
        size_t length = folders_that_fit(path, folders);
        int next = length ? openat(folder, folders, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
        int reason = length ? errno : ENAMETOOLONG;
        if (folder >= 0)
            close(folder);
        folder = next;
        if (next < 0) {
            errno = reason;
            return -1;
        }
        path += length + strspn(path + length, "/");
        fd = openat(folder, path, flags);
    }
    int reason = errno;
    if (folder >= 0)
        close(folder);
    errno = reason;
    return fd;
}
