/* Which folders inotify watches: by their numbers there. */
#ifndef DOPPEL_INTAKE_WATCH_FOLDERS_H
#define DOPPEL_INTAKE_WATCH_FOLDERS_H

#include <stddef.h>

#include <doppel/core.h>

struct watched_folder {
    int number; /* of the watch */
    size_t root;
    char *path;
};

/* A tree by number. Zero-initialised it is empty. */
struct watched_folders {
    void *tree;
};

/* What is known by this number has this path from now on. DOPPEL_E_MEMORY */
enum doppel_status watched_folders_put(struct watched_folders *folders, int number, size_t root,
                                       const char *path, struct doppel_error *error);

/* NULL: there is none. Borrowed until a change. */
const struct watched_folder *watched_folders_get(const struct watched_folders *folders, int number);
void watched_folders_remove(struct watched_folders *folders, int number);

/* Call for each folder at `path` and below; it may not change the folders. */
void watched_folders_below(const struct watched_folders *folders, const char *path,
                           void (*visit)(void *context, const struct watched_folder *folder),
                           void *context);
void watched_folders_free(struct watched_folders *folders);

#endif
