/* Rows of Parquet files as lines of JSON. */
#include "corpus/read/parquet/parquet.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/try.h"
#include "corpus/read/json_line.h"
#include "corpus/read/parquet/pages.h"

enum { LINES_BYTES = 1 << 16, NUMBER_BYTES = 48 };

struct parquet {
    struct parquet_footer footer;
    struct parquet_pages *pages; /* of each column */
    size_t next_group;
    uint64_t rows_left; /* of the group before */
    uint64_t bytes_done;
    struct json_line lines;      /* that are given now */
    size_t given;                /* bytes of them */
    struct doppel_error failure; /* told when they are given */
};

/* ---- life ---- */

static bool is_wanted_column(const struct parquet_column *column,
                             const struct doppel_corpus_fields *fields)
{
    const char *const wanted[][2] = {{fields->text, "text"},
                                     {fields->id, "id"},
                                     {fields->source, "source"},
                                     {fields->date, "date"}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (strcmp(column->name, wanted[i][0] ? wanted[i][0] : wanted[i][1]) == 0)
            return true;
    return false;
}

static enum doppel_status check_columns(const struct parquet *parquet,
                                        const struct doppel_corpus_fields *fields,
                                        struct doppel_error *error)
{
    size_t read = 0;
    for (size_t i = 0; i < parquet->footer.column_count; i++) {
        const struct parquet_column *column = &parquet->footer.columns[i];
        read += !column->unread;
        if (column->unread && fields && is_wanted_column(column, fields))
            return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "column '%s' %s, so it is not read",
                               column->name, column->unread);
    }
    return read ? DOPPEL_OK
                : doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                              "none of its columns has texts or numbers that are read");
}

enum doppel_status parquet_new(int fd, const struct doppel_corpus_fields *fields,
                               struct parquet **out, struct doppel_error *error)
{
    enum doppel_status status;
    struct parquet *parquet = calloc(1, sizeof *parquet);
    if (!parquet)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a Parquet file");
    TRY(parquet_footer_read(fd, &parquet->footer, error));
    TRY(check_columns(parquet, fields, error));
    parquet->pages = calloc(parquet->footer.column_count, sizeof *parquet->pages);
    if (!parquet->pages)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a Parquet file"));
    for (size_t i = 0; i < parquet->footer.column_count; i++)
        parquet->pages[i] = (struct parquet_pages){.fd = fd, .column = &parquet->footer.columns[i]};
    *out = parquet;
    return DOPPEL_OK;
done:
    parquet_free(parquet);
    return status;
}

void parquet_free(struct parquet *parquet)
{
    if (!parquet)
        return;
    for (size_t i = 0; parquet->pages && i < parquet->footer.column_count; i++)
        parquet_pages_free(&parquet->pages[i]);
    free(parquet->pages);
    parquet_footer_free(&parquet->footer);
    json_line_free(&parquet->lines);
    free(parquet);
}

uint64_t parquet_bytes_read(const struct parquet *parquet)
{
    return parquet->bytes_done;
}

/* ---- values ---- */

static int64_t whole_of_value(const struct parquet_column *column,
                              const struct parquet_value *value)
{
    uint64_t number = 0;
    for (size_t i = 0; i < value->size; i++)
        number |= (uint64_t)value->bytes[i] << 8 * i;
    bool narrow = value->size == 4 && column->meaning != PARQUET_UNSIGNED;
    return narrow ? (int32_t)(uint32_t)number : (int64_t)number;
}

/* Of a part of a second since 1970. */
static bool write_time_of_day(char *to, int64_t number, int64_t parts)
{
    int64_t part = number % parts;
    time_t seconds = (time_t)(number / parts - (part < 0));
    struct tm day;
    part += part < 0 ? parts : 0;
    if (!gmtime_r(&seconds, &day) || day.tm_year < -1900 || day.tm_year > 8099)
        return false;
    size_t size = strftime(to, NUMBER_BYTES, "%Y-%m-%dT%H:%M:%S", &day);
    if (part)
        size += (size_t)snprintf(to + size, NUMBER_BYTES - size, ".%0*" PRId64,
                                 parts == 1000 ? 3 : 6, part);
    memcpy(to + size, "Z", 2);
    return true;
}

static bool write_date(char *to, int64_t days)
{
    time_t seconds = (time_t)(days * 86400);
    struct tm day;
    if (!gmtime_r(&seconds, &day) || day.tm_year < -1900 || day.tm_year > 8099)
        return false;
    return strftime(to, NUMBER_BYTES, "%Y-%m-%d", &day) > 0;
}

