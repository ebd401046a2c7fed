/* Paths of what lies in archives: "a.zip!/b/c.jpg", and "mbox#12" of messages. */
#ifndef DOPPEL_CORE_FILES_ARCHIVE_PATH_H
#define DOPPEL_CORE_FILES_ARCHIVE_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

/* Whether the first `length` bytes of a path are a file. */
static inline bool archive_path_is_file(const char *path, size_t length)
{
    char name[PATH_MAX];
    struct stat file;
    if (!length || length >= sizeof name)
        return false;
    memcpy(name, path, length);
    name[length] = '\0';
    return lstat(name, &file) == 0 && S_ISREG(file.st_mode);
}

/* Whether nothing lies at the path itself, but it is one in an archive that is there. */
static inline bool path_lies_in_archive(const char *path)
{
    struct stat file;
    const char *mark = strchr(path, '#'), *last = mark ? strrchr(path, '#') : NULL;
    bool message = last && last[1] && strspn(last + 1, "0123456789") == strlen(last + 1);
    const char *inside = strstr(path, "!/");
    if ((!inside && !message) || lstat(path, &file) == 0)
        return false;
    for (; inside; inside = strstr(inside + 1, "!/"))
        if (archive_path_is_file(path, (size_t)(inside - path)))
            return true;
    return message && archive_path_is_file(path, (size_t)(last - path));
}

#endif
