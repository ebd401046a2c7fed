/* Reading a file into memory, up to a limit. */
#include "core/files/read_beginning.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/open_deep.h"
#include "core/files/read_at.h"
#include "core/try.h"

enum doppel_status read_file_beginning(const char *path, size_t most, char **out, size_t *out_size,
                                       struct doppel_error *error)
{
    struct stat file;
    enum doppel_status status = DOPPEL_OK;
    char *bytes = NULL;
    ssize_t size = -1;
    const int fd = open_deep(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &file))
        TRY(doppel_fail(error, errno == ENOENT ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO, "%s: %s", path,
                        strerror(errno)));
    if (!S_ISREG(file.st_mode))
        TRY(doppel_fail(error, DOPPEL_E_FORMAT, "%s: no regular file", path));
    /* of some file systems no size is known before */
    const size_t room =
        file.st_size > 0 && (uint64_t)file.st_size < most ? (size_t)file.st_size : most;
    bytes = malloc(room + 1);
    if (!bytes)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory to read it", path));
    size = read_at(fd, bytes, room, 0);
    if (size < 0)
        TRY(doppel_fail(error, DOPPEL_E_IO, "%s: %s", path, strerror(errno)));
    *out = bytes;
    *out_size = (size_t)size;
    bytes = NULL;
done:
    if (fd >= 0)
        close(fd);
    free(bytes);
    return status;
}
