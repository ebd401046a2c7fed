/* Files in files, by libarchive: no size that an archive declares is believed. */
#include "documents/unpack.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/files/read_at.h"
#include "core/try.h"

/* ---- the file, by offset ---- */

static la_ssize_t read_archive_block(struct archive *archive, void *data, const void **out)
{
    struct unpacking *unpacking = data;
    ssize_t got = read_at(unpacking->fd, unpacking->block, sizeof unpacking->block, unpacking->at);
    if (got < 0)
        archive_set_error(archive, errno, "cannot be read");
    else
        unpacking->at += (uint64_t)got;
    *out = unpacking->block;
    return got;
}

static la_int64_t skip_bytes(struct archive *archive, void *data, la_int64_t count)
{
    struct unpacking *unpacking = data;
    uint64_t left = unpacking->at < unpacking->size ? unpacking->size - unpacking->at : 0;
    (void)archive;
    if (count <= 0)
        return 0;
    uint64_t skipped = (uint64_t)count < left ? (uint64_t)count : left;
    unpacking->at += skipped;
    return (la_int64_t)skipped;
}

static la_int64_t seek_archive(struct archive *archive, void *data, la_int64_t offset, int whence)
{
    struct unpacking *unpacking = data;
    la_int64_t from = whence == SEEK_SET   ? 0
                      : whence == SEEK_CUR ? (la_int64_t)unpacking->at
                                           : (la_int64_t)unpacking->size;
    la_int64_t to;
    if (__builtin_add_overflow(from, offset, &to) || to < 0 || (uint64_t)to > unpacking->size) {
        archive_set_error(archive, EINVAL, "points beyond its end");
        return ARCHIVE_FATAL;
    }
    unpacking->at = (uint64_t)to;
    return to;
}

/* ---- failures ---- */

enum doppel_status describe_archive(struct archive *archive, struct doppel_error *error)
{
    const char *reason = archive_error_string(archive);
    if (archive_errno(archive) == ENOMEM)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to unpack it");
    if (archive_errno(archive) == EIO)
        return doppel_fail(error, DOPPEL_E_IO, "cannot be read");
    if (!reason)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "is damaged");
    if (strcasestr(reason, "crypt"))
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "is encrypted");
    if (strcasestr(reason, "unsupported") || strstr(reason, "unavailable") ||
        strstr(reason, "not supported"))
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "cannot be unpacked: %s", reason);
    return doppel_fail(error, DOPPEL_E_CORRUPT, "is damaged: %s", reason);
}

/* Of what no format claims. */
static enum doppel_status describe_unknown(struct archive *archive, struct doppel_error *error)
{
    enum doppel_status status = describe_archive(archive, error);
    return status == DOPPEL_E_CORRUPT && error ? error->status = DOPPEL_E_FORMAT : status;
}

/* ---- */

enum doppel_status unpacking_open(int fd, struct archive *archive,
                                  const struct document_limits *limits, struct unpacking **out,
                                  struct doppel_error *error)
{
    struct stat file;
    enum doppel_status status = DOPPEL_OK;
    struct unpacking *unpacking = calloc(1, sizeof *unpacking);
    if (!unpacking || !archive) {
        archive_read_free(archive);
        free(unpacking);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to unpack it");
    }
    unpacking->fd = fd;
    unpacking->archive = archive;
    unpacking->limits = *limits;
    if (fstat(fd, &file))
        TRY(doppel_fail(error, DOPPEL_E_IO, "cannot be read"));
    unpacking->size = (uint64_t)file.st_size;
    archive_read_set_callback_data(archive, unpacking);
    archive_read_set_read_callback(archive, read_archive_block);
    archive_read_set_skip_callback(archive, skip_bytes);
    archive_read_set_seek_callback(archive, seek_archive);
    if (archive_read_open1(archive) < ARCHIVE_WARN)
        TRY(describe_unknown(archive, error));
    *out = unpacking;
done:
    if (status)
        unpacking_free(unpacking);
    return status;
}

void unpacking_free(struct unpacking *unpacking)
{
    if (unpacking)
        archive_read_free(unpacking->archive);
    free(unpacking);
}

enum doppel_status unpacking_next(struct unpacking *unpacking, struct archive_entry **out,
                                  struct doppel_error *error)
{
    int result = archive_read_next_header(unpacking->archive, out);
    if (result == ARCHIVE_EOF)
        return DOPPEL_E_NOT_FOUND;
    if (result < ARCHIVE_WARN && archive_read_has_encrypted_entries(unpacking->archive) > 0)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "is encrypted");
    if (result < ARCHIVE_WARN)
        return describe_archive(unpacking->archive, error);
    if (unpacking->members++ >= unpacking->limits.max_members)
        return doppel_fail(error, DOPPEL_E_LIMIT, "has more than %u members",
                           unpacking->limits.max_members);
    return DOPPEL_OK;
}

/* Small files may shrink as they like. */
enum { RATIO_FROM_BYTES = 16 << 20 };

enum doppel_status count_unpacked(struct unpacking *unpacking, size_t size,
                                  struct doppel_error *error)
{
    const struct document_limits *limits = &unpacking->limits;
    unpacking->unpacked += size;
    if (unpacking->unpacked > limits->max_bytes)
        return doppel_fail(error, DOPPEL_E_LIMIT, "unpacks to more than %llu MiB",
                           (unsigned long long)(limits->max_bytes >> 20));
    if (unpacking->unpacked > RATIO_FROM_BYTES &&
        unpacking->unpacked / limits->max_ratio > unpacking->size)
        return doppel_fail(error, DOPPEL_E_LIMIT, "unpacks to more than %u times its size",
                           limits->max_ratio);
    return DOPPEL_OK;
}

enum doppel_status unpack_member(struct unpacking *unpacking, char **out, size_t *out_size,
                                 struct doppel_error *error)
{
    char *bytes = NULL, *grown;
    size_t size = 0, room = 0;
    enum doppel_status status = DOPPEL_OK;
    for (;;) {
        if (room - size < sizeof unpacking->block) {
            room = 2 * room + 2 * sizeof unpacking->block;
            if (!(grown = realloc(bytes, room)))
                TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory to unpack it"));
            bytes = grown;
        }
        la_ssize_t got = archive_read_data(unpacking->archive, bytes + size, room - size - 1);
        if (got < 0)
            TRY(describe_archive(unpacking->archive, error));
        if (got == 0)
            break;
        TRY(count_unpacked(unpacking, (size_t)got, error));
        size += (size_t)got;
    }
    bytes[size] = '\0';
    *out = bytes;
    *out_size = size;
done:
    if (status)
        free(bytes);
    return status;
}
