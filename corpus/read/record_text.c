/* The text of a record: its own, or that of the file which it names. */
#include "corpus/read/record_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <doppel/media.h>

#include "corpus/read/record_path.h"

void file_text_free(struct file_text *file)
{
    free(file->bytes);
    *file = (struct file_text){0};
}

unsigned record_looks(const struct doppel_corpus_record *record)
{
    enum { FIRST_ONES = 128, ONE_OF = 128 };
    const bool first = !record->file && record->line <= FIRST_ONES;
    return first || (record->line + record->file) % ONE_OF == 0 ? DOPPEL_TEXT_LOOKS : 0;
}

void count_looks(struct doppel_text_looks *looks, unsigned want,
                 const struct doppel_text_result *result)
{
    looks->texts += (want & DOPPEL_TEXT_LOOKS) != 0;
    looks->ocr += (want & DOPPEL_TEXT_LOOKS) && result->looks_like_ocr;
}

static bool make_room_file_text(struct file_text *file, size_t size)
{
    if (size <= file->capacity)
        return true;
    char *grown = realloc(file->bytes, size);
    if (!grown)
        return false;
    file->bytes = grown;
    file->capacity = size;
    return true;
}

/* Read to the end, wherever that is by now. */
static enum doppel_status read_whole_text(int fd, const char *path, uint64_t max_bytes,
                                          struct file_text *file, size_t *out_size,
                                          struct doppel_error *error)
{
    size_t size = 0;
    for (;;) {
        if (size > max_bytes)
            return doppel_fail(error, DOPPEL_E_LIMIT, "%s has more than %llu bytes (--max-record)",
                               path, (unsigned long long)max_bytes);
        if (size == file->capacity && !make_room_file_text(file, 2 * size))
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read %s", path);
        ssize_t got = read(fd, file->bytes + size, file->capacity - size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return doppel_fail(error, DOPPEL_E_IO, "%s cannot be read: %s", path, strerror(errno));
        if (got == 0)
            break;
        size += (size_t)got;
    }
    *out_size = size;
    return DOPPEL_OK;
}

static enum doppel_status read_text_of_fd(int fd, const char *path, uint64_t max_bytes,
                                          struct file_text *file, size_t *out_size,
                                          struct doppel_error *error)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return doppel_fail(error, DOPPEL_E_IO, "%s cannot be read: %s", path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return doppel_fail(error, DOPPEL_E_FORMAT, "%s is no regular file", path);
    if ((uint64_t)status.st_size > max_bytes)
        return doppel_fail(error, DOPPEL_E_LIMIT, "%s has more than %llu bytes (--max-record)",
                           path, (unsigned long long)max_bytes);
    if (!make_room_file_text(file, (size_t)status.st_size + 4096))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read %s", path);
    return read_whole_text(fd, path, max_bytes, file, out_size, error);
}

/* Whoever names an image, a recording or a document as the text of a record took the wrong command:
 * these are for workers to take apart. */
static enum doppel_status refuse_other_kinds(const char *path, const char *bytes, size_t size,
                                             struct doppel_error *error)
{
    enum { PROBE_BYTES = 4096 };
    size_t head = size < PROBE_BYTES ? size : PROBE_BYTES;
    enum doppel_format format;
    bool text = doppel_media_probe((const uint8_t *)bytes, head, &format) == DOPPEL_KIND_TEXT;
    if (!size || (text && !format))
        return DOPPEL_OK;
    if (format > DOPPEL_FORMAT_RAW)
        return doppel_fail(
            error, DOPPEL_E_FORMAT,
            "%s is no plain text but %s; 'doppel scan' and 'doppel ingest PATH' read "
            "documents",
            path, doppel_format_name(format));
    return doppel_fail(error, DOPPEL_E_FORMAT,
                       "%s is not a text; 'doppel ingest -' and 'doppel ingest PATH' take files of "
                       "any kind",
                       path);
}

enum doppel_status record_text(const struct doppel_corpus_record *record,
                               const struct doppel_corpus_fields *fields, const char *corpus_path,
                               uint64_t max_bytes, struct file_text *file, const char **out,
                               size_t *out_size, struct doppel_error *error)
{
    char path[PATH_MAX];
    if (record->text) {
        *out = record->text;
        *out_size = record->text_size;
        return DOPPEL_OK;
    }
    enum doppel_status status = record_path(record, fields, corpus_path, path, error);
    if (status)
        return status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe without a writer is no text */
    if (fd < 0)
        return doppel_fail(error, errno == ENOENT ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO,
                           "%s cannot be opened: %s", record->path, strerror(errno));
    status = read_text_of_fd(fd, record->path, max_bytes, file, out_size, error);
    close(fd);
    if (!status)
        status = refuse_other_kinds(record->path, file->bytes, *out_size, error);
    if (!status)
        *out = file->bytes;
    return status;
}
