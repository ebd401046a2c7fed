/* Paths that come on standard input by and by, one a line, or ended by NULs. */
#ifndef DOPPEL_TOOLS_CLUSTERED_PATH_FEED_H
#define DOPPEL_TOOLS_CLUSTERED_PATH_FEED_H

#include <stdbool.h>
#include <stddef.h>

#include <doppel/run.h>

/* Zero-initialised but for `separator` it is at the beginning. */
struct path_feed {
    char separator;
    char *bytes; /* that were read; given: path_feed_free */
    size_t begin, end, capacity;
    bool ended; /* there are no more bytes */
};

/* A path that is there by now; NULL: none is. Borrowed until the next call: the feed of a walk. */
const char *path_feed_next(void *feed);

/* Wait for the next one. @return false: there are no more, or the run was cancelled */
bool path_feed_wait(struct path_feed *feed, const struct doppel_run *run);

void path_feed_free(struct path_feed *feed);

#endif
