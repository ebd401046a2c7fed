/* A list of paths in a file or on standard input. */
#include "intake/path_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doppel/run.h>

enum doppel_status path_list_open(struct path_list *list, const char *path, bool null_separated,
                                  struct doppel_error *error)
{
    FILE *stream = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (!stream)
        return doppel_fail(error, errno == ENOENT ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO, "%s: %s",
                           path, strerror(errno));
    /* A folder is opened without complaint, and so is what stands in for a closed stream. */
    int first = getc(stream);
    if (first == EOF && ferror(stream)) {
        doppel_fail(error, DOPPEL_E_IO, "%s: %s", path, strerror(errno));
        if (stream != stdin)
            (void)fclose(stream);
        return DOPPEL_E_IO;
    }
    if (first != EOF)
        ungetc(first, stream);
    char *line = malloc(LONGEST_LINE + 1);
    if (!line) {
        if (stream != stdin)
            (void)fclose(stream);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a list of paths");
    }
    *list =
        (struct path_list){.stream = stream, .line = line, .separator = null_separated ? 0 : '\n'};
    return DOPPEL_OK;
}

void path_list_close(struct path_list *list)
{
    if (list->stream && list->stream != stdin)
        (void)fclose(list->stream);
    free(list->line);
    *list = (struct path_list){0};
}

/* Editors of some systems begin a list with a byte order mark, and end lines by \r\n. There are
 * names that end so, too, but few. */
static const char *mended(struct path_list *list, size_t length)
{
    static const char mark[] = "\xEF\xBB\xBF";
    bool marked = !list->begun && strncmp(list->line, mark, strlen(mark)) == 0;
    list->begun = true;
    if (list->separator == 0)
        return list->line;
    if (length > 1 && list->line[length - 1] == '\r' && access(list->line, F_OK) != 0)
        list->line[length - 1] = 0;
    return marked && access(list->line, F_OK) != 0 ? list->line + strlen(mark) : list->line;
}

/* A NUL in a list of lines ends the path too: no path has one. */
const char *path_list_next(struct path_list *list, bool *out_cut)
{
    size_t length = 0;
    int byte = 0;
    *out_cut = false;
    while (list->stream && !(list->run && doppel_run_cancelled(list->run)) &&
           (byte = getc(list->stream)) != EOF) {
        if (byte != list->separator && byte != 0) {
            *out_cut = length == LONGEST_LINE;
            if (!*out_cut)
                list->line[length++] = (char)byte;
        } else if (length) {
            break;
        }
    }
    if (!length)
        return NULL;
    list->line[length] = 0;
    return mended(list, length);
}
