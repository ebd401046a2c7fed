/* Where the library and the cache lie when nothing else is said. */
#ifndef DOPPEL_TOOLS_ARGS_PATHS_H
#define DOPPEL_TOOLS_ARGS_PATHS_H

#include <stdbool.h>

struct settings;

/* --library, else $DOPPEL_LIBRARY, else $XDG_DATA_HOME/doppel (~/.local/share/doppel); NULL without
 * a home. Given (free). */
char *library_directory(const struct settings *settings);

/* $DOPPEL_MODELS, else $XDG_DATA_HOME/doppel/models (~/.local/share/…); NULL without a home. Given
 * (free). */
char *model_folder(void);

/* --cache, else $XDG_CACHE_HOME/doppel/cache.db (~/.cache/…); NULL with --no-cache or without a
 * home; its directory is made. Given (free). */
char *cache_file(const struct settings *settings);

/* Of vectors that services make: $XDG_CACHE_HOME/doppel/vectors.db (~/.cache/…); NULL with
 * --no-cache or without a home. @param make_folder for who is to write it. Given (free). */
char *vector_cache_file(const struct settings *settings, bool make_folder);

/* --journal, else $XDG_STATE_HOME/doppel/actions.jsonl (~/.local/state/…); NULL without a home; its
 * directory is made. Given (free). */
char *journal_file(const struct settings *settings);

/* The user's own trash, $XDG_DATA_HOME/Trash (~/.local/share/Trash); NULL without a home. Given
 * (free). */
char *trash_folder(void);

/* A file or folder there: $XDG_CACHE_HOME or ~/.cache, and the name below it. As user_folder. */
char *user_file(const char *variable, const char *below_home, const char *name);

#endif
