/* A corpus file begins, and ends. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "corpus/read/reader_internal.h"

enum { KEPT_FILES = 256 }; /* descriptors that stay open to read lines again */

static enum doppel_status open_path(const struct reader *reader, const char *path, int *out_fd,
                                    struct stat *out_status, struct doppel_error *error)
{
    bool is_open = strcmp(path, "-") == 0;
    int fd =
        is_open ? fcntl(reader->descriptor, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return doppel_fail(error, errno == ENOENT ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO,
                           "cannot be opened: %s", strerror(errno));
    if (fstat(fd, out_status) == 0 && !S_ISDIR(out_status->st_mode)) {
        *out_fd = fd;
        return DOPPEL_OK;
    }
    close(fd);
    return doppel_fail(error, DOPPEL_E_NOT_FOUND,
                       "a folder without files of records (.jsonl, .ndjson, .json, .csv, .tsv, "
                       ".warc, .wet, .arrow, .feather, also with .gz or .zst, and .parquet); "
                       "'doppel scan' compares files of other kinds");
}

/* Lines of a stream may be paths: of those nothing is a mark. */
bool reader_may_meet_archive(const struct reader *reader)
{
    return !reader->separator && !reader->takes_paths;
}

static bool is_plain_archive(const struct reader *reader, int fd)
{
    char head[8] = "";
    ssize_t size = reader_may_meet_archive(reader) ? pread(fd, head, sizeof head, 0) : 0;
    return size > 0 && archive_begins(head, (size_t)size);
}

enum doppel_status reader_open_next(struct reader *reader, struct doppel_error *error)
{
    struct corpus_file *file = &reader->files[reader->next_file++];
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
    reader->separator = file->format == DOPPEL_CORPUS_CSV   ? ','
                        : file->format == DOPPEL_CORPUS_TSV ? '\t'
                                                            : '\0';
    reader->offset = file->from;
    reader->line = strcmp(file->path, "-") == 0 ? reader->first_line : 1;
    reader->rest_size = 0;
    int fd = -1;
    enum doppel_status status = open_path(reader, file->path, &fd, &file->status, error);
    if (status)
        return status;
    reader->regular = S_ISREG(file->status.st_mode);
    if (reader->regular)
        posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    if (reader->former && !is_same_file_stat(&file->status, &reader->former->status)) {
        close(fd);
        return doppel_fail(error, DOPPEL_E_CHANGED, "%s changed while it was read", file->path);
    }
    file->is_archive = reader->regular && is_plain_archive(reader, fd);
    bool again = reader->regular && strcmp(file->path, "-") != 0;
    int kept = again && reader->next_file <= KEPT_FILES ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    status = file->to
                 ? source_new_part(fd, file->from, file->to - file->from, &reader->source, error)
                 : source_new(fd, reader->stop, &reader->source, error);
    file->opened = !status;
    file->regular = !status && again;
    file->packing = status ? DOPPEL_PACKING_NONE : source_packing(reader->source);
    if (reader_file_is_plain(reader, reader->next_file - 1))
        file->fd = kept;
    else if (kept >= 0)
        close(kept);
    return status;
}

static uint64_t bytes_of_file(const struct reader *reader)
{
    return reader->archive ? archive_bytes_read(reader->archive)
                           : source_bytes_read(reader->source);
}

void reader_count_bytes(struct reader *reader)
{
    uint64_t done = reader->bytes_before + bytes_of_file(reader);
    atomic_store_explicit(&reader->bytes_done, done, memory_order_relaxed);
}

void reader_end_file(struct reader *reader)
{
    if (reader->source) {
        reader->bytes_before += bytes_of_file(reader);
        reader->files[reader->next_file - 1].lines = reader->line - 1;
    }
    archive_free(reader->archive);
    reader->archive = NULL;
    source_free(reader->source);
    reader->source = NULL;
    reader->rest_size = 0;
}

enum doppel_status reader_survey(struct reader *reader, struct doppel_error *error)
{
    struct doppel_error why;
    while (reader->next_file < reader->file_count) {
        if (reader_open_next(reader, &why))
            return doppel_fail(error, why.status, "%s: %s",
                               reader->files[reader->next_file - 1].path, why.message);
        reader_end_file(reader);
    }
    reader->next_file = 0;
    reader->bytes_before = 0;
    return DOPPEL_OK;
}
