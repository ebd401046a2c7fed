/* The text of a record, read again from where its line was in its corpus. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/read_at.h"
#include "core/try.h"
#include "corpus/read/reader.h"
#include "corpus/read/record_text.h"
#include "corpus/read/reread.h"

/* No look is worth more. */
static const uint64_t most_bytes = (uint64_t)16 << 20;

static enum doppel_status has_changed(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_NOT_FOUND, "has changed since it was read");
}

/* @param out given (free); readable PARSE_SLACK beyond its size */
static enum doppel_status read_line_corpus_place(const struct doppel_corpus_place *place,
                                                 char **out, struct doppel_error *error)
{
    struct stat status;
    if (place->size > most_bytes)
        return doppel_fail(error, DOPPEL_E_LIMIT, "is too large to be looked at");
    int fd = open(place->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "%s",
                           errno == ENOENT || errno == ENOTDIR ? "is not there any more"
                                                               : strerror(errno));
    char *line = calloc(1, (size_t)place->size + PARSE_SLACK);
    bool regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    bool whole = line && regular &&
                 read_at(fd, line, (size_t)place->size, place->offset) == (ssize_t)place->size;
    close(fd);
    if (whole) {
        *out = line;
        return DOPPEL_OK;
    }
    enum doppel_status failed =
        line ? has_changed(error)
             : doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a record");
    free(line);
    return failed;
}

/* The beginning of its plain text, if it still has the content. */
static enum doppel_status take_plain(struct doppel_text *text, const struct doppel_digest *content,
                                     const char *bytes, size_t size, size_t most, char **out,
                                     size_t *out_size, struct doppel_error *error)
{
    struct doppel_text_result result;
    const char *plain;
    size_t plain_size;
    enum doppel_status status;
    TRY(doppel_text_read(text, bytes, size, DOPPEL_TEXT_DIGEST, &result, error));
    if (memcmp(&result.digest, content, sizeof *content) != 0)
        return has_changed(error);
    TRY(doppel_text_plain(text, bytes, size, &plain, &plain_size, error));
    size_t kept = plain_size < most ? plain_size : most;
    char *copy = malloc(kept + 1);
    if (!copy)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a text");
    memcpy(copy, plain, kept);
    *out = copy;
    *out_size = kept;
done:
    return status;
}

enum doppel_status doppel_corpus_reread_text(const struct doppel_corpus_place *place,
                                             const struct doppel_corpus_fields *fields,
                                             const struct doppel_text_options *options, size_t most,
                                             char **out, size_t *out_size,
                                             struct doppel_error *error)
{
    struct doppel_corpus_record record;
    struct doppel_text *text = NULL;
    struct file_text file = {0};
    const char *bytes;
    size_t size;
    char *line = NULL;
    struct parser *parser = parser_new(fields);
    enum doppel_status status;
    TRY(parser ? doppel_text_new(options, &text, error)
               : doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read"));
    TRY(read_line_corpus_place(place, &line, error));
    parser_line(parser, line, (size_t)place->size, &record);
    if (record.error.status ||
        record_text(&record, fields, place->path, most_bytes, &file, &bytes, &size, NULL))
        TRY(has_changed(error));
    TRY(take_plain(text, &place->content, bytes, size, most, out, out_size, error));
done:
    file_text_free(&file);
    free(line);
    doppel_text_free(text);
    parser_free(parser);
    return status;
}
