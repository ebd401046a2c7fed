/* Where the library and the cache lie when nothing else is said. */
#include "tools/args/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/memory.h"
#include "tools/args/options.h"

/* The variable's folder (absolute, as the XDG specification demands), else `below_home` in $HOME;
 * NULL when there is neither. Given (free). */
static char *user_folder(const char *variable, const char *below_home)
{
    const char *folder = getenv(variable), *home = getenv("HOME");
    if (folder && folder[0] == '/')
        return must_copy(folder);
    if (!home || home[0] != '/')
        return NULL;
    char *path = must_allocate(strlen(home) + strlen(below_home) + 2);
    sprintf(path, "%s/%s", home, below_home);
    return path;
}

static char *join_path(const char *folder, const char *name)
{
    char *path = must_allocate(strlen(folder) + strlen(name) + 2);
    sprintf(path, "%s/%s", folder, name);
    return path;
}

char *user_file(const char *variable, const char *below_home, const char *name)
{
    char *folder = user_folder(variable, below_home);
    char *path = folder ? join_path(folder, name) : NULL;
    free(folder);
    return path;
}

char *library_directory(const struct settings *settings)
{
    const char *variable = getenv("DOPPEL_LIBRARY");
    if (settings->library)
        return must_copy(settings->library);
    if (variable && *variable)
        return must_copy(variable);
    return user_file("XDG_DATA_HOME", ".local/share", "doppel");
}

char *model_folder(void)
{
    const char *variable = getenv("DOPPEL_MODELS");
    if (variable && *variable)
        return must_copy(variable);
    return user_file("XDG_DATA_HOME", ".local/share", "doppel/models");
}

/* As `mkdir -p`, with mode 0700; what cannot be made is found out by who opens the file. */
static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
}

char *cache_file(const struct settings *settings)
{
    if (settings->no_cache)
        return NULL;
    return settings->cache ? must_copy(settings->cache)
                           : user_file("XDG_CACHE_HOME", ".cache", "doppel/cache.db");
}

char *vector_cache_file(const struct settings *settings, bool make_folder)
{
    if (settings->no_cache)
        return NULL;
    char *path = user_file("XDG_CACHE_HOME", ".cache", "doppel/vectors.db");
    if (path && make_folder)
        make_folders(path);
    return path;
}

char *journal_file(const struct settings *settings)
{
    if (settings->journal)
        return must_copy(settings->journal);
    char *path = user_file("XDG_STATE_HOME", ".local/state", "doppel/actions.jsonl");
    if (path)
        make_folders(path);
    return path;
}

char *trash_folder(void)
{
    return user_file("XDG_DATA_HOME", ".local/share", "Trash");
}
