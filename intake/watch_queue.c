/* Paths that wait until nothing happens to them any more, in the order in which that will be. */
#include "intake/watch_queue.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

static int by_path(const void *a, const void *b)
{
    const struct waiting_path *left = a, *right = b;
    return strcmp(left->path, right->path);
}

void waiting_path_free(struct waiting_path *waiting)
{
    if (!waiting)
        return;
    free(waiting->path);
    free(waiting);
}

static void unlink_path(struct watch_queue *queue, struct waiting_path *waiting)
{
    *(waiting->before ? &waiting->before->behind : &queue->first) = waiting->behind;
    *(waiting->behind ? &waiting->behind->before : &queue->last) = waiting->before;
    waiting->before = waiting->behind = NULL;
}

static void append_path(struct watch_queue *queue, struct waiting_path *waiting, int64_t due_ns)
{
    waiting->due_ns = due_ns;
    waiting->before = queue->last;
    *(queue->last ? &queue->last->behind : &queue->first) = waiting;
    queue->last = waiting;
}

static struct waiting_path *find_waiting(const struct watch_queue *queue, const char *path)
{
    const struct waiting_path wanted = {.path = (char *)(uintptr_t)path};
    void *const *node = tfind(&wanted, (void *const *)&queue->tree, by_path);
    return node ? *node : NULL;
}

enum doppel_status watch_queue_put(struct watch_queue *queue, const char *path, size_t root,
                                   int64_t due_ns, struct doppel_error *error)
{
    struct waiting_path *waiting = find_waiting(queue, path);
    if (waiting) {
        unlink_path(queue, waiting);
    } else {
        waiting = calloc(1, sizeof *waiting);
        if (!waiting || !(waiting->path = strdup(path)) ||
            !tsearch(waiting, &queue->tree, by_path)) {
            waiting_path_free(waiting);
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for so many files");
        }
    }
    waiting->root = root;
    append_path(queue, waiting, due_ns);
    return DOPPEL_OK;
}

struct waiting_path *watch_queue_take(struct watch_queue *queue, int64_t now_ns)
{
    struct waiting_path *first = queue->first;
    if (!first || first->due_ns > now_ns)
        return NULL;
    unlink_path(queue, first);
    tdelete(first, &queue->tree, by_path);
    return first;
}

static void leave_path(void *node)
{
    (void)node; /* the list frees them */
}

void watch_queue_free(struct watch_queue *queue)
{
    tdestroy(queue->tree, leave_path);
    for (struct waiting_path *next; queue->first; queue->first = next) {
        next = queue->first->behind;
        waiting_path_free(queue->first);
    }
    *queue = (struct watch_queue){0};
}
