/* document_text FILE...: what the worker reads of a document, on its own, for the tests: a line
 * with its format, the number of its pages and their beginnings, and the text; or why it cannot be
 * read. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/files/read_at.h"
#include "documents/documents.h"

static bool print_document(int fd, enum doppel_format format)
{
    struct document document;
    struct doppel_error error = {0};
    if (document_read(fd, format, NULL, &document, &error)) {
        printf("%s: %s\n", doppel_format_name(format), error.message);
        return false;
    }
    printf("%s %zu", doppel_format_name(format), document.page_count);
    for (size_t i = 0; i < document.page_count; i++)
        printf(" %zu", document.pages[i]);
    putchar('\n');
    fwrite(document.text, 1, document.size, stdout);
    document_free(&document);
    return true;
}

static bool print_file(const char *path)
{
    uint8_t head[4096];
    enum doppel_format format = DOPPEL_FORMAT_UNKNOWN;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t size = read_at(fd, head, sizeof head, 0);
    if (size > 0)
        (void)doppel_media_probe_file(fd, head, (size_t)size, &format);
    bool good = format && print_document(fd, format);
    if (!format)
        printf("unknown\n");
    close(fd);
    return good;
}

int main(int count, char **paths)
{
    bool good = true;
    for (int i = 1; i < count; i++)
        good = print_file(paths[i]) && good;
    return good ? 0 : 1;
}
