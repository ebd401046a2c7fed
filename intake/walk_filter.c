/* What a walk leaves out by name. */
#include "intake/walk_filter.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/clock.h"

static const char *name_of_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool ends_with_text(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

bool is_trash(const char *path)
{
    static const char *const names[] = {
        ".Trash",    ".Trashes", "$RECYCLE.BIN", "RECYCLER",    "#recycle",
        "@Recycle",  ".dtrash",  ".thumbnails",  "Thumbs.db",   "@eaDir",
        ".@__thumb", ".thumb",   ".Trash-0",     "ehthumbs.db",
    };
    static const char *const ends[] = {"/.cache/thumbnails", "/.local/share/Trash"};
    const char *name = name_of_path(path);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with_text(path, ends[i]))
            return true;
    return strncmp(name, ".Trash-", 7) == 0; /* with a user's number, on removable disks */
}

static bool glob_matches(const char *glob, const char *relative_path, bool is_directory)
{
    char pattern[PATH_MAX];
    size_t length = strlen(glob);
    if (length > 1 && glob[length - 1] == '/') {
        if (!is_directory)
            return false;
        length--;
    }
    if (length >= sizeof pattern)
        return false;
    snprintf(pattern, sizeof pattern, "%.*s", (int)length, glob);
    if (!strchr(pattern, '/'))
        return fnmatch(pattern, name_of_path(relative_path), 0) == 0;
    /* FNM_PATHNAME knows no "**": with one, every '*' matches '/' too. */
    int flags = strstr(pattern, "**") ? 0 : FNM_PATHNAME;
    return fnmatch(pattern + (pattern[0] == '/'), relative_path, flags) == 0;
}

bool is_excluded(const struct doppel_strings *globs, const char *relative_path, bool is_directory)
{
    for (size_t i = 0; i < globs->count; i++)
        if (glob_matches(globs->items[i], relative_path, is_directory))
            return true;
    return false;
}

bool has_extension_of(const struct doppel_strings *extensions, const char *path)
{
    const char *name = name_of_path(path), *dot = strrchr(name, '.');
    const char *own = dot && dot != name ? dot + 1 : "";
    for (size_t i = 0; i < extensions->count; i++)
        for (const char *word = extensions->items[i]; *word; word += *word == ',') {
            size_t length = strcspn(word, ",");
            size_t from = *word == '.'; /* ".jpg" is meant as well */
            if (strlen(own) == length - from && strncasecmp(own, word + from, length - from) == 0)
                return true;
            word += length;
        }
    return extensions->count == 0;
}

bool is_of_age(const struct doppel_walk_options *options, const struct stat *file)
{
    int64_t changed = timespec_ns(file->st_mtim);
    return (!options->newer_than_ns || changed > options->newer_than_ns) &&
           (!options->older_than_ns || changed < options->older_than_ns);
}
