/* What the first bytes of a corpus file tell: marks, other encodings, other layouts of JSON. */
#include "corpus/read/file_start.h"

#include <string.h>

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

static enum doppel_status check_file_start(const char *bytes, size_t size, bool takes_paths,
                                           struct doppel_error *error)
{
    if (is_utf16_start(bytes, size))
        return doppel_fail(error, DOPPEL_E_FORMAT,
                           "UTF-16, not UTF-8; convert it: iconv -f UTF-16 -t UTF-8");
    if (takes_paths)
        return DOPPEL_OK; /* which may begin with a bracket */
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

bool file_start(const char *bytes, size_t size, bool takes_paths, struct line_block *block)
{
    size_t skipped = begins_with_bytes(bytes, size, "\xEF\xBB\xBF", 3) ? 3 : 0;
    block->bytes = bytes + skipped;
    return check_file_start(bytes + skipped, size - skipped, takes_paths, &block->damage) ==
           DOPPEL_OK;
}
