/* What is wrong with a line, in a sentence. */
#include "corpus/read/problem.h"

/* What follows a record on its line. */
static enum doppel_status explain_rest(const char *rest, size_t size, struct doppel_error *error)
{
    enum { SHOWN = 40 };
    while (size && (*rest == ' ' || *rest == '\t'))
        rest++, size--;
    while (size && (rest[size - 1] == ' ' || rest[size - 1] == '\t' || rest[size - 1] == '\r'))
        size--;
    if (size && (*rest == '{' || *rest == '['))
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "more than one JSON value; write each record on its own line");
    return doppel_fail(error, DOPPEL_E_CORRUPT,
                       "the record is followed by '%.*s' on its line; write nothing behind it",
                       (int)(size < SHOWN ? size : SHOWN), rest);
}

enum doppel_status problem_explain(enum json_problem problem, const char *line, size_t size,
                                   struct doppel_error *error)
{
    size_t end;
    while (size && (*line == ' ' || *line == '\t'))
        line++, size--;
    switch (problem) {
    case JSON_FINE:
    case JSON_BAD_UTF8:
        return DOPPEL_OK;
    case JSON_MEMORY:
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to parse a line of %zu bytes", size);
    case JSON_TOO_LONG:
        return doppel_fail(error, DOPPEL_E_LIMIT, "the line has %zu bytes, more than 4 GB", size);
    case JSON_CONTROL:
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "broken JSON: a control character stands in a string; write it as "
                           "\\n, \\t or \\u00XX");
    case JSON_OPEN:
        end = json_extent(line, size);
        if (end)
            return explain_rest(line + end, size - end, error);
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "broken JSON: the line ends within the record; write each record on one "
                           "line, with \\n for a newline in a text");
    case JSON_NO_OBJECT:
        if (size && *line == '[')
            return doppel_fail(error, DOPPEL_E_FORMAT,
                               "an array, not a record; make a line of each of its records: "
                               "jq -c '.[]'");
        return doppel_fail(error, DOPPEL_E_FORMAT,
                           "not a JSON object; a record is {\"id\": ..., \"text\": ...}");
    case JSON_BROKEN:
        return doppel_fail(error, DOPPEL_E_CORRUPT, "broken JSON: %s",
                           "a comma, colon, quote or bracket is missing or too many");
    case JSON_MORE:
        end = json_extent(line, size);
        return explain_rest(line + end, size - end, error);
    }
    return DOPPEL_OK;
}
