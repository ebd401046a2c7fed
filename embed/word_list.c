/* Lists of words with their numbers, a line each, as GloVe and fastText have them. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/text/point_locale.h"
#include "core/try.h"
#include "embed/model_source.h"
#include "embed/tokenizer/normalize.h"

enum { MAX_LINE = 1 << 20, READ_AT_ONCE = 1 << 18 };

struct list_reader {
    const char *path;
    gzFile file;
    char *buffer; /* MAX_LINE + READ_AT_ONCE bytes */
    size_t begin, end;
    uint64_t line; /* from 1 */
    bool ended;
};

/* ---- lines ---- */

static enum doppel_status read_more_lines(struct list_reader *reader, struct doppel_error *error)
{
    memmove(reader->buffer, reader->buffer + reader->begin, reader->end - reader->begin);
    reader->end -= reader->begin;
    reader->begin = 0;
    if (reader->end > MAX_LINE)
        return doppel_fail(error, DOPPEL_E_FORMAT,
                           "%s: line %llu is no word with numbers (it is too long)", reader->path,
                           (unsigned long long)reader->line + 1);
    int got = gzread(reader->file, reader->buffer + reader->end, READ_AT_ONCE - 1);
    int code = Z_OK;
    if (got < 0 || (got == 0 && (gzerror(reader->file, &code), code != Z_OK))) {
        gzerror(reader->file, &code);
        return doppel_fail(error, code == Z_ERRNO ? DOPPEL_E_IO : DOPPEL_E_CORRUPT, "%s: %s",
                           reader->path,
                           code == Z_ERRNO ? strerror(errno) : "cut short or damaged");
    }
    reader->end += (size_t)got;
    reader->ended = got == 0;
    return DOPPEL_OK;
}

/* The next line, without its end, with a NUL instead. @return DOPPEL_E_NOT_FOUND: there is none */
static enum doppel_status next_list_line(struct list_reader *reader, char **out, size_t *out_size,
                                         struct doppel_error *error)
{
    char *found;
    enum doppel_status status = DOPPEL_OK;
    while (!(found = memchr(reader->buffer + reader->begin, '\n', reader->end - reader->begin)) &&
           !reader->ended)
        TRY(read_more_lines(reader, error));
    if (!found && reader->begin == reader->end)
        return DOPPEL_E_NOT_FOUND;
    *out = reader->buffer + reader->begin;
    *out_size = (size_t)((found ? found : reader->buffer + reader->end) - *out);
    reader->begin += *out_size + (found ? 1 : 0);
    while (*out_size && strchr(" \r\t", (*out)[*out_size - 1]))
        --*out_size;
    (*out)[*out_size] = '\0';
    reader->line++;
done:
    return status;
}

/* ---- a line ---- */

static bool is_count(const char *text, size_t size)
{
    return size && size < 12 && strspn(text, "0123456789") >= size;
}

/* Two counts, of words and of numbers, as word2vec and fastText begin. */
static bool is_line_of_counts(const char *line)
{
    const char *blank = strchr(line, ' ');
    return blank && is_count(line, (size_t)(blank - line)) &&
           is_count(blank + 1, strlen(blank + 1));
}

static uint32_t count_fields_after_first(const char *line)
{
    uint32_t count = 0;
    for (; (line = strpbrk(line, " \t")); line++)
        count++;
    return count;
}

/* The numbers at the end of a line, and before them the word, which may have blanks in it. */
static bool parse_list_line(char *line, size_t size, uint32_t dimension, float *numbers,
                            size_t *out_word)
{
    size_t at = size;
    for (uint32_t i = dimension; i--;) {
        char *end;
        size_t stop = at;
        while (at && line[at - 1] != ' ' && line[at - 1] != '\t')
            at--;
        if (at < 2 || at == stop) /* something stands before it */
            return false;
        numbers[i] = strtof(line + at, &end);
        if (end != line + stop || !isfinite(numbers[i]))
            return false;
        line[--at] = '\0';
    }
    *out_word = at;
    return true;
}

static enum doppel_status fail_at_line(const struct list_reader *reader, uint32_t dimension,
                                       struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_FORMAT, "%s: line %llu is no word with %u finite numbers",
                       reader->path, (unsigned long long)reader->line, dimension);
}

static enum doppel_status take_lines(struct list_reader *reader, struct word_rows *rows, char *line,
                                     size_t size, struct doppel_error *error)
{
    uint32_t dimension = rows->source->head.dimension;
    float numbers[DOPPEL_MODEL_MAX_DIMENSION];
    enum doppel_status status = DOPPEL_OK;
    while (!status) {
        size_t word;
        if (size && !parse_list_line(line, size, dimension, numbers, &word))
            return fail_at_line(reader, dimension, error);
        if (size && !word_rows_add(rows, line, word, numbers))
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %s", reader->path);
        status = next_list_line(reader, &line, &size, error);
    }
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
}

static enum doppel_status take_list(struct list_reader *reader, struct model_source *out,
                                    struct doppel_error *error)
{
    struct word_rows rows;
    char *line;
    size_t size;
    enum doppel_status status = next_list_line(reader, &line, &size, error);
    if (!status && is_line_of_counts(line))
        status = next_list_line(reader, &line, &size, error);
    if (status == DOPPEL_E_NOT_FOUND)
        return doppel_fail(error, DOPPEL_E_EMPTY, "%s: has no words", reader->path);
    if (status)
        return status;
    uint32_t dimension = count_fields_after_first(line);
    if (!dimension || dimension > DOPPEL_MODEL_MAX_DIMENSION)
        return doppel_fail(error, DOPPEL_E_FORMAT,
                           "%s: line %llu is no word with 1 to %d numbers; a list of words, a "
                           "folder of model2vec or the JSON of wink-embeddings is wanted",
                           reader->path, (unsigned long long)reader->line,
                           DOPPEL_MODEL_MAX_DIMENSION);
    word_rows_begin(&rows, out, dimension);
    status = take_lines(reader, &rows, line, size, error);
    return word_rows_end(&rows, reader->path, status, error);
}

enum doppel_status word_list_read(const char *path, struct model_source *out,
                                  struct doppel_error *error)
{
    struct list_reader reader = {.path = path, .file = gzopen(path, "rbe")};
    locale_t before = point_locale_enter();
    enum doppel_status status;
    reader.buffer = malloc(MAX_LINE + READ_AT_ONCE);
    if (!reader.file)
        status = doppel_fail(error, errno == ENOENT ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO, "%s: %s",
                             path, strerror(errno));
    else if (!reader.buffer)
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %s", path);
    else
        status = take_list(&reader, out, error);
    if (reader.file)
        gzclose(reader.file);
    free(reader.buffer);
    point_locale_leave(before);
    return status;
}
