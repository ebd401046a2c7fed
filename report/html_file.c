/* An HTML file that appears when it is whole. */
#include "report/html_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/memory.h"

static enum doppel_status fail(const char *path, struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_IO, "%s: cannot be written (%s)", path, strerror(errno));
}

/* What is there and no plain file (a pipe, a device) is written in place. */
static bool is_special(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

/* What a page of ours has near its beginning. */
static const char signature[] = "<meta name=\"generator\" content=\"doppel report\">";

/* A file that may be somebody's work stays: only a page takes the place of one. */
static bool is_foreign(const char *path)
{
    char head[512];
    FILE *stream = fopen(path, "re");
    if (!stream)
        return false; /* there is none, or making it will say why not */
    size_t size = fread(head, 1, sizeof head, stream);
    fclose(stream);
    return size && !memmem(head, size, signature, strlen(signature));
}

static FILE *open_beside(const char *path, char **out_temporary)
{
    size_t size = strlen(path) + 32;
    char *temporary = must_allocate(size);
    snprintf(temporary, size, "%s.%ld.part", path, (long)getpid());
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "w");
    if (stream) {
        *out_temporary = temporary;
        return stream;
    }
    free(temporary);
    return NULL;
}

enum doppel_status page_file_open(const char *path, struct page_file *out,
                                  struct doppel_error *error)
{
    struct page_file file = {.path = path};
    if (strcmp(path, "-") == 0)
        file.stream = fdopen(dup(STDOUT_FILENO), "w");
    else if (is_special(path))
        file.stream = fopen(path, "we");
    else
        file.stream = open_beside(path, &file.temporary);
    if (!file.stream)
        return fail(path, error);
    *out = file;
    return DOPPEL_OK;
}

enum doppel_status page_file_try(const char *path, struct doppel_error *error)
{
    char *temporary;
    if (strcmp(path, "-") == 0 || is_special(path))
        return DOPPEL_OK;
    if (is_foreign(path))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "%s: is no page of doppel, left alone; choose another name", path);
    FILE *stream = open_beside(path, &temporary);
    if (!stream)
        return fail(path, error);
    fclose(stream);
    unlink(temporary);
    free(temporary);
    return DOPPEL_OK;
}

void page_file_text(struct page_file *file, const void *text, size_t size)
{
    fwrite(text, 1, size, file->stream);
}

/* A '<' stands in strings alone: so no end of a script, and no comment, can be in them. */
static int write_escaped(const char *text, size_t size, void *context)
{
    FILE *stream = context;
    for (const char *end = text + size; text < end;) {
        const char *mark = memchr(text, '<', (size_t)(end - text));
        size_t plain = (size_t)((mark ? mark : end) - text);
        if (fwrite(text, 1, plain, stream) != plain || (mark && fputs("\\u003c", stream) < 0))
            return -1;
        text += plain + (mark != NULL);
    }
    return 0;
}

void page_file_json(struct page_file *file, const char *id, const json_t *json)
{
    fprintf(file->stream, "<script type=\"application/json\" id=\"%s\">", id);
    json_dump_callback(json, write_escaped, file->stream,
                       JSON_COMPACT | JSON_REAL_PRECISION(15) | JSON_ENCODE_ANY);
    fputs("</script>\n", file->stream);
}

enum doppel_status page_file_close(struct page_file *file, enum doppel_status status,
                                   struct doppel_error *error)
{
    bool good = !ferror(file->stream);
    good = fclose(file->stream) == 0 && good;
    if (!status && !good)
        status = fail(file->path, error);
    if (!status && file->temporary && rename(file->temporary, file->path) != 0)
        status = fail(file->path, error);
    if (status && file->temporary)
        unlink(file->temporary);
    free(file->temporary);
    return status;
}
