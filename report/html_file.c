/* An HTML file of ours. */
#include "report/html_file.h"

#include <string.h>
#include <sys/stat.h>

/* What a report of ours has near its beginning. */
static const char signature[] = "<meta name=\"generator\" content=\"doppel report\">";

/* A file that may be somebody's work stays: only a report takes the place of one. */
static bool is_foreign(const char *path)
{
    char head[512];
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return false; /* nobody's work is lost there */
    FILE *stream = fopen(path, "re");
    if (!stream)
        return false; /* there is none, or making it will say why not */
    size_t size = fread(head, 1, sizeof head, stream);
    (void)fclose(stream);
    return size && !memmem(head, size, signature, strlen(signature));
}

enum doppel_status html_file_try(const char *path, struct doppel_error *error)
{
    if (is_foreign(path))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "%s: is no page of doppel, left alone; choose another name", path);
    return output_file_try(path, error);
}

/* A '<' stands in strings alone: so no end of a script, and no comment, can be in them. */
void html_file_put_json(FILE *stream, const char *id, const struct doppel_json *json)
{
    const char *text = json->bytes, *end = text + json->size;
    fprintf(stream, "<script type=\"application/json\" id=\"%s\">", id);
    while (text < end) {
        const char *mark = memchr(text, '<', (size_t)(end - text));
        size_t plain = (size_t)((mark ? mark : end) - text);
        fwrite(text, 1, plain, stream);
        if (mark)
            fputs("\\u003c", stream);
        text += plain + (mark != NULL);
    }
    fputs("</script>\n", stream);
}
