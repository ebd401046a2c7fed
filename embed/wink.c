/* The JSON of wink-embeddings: {"dimensions":100,…,"vectors":{"the":[100 numbers, their length,
 * the place of the word],…},…}. It is read part by part, as it is too much for memory at once. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text/point_locale.h"
#include "core/try.h"
#include "embed/model_source.h"
#include "embed/tokenizer/normalize.h"

struct wink_reader {
    const char *path;
    const char *bytes;
    size_t size, at;
    uint32_t dimension;
    struct word_rows rows;
    bool begun; /* rows */
    struct doppel_error *error;
};

static enum doppel_status fail_wink(const struct wink_reader *reader, const char *what)
{
    return doppel_fail(reader->error, DOPPEL_E_CORRUPT, "%s: byte %zu: %s", reader->path,
                       reader->at, what);
}

static void skip_blanks_of_wink(struct wink_reader *reader)
{
    const char *at = reader->bytes + reader->at, *end = reader->bytes + reader->size;
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n'))
        at++;
    reader->at = (size_t)(at - reader->bytes);
}

/* Whether this character is next, which is passed over then. */
static bool take_character(struct wink_reader *reader, char wanted)
{
    skip_blanks_of_wink(reader);
    if (reader->at == reader->size || reader->bytes[reader->at] != wanted)
        return false;
    reader->at++;
    return true;
}

/* The next value. @return given (json_decref); NULL: there is none */
static json_t *take_value(struct wink_reader *reader)
{
    json_error_t problem;
    json_t *value = json_loadb(reader->bytes + reader->at, reader->size - reader->at,
                               JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL, &problem);
    if (value)
        reader->at += (size_t)problem.position;
    return value;
}

static bool is_of_number(char character)
{
    return (character >= '0' && character <= '9') || character == '-' || character == '.' ||
           character == '+' || character == 'e' || character == 'E';
}

/* A number; false: there is none, or it is not finite. */
static bool take_wink_number(struct wink_reader *reader, float *out)
{
    enum { MOST = 40 };
    char text[MOST + 1], *end;
    skip_blanks_of_wink(reader);
    size_t size = 0, left = reader->size - reader->at;
    const char *at = reader->bytes + reader->at;
    while (size < MOST && size < left && is_of_number(at[size]))
        size++;
    memcpy(text, at, size);
    text[size] = '\0';
    *out = strtof(text, &end);
    reader->at += size;
    return size && size < MOST && !*end && isfinite(*out);
}

/* [the numbers of a word, their length, the word's place] */
static enum doppel_status take_row_of_wink(struct wink_reader *reader, float *row)
{
    enum { AFTER_NUMBERS = 2 };
    float after;
    bool good = take_character(reader, '[');
    for (uint32_t i = 0; i < reader->dimension + AFTER_NUMBERS && good; i++)
        good = (!i || take_character(reader, ',')) &&
               take_wink_number(reader, i < reader->dimension ? row + i : &after);
    return good && take_character(reader, ']')
               ? DOPPEL_OK
               : fail_wink(reader, "not as many numbers as there are dimensions, and two more");
}

static enum doppel_status take_word_of_wink(struct wink_reader *reader)
{
    float row[DOPPEL_MODEL_MAX_DIMENSION];
    enum doppel_status status = DOPPEL_OK;
    json_t *word = take_value(reader);
    if (!json_is_string(word) || !take_character(reader, ':'))
        status = fail_wink(reader, "no word");
    else
        status = take_row_of_wink(reader, row);
    if (!status &&
        !word_rows_add(&reader->rows, json_string_value(word), json_string_length(word), row))
        status = doppel_fail(reader->error, DOPPEL_E_MEMORY, "no memory for %s", reader->path);
    json_decref(word);
    return status;
}

static enum doppel_status take_words_of_wink(struct wink_reader *reader)
{
    enum doppel_status status = DOPPEL_OK;
    if (!reader->dimension || reader->dimension > DOPPEL_MODEL_MAX_DIMENSION)
        return fail_wink(reader, "'dimensions' is missing before 'vectors', or is too large");
    if (reader->begun || !take_character(reader, '{'))
        return fail_wink(reader, "'vectors' is no object");
    word_rows_begin(&reader->rows, reader->rows.source, reader->dimension);
    reader->begun = true;
    do
        TRY(take_word_of_wink(reader));
    while (take_character(reader, ','));
    if (!take_character(reader, '}'))
        status = fail_wink(reader, "'vectors' does not end");
done:
    return status;
}

static enum doppel_status take_wink_member(struct wink_reader *reader)
{
    json_t *key = take_value(reader), *value = NULL;
    const char *name = json_string_value(key);
    enum doppel_status status = DOPPEL_OK;
    if (!name || !take_character(reader, ':'))
        status = fail_wink(reader, "no member of an object");
    else if (strcmp(name, "vectors") == 0)
        status = take_words_of_wink(reader);
    else if (!(value = take_value(reader)))
        status = fail_wink(reader, "no value");
    else if (strcmp(name, "dimensions") == 0 && json_integer_value(value) > 0 &&
             json_integer_value(value) <= DOPPEL_MODEL_MAX_DIMENSION)
        reader->dimension = (uint32_t)json_integer_value(value);
    json_decref(key);
    json_decref(value);
    return status;
}

static enum doppel_status take_wink(struct wink_reader *reader)
{
    enum doppel_status status = DOPPEL_OK;
    if (!take_character(reader, '{'))
        return fail_wink(reader, "no object");
    do
        TRY(take_wink_member(reader));
    while (take_character(reader, ','));
    if (!take_character(reader, '}'))
        status = fail_wink(reader, "the object does not end");
    else if (!reader->begun)
        status =
            doppel_fail(reader->error, DOPPEL_E_FORMAT,
                        "%s: has no 'vectors', as the JSON of wink-embeddings has", reader->path);
done:
    return status;
}

enum doppel_status wink_read(const char *path, struct model_source *out, struct doppel_error *error)
{
    struct wink_reader reader = {.path = path, .rows.source = out, .error = error};
    struct stat stamp;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *map = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &stamp) == 0 && stamp.st_size > 0) {
        reader.size = (size_t)stamp.st_size;
        map = mmap(NULL, reader.size, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    int reason = errno;
    if (fd >= 0)
        close(fd);
    if (map == MAP_FAILED)
        return doppel_fail(error, DOPPEL_E_IO, "%s: %s", path, strerror(reason));
    reader.bytes = map;
    locale_t before = point_locale_enter();
    enum doppel_status status = take_wink(&reader);
    point_locale_leave(before);
    if (reader.begun)
        status = word_rows_end(&reader.rows, path, status, error);
    munmap(map, reader.size);
    return status;
}
