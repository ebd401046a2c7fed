/* Paths that wait until nothing happens to them any more, in the order in which that will be. */
#ifndef DOPPEL_INTAKE_WATCH_QUEUE_H
#define DOPPEL_INTAKE_WATCH_QUEUE_H

#include <stdint.h>
#include <stddef.h>

#include <doppel/core.h>

struct waiting_path {
    char *path;
    size_t root;    /* number of the folder that it was met in */
    int64_t due_ns; /* by the monotonic clock */
    struct waiting_path *before, *behind;
};

/* A list by time, and a tree by path. Zero-initialised it is empty. */
struct watch_queue {
    struct waiting_path *first, *last;
    void *tree;
};

/* To the end of the queue, also from where it waited. `due_ns` is not before that of the last one,
 * or it waits as long as that. DOPPEL_E_MEMORY */
enum doppel_status watch_queue_put(struct watch_queue *queue, const char *path, size_t root,
                                   int64_t due_ns, struct doppel_error *error);

/* Given (waiting_path_free); NULL: nothing is due. */
struct waiting_path *watch_queue_take(struct watch_queue *queue, int64_t now_ns);
void waiting_path_free(struct waiting_path *waiting);
void watch_queue_free(struct watch_queue *queue);

#endif
