/* Where the library and the cache lie when nothing else is said. */
#include "tools/args/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/memory.h"
#include "tools/args/options.h"

char *user_folder(const char *variable, const char *below_home)
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

char *library_directory(const struct settings *settings)
{
    const char *variable = getenv("DOPPEL_LIBRARY");
    if (settings->library)
        return must_copy(settings->library);
    if (variable && *variable)
        return must_copy(variable);
    char *data = user_folder("XDG_DATA_HOME", ".local/share");
    char *library = data ? join_path(data, "doppel") : NULL;
    free(data);
    return library;
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
    if (settings->cache)
        return must_copy(settings->cache);
    char *folder = user_folder("XDG_CACHE_HOME", ".cache");
    if (!folder)
        return NULL;
    char *path = join_path(folder, "doppel/cache.db");
    free(folder);
    return path;
}

char *journal_file(const struct settings *settings)
{
    if (settings->journal)
        return must_copy(settings->journal);
    char *folder = user_folder("XDG_STATE_HOME", ".local/state");
    if (!folder)
        return NULL;
    char *path = join_path(folder, "doppel/actions.jsonl");
    free(folder);
    make_folders(path);
    return path;
}

char *trash_folder(void)
{
    char *folder = user_folder("XDG_DATA_HOME", ".local/share");
    char *path = folder ? join_path(folder, "Trash") : NULL;
    free(folder);
    return path;
}
