/* Paths that come on standard input by and by, one a line, or ended by NULs. */
#ifndef DOPPEL_TOOLS_CLUSTERED_PATH_FEED_H
#define DOPPEL_TOOLS_CLUSTERED_PATH_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/run.h>

#include "core/array.h"

/* A path that was given to the walk. */
struct fed_path {
    char *path;
    uint64_t line;
};

/* Zero-initialised but for `separator` it is at the beginning. */
struct path_feed {
    char separator;
    char *bytes; /* that were read; given: path_feed_free */
    size_t begin, end, capacity;
    bool ended;                   /* there are no more bytes */
    uint64_t line;                /* of the last path, from 1 */
    ARRAY(struct fed_path) paths; /* that were given; those before `next` are answered */
    size_t next;
};

/* A path that is there by now; NULL: none is. Borrowed until the next call: the feed of a walk. */
const char *path_feed_next(void *feed);

/* Wait for the next one. @return false: there are no more, or the run was cancelled */
bool path_feed_wait(struct path_feed *feed, const struct doppel_run *run);

/* The line of a path that was given: each is asked for in their order, or is passed over. @return
 * 0: it was not */
uint64_t path_feed_line(struct path_feed *feed, const char *path);

void path_feed_free(struct path_feed *feed);

#endif
