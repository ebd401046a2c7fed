/* Rows that leave the catalogue, as JSON Lines: an object a row, bytes in hexadecimal. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/files/write_all.h"
#include "core/text/point_locale.h"
#include "core/text/utf8.h"
#include "library/verify.h"

static void write_text_file(FILE *file, const char *text, size_t size)
{
    putc('"', file);
    for (size_t at = 0, length; at < size; at += length) {
        unsigned char byte = (unsigned char)text[at];
        length = utf8_length(text + at, size - at);
        if (!length || byte < ' ' || byte == '"' || byte == '\\' || byte == 0x7F) {
            fprintf(file, "\\u%04x", byte);
            length = 1;
        } else {
            fwrite(text + at, 1, length, file);
        }
    }
    putc('"', file);
}

static void write_hex_bytes(FILE *file, const unsigned char *bytes, size_t size)
{
    fputs("\"x'", file);
    for (size_t i = 0; i < size; i++)
        fprintf(file, "%02x", bytes[i]);
    fputs("'\"", file);
}

static void write_value(FILE *file, sqlite3_stmt *statement, int column)
{
    const void *bytes;
    locale_t before;
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        fprintf(file, "%" PRId64, (int64_t)sqlite3_column_int64(statement, column));
        break;
    case SQLITE_FLOAT:
        before = point_locale_enter();
        if (isfinite(sqlite3_column_double(statement, column)))
            fprintf(file, "%.17g", sqlite3_column_double(statement, column));
        else
            fputs("null", file);
        point_locale_leave(before);
        break;
    case SQLITE_TEXT:
        bytes = sqlite3_column_text(statement, column);
        write_text_file(file, bytes ? bytes : "", (size_t)sqlite3_column_bytes(statement, column));
        break;
    case SQLITE_BLOB:
        bytes = sqlite3_column_blob(statement, column);
        write_hex_bytes(file, bytes, (size_t)sqlite3_column_bytes(statement, column));
        break;
    default:
        fputs("null", file);
    }
}

static enum doppel_status fail_aside(const struct aside *aside, struct doppel_error *error)
{
    return doppel_fail(error, write_failure(errno), "%s: cannot be written: %s", aside->path,
                       strerror(errno));
}

static enum doppel_status open_aside(struct aside *aside, const char *directory,
                                     struct doppel_error *error)
{
    if (aside->file)
        return DOPPEL_OK;
    if (!aside->path && !(aside->path = sqlite3_mprintf("%s/damaged.jsonl", directory)))
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", directory);
    int fd = open(aside->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                  0600);
    if (fd < 0)
        return fail_aside(aside, error);
    aside->file = fdopen(fd, "a");
    if (aside->file)
        return DOPPEL_OK;
    enum doppel_status status = fail_aside(aside, error);
    close(fd);
    return status;
}

enum doppel_status aside_write(struct aside *aside, const char *directory, const char *table,
                               sqlite3_stmt *statement, int first, struct doppel_error *error)
{
    enum doppel_status status = open_aside(aside, directory, error);
    if (status)
        return status;
    fprintf(aside->file, "{\"table\":\"%s\"", table);
    for (int column = first; column < sqlite3_column_count(statement); column++) {
        const char *name = sqlite3_column_name(statement, column);
        fprintf(aside->file, ",\"%s\":", name ? name : "");
        write_value(aside->file, statement, column);
    }
    fputs("}\n", aside->file);
    return ferror(aside->file) ? fail_aside(aside, error) : DOPPEL_OK;
}

enum doppel_status aside_sync(struct aside *aside, struct doppel_error *error)
{
    if (!aside->file || (!fflush(aside->file) && !fsync(fileno(aside->file))))
        return DOPPEL_OK;
    return fail_aside(aside, error);
}

void aside_close(struct aside *aside)
{
    if (aside->file)
        (void)fclose(aside->file);
    sqlite3_free(aside->path);
    *aside = (struct aside){0};
}
