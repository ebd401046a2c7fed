/* Standard input as a file that can be read anywhere. */
#include "intake/spool.h"
#include "core/files/nameless_file.h"
#include "core/files/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK_BYTES = 64 * 1024 };

/* On disk where that can be, else in memory. */
static int make_spool_file(void)
{
    const char *folder = getenv("TMPDIR");
    int fd = nameless_file(folder && *folder ? folder : "/tmp");
    return fd >= 0 ? fd : memfd_create("doppel", MFD_CLOEXEC);
}

static bool is_file_at_start(int fd)
{
    struct stat stat;
    return fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode) && lseek(fd, 0, SEEK_CUR) == 0;
}

static enum doppel_status copy_stream(int in, int out, uint64_t max_bytes,
                                      struct doppel_error *error)
{
    char chunk[CHUNK_BYTES];
    uint64_t total = 0;
    ssize_t got;
    while ((got = read(in, chunk, sizeof chunk)) > 0) {
        total += (uint64_t)got;
        if (max_bytes && total > max_bytes)
            return doppel_fail(error, DOPPEL_E_LIMIT, "more than %" PRIu64 " bytes (--max-bytes)",
                               max_bytes);
        if (!write_all(out, chunk, (size_t)got))
            return doppel_fail(error, write_failure(errno), "temporary file: %s", strerror(errno));
    }
    if (got < 0 && errno == EINTR)
        return doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted");
    if (got < 0)
        return doppel_fail(error, DOPPEL_E_IO, "%s", strerror(errno));
    return DOPPEL_OK;
}

enum doppel_status spool(int in, uint64_t max_bytes, int *out_fd, struct doppel_error *error)
{
    bool as_it_is = is_file_at_start(in);
    int fd = as_it_is ? fcntl(in, F_DUPFD_CLOEXEC, 3) : make_spool_file();
    if (fd < 0)
        return doppel_fail(error, write_failure(errno), "temporary file: %s", strerror(errno));
    enum doppel_status status = as_it_is ? DOPPEL_OK : copy_stream(in, fd, max_bytes, error);
    if (status)
        close(fd);
    else
        *out_fd = fd;
    return status;
}
