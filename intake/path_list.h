/* A list of paths in a file or on standard input, one a line or ended by NULs. */
#ifndef DOPPEL_INTAKE_PATH_LIST_H
#define DOPPEL_INTAKE_PATH_LIST_H

#include <stdbool.h>
#include <stdio.h>

#include <doppel/core.h>

struct doppel_run;

struct path_list {
    FILE *stream; /* NULL: there is no list, or it is read */
    char separator;
    char *line;
    bool begun;
    const struct doppel_run *run; /* may end the list; NULL: nothing does. Borrowed */
};

/* Longer than any path that a system call takes; what is longer is an error, not memory. */
enum { LONGEST_LINE = 64 * 1024 };

/** @param path "-" is standard input. DOPPEL_E_IO, DOPPEL_E_NOT_FOUND. */
enum doppel_status path_list_open(struct path_list *list, const char *path, bool null_separated,
                                  struct doppel_error *error);
void path_list_close(struct path_list *list);

/**
 * The next path that is not empty, or NULL at the end; borrowed until the next call.
 * @param out_cut the line was longer than LONGEST_LINE: this is its beginning
 */
const char *path_list_next(struct path_list *list, bool *out_cut);

#endif
