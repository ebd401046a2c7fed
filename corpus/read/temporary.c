/* Temporary files: where they lie, and reading and writing them. */
#include "corpus/read/temporary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/files/nameless_file.h"
#include "core/files/read_at.h"
#include "core/files/write_all.h"
#include "corpus/read/reread.h"

const char *temporary_folder(const char *given)
{
    const char *set = getenv("TMPDIR");
    if (given && *given)
        return given;
    return set && *set ? set : "/tmp";
}

enum doppel_status temporary_failed(const char *folder, int reason, struct doppel_error *error)
{
    const char *advice = reason == ENOSPC || reason == EDQUOT || reason == EFBIG
                             ? "; name a folder with more room by --temporary"
                             : "";
    return doppel_fail(error, write_failure(reason), "%s: temporary file: %s%s", folder,
                       strerror(reason), advice);
}

enum doppel_status temporary_file(const char *folder, int *out_fd, struct doppel_error *error)
{
    int fd = nameless_file(folder);
    if (fd < 0)
        return temporary_failed(folder, errno, error);
    *out_fd = fd;
    return DOPPEL_OK;
}

enum doppel_status temporary_write(const char *folder, int fd, const void *bytes, size_t size,
                                   uint64_t at, struct doppel_error *error)
{
    for (size_t done = 0; done < size;) {
        ssize_t put = pwrite(fd, (const char *)bytes + done, size - done, (off_t)(at + done));
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return temporary_failed(folder, put ? errno : ENOSPC, error);
        done += (size_t)put;
    }
    return DOPPEL_OK;
}

enum doppel_status temporary_read(const char *folder, int fd, void *bytes, size_t size, uint64_t at,
                                  struct doppel_error *error)
{
    ssize_t got = read_at(fd, bytes, size, at);
    return got >= 0 && (size_t)got == size ? DOPPEL_OK
                                           : temporary_failed(folder, got < 0 ? errno : EIO, error);
}