static void write_whole_field(struct json_line *line, const struct parquet_column *column,
                              int64_t number)
{
    char written[NUMBER_BYTES] = "";
    bool said = column->meaning == PARQUET_DATE           ? write_date(written, number)
                : column->meaning == PARQUET_MILLISECONDS ? write_time_of_day(written, number, 1000)
                : column->meaning == PARQUET_MICROSECONDS
                    ? write_time_of_day(written, number, 1000000)
                    : false;
    if (said) {
        json_line_field(line, column->name, (struct byte_span){written, strlen(written)});
        return;
    }
    if (column->meaning == PARQUET_UNSIGNED)
        snprintf(written, sizeof written, "%" PRIu64, (uint64_t)number);
    else
        snprintf(written, sizeof written, "%" PRId64, number);
    json_line_number(line, column->name, written);
}

/* What is no number has no field. */
static void write_binary(struct json_line *line, const char *name,
                         const struct parquet_value *value)
{
    char written[NUMBER_BYTES];
    double number;
    if (value->size == sizeof(float)) {
        float narrow;
        memcpy(&narrow, value->bytes, sizeof narrow);
        number = (double)narrow;
    } else {
        memcpy(&number, value->bytes, sizeof number);
    }
    if (!isfinite(number))
        return;
    snprintf(written, sizeof written, value->size == sizeof(float) ? "%.9g" : "%.17g", number);
    json_line_number(line, name, written);
}

static void write_column_value(struct json_line *line, const struct parquet_column *column,
                               const struct parquet_value *value)
{
    if (!value->bytes)
        return;
    switch (column->type) {
    case PARQUET_BOOLEAN:
        json_line_number(line, column->name, *value->bytes ? "true" : "false");
        return;
    case PARQUET_INT32:
    case PARQUET_INT64:
        write_whole_field(line, column, whole_of_value(column, value));
        return;
    case PARQUET_FLOAT:
    case PARQUET_DOUBLE:
        write_binary(line, column->name, value);
        return;
    case PARQUET_BYTE_ARRAY:
        json_line_field(line, column->name,
                        (struct byte_span){(const char *)value->bytes, value->size});
        return;
    }
}

/* ---- rows ---- */

static enum doppel_status begin_row_group(struct parquet *parquet, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    const struct parquet_footer *footer = &parquet->footer;
    size_t number = parquet->next_group++;
    for (size_t i = 0; i < footer->column_count; i++) {
        const struct parquet_column *column = &footer->columns[i];
        const struct parquet_chunk *chunk =
            &footer->chunks[number * footer->leaf_count + column->leaf];
        if (column->unread)
            continue;
        if (!chunk->elsewhere && chunk->values != footer->group_rows[number])
            return doppel_fail(error, DOPPEL_E_CORRUPT,
                               "column '%s' has not as many values as there are rows",
                               column->name);
        TRY(parquet_pages_begin(&parquet->pages[i], chunk, error));
        if (parquet->bytes_done < chunk->at)
            parquet->bytes_done = chunk->at;
    }
    parquet->rows_left = footer->group_rows[number];
done:
    return status;
}

static enum doppel_status take_parquet_row(struct parquet *parquet, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    size_t before = parquet->lines.size;
    json_line_begin(&parquet->lines);
    for (size_t i = 0; i < parquet->footer.column_count; i++) {
        struct parquet_value value;
        if (parquet->footer.columns[i].unread)
            continue;
        TRY(parquet_pages_next(&parquet->pages[i], &value, error));
        write_column_value(&parquet->lines, &parquet->footer.columns[i], &value);
    }
    json_line_end(&parquet->lines);
    parquet->rows_left--;
    if (parquet->lines.failed)
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a row of a Parquet file");
done:
    if (status)
        parquet->lines.size = before;
    return status;
}

/* Rows to lines, until there are many of them, or none is left. */
static enum doppel_status take_parquet_rows(struct parquet *parquet, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    parquet->given = 0;
    json_line_clear(&parquet->lines);
    if (parquet->failure.status)
        return doppel_fail(error, parquet->failure.status, "%s", parquet->failure.message);
    while (parquet->lines.size < LINES_BYTES) {
        if (!parquet->rows_left && parquet->next_group == parquet->footer.group_count)
            break;
        if (parquet->rows_left)
            TRY(take_parquet_row(parquet, &parquet->failure));
        else
            TRY(begin_row_group(parquet, &parquet->failure));
    }
done:
    if (status && parquet->lines.size) /* what is whole comes first */
        return DOPPEL_OK;
    return status ? doppel_fail(error, status, "%s", parquet->failure.message) : DOPPEL_OK;
}

enum doppel_status parquet_read(struct parquet *parquet, char *buffer, size_t size,
                                size_t *out_size, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    *out_size = 0;
    if (parquet->given == parquet->lines.size)
        TRY(take_parquet_rows(parquet, error));
    size_t left = parquet->lines.size - parquet->given;
    *out_size = left < size ? left : size;
    if (*out_size)
        memcpy(buffer, parquet->lines.bytes + parquet->given, *out_size);
    parquet->given += *out_size;
done:
    return status;
}
