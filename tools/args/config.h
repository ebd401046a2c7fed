/* Options that are given once, in a file: `option = value` for every verb that has it, or behind
 * `[verb]` for that one alone. */
#ifndef DOPPEL_TOOLS_ARGS_CONFIG_H
#define DOPPEL_TOOLS_ARGS_CONFIG_H

#include <stddef.h>

#include <doppel/core.h>

/* A line of it. Strings are the configuration's. */
struct config_entry {
    const char *verb; /* NULL: all */
    const char *name, *value;
    unsigned line;
};

struct config {
    char *path; /* NULL: there is no home */
    char *text; /* NULL: there is no such file */
    struct config_entry *items;
    size_t count;
    char **homes; /* values in the home folder, written out */
    size_t home_count;
};

/* Read $XDG_CONFIG_HOME/doppel/config; no file is an empty one. @param out given (config_free).
 * DOPPEL_E_ARGUMENT with path, line and what is wrong; DOPPEL_E_IO */
enum doppel_status config_read(struct config *out, struct doppel_error *error);
/* The same of another file. */
enum doppel_status config_read_file(const char *path, struct config *out,
                                    struct doppel_error *error);
void config_free(struct config *config);

#endif
