/* What the first bytes of a corpus file tell: marks, other encodings, other layouts of JSON, names
 * of columns. */
#include "corpus/read/file_start.h"

#include <stdlib.h>
#include <string.h>

#include <doppel/media.h>

#include "core/try.h"

static bool begins_with_bytes(const char *bytes, size_t size, const char *with, size_t length)
{
    return size >= length && memcmp(bytes, with, length) == 0;
}

/* With a mark, or an ASCII character in two bytes. */
static bool is_utf16_start(const char *bytes, size_t size)
{
    return begins_with_bytes(bytes, size, "\xFF\xFE", 2) ||
           begins_with_bytes(bytes, size, "\xFE\xFF", 2) ||
           (size >= 4 && (bytes[0] == 0) != (bytes[1] == 0) && (bytes[2] == 0) == (bytes[0] == 0) &&
            (bytes[3] == 0) == (bytes[1] == 0));
}

static bool is_white(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

/* The first line without white space around it. */
static const char *first_line(const char *bytes, size_t size, size_t *out_size)
{
    size_t begin = 0;
    while (begin < size && is_white(bytes[begin]))
        begin++;
    size_t end = begin;
    while (end < size && bytes[end] != '\n')
        end++;
    while (end > begin && is_white(bytes[end - 1]))
        end--;
    *out_size = end - begin;
    return bytes + begin;
}

/* Records may follow a first line that was cut. */
static bool next_line_is_record(const char *line, const char *end)
{
    const char *next = memchr(line, '\n', (size_t)(end - line));
    size_t length = 0;
    const char *text = next ? first_line(next, (size_t)(end - next), &length) : NULL;
    return length && *text == '{';
}

/* Files of other kinds have no lines of which to speak. */
static enum doppel_status refuse_other_files(const char *bytes, size_t size,
                                             struct doppel_error *error)
{
    enum { PROBE_BYTES = 4096 };
    enum doppel_format format;
    size_t head = size < PROBE_BYTES ? size : PROBE_BYTES;
    enum doppel_kind kind = doppel_media_probe((const uint8_t *)bytes, head, &format);
    if (!size || is_white(*bytes) || *bytes == '{' || (kind == DOPPEL_KIND_TEXT && !format))
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_FORMAT,
                       "%s, no records; 'doppel scan' compares images, recordings and documents",
                       format ? doppel_format_name(format) : "no text");
}

static enum doppel_status check_file_start(const char *bytes, size_t size, bool takes_paths,
                                           struct doppel_error *error)
{
    if (is_utf16_start(bytes, size))
        return doppel_fail(error, DOPPEL_E_FORMAT,
                           "UTF-16, not UTF-8; convert it: iconv -f UTF-16 -t UTF-8");
    if (takes_paths)
        return DOPPEL_OK; /* which may begin with a bracket */
    if (refuse_other_files(bytes, size, error))
        return DOPPEL_E_FORMAT;
    size_t length;
    const char *line = first_line(bytes, size, &length);
    if (length && *line == '[' && line[length - 1] != ']')
        return doppel_fail(error, DOPPEL_E_FORMAT,
                           "one JSON array, not a record a line; convert it: jq -c '.[]'");
    if (length == 1 && *line == '{' && !next_line_is_record(line, bytes + size))
        return doppel_fail(error, DOPPEL_E_FORMAT,
                           "a record over several lines; write each on one line: jq -c .");
    return DOPPEL_OK;
}

/* ---- columns ---- */

static bool is_blank_row(const char *row, const char *end)
{
    while (row < end && (*row == '\r' || *row == ' '))
        row++;
    return row == end;
}

/* The first row that is not blank names the columns. @return where it ends, or NULL: no memory */
static const char *read_column_names(const char *row, const char *end, char separator,
                                     struct corpus_file *file)
{
    const char *row_end;
    enum csv_state state = CSV_CELL;
    for (;; row = row_end + 1) {
        row_end = row < end ? csv_row_end(row, end, separator, &state) : NULL;
        if (!row_end || !is_blank_row(row, row_end))
            break;
    }
    if (row == end)
        return end;
    file->layout = csv_layout(row, (size_t)((row_end ? row_end : end) - row), separator);
    if (!file->layout)
        return NULL;
    return row_end ? row_end + 1 : end;
}

/* With the newline that its end may lack. */
static enum doppel_status keep_head(struct corpus_file *file, const char *bytes, size_t size)
{
    file->head = size ? malloc(size + 1) : NULL;
    if (!file->head)
        return size ? DOPPEL_E_MEMORY : DOPPEL_OK;
    memcpy(file->head, bytes, size);
    file->head_size = size;
    if (file->layout && bytes[size - 1] != '\n')
        file->head[file->head_size++] = '\n';
    return DOPPEL_OK;
}

enum doppel_status file_start(const struct file_start *start, struct corpus_file *file,
                              size_t *out_head, struct doppel_error *error)
{
    const char *bytes = start->bytes, *end = bytes + start->size;
    bool rows = start->separator != '\0';
    *out_head = begins_with_bytes(bytes, start->size, "\xEF\xBB\xBF", 3) ? 3 : 0;
    enum doppel_status status;
    TRY(check_file_start(bytes + *out_head, start->size - *out_head, start->takes_paths || rows,
                         error));
    if (rows) {
        const char *records = read_column_names(bytes + *out_head, end, start->separator, file);
        TRY(records ? DOPPEL_OK : DOPPEL_E_MEMORY);
        *out_head = (size_t)(records - bytes);
    }
    TRY(keep_head(file, bytes, *out_head));
done:
    return status;
}
