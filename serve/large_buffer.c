/* Bytes in memory, and then in a file. */
#include "serve/large_buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "core/files/nameless_file.h"
#include "core/files/write_all.h"

static enum doppel_status fail_temporary(int reason, struct doppel_error *error)
{
    return doppel_fail(error, write_failure(reason), "a temporary file for a request: %s",
                       strerror(reason));
}

static enum doppel_status to_file(struct large_buffer *buffer, const char *folder,
                                  struct doppel_error *error)
{
    int fd = nameless_file(folder);
    if (fd < 0 || !write_all(fd, buffer->bytes, buffer->size)) {
        int reason = errno;
        if (fd >= 0)
            close(fd);
        return fail_temporary(reason, error);
    }
    free(buffer->bytes);
    buffer->bytes = NULL;
    buffer->capacity = 0;
    buffer->in_file = true;
    buffer->file = fd;
    return DOPPEL_OK;
}

/* One byte more than is asked for, for the NUL of large_buffer_text. */
static bool make_room(struct large_buffer *buffer, size_t size)
{
    size_t wanted = (size_t)buffer->size + size + 1;
    if (wanted <= buffer->capacity)
        return true;
    size_t capacity = buffer->capacity ? buffer->capacity : 512;
    while (capacity < wanted)
        capacity *= 2;
    char *grown = realloc(buffer->bytes, capacity);
    if (!grown)
        return false;
    buffer->bytes = grown;
    buffer->capacity = capacity;
    return true;
}

enum doppel_status large_buffer_append(struct large_buffer *buffer, const void *bytes, size_t size,
                                       const char *folder, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (!buffer->in_file && buffer->size + size > LARGE_BUFFER_MEMORY)
        status = to_file(buffer, folder, error);
    if (status)
        return status;
    if (buffer->in_file) {
        if (!write_all(buffer->file, bytes, size))
            return fail_temporary(errno, error);
    } else {
        if (!make_room(buffer, size))
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a request");
        memcpy(buffer->bytes + buffer->size, bytes, size);
    }
    buffer->size += size;
    return DOPPEL_OK;
}

const char *large_buffer_text(struct large_buffer *buffer)
{
    if (buffer->in_file || !make_room(buffer, 0))
        return NULL;
    buffer->bytes[buffer->size] = '\0';
    return buffer->bytes;
}

int large_buffer_open(const struct large_buffer *buffer)
{
    char name[64];
    if (buffer->in_file) { /* a place in it of its own */
        snprintf(name, sizeof name, "/proc/self/fd/%d", buffer->file);
        return open(name, O_RDONLY | O_CLOEXEC);
    }
    int fd = memfd_create("doppel-request", MFD_CLOEXEC);
    if (fd < 0 || (write_all(fd, buffer->bytes, buffer->size) && !lseek(fd, 0, SEEK_SET)))
        return fd;
    close(fd);
    return -1;
}

static bool copy_buffer(const struct large_buffer *buffer, int to)
{
    if (!buffer->in_file)
        return write_all(to, buffer->bytes, buffer->size);
    off_t from = 0;
    while ((uint64_t)from < buffer->size)
        if (sendfile(to, buffer->file, &from, buffer->size - (uint64_t)from) <= 0 && errno != EINTR)
            return false;
    return true;
}

/* A file without a name gets one, where that is on the same file system. */
static bool link_file(const struct large_buffer *buffer, const char *path)
{
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", buffer->file);
    return buffer->in_file && !linkat(AT_FDCWD, name, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

enum doppel_status large_buffer_save(const struct large_buffer *buffer, const char *path,
                                     bool durable, struct doppel_error *error)
{
    int fd = link_file(buffer, path) ? open(path, O_RDONLY | O_CLOEXEC)
                                     : open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool linked = fd >= 0 && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY;
    bool saved = fd >= 0 && (linked || copy_buffer(buffer, fd)) && (!durable || !fsync(fd));
    int reason = errno;
    if (fd >= 0 && close(fd) && saved) {
        saved = false;
        reason = errno;
    }
    return saved ? DOPPEL_OK : fail_temporary(reason, error);
}

void large_buffer_free(struct large_buffer *buffer)
{
    free(buffer->bytes);
    if (buffer->in_file)
        close(buffer->file);
    *buffer = (struct large_buffer){0};
}
