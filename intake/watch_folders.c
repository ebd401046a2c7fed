/* Which folders inotify watches: by their numbers there. */
#include "intake/watch_folders.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

static int by_number(const void *a, const void *b)
{
    const struct watched_folder *left = a, *right = b;
    return (left->number > right->number) - (left->number < right->number);
}

static void free_folder(void *node)
{
    struct watched_folder *folder = node;
    free(folder->path);
    free(folder);
}

enum doppel_status watched_folders_put(struct watched_folders *folders, int number, size_t root,
                                       const char *path, struct doppel_error *error)
{
    watched_folders_remove(folders, number);
    struct watched_folder *folder = calloc(1, sizeof *folder);
    if (folder) {
        *folder = (struct watched_folder){number, root, strdup(path)};
        if (folder->path && tsearch(folder, &folders->tree, by_number))
            return DOPPEL_OK;
        free_folder(folder);
    }
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for so many folders");
}

const struct watched_folder *watched_folders_get(const struct watched_folders *folders, int number)
{
    const struct watched_folder wanted = {.number = number};
    void *const *node = tfind(&wanted, (void *const *)&folders->tree, by_number);
    return node ? *node : NULL;
}

void watched_folders_remove(struct watched_folders *folders, int number)
{
    const struct watched_folder *folder = watched_folders_get(folders, number);
    if (!folder)
        return;
    tdelete(folder, &folders->tree, by_number);
    free_folder((void *)(uintptr_t)folder);
}

/* ---- all below ---- */

struct folders_below {
    const char *path;
    size_t length;
    void (*visit)(void *context, const struct watched_folder *folder);
    void *context;
};

static void visit_node(const void *node, VISIT when, void *closure)
{
    const struct folders_below *below = closure;
    const struct watched_folder *folder = *(const struct watched_folder *const *)node;
    if (when != postorder && when != leaf)
        return;
    if (strncmp(folder->path, below->path, below->length) == 0 &&
        (!folder->path[below->length] || folder->path[below->length] == '/'))
        below->visit(below->context, folder);
}

void watched_folders_below(const struct watched_folders *folders, const char *path,
                           void (*visit)(void *context, const struct watched_folder *folder),
                           void *context)
{
    struct folders_below below = {path, strlen(path), visit, context};
    twalk_r(folders->tree, visit_node, &below);
}

void watched_folders_free(struct watched_folders *folders)
{
    tdestroy(folders->tree, free_folder);
    folders->tree = NULL;
}
