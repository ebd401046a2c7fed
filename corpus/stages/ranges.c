/* Dividing the bytes of the input among parts of "sign": about equally, between lines. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/files/read_at.h"
#include "core/try.h"
#include "corpus/stages/stages_internal.h"

enum { SCAN_BYTES = 1 << 16 };

/* Where a part begins in the bytes of all files, one after the other. */
static uint64_t part_begins(uint64_t total, struct doppel_stage_part part)
{
    return (uint64_t)((unsigned __int128)total * (part.number - 1) / part.count);
}

static enum doppel_status cannot_divide(const char *path, int reason, struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_IO, "%s cannot be read: %s", path, strerror(reason));
}

/* Move to the beginning of the next line, unless it is at one; at the end: the size. */
static enum doppel_status find_line_begin(const struct dedup *dedup, uint32_t file, uint64_t *at,
                                          struct doppel_error *error)
{
    char buffer[SCAN_BYTES];
    const char *path = reader_file_path(dedup->reader, file);
    const uint64_t size = (uint64_t)reader_file_stat(dedup->reader, file)->st_size;
    if (*at == 0 || *at >= size)
        return DOPPEL_OK;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return cannot_divide(path, errno, error);
    enum doppel_status status = DOPPEL_OK;
    for (uint64_t from = *at - 1;; from += SCAN_BYTES) {
        ssize_t got = read_at(fd, buffer, sizeof buffer, from);
        if (got < 0)
            TRY(cannot_divide(path, errno, error));
        const char *newline = got ? memchr(buffer, '\n', (size_t)got) : NULL;
        *at = newline ? from + (uint64_t)(newline - buffer) + 1 : size;
        if (newline || !got)
            break;
    }
done:
    close(fd);
    return status;
}

/* Whether the reader refuses a file by its beginning: then it is one unreadable record. */
static enum doppel_status is_refused_file(const struct dedup *dedup, uint32_t file, bool *out,
                                          struct doppel_error *error)
{
    struct reader *reader = NULL;
    struct line_block block = {0};
    enum doppel_status status;
    TRY(reader_again(dedup->reader, file, &reader, error));
    status = reader_next(reader, &block, error);
    if (status == DOPPEL_E_NOT_FOUND)
        status = DOPPEL_OK;
    *out = block.damage.status == DOPPEL_E_FORMAT && !block.damage_size;
    line_block_free(&block);
done:
    reader_free(reader);
    return status;
}

/* The share that a part has of a file, which begins at `start` of all bytes. */
struct share {
    uint64_t begin, end; /* of the part, in all bytes */
    uint64_t start, size;
};

static enum doppel_status share_whole(const struct share *share, struct reader_range *out)
{
    bool mine = share->size && share->begin <= share->start && share->start < share->end;
    *out = (struct reader_range){0, mine ? UINT64_MAX : 0};
    return DOPPEL_OK;
}

static enum doppel_status share_file(const struct dedup *dedup, uint32_t file,
                                     const struct share *share, struct reader_range *out,
                                     struct doppel_error *error)
{
    uint64_t end = share->start + share->size;
    uint64_t from = share->begin > share->start ? share->begin - share->start : 0;
    uint64_t to = share->end < end ? share->end - share->start : share->size;
    bool refused = false;
    enum doppel_status status = DOPPEL_OK;
    if (share->begin >= end || share->end <= share->start)
        return share_whole(&(struct share){0}, out);
    if (!reader_file_is_plain(dedup->reader, file) || (!from && to == share->size))
        return share_whole(share, out);
    TRY(is_refused_file(dedup, file, &refused, error));
    if (refused)
        return share_whole(share, out);
    TRY(find_line_begin(dedup, file, &from, error));
    TRY(find_line_begin(dedup, file, &to, error));
    *out = (struct reader_range){from, to};
done:
    return status;
}

enum doppel_status stages_ranges(const struct dedup *dedup, struct doppel_stage_part part,
                                 struct reader_range **out, struct doppel_error *error)
{
    size_t count = reader_file_count(dedup->reader);
    uint64_t total = 0, start = 0;
    struct reader_range *ranges = calloc(count ? count : 1, sizeof *ranges);
    enum doppel_status status = DOPPEL_OK;
    if (!ranges)
        return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory");
    for (uint32_t i = 0; i < count; i++)
        total += (uint64_t)reader_file_stat(dedup->reader, i)->st_size;
    const struct doppel_stage_part next = {part.number + 1, part.count};
    for (uint32_t i = 0; i < count; i++) {
        struct share share = {.begin = part_begins(total, part),
                              .end = part_begins(total, next),
                              .start = start,
                              .size = (uint64_t)reader_file_stat(dedup->reader, i)->st_size};
        TRY(share_file(dedup, i, &share, &ranges[i], error));
        start += share.size;
    }
    *out = ranges;
done:
    if (status)
        free(ranges);
    return status;
}
